"""Evaluator `pytest`: a hidden test suite, run disguised in one process with the submitted code.

The driver stands outside: it makes the disguised modules, has them run, and alone knows which test is a twin. The
harness (pytest_harness.py) runs inside and only tells what happened.
"""

import hashlib
import random
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from evaluators.calibration import (
    Calibration,
    ProvenTwin,
    calibrate,
    calibration_document,
    parse_calibration,
)
from evaluators.digests import digest_of, file_digests
from evaluators.errors import EvaluatorError
from evaluators.model import Bench, EvaluatorSpec, Submission, Verdict
from evaluators.options import as_values, read_names, read_texts, read_wall, refuse_unknown
from evaluators.private_files import PrivateFiles, read_private_files
from evaluators.pytest_ruling import Run, rule
from evaluators.pytest_unit import HARNESS, Suite, SuiteRun, run_suite
from evaluators.twins import VERSION, Disguise, Twin, disguise, find_twins, pick
from sandbox.api import WorkspaceRequest
from sandbox.spec import KIB, MIB, Limits

EXPECTATIONS = ("fail_to_pass", "pass_to_pass")
"""Options that name cases which the base must fail or pass; every case must pass with the solution anyway."""

_ROUNDS = 3


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
            run, _ = self._run(twins, (), solution, bench)
            if not run.termination.succeeded or run.transcript.forged or run.transcript.status not in {0, 1, 2}:
                end = run.termination
                raise EvaluatorError(f"the suite on the solution ended by {end.cause} {end.status}: {end.detail}")
            rounds.append((run.disguise, run.transcript))
        return calibration_document(calibrate(rounds))

    def run_plainly(self, submission: Submission, bench: Bench) -> Run:
        """Run the suite once without twins: who asks decides about nothing by it, and nobody forges the answer.

        Raises:
            EvaluatorError, SandboxError: a fault, before submitted code started.
        """
        return self._run((), (), submission, bench)[0]

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
        run, ran = self._run([each.twin for each in chosen], chosen, submission, bench)
        verdict = rule(calibration, run)
        wall_ms = run.termination.usage.wall_ms
        return replace(verdict, duration_ms=wall_ms, private_log=ran.printed, report=ran.report)

    def _calibrated(self) -> Calibration:
        if self.calibration is None:
            raise EvaluatorError(f"evaluator {self.id} was never calibrated on the solution: freeze with controls")
        return self.calibration

    def _run(
        self, twins: Sequence[Twin], chosen: tuple[ProvenTwin, ...], submission: Submission, bench: Bench
    ) -> tuple[Run, SuiteRun]:
        made = disguise(self.files.sources, twins, secrets.SystemRandom())
        limits = self._limits(bench.limits, made, len(twins))
        modules = {path: text.encode() for path, text in made.modules.items()}
        suite = Suite(
            harness={HARNESS.name: self.harness},
            modules=tuple(sorted(modules)),
            files={**self.files.others, **modules},
            plugins=self.plugins,
        )
        request = WorkspaceRequest(layers=submission.base, limits=limits, lay=submission.change)
        ran = run_suite(suite, request, bench)
        run = Run(disguise=made, chosen=chosen, transcript=ran.transcript, termination=ran.termination)
        return run, ran

    def _limits(self, limits: Limits, made: Disguise, twins: int) -> Limits:
        """Give the time for as many tests as there are, and room on the channel for what they report."""
        wall = self.wall or limits.wall
        tests = max(1, len(made.tests))
        return replace(
            limits,
            wall=wall * (1 + twins / tests) if twins > tests else wall,
            output_bytes=max(limits.output_bytes, 8 * MIB + (tests + twins) * 8 * KIB),
        )


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
