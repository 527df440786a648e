"""From what a driver reported to a judgement. Pure.

The driver is ours, and yet what it reports may follow from what submitted code answered: a case nobody declared, or one
reported twice, is never a pass.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal

from evaluators.errors import EvaluatorError
from evaluators.model import Assurance, Case, Verdict, VerdictCause
from evaluators.split import Conversation
from evaluators.split_frames import Frame
from evaluators.text import clean
from sandbox.termination import Cause, Termination

_PLACES = Decimal("0.000001")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """The declared cases in order, what each is worth, and the part of the whole that passes."""

    weights: Mapping[str, int]
    threshold: Decimal = Decimal(1)


def rule(scale: Scale, talk: Conversation) -> Verdict:
    """Judge one conversation.

    Raises:
        EvaluatorError: the driver never started.
    """
    if not any(each.get("tell") == "started" for each in talk.told):
        raise EvaluatorError(f"the driver did not start: {clean(talk.driver_log[-1000:].decode(errors='replace'))}")
    if talk.forged is not None:
        return _nothing(scale, VerdictCause.TAMPERED, f"the submitted side sent {talk.forged}")
    reported = tuple(_reported(talk.told))
    strange = _late(talk.told) or _strange(scale, [case.id for case in reported])
    if strange is not None:
        return refuse(scale, strange)
    known = {case.id: case for case in reported}
    never = "never reported"
    cases = tuple(known.get(name) or Case(id=name, passed=False, detail=never) for name in scale.weights)
    points = _points(scale, cases)
    cause, detail = _cause(talk, is_enough=points >= scale.threshold)
    passed = sum(case.passed for case in cases)
    said = f"{passed} of {len(cases)} checks passed" + (f"; {detail}" if detail else "")
    return _verdict(cause, cases, points, said)


def _reported(told: tuple[Frame, ...]) -> Iterator[Case]:
    for each in told:
        match each:
            case {"tell": "case", "id": str(name), "passed": bool(passed), "detail": str(detail)}:
                yield Case(id=name, passed=passed, detail="" if passed else clean(detail), ms=_ms(each.get("ms")))


def _ms(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _late(told: tuple[Frame, ...]) -> str | None:
    is_late = any(each.get("tell") == "done" for each in told[:-1])
    return "the driver reported more after it was through" if is_late else None


def _strange(scale: Scale, ids: list[str]) -> str | None:
    extra = [each for each in ids if each not in scale.weights]
    if extra:
        return f"a case was reported that nobody declared: {extra[0]}"
    return "a case was reported twice" if len(set(ids)) < len(ids) else None


def _points(scale: Scale, cases: tuple[Case, ...]) -> Decimal:
    earned = sum(scale.weights[case.id] for case in cases if case.passed)
    return (Decimal(earned) / sum(scale.weights.values())).quantize(_PLACES, ROUND_HALF_EVEN).normalize()


def _cause(talk: Conversation, *, is_enough: bool) -> tuple[VerdictCause, str]:
    trouble = next((str(each.get("detail")) for each in talk.told if each.get("tell") == "trouble"), None)
    is_through = any(each.get("tell") == "done" for each in talk.told)
    if is_through and talk.driver.succeeded and is_enough:
        return VerdictCause.PASSED, ""
    for who, end in (("the driver", talk.driver), ("the submitted side", talk.submitted)):
        if end is not None and not _is_quiet(end):
            what = end.cause.value if end.status is None else f"{end.cause.value} {end.status}"
            timed = end.cause is Cause.TIMEOUT
            return VerdictCause.TIMEOUT if timed else VerdictCause.CRASHED, f"{who} ended by {what}"
    return VerdictCause.FAILED, "" if trouble is None else f"the driver ended early: {trouble}"


def _is_quiet(end: Termination) -> bool:
    return end.succeeded or end.cause is Cause.KILLED


def refuse(scale: Scale, detail: str) -> Verdict:
    """Give the verdict on what cannot be judged as it is."""
    return _nothing(scale, VerdictCause.REJECTED, detail)


def _nothing(scale: Scale, cause: VerdictCause, detail: str) -> Verdict:
    return _verdict(cause, tuple(Case(id=name, passed=False) for name in scale.weights), Decimal(0), detail)


def _verdict(cause: VerdictCause, cases: tuple[Case, ...], points: Decimal, detail: str) -> Verdict:
    return Verdict(cause=cause, assurance=Assurance.SPLIT, cases=cases, score=points, detail=clean(detail))
