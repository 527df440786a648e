"""A hidden suite, its calibration and a bench over a sandbox without walls."""

from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest

from evaluators.model import Bench, EvaluatorSpec, Submission, Verdict
from evaluators.packing import pack_files
from evaluators.pytest_suite import PytestSuite, build_pytest_suite
from sandbox.spec import Limits, Mount, ObjectId
from tests.fakes import PlainSandbox
from tests.forgeries import HIDDEN, RIGHT, WRONG

PACKAGES = Path(pytest.__file__).parent.parent


@dataclass(frozen=True, kw_only=True)
class Court:
    """What a test needs to have submissions judged."""

    suite: PytestSuite
    bench: Bench
    base: ObjectId

    def submission(self, tree: dict[str, bytes]) -> Submission:
        return Submission(base=(self.base,), change=pack_files(tree), tree_digest="0" * 64)

    def judge(self, tree: dict[str, bytes]) -> Verdict:
        return self.suite.judge(self.submission(tree), self.bench)


def plain_bench(sandbox: PlainSandbox, wall_seconds: float = 60.0) -> Bench:
    toolchain = Mount(object=sandbox.adopt(PACKAGES), target="/opt/toolchain")
    return Bench(
        sandbox=sandbox,
        toolchain=(toolchain,),
        python_path=("/opt/toolchain",),
        root=".",
        limits=Limits(wall=timedelta(seconds=wall_seconds)),
    )


def hidden_folder(folder: Path, files: dict[str, str] | None = None) -> Path:
    private = folder / "private"
    for name, text in (files or {"test_calc.py": HIDDEN}).items():
        path = private / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return private


def spec_of(private: Path, **options: object) -> EvaluatorSpec:
    return EvaluatorSpec(id="hidden", kind="pytest", options=options, folder=private)


def open_court(folder: Path, files: dict[str, str] | None = None, wall_seconds: float = 60.0) -> Court:
    sandbox = PlainSandbox(folder / "sandbox")
    sandbox.folder.mkdir()
    base = sandbox.store(pack_files({"calc.py": WRONG.encode()}))
    spec = spec_of(hidden_folder(folder, files))
    court = Court(suite=build_pytest_suite(spec), bench=plain_bench(sandbox, wall_seconds), base=base)
    solution = court.submission({"calc.py": RIGHT.encode()})
    frozen = court.suite.calibrate(solution, court.bench)
    return Court(suite=build_pytest_suite(spec, frozen), bench=court.bench, base=base)


def no_bench() -> Bench:
    """Give a bench for evaluators that run nothing."""
    limits = Limits(wall=timedelta(seconds=1))
    return Bench(sandbox=PlainSandbox(Path("/nonexistent")), toolchain=(), python_path=(), root=".", limits=limits)
