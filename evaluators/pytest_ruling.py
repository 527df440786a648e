"""From a suite's transcript and its unit's end to a judgement. Pure.

The order of the questions is the contract: was anything forged, did the process reach its end, did it run exactly the
expected cases, did they pass. Whatever cannot be answered is never a pass. The score is 1 or 0: in one process with its
tests, a submission that guesses which of each pair is the twin would get half of any score by parts, and no pass.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from evaluators.calibration import Calibration, ProvenTwin
from evaluators.channel import PHASES, Phase, Transcript, passed
from evaluators.model import Assurance, Case, Verdict, VerdictCause
from evaluators.text import clean
from evaluators.twins import Disguise, Twin
from sandbox.termination import Cause, Termination

Key = tuple[str, Twin | None]
Ran = Mapping[Key, Sequence[Phase]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run of a disguised suite."""

    disguise: Disguise
    chosen: tuple[ProvenTwin, ...]
    transcript: Transcript
    termination: Termination


def rule(calibration: Calibration, run: Run) -> Verdict:
    """Judge one run."""
    ran, contradiction = _arranged(run)
    cases = tuple(_case(case, ran.get((case, None), ()), run.disguise) for case in calibration.cases)
    tampering = run.transcript.forged or contradiction or _impossible_pair(run, ran) or _miscounted(run, ran)
    if tampering:
        return _verdict(VerdictCause.TAMPERED, tuple(Case(id=case.id, passed=False) for case in cases), tampering)
    early = _early_end(run)
    if early is not None:
        cause, reason = early
        return _verdict(cause, cases, reason)
    strayed = _strayed(calibration, run)
    if strayed:
        return _verdict(VerdictCause.REJECTED, cases, strayed)
    failed = sum(not case.passed for case in cases)
    if failed or not cases:
        return _verdict(VerdictCause.FAILED, cases, f"{failed} of {len(cases)} hidden tests failed")
    return _verdict(VerdictCause.PASSED, cases, f"all {len(cases)} hidden tests passed")


def _verdict(cause: VerdictCause, cases: tuple[Case, ...], detail: str) -> Verdict:
    return Verdict(
        cause=cause,
        assurance=Assurance.IN_PROCESS,
        cases=cases,
        score=Decimal(cause is VerdictCause.PASSED),
        detail=clean(detail),
    )


def _arranged(run: Run) -> tuple[Ran, str | None]:
    """Give every case's phases, and what among them the harness cannot have reported."""
    ran: dict[Key, list[Phase]] = {run.disguise.original(case): [] for case in run.transcript.collected or ()}
    for phase in run.transcript.phases:
        known = ran.get(run.disguise.original(phase.id))
        if known is None or phase.when not in PHASES:
            return ran, "a result was reported for a test that was never collected"
        if not phase.part and phase.when in {each.when for each in known if not each.part}:
            return ran, "one test's result was reported twice"
        if phase.raised and phase.outcome == "passed":
            return ran, "a test that raised was reported as passed"
        known.append(phase)
    return ran, None


def _impossible_pair(run: Run, ran: Ran) -> str | None:
    for proven in run.chosen:
        for case in proven.cases:
            if case.of is None:
                continue
            both = ran.get((case.id, proven.twin), ()), ran.get((case.of, None), ())
            if passed(both[0]) and passed(both[1]):
                return f"{case.of} passed, and so did its twin, which cannot pass with it"
    return None


def _miscounted(run: Run, ran: Ran) -> str | None:
    failures = any(phase.outcome == "failed" for phases in ran.values() for phase in phases)
    if run.transcript.status == 0 and failures:
        return "pytest counted no failure, but failures were reported"
    return None


def _early_end(run: Run) -> tuple[VerdictCause, str] | None:
    end = run.termination
    if end.cause is Cause.TIMEOUT:
        return VerdictCause.TIMEOUT, "the hidden tests did not end in time"
    if end.cause is not Cause.EXIT:
        what = f"{end.cause} {end.status}" if end.status is not None else f"{end.cause}"
        return VerdictCause.CRASHED, f"the process of the hidden tests ended by {what}"
    if run.transcript.status is None or end.status != 0:
        return VerdictCause.CRASHED, f"the process of the hidden tests ended early, with status {end.status}"
    return None


def _strayed(calibration: Calibration, run: Run) -> str | None:
    """Say how the collected cases differ from the expected ones."""
    expected: set[Key] = {(case, None) for case in calibration.cases}
    expected |= {(case.id, proven.twin) for proven in run.chosen for case in proven.cases}
    collected = [run.disguise.original(case) for case in run.transcript.collected or ()]
    if run.transcript.troubles:
        return f"hidden tests could not be imported: {run.disguise.readable(run.transcript.troubles[0])}"
    missing, extra = len(expected - set(collected)), len(set(collected) - expected)
    if missing or extra or len(collected) != len(expected):
        return f"the suite that ran is not the expected one: {missing} missing, {extra} extra"
    if run.transcript.status not in {0, 1}:
        return f"pytest gave up with status {run.transcript.status}"
    return None


def _case(case: str, phases: Sequence[Phase], disguise: Disguise) -> Case:
    if not phases:
        return Case(id=case, passed=False, detail="never ran")
    ms = sum(phase.ms for phase in phases if not phase.part)
    if passed(phases):
        return Case(id=case, passed=True, ms=ms)
    for phase in phases:
        if phase.outcome != "passed" or phase.expected_failure:
            reason = "expected failure" if phase.expected_failure else phase.outcome
            detail = clean(f"{phase.when} {reason}: {disguise.readable(phase.detail)}")
            return Case(id=case, passed=False, ms=ms, detail=detail)
    return Case(id=case, passed=False, ms=ms, detail=f"ended after its {phases[-1].when}")
