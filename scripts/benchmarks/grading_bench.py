"""A grading by a hidden pytest suite less its tests; a hundred sealed submissions graded again less their units."""

import json
import shutil
import tempfile
import time
from compileall import compile_dir
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from py_compile import PycInvalidationMode

from figures import Figure, Measured
from rooms import patient_sandbox, state_folder

from evaluators.model import Bench
from evaluators.packing import pack_files
from evaluators.pytest_suite import build_pytest_suite
from sandbox.client import KeeperSandbox
from sandbox.spec import MIB, Limits, Mount
from tests.flow.bench import CONFIG, write_bench
from tests.forgeries import RIGHT, WRONG
from tests.systemd.test_pytest_suite import NEEDED, folder_pack
from tests.unit.evaluators.judging import PACKAGES, Court, hidden_folder, spec_of

_ROUNDS = 15
_MOST_MS = 300.0
_SUBMISSIONS, _GRADINGS = 20, 100
_MOST_OF_UNITS = 2.0
"""Whole time by the time of the units: what is left is reading, laying, sealing, and the start of two units each."""

_RELEASE = CONFIG | {"attempts": _SUBMISSIONS, "candidates": [{"id": "oracle", "agent": "oracle"}]}
_LIMITS = Limits(wall=timedelta(seconds=20), memory_bytes=512 * MIB, disk_bytes=64 * MIB, disk_inodes=5000)


def figures() -> list[Figure]:
    """Grade one submission again and again; the suite's own tests are the other side."""
    with tempfile.TemporaryDirectory() as scratch, state_folder() as state, patient_sandbox(state) as sandbox:
        court = _court(sandbox, Path(scratch))
        submission = court.submission({"calc.py": RIGHT.encode()})
        whole, tests = [], []
        for _ in range(_ROUNDS):
            started = time.perf_counter()
            verdict = court.suite.judge(submission, court.bench)
            whole.append(time.perf_counter() - started)
            if not verdict.passed:
                raise RuntimeError(f"the right submission did not pass: {verdict.detail}")
            tests.append(max(1, sum(case.ms or 0 for case in verdict.cases)) / 1000)
    return [
        _again(),
        Figure(
            what="grading: pytest, and its tests alone",
            ours=Measured(name="judge", seconds=tuple(whole)),
            theirs=Measured(name="tests", seconds=tuple(tests)),
            most_added_ms=_MOST_MS,
        ),
    ]


def _again() -> Figure:
    """Grade a hundred submissions again by the command; what their units took is the other side."""
    with state_folder() as folder:
        bench = write_bench(folder / "checkout", _RELEASE)
        for command in ("freeze", "pilot"):
            said = bench.run(command)
            if said.code:
                raise RuntimeError(f"runner {command} ended with {said.code}: {said.err}")
        names = [f"oracle/clamp/attempt-{number}" for number in range(1, _SUBMISSIONS + 1)]
        started = time.perf_counter()
        said = bench.run("evaluate", *(names * (_GRADINGS // _SUBMISSIONS)))
        took = time.perf_counter() - started
        if said.code:
            raise RuntimeError(f"runner evaluate ended with {said.code}: {said.err}")
        found = bench.store.glob("**/gradings/grading-*/grading.json")
        gradings = [json.loads(file.read_bytes()) for file in found if file.parent.name != "grading-1"]
    units = sum(each["wall_ms"] for one in gradings for each in one["phases"].values() if each is not None) / 1000
    return Figure(
        what=f"grading: {len(gradings)} sealed submissions again, one, and its units alone",
        ours=Measured(name="runner evaluate", seconds=(took / len(gradings),)),
        theirs=Measured(name="units", seconds=(units / len(gradings),)),
        most=_MOST_OF_UNITS,
    )


def _court(sandbox: KeeperSandbox, folder: Path) -> Court:
    packages = folder / "packages"
    for name in NEEDED:
        shutil.copytree(PACKAGES / name, packages / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(PACKAGES / "py.py", packages)
    compile_dir(packages, quiet=2, invalidation_mode=PycInvalidationMode.UNCHECKED_HASH)
    toolchain = Mount(object=sandbox.store(folder_pack(packages)), target="/opt/toolchain")
    bench = Bench(sandbox=sandbox, toolchain=(toolchain,), python_path=("/opt/toolchain",), root=".", limits=_LIMITS)
    spec = spec_of(hidden_folder(folder))
    court = Court(
        suite=build_pytest_suite(spec), bench=bench, base=sandbox.store(pack_files({"calc.py": WRONG.encode()}))
    )
    frozen = court.suite.calibrate(court.submission({"calc.py": RIGHT.encode()}), bench)
    return replace(court, suite=build_pytest_suite(spec, frozen))
