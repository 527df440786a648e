"""A submitted suite against every version of its module: one unit after another, and two at a time."""

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
from sandbox.spec import MIB, Limits, Mount
from tests.systemd.test_pytest_suite import NEEDED, folder_pack
from tests.unit.evaluators.judging import PACKAGES

_NOMINATION = Path(__file__).resolve().parents[2] / "config/nominations/page-ranges"
_ROUNDS = 5
_LEAST = 1.7
_LIMITS = Limits(wall=timedelta(seconds=60), memory_bytes=512 * MIB, disk_bytes=64 * MIB, disk_inodes=8192)


def figures() -> list[Figure]:
    """Judge the reference suite of a shipped nomination, in turn with one unit at a time and with two."""
    with tempfile.TemporaryDirectory() as scratch, state_folder() as state, patient_sandbox(state) as sandbox:
        submission = _submission(sandbox, Path(scratch))
        evaluator = build_mutation(_spec())
        alone = _bench(sandbox, Path(scratch))
        took: dict[int, list[float]] = {1: [], 2: []}
        for _ in range(_ROUNDS):
            for units, times in took.items():
                started = time.perf_counter()
                verdict = evaluator.judge(submission, replace(alone, units_at_once=units))
                times.append(time.perf_counter() - started)
                if not verdict.passed:
                    raise RuntimeError(f"the reference suite did not pass: {verdict.detail}")
    return [
        Figure(
            what=f"mutation: {len(evaluator.versions)} versions, two units at a time",
            ours=Measured(name="two", seconds=tuple(took[2])),
            theirs=Measured(name="one", seconds=tuple(took[1])),
            least=_LEAST,
        )
    ]


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
        change=pack_files({test: (whole / test).read_bytes()}),
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
