"""A submitted suite against every version of its module: one unit after another, and as many at a time as a run takes.

The suite is the reference one of a shipped nomination and a test that is at work for some tenths of a second, as
suites are. How much quicker two plain processes are on this machine than one after the other is told beside it: no
evaluator can be much quicker than that.
"""

import os
import shutil
import subprocess
import tempfile
import time
from compileall import compile_dir
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from py_compile import PycInvalidationMode

from figures import Figure, Measured
from rooms import patient_sandbox, state_folder

from evaluators.model import Bench, EvaluatorSpec, Submission
from evaluators.mutation import build_mutation
from evaluators.packing import pack_files
from runner.nomination import load_nomination
from sandbox.client import KeeperSandbox
from sandbox.spec import MIB, PYTHON, Limits, Mount
from tests.systemd.test_pytest_suite import NEEDED, folder_pack
from tests.unit.evaluators.judging import PACKAGES

_NOMINATION = Path(__file__).resolve().parents[2] / "config/nominations/page-ranges"
_ROUNDS = 3
_AT_ONCE = len(os.sched_getaffinity(0)) + 1
"""As in `runner/staging.py`."""
_BUSY = """

def test_all_day() -> None:
    for _ in range(20_000):
        parse("1-3,2,1,4-9", 10)
"""
_PLAIN = "for number in range(6_000_000): number * number"
_LEAST = 1.7
_LIMITS = Limits(wall=timedelta(seconds=60), memory_bytes=512 * MIB, disk_bytes=64 * MIB, disk_inodes=8192)


def figures() -> list[Figure]:
    """Judge a suite in turn with one unit at a time and with several."""
    with tempfile.TemporaryDirectory() as scratch, state_folder() as state, patient_sandbox(state) as sandbox:
        submission = _submission(sandbox, Path(scratch))
        evaluator = build_mutation(_spec())
        alone = _bench(sandbox, Path(scratch))
        took: dict[int, list[float]] = {1: [], _AT_ONCE: []}
        for _ in range(_ROUNDS):
            for units, times in took.items():
                started = time.perf_counter()
                verdict = evaluator.judge(submission, replace(alone, units_at_once=units))
                times.append(time.perf_counter() - started)
                if not verdict.passed:
                    raise RuntimeError(f"the reference suite did not pass: {verdict.detail}")
    return [
        Figure(
            what=f"mutation: {len(evaluator.versions)} versions, {_AT_ONCE} units at a time",
            ours=Measured(name="together", seconds=tuple(took[_AT_ONCE])),
            theirs=Measured(name="one by one", seconds=tuple(took[1])),
            least=_LEAST,
        ),
        Figure(
            what="mutation: two plain processes on this machine",
            ours=Measured(name="together", seconds=tuple(_plain(2) for _ in range(_ROUNDS))),
            theirs=Measured(name="one by one", seconds=tuple(_plain(1) + _plain(1) for _ in range(_ROUNDS))),
            least=1,
        ),
    ]


def _plain(count: int) -> float:
    started = time.perf_counter()
    running = [subprocess.Popen([PYTHON, "-I", "-S", "-c", _PLAIN], env={}) for _ in range(count)]
    for each in running:
        each.wait()
    return time.perf_counter() - started


def _spec() -> EvaluatorSpec:
    (spec,) = load_nomination(_NOMINATION).evaluators
    return spec


def _submission(sandbox: KeeperSandbox, scratch: Path) -> Submission:
    fixture, whole = folder_pack(_NOMINATION / "fixture"), scratch / "whole"
    shutil.copytree(_NOMINATION / "fixture", whole)
    (patch,) = (_NOMINATION / "solution").iterdir()
    subprocess.run(["/usr/bin/git", "apply", str(patch)], cwd=whole, check=True, env={"HOME": str(scratch)})
    test = "tests/test_ranges.py"
    return Submission(
        base=(sandbox.store(fixture),),
        change=pack_files({test: (whole / test).read_bytes() + _BUSY.encode()}),
        tree_digest="0" * 64,
        below=fixture,
    )


def _bench(sandbox: KeeperSandbox, scratch: Path) -> Bench:
    packages = scratch / "packages"
    for name in NEEDED:
        shutil.copytree(PACKAGES / name, packages / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(PACKAGES / "py.py", packages)
    compile_dir(packages, quiet=2, invalidation_mode=PycInvalidationMode.UNCHECKED_HASH)
    toolchain = Mount(object=sandbox.store(folder_pack(packages)), target="/opt/toolchain")
    return Bench(sandbox=sandbox, toolchain=(toolchain,), python_path=("/opt/toolchain",), root=".", limits=_LIMITS)
