"""Evaluator `speedup`, protocol `self-reported`: a program's last line says how fast it is, and is believed.

Older benchmarks do it. What runs there is submitted code too, and can say what it likes: verdicts say `exit_code`, and
lint warns.
"""

import json
import re
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction

from evaluators.errors import EvaluatorError
from evaluators.exit_status import ExitStatus, build_exit_status, run_command
from evaluators.model import Assurance, Bench, Case, EvaluatorSpec, Submission, Verdict, VerdictCause
from evaluators.options import refuse_unknown
from evaluators.speed_options import read_scale
from evaluators.speed_ruling import bucket_of, score_of
from evaluators.speed_values import Scale
from evaluators.text import clean
from sandbox.termination import Cause, Termination

CASE = "the speed-up that was reported"
_NUMBER = re.compile(r"[0-9]{1,9}(\.[0-9]{1,30})?(e[+-]?[0-9]{1,2})?", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class SelfReported:
    """A command, and what the number that it prints is worth."""

    spec: EvaluatorSpec
    command: ExitStatus
    scale: Scale

    @property
    def id(self) -> str:
        """Name in the nomination."""
        return self.spec.id

    def digest(self) -> str:
        """SHA-256 over options and private files."""
        return self.command.digest()

    def expected_cases(self) -> tuple[str, ...]:
        """One case: what was reported."""
        return (CASE,)

    def judge(self, submission: Submission, bench: Bench) -> Verdict:
        """Judge one submission.

        Raises:
            EvaluatorError, SandboxError: a fault, before submitted code started.
        """
        result = run_command(self.command, submission, bench)
        verdict = rule(self.scale, result.stdout, result.termination)
        return replace(verdict, report=result.report, private_log=result.stdout + result.stderr)


def rule(scale: Scale, printed: bytes, end: Termination) -> Verdict:
    """Judge what a program printed and how it ended. Pure."""
    how = end.cause.value if end.status is None else f"{end.cause.value} {end.status}"
    ratio = reported(printed) if end.succeeded else None
    score = Decimal(0) if ratio is None else score_of(scale, bucket_of(scale, ratio))
    passed = ratio is not None and score >= scale.threshold
    cause = {Cause.EXIT: VerdictCause.FAILED, Cause.TIMEOUT: VerdictCause.TIMEOUT}.get(end.cause, VerdictCause.CRASHED)
    said = "no speed-up was reported" if ratio is None else "the reported speed-up is worth too little"
    detail = "" if passed else f"{said}; the command ended by {how}"
    return Verdict(
        cause=VerdictCause.PASSED if passed else cause,
        assurance=Assurance.EXIT_CODE,
        cases=(Case(id=CASE, passed=passed, detail=detail, ms=end.usage.wall_ms),),
        score=score,
        detail=clean(detail or "the speed-up that the program itself reports is enough"),
        duration_ms=end.usage.wall_ms,
    )


def reported(printed: bytes) -> Fraction | None:
    """Give the speed-up in the last line, `{"ok": true, "speedup": 3.2}`; None where there is none. Pure."""
    lines = printed.decode("utf-8", "replace").strip().splitlines()
    try:
        found = json.loads(lines[-1], parse_float=str, parse_constant=str) if lines else None
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or found.get("ok") is not True or isinstance(found.get("speedup"), bool):
        return None
    text = str(found.get("speedup"))
    return Fraction(text) if _NUMBER.fullmatch(text) else None


def build_self_reported(spec: EvaluatorSpec, frozen: object = None) -> SelfReported:
    """Read the options of this protocol.

    Raises:
        EvaluatorError: options or files are not what they must be.
    """
    if frozen is not None:
        raise EvaluatorError(f"evaluator {spec.id}: a calibration, which {spec.kind} has none of")
    refuse_unknown(spec, {"protocol", "argv", "files", "wall_s", "buckets", "pass_threshold"})
    own = {name: value for name, value in spec.options.items() if name in {"argv", "files", "wall_s"}}
    command = build_exit_status(replace(spec, options=own))
    return SelfReported(spec=spec, command=replace(command, spec=spec), scale=read_scale(spec))
