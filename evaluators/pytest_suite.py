"""Evaluator `pytest`: a hidden test suite, run disguised in one process with the submitted code.

The driver stands outside: it makes the disguised modules, starts the unit, and alone knows which test is a
twin. The harness (pytest_harness.py) runs inside and only tells what happened.
"""

import base64
import hashlib
import json
import random
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

from evaluators.calibration import (
    Calibration,
    ProvenTwin,
    calibrate,
    calibration_document,
    parse_calibration,
)
from evaluators.channel import read_channel
from evaluators.digests import digest_of, file_digests
from evaluators.errors import EvaluatorError
from evaluators.model import Bench, EvaluatorSpec, Submission, Verdict
from evaluators.options import as_values, read_names, read_texts, read_wall, refuse_unknown
from evaluators.packing import pack_files
from evaluators.private_files import PrivateFiles, read_private_files
from evaluators.pytest_ruling import Run, check_it_started, rule
from evaluators.twins import VERSION, Disguise, Twin, disguise, find_twins, pick
from sandbox import unit
from sandbox.api import WorkspaceRequest
from sandbox.spec import KIB, MIB, PYTHON, WORKSPACE_ROOT, Limits, Mount, Role, UnitSpec

HARNESS = Path(__file__).with_name("pytest_harness.py")
HARNESS_TARGET = "/opt/harness"

EXPECTATIONS = ("fail_to_pass", "pass_to_pass")
"""Options that name cases which the base must fail or pass; every case must pass with the solution anyway."""

_ROUNDS = 3
_KEY_BYTES = 32
_ENVIRONMENT = (("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1"),)


@dataclass(frozen=True, slots=True, kw_only=True)
class PytestSuite:
    """A hidden suite. Without its calibration it can be calibrated, but judges nothing."""

    spec: EvaluatorSpec
    files: PrivateFiles
    harness: bytes
    plugins: tuple[str, ...] = ()
    wall: timedelta | None = None
    calibration: Calibration | None = None

    @property
    def id(self) -> str:
        """Name in the nomination."""
        return self.spec.id

    def digest(self) -> str:
        """SHA-256 over harness, private files, options, expected cases and the way twins are made."""
        contents = file_digests(self.files.contents())
        whole = {
            "kind": self.spec.kind,
            "harness": hashlib.sha256(self.harness).hexdigest(),
            "twins": VERSION,
            "files": contents,
            "options": as_values(self.spec.options),
            "calibration": None if self.calibration is None else calibration_document(self.calibration),
        }
        return digest_of(whole)

    def expected_cases(self) -> tuple[str, ...]:
        """Ids of the hidden cases, in order."""
        return self._calibrated().cases

    def calibrate(self, solution: Submission, bench: Bench) -> dict[str, object]:
        """Learn from runs on the solution which cases there are and which twins fail; give it as JSON values.

        Raises:
            EvaluatorError: the suite cannot be used as it is.
            SandboxError: a fault.
        """
        twins = find_twins(self.files.sources)
        rounds = []
        for _ in range(_ROUNDS):
            run, printed = self._run(twins, (), solution, bench)
            check_it_started(run, printed)
            if not run.termination.succeeded or run.transcript.forged or run.transcript.status not in {0, 1, 2}:
                end = run.termination
                raise EvaluatorError(f"the suite on the solution ended by {end.cause} {end.status}: {end.detail}")
            rounds.append((run.disguise, run.transcript))
        return calibration_document(calibrate(rounds))

    def calibrated(self, frozen: object) -> "PytestSuite":
        """Give the suite with what `calibrate` gave at freeze; None leaves it as it is.

        Raises:
            EvaluatorError: it is no calibration.
        """
        return self if frozen is None else replace(self, calibration=parse_calibration(frozen))

    def judge(self, submission: Submission, bench: Bench) -> Verdict:
        """Judge one submission.

        Raises:
            EvaluatorError, SandboxError: a fault, before submitted code started.
        """
        calibration = self._calibrated()
        chosen = _choose(calibration.twins, secrets.SystemRandom())
        run, printed = self._run([each.twin for each in chosen], chosen, submission, bench)
        check_it_started(run, printed)
        verdict = rule(calibration, run)
        wall_ms = run.termination.usage.wall_ms
        return replace(verdict, duration_ms=wall_ms, private_log=printed, report=run.report)

    def _calibrated(self) -> Calibration:
        if self.calibration is None:
            raise EvaluatorError(f"evaluator {self.id} was never calibrated on the solution: freeze with controls")
        return self.calibration

    def _run(
        self, twins: Sequence[Twin], chosen: tuple[ProvenTwin, ...], submission: Submission, bench: Bench
    ) -> tuple[Run, bytes]:
        made = disguise(self.files.sources, twins, secrets.SystemRandom())
        key = secrets.token_bytes(_KEY_BYTES)
        limits = self._limits(bench.limits, made, len(twins))
        harness = bench.sandbox.store(pack_files({HARNESS.name: self.harness}))
        request = WorkspaceRequest(layers=submission.base, limits=limits, lay=submission.change)
        with bench.sandbox.workspace(request) as workspace:
            spec = UnitSpec(
                role=Role.SUBMITTED,
                argv=_argv(),
                limits=limits,
                environment=(*_ENVIRONMENT, *bench.surroundings),
                workspace=workspace,
                mounts=(Mount(object=harness, target=HARNESS_TARGET), *bench.toolchain),
            )
            result = unit.run(bench.sandbox, spec, stdin=self._task(made, key, bench))
        transcript = read_channel(result.stdout, key)
        run = Run(
            disguise=made,
            chosen=chosen,
            transcript=transcript,
            termination=result.termination,
            report=result.report,
        )
        return run, result.stderr

    def _limits(self, limits: Limits, made: Disguise, twins: int) -> Limits:
        """Give the time for as many tests as there are, and room on the channel for what they report."""
        wall = self.wall or limits.wall
        tests = max(1, len(made.tests))
        return replace(
            limits,
            wall=wall * (1 + twins / tests) if twins > tests else wall,
            output_bytes=max(limits.output_bytes, 8 * MIB + (tests + twins) * 8 * KIB),
        )

    def _task(self, made: Disguise, key: bytes, bench: Bench) -> bytes:
        modules = {path: text.encode() for path, text in made.modules.items()}
        files = {**self.files.others, **modules}
        task = {
            "key": key.hex(),
            "files": {path: base64.b64encode(content).decode() for path, content in files.items()},
            "modules": sorted(modules),
            "plugins": list(self.plugins),
            "toolchain": list(bench.python_path),
            "imports": list(import_folders(bench)),
            "directory": WORKSPACE_ROOT,
        }
        return json.dumps(task).encode()


def import_folders(bench: Bench) -> tuple[str, ...]:
    """Give the folders that submitted code is imported from, as the unit sees them."""
    paths = bench.import_paths or (bench.root,)
    return tuple(WORKSPACE_ROOT if path == "." else f"{WORKSPACE_ROOT}/{path}" for path in paths)


def _argv() -> tuple[str, ...]:
    # -I and -S: no environment, no site folders, no working directory on the path; -B: no bytecode written.
    return (PYTHON, "-I", "-S", "-B", f"{HARNESS_TARGET}/{HARNESS.name}")


def _choose(twins: tuple[ProvenTwin, ...], dice: random.Random) -> tuple[ProvenTwin, ...]:
    picked = set(pick([each.twin for each in twins], dice))
    return tuple(each for each in twins if each.twin in picked)


def build_pytest_suite(spec: EvaluatorSpec, frozen: object = None) -> PytestSuite:
    """Read a suite's options and private files; `frozen` is what `calibrate` gave at freeze.

    Raises:
        EvaluatorError: options, files or calibration are not what they must be.
    """
    refuse_unknown(spec, {"wall_s", "plugins", *EXPECTATIONS})
    for field in EXPECTATIONS:
        read_texts(spec, field)
    suite = PytestSuite(
        spec=spec,
        files=read_private_files(spec.folder),
        harness=HARNESS.read_bytes(),
        plugins=read_names(spec, "plugins"),
        wall=read_wall(spec),
    )
    return suite.calibrated(frozen)
