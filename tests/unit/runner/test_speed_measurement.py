"""Laws of a written measurement: exact, never narrower than it is, and held against its own times."""

from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from evaluators.model import Assurance, Case, Verdict, VerdictCause
from evaluators.speed_ruling import credit, floor_of, interval, is_baseline_first, median, score_of
from evaluators.speed_values import Machine, Measurement, Pair, Scale
from runner.documents.evidence import Ruling
from runner.documents.nomination import EvaluatorTable
from runner.documents.writing import ratio_text, ruling
from runner.verification.speed import check_speed

SCALE = Scale(buckets={Decimal(2): Decimal("0.5"), Decimal(10): Decimal(1)})
TABLE = EvaluatorTable.model_validate(
    {"id": "quick", "kind": "speedup", "buckets": {"2": "0.5", "10": "1"}, "function": "a:b", "plan": "plan.py"}
)


def pairs(*candidate_ns: int) -> tuple[Pair, ...]:
    return tuple(
        Pair(baseline_ns=60_000_000 + at, candidate_ns=each, baseline_first=is_baseline_first(at))
        for at, each in enumerate(candidate_ns)
    )


def written(*candidate_ns: int, protocol: str = "paired-v2") -> Ruling:
    found, noise = pairs(*candidate_ns), pairs(*(60_000_000 + 7 * at for at in range(7)))
    ratios = [each.ratio for each in found]
    earned = credit(SCALE, found, floor_of([each.ratio for each in noise]))
    measured = Measurement(
        protocol=protocol,
        clock="processor",
        pairs=found,
        warm_up=found[0],
        median=median(ratios),
        interval=interval(ratios),
        floor=earned.floor,
        noise=noise,
        bucket=earned.bucket,
        machine=Machine(processor="one", cores=2, kernel="6.1", load=("0.10", "1.00")),
    )
    score = score_of(SCALE, earned.bucket)
    verdict = Verdict(
        cause=VerdictCause.PASSED if score == 1 else VerdictCause.FAILED,
        assurance=Assurance.SPLIT,
        cases=(Case(id="x", passed=True),),
        score=score,
        measurement=measured,
    )
    return ruling(verdict, evaluator="quick", digest="1" * 64, tree="2" * 64)


def changed(whole: Ruling, **fields: Any) -> Ruling:  # noqa: ANN401 - values of any field
    assert whole.measurement is not None
    own = {name: value for name, value in fields.items() if name in type(whole.measurement).model_fields}
    measurement = whole.measurement.model_copy(update=own)
    return whole.model_copy(update={"measurement": measurement} | {k: v for k, v in fields.items() if k not in own})


@pytest.mark.parametrize("candidate_ns", [(5_000_000,) * 7, (20_000_000,) * 7, (59_000_000,) * 7])
def test_what_was_written_follows_from_its_times(candidate_ns: tuple[int, ...]) -> None:
    assert list(check_speed("verdict", written(*candidate_ns), TABLE)) == []


def test_where_it_was_taken_and_every_time_are_written_down() -> None:
    found = written(*range(5_000_000, 5_000_007)).measurement
    assert found is not None
    assert (found.machine.processor, found.machine.load_before) == ("one", "0.10")
    assert [each.candidate_ns for each in found.pairs] == [*range(5_000_000, 5_000_007)]
    assert found.low is not None
    assert found.high is not None
    assert Decimal(found.low) <= Decimal(found.median) <= Decimal(found.high)


@pytest.mark.parametrize(
    "fields",
    [
        {"median": "13"},
        {"low": "9"},
        {"high": "99"},
        {"floor": "1"},
        {"bucket": "2"},
        {"bucket": None},
        {"score": "0.5"},
    ],
)
def test_what_does_not_follow_from_its_times_is_found(fields: dict[str, Any]) -> None:
    assert len(list(check_speed("verdict", changed(written(*(5_000_000,) * 7), **fields), TABLE))) == 1


def test_times_that_were_changed_are_found() -> None:
    slow = written(*(59_000_000,) * 7)
    assert slow.measurement is not None
    quick = tuple(each.model_copy(update={"candidate_ns": 1_000_000}) for each in slow.measurement.pairs)
    assert list(check_speed("verdict", changed(slow, pairs=quick), TABLE))


def test_a_measurement_that_was_settled_early_earned_nothing() -> None:
    early = changed(written(*(59_000_000,) * 7), floor=None, low=None, high=None, bucket=None)
    assert list(check_speed("verdict", early, TABLE)) == []
    assert list(check_speed("verdict", changed(early, bucket="2"), TABLE))


@pytest.mark.parametrize(("up", "text"), [(None, "0.333333"), (False, "0.333333"), (True, "0.333334")])
def test_a_ratio_is_rounded_as_it_is_meant(up: bool | None, text: str) -> None:  # noqa: FBT001 - a column of the table
    assert ratio_text(Fraction(1, 3), up=up) == text
