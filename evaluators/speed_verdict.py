"""From right answers and times to a verdict about speed, the same for every protocol. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from evaluators.interview import Interview
from evaluators.model import Assurance, Case, Verdict, VerdictCause
from evaluators.plain_equal import is_same
from evaluators.speed_calls import OPENING, Failure, Plan, told
from evaluators.speed_options import SpeedOptions
from evaluators.speed_ruling import interval_text, score_of, times_text
from evaluators.speed_values import Measurement
from evaluators.text import clean

RIGHT, PURE = "right answers", "arguments left as they are"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """The cases that a verdict about speed has."""

    options: SpeedOptions

    def correctness(self) -> tuple[str, ...]:
        """Ids of what comes before any time."""
        return (RIGHT, PURE) if self.options.pure else (RIGHT,)

    def buckets(self) -> dict[Decimal, str]:
        """Boundaries and the ids of their cases."""
        return {each: f"at least {each} times as fast" for each in self.options.scale.buckets}

    def expected(self) -> tuple[str, ...]:
        """Give every id, in order."""
        return (*self.correctness(), *self.buckets().values())


def oracle_cases(found: Interview, plan: Plan, *, pure: bool) -> tuple[Case, ...]:
    """Judge the answers to oracle cases."""
    frames = [each.frame for each in found.replies[OPENING:]]
    right, said = 0, ""
    for frame, each in zip(frames, plan.oracle, strict=False):
        failure = told(frame)
        if failure is None and is_same(frame["value"], each.expected):
            right += 1
        elif not said:
            said = "an answer is wrong" if failure is None else failure.detail
    kept = sum(is_same(frame.get("after"), each.args) for frame, each in zip(frames, plan.oracle, strict=False))
    wrong = "" if right == len(plan.oracle) else f"{right} of {len(plan.oracle)} answers are right; {said}"
    cases = [Case(id=RIGHT, passed=not wrong, detail=clean(wrong))]
    if pure:
        changed = "" if kept == len(plan.oracle) else "a call changes its arguments"
        cases.append(Case(id=PURE, passed=not changed, detail=changed))
    return tuple(cases)


def speed_verdict(
    judged: Judged,
    *,
    cases: Sequence[Case],
    failure: Failure | None = None,
    measured: Measurement | None = None,
) -> Verdict:
    """Give the verdict. Without a measurement there is no bucket, whatever else holds."""
    scale = judged.options.scale
    known = {case.id: case for case in cases}
    never = "never came to it"
    first = tuple(known.get(name) or Case(id=name, passed=False, detail=never) for name in judged.correctness())
    if failure is not None and all(case.passed for case in first):
        first = (Case(id=RIGHT, passed=False, detail=clean(failure.detail)), *first[1:])
    buckets = tuple(_buckets(judged, measured))
    score = Decimal(0) if measured is None else score_of(scale, measured.bucket)
    cause = VerdictCause.PASSED if measured is not None and score >= scale.threshold else VerdictCause.FAILED
    return Verdict(
        cause=cause if failure is None else failure.cause,
        assurance=Assurance.SPLIT,
        cases=(*first, *buckets),
        score=score,
        detail=clean(_detail(first, failure, measured)),
        measurement=measured,
    )


def _buckets(judged: Judged, measured: Measurement | None) -> Iterator[Case]:
    for boundary, name in judged.buckets().items():
        if measured is None:
            yield Case(id=name, passed=False, detail="nothing was timed")
        else:
            passed = measured.bucket is not None and boundary <= measured.bucket
            yield Case(id=name, passed=passed, detail="" if passed else speed_text(measured))


def _detail(first: Sequence[Case], failure: Failure | None, measured: Measurement | None) -> str:
    if failure is not None:
        return failure.detail
    if measured is None:
        return next((case.detail for case in first if not case.passed), "nothing was timed")
    return speed_text(measured)


def speed_text(measured: Measurement) -> str:
    """Say how fast it is."""
    said = f"{times_text(measured.median)} times as fast"
    if measured.interval is not None:
        said += f", {interval_text(measured.interval)}"
    if measured.floor is not None:
        said += f", where identical code looks up to {times_text(measured.floor)} times as fast"
    return said
