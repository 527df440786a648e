"""From runs of a submitted suite on versions of a module to a judgement. Pure.

The suite shares its process with the harness and can report what it likes. What it cannot do is know which version it
stands before, other than by that version's text or behaviour: so a report is believed, and what counts is only how
reports differ from version to version. A test counts if it passed in every run on the module itself; a mutant is killed
by such a test that failed, and by nothing else; one equivalent that is killed makes all of it worth nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal
from enum import StrEnum

from evaluators.channel import Phase, Transcript, passed
from evaluators.model import Assurance, Case, Verdict, VerdictCause
from evaluators.module_versions import Behaviour, Version
from evaluators.pytest_unit import SuiteRun
from evaluators.text import clean
from sandbox.termination import Cause

BASELINE = "tests that pass on the module"
"""The case that there are any."""

_PLACES = Decimal("0.000001")
_THROUGH = frozenset({0, 1})
"""What pytest ends with when every test was run."""


class Result(StrEnum):
    """What one test came to in one run."""

    PASSED = "passed"
    FAILED = "failed"
    NEITHER = "neither"
    """Skipped, expected to fail, or not through."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """One version, and the suite's run on it."""

    version: Version
    run: SuiteRun


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """What the runs on the module itself say of the tests."""

    right: frozenset[str]
    """Passed in each of these runs."""
    wrong: frozenset[str]
    """Failed in one of them, or passed in some alone."""

    @property
    def share(self) -> Decimal:
        """Give the right ones' part of both."""
        whole = len(self.right) + len(self.wrong)
        return Decimal(len(self.right)) / whole if whole else Decimal(0)


def results(transcript: Transcript) -> dict[str, Result]:
    """Give what every collected test came to."""
    phases: dict[str, list[Phase]] = {name: [] for name in transcript.collected or ()}
    for phase in transcript.phases:
        if phase.id in phases:
            phases[phase.id].append(phase)
    return {name: _result(seen) for name, seen in phases.items()}


def _result(seen: Sequence[Phase]) -> Result:
    if any(phase.outcome == "failed" for phase in seen):
        return Result.FAILED
    return Result.PASSED if passed(seen) else Result.NEITHER


def baseline(runs: Sequence[Mapping[str, Result]]) -> Baseline:
    """Compare the runs on the module. What is skipped in all of them is neither right nor wrong."""
    ids = {name for run in runs for name in run}
    found = {name: {run.get(name, Result.NEITHER) for run in runs} for name in ids}
    right = frozenset(name for name, seen in found.items() if seen == {Result.PASSED})
    return Baseline(
        right=right, wrong=frozenset(name for name, seen in found.items() if seen != {Result.NEITHER}) - right
    )


def refusal(run: SuiteRun) -> tuple[VerdictCause, str] | None:
    """Say why a suite is worth nothing, from its first run on the module; None where it may be worth something."""
    transcript = run.transcript
    early = _early_end(run)
    if early is not None:
        return early
    if transcript.troubles:
        return VerdictCause.REJECTED, f"the suite cannot be imported: {transcript.troubles[0]}"
    if transcript.status not in _THROUGH:
        return VerdictCause.REJECTED, f"pytest ended with status {transcript.status}: there is no suite that runs"
    if Result.PASSED not in results(transcript).values():
        return VerdictCause.FAILED, "no test passes on the module"
    return None


def _early_end(run: SuiteRun) -> tuple[VerdictCause, str] | None:
    end = run.termination
    if run.transcript.forged is not None:
        return VerdictCause.TAMPERED, run.transcript.forged
    if end.cause is Cause.TIMEOUT:
        return VerdictCause.TIMEOUT, "the suite did not end in time on the module"
    if not end.succeeded or run.transcript.status is None:
        how = end.cause.value if end.status is None else f"{end.cause.value} {end.status}"
        return VerdictCause.CRASHED, f"the suite's process ended early on the module, by {how}"
    return None


def refused(cases: Sequence[str], cause: VerdictCause, detail: str) -> Verdict:
    """Give the verdict on a suite that is worth nothing."""
    return _verdict(cause, tuple(Case(id=name, passed=False) for name in cases), Decimal(0), detail)


def rule(ran: Sequence[Ran], cases: Sequence[str], threshold: Decimal) -> Verdict:
    """Judge all runs; `cases` gives the order in which they are told. At least one run is on the module itself."""
    forged = next((each.run.transcript.forged for each in ran if each.run.transcript.forged is not None), None)
    if forged is not None:
        return refused(cases, VerdictCause.TAMPERED, forged)
    found = baseline([results(each.run.transcript) for each in _of(ran, Behaviour.CORRECT)])
    told = {each.version.case: _case(each, found) for each in ran if each.version.behaviour is not Behaviour.CORRECT}
    told[BASELINE] = _baseline_case(found)
    mutants = [told[each.version.case] for each in _of(ran, Behaviour.MUTANT)]
    spared = all(told[each.version.case].passed for each in _of(ran, Behaviour.EQUIVALENT))
    killed = sum(case.passed for case in mutants)
    points = Decimal(killed) / len(mutants) * found.share if spared else Decimal(0)
    points = points.quantize(_PLACES, ROUND_HALF_EVEN).normalize()
    cause = VerdictCause.PASSED if spared and points >= threshold else VerdictCause.FAILED
    said = f"{killed} of {len(mutants)} mutants killed, {len(found.right)} of {_count(found)} tests right"
    if not spared:
        said += "; a version that behaves as the module does was taken for a mutant, so nothing counts"
    return _verdict(cause, tuple(told[name] for name in cases), points, said)


def _of(ran: Sequence[Ran], behaviour: Behaviour) -> list[Ran]:
    return [each for each in ran if each.version.behaviour is behaviour]


def _count(found: Baseline) -> int:
    return len(found.right) + len(found.wrong)


def _case(each: Ran, found: Baseline) -> Case:
    """Say of a mutant whether it was killed, of an equivalent whether it was spared."""
    seen = results(each.run.transcript)
    killers = [name for name in seen if name in found.right and seen[name] is Result.FAILED]
    is_mutant = each.version.behaviour is Behaviour.MUTANT
    detail = f"{len(killers)} tests failed, first {killers[0]}" if killers else _quiet(each.run)
    return Case(
        id=each.version.case,
        passed=bool(killers) is is_mutant,
        detail=clean(detail),
        ms=each.run.termination.usage.wall_ms,
    )


def _quiet(run: SuiteRun) -> str:
    """Say how a run ended in which no test failed."""
    end = run.termination
    if end.cause is Cause.EXIT and run.transcript.status is not None and not run.transcript.troubles:
        return "no test failed"
    why = "the suite could not be imported" if run.transcript.troubles else f"the process ended by {end.cause}"
    return f"no test failed; {why}, which kills nothing"


def _baseline_case(found: Baseline) -> Case:
    detail = f"wrong: {', '.join(sorted(found.wrong))}" if found.wrong else ""
    return Case(id=BASELINE, passed=bool(found.right), detail=clean(detail))


def _verdict(cause: VerdictCause, cases: tuple[Case, ...], points: Decimal, detail: str) -> Verdict:
    return Verdict(cause=cause, assurance=Assurance.IN_PROCESS, cases=cases, score=points, detail=clean(detail))
