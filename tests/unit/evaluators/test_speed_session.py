"""Laws of a measurement, with played units: what is asked when, who is blamed, and what never becomes a verdict."""

from decimal import Decimal
from pathlib import Path

import pytest

from evaluators.errors import BaselineError, NoisyHostError
from evaluators.model import VerdictCause
from evaluators.paired_v2 import measure
from evaluators.speed_session import FLOOR_TRIES
from sandbox.termination import Cause, Termination, Usage
from tests.unit.evaluators.speeding import Told, interviewed, measuring, replied

CRASH = Termination(cause=Cause.SIGNAL, status=9, usage=Usage(wall_ms=1))
LATE = Termination(cause=Cause.TIMEOUT, status=None, usage=Usage(wall_ms=1))
OPENING = (replied({"value": 7}), replied({"value": 7}), replied({"object": 1}))


def test_a_candidate_that_is_quick_gets_the_bucket_of_its_low_end(tmp_path: Path) -> None:
    session, stand = measuring(tmp_path, Told(), Told(us=(10_000,)))
    verdict = measure(session)
    assert (verdict.cause, verdict.score) == (VerdictCause.PASSED, Decimal(1))
    assert verdict.measurement is not None
    assert verdict.measurement.median == 5
    assert verdict.measurement.floor == Decimal(1)
    assert verdict.measurement.machine.cores > 0
    assert len(verdict.measurement.pairs) == len(verdict.measurement.noise) == 6
    assert stand.asked[:6] == ["checks base", "checks submission", "base", "submission", "base", "submission"]


def test_base_and_candidate_take_turns_and_are_never_timed_at_once(tmp_path: Path) -> None:
    session, stand = measuring(tmp_path, Told(), Told(us=(10_000,)))
    measure(session)
    timed = [each for each in stand.asked if not each.startswith("checks")]
    noise = timed[4:18]
    assert set(noise) == {"base"}
    after = [timed[2:4], *(timed[18 + at : 20 + at] for at in range(0, 10, 2))]
    assert after == [["base", "submission"], ["submission", "base"]] * 3


def test_identical_code_gets_nothing_and_is_measured_no_further_than_that(tmp_path: Path) -> None:
    session, stand = measuring(tmp_path, Told(), Told())
    verdict = measure(session)
    assert (verdict.cause, verdict.score) == (VerdictCause.FAILED, Decimal(0))
    assert verdict.measurement is not None
    assert verdict.measurement.interval is None
    assert len(stand.asked) == 2 + 4


def test_passed_time_is_not_settled_by_the_first_pairs(tmp_path: Path) -> None:
    session, stand = measuring(tmp_path, Told(), Told(), clock="wall")
    assert measure(session).score == 0
    assert len(stand.asked) == 2 + 2 * 7 * 2


def test_a_part_of_the_way_is_worth_a_part(tmp_path: Path) -> None:
    verdict = measure(measuring(tmp_path, Told(), Told(us=(20_000,)))[0])
    assert (verdict.cause, verdict.score) == (VerdictCause.FAILED, Decimal("0.5"))
    assert [case.passed for case in verdict.cases] == [True, True, True, False]


@pytest.mark.parametrize(
    ("oracle", "told"),
    [
        (({"value": 8, "after": [1]},), "0 of 1"),
        (({"value": 7.0, "after": [1]},), "0 of 1"),
        (({"value": True, "after": [1]},), "0 of 1"),
        (({"unplain": "a Lazy, which is no plain data", "after": [1]},), "Lazy"),
        (({"raised": {"type": "KeyError", "kinds": [], "said": "x"}},), "KeyError"),
        (({"value": 7, "after": [2]},), "changes its arguments"),
    ],
)
def test_wrong_answers_are_never_timed(tmp_path: Path, oracle: tuple[dict[str, object], ...], told: str) -> None:
    session, stand = measuring(tmp_path, Told(), Told(oracle=oracle))
    verdict = measure(session)
    assert (verdict.cause, verdict.score) == (VerdictCause.FAILED, Decimal(0))
    assert told in " ".join(case.detail for case in verdict.cases)
    assert stand.asked == ["checks base", "checks submission"]


def test_a_call_may_change_its_arguments_where_the_nomination_says_so(tmp_path: Path) -> None:
    told = Told(us=(10_000,), oracle=({"value": 7},))
    assert measure(measuring(tmp_path, Told(), told, impure=True)[0]).passed


@pytest.mark.parametrize(
    ("stops", "cause"),
    [
        (interviewed(*OPENING, end=CRASH), VerdictCause.CRASHED),
        (interviewed(*OPENING, end=LATE), VerdictCause.TIMEOUT),
        (interviewed(*OPENING, late=True), VerdictCause.FAILED),
        (interviewed(*OPENING, forged="an answer to no question"), VerdictCause.TAMPERED),
        (interviewed(OPENING[0], end=CRASH), VerdictCause.CRASHED),
        (
            interviewed(*OPENING[:2], replied({"raised": {"type": "OSError", "kinds": [], "said": ""}})),
            VerdictCause.FAILED,
        ),
    ],
)
def test_no_time_of_the_candidate_while_the_base_has_its_own_is_the_candidates_failure(
    tmp_path: Path, stops: object, cause: VerdictCause
) -> None:
    verdict = measure(measuring(tmp_path, Told(), Told(stops=stops))[0])
    assert (verdict.cause, verdict.score) == (cause, Decimal(0))
    assert not any(case.passed for case in verdict.cases if case.id.startswith("at least"))


@pytest.mark.parametrize(
    "control",
    [
        Told(oracle=({"value": 8, "after": [1]},)),
        Told(oracle=({"value": 7, "after": [2]},)),
        Told(first={"raised": {"type": "OSError", "kinds": [], "said": ""}}),
        Told(stops=interviewed(*OPENING, end=CRASH)),
        Told(us=(900,)),
    ],
    ids=["wrong", "impure", "broken", "crashes", "too short to be timed"],
)
def test_a_base_that_is_wrong_or_cannot_be_timed_is_a_fault(tmp_path: Path, control: Told) -> None:
    with pytest.raises(BaselineError):
        measure(measuring(tmp_path, control, Told(us=(100,)))[0])


def test_a_base_that_answers_otherwise_the_second_time_is_a_fault(tmp_path: Path) -> None:
    wavering = Told(values=(7, 7, 7, 8, 9, 10, 11))
    with pytest.raises(BaselineError):
        measure(measuring(tmp_path, wavering, Told(us=(100,)))[0])


def test_a_machine_that_stays_noisy_is_a_fault_after_some_tries(tmp_path: Path) -> None:
    session, stand = measuring(tmp_path, Told(us=(50_000, 50_000, 500_000, 50_000) * 40), Told(us=(1000,)))
    with pytest.raises(NoisyHostError):
        measure(session)
    assert stand.asked.count("base") == 2 + FLOOR_TRIES * 14


def test_a_machine_that_becomes_quiet_is_waited_for(tmp_path: Path) -> None:
    noisy = (50_000, 50_000, *(500_000, 50_000, 50_000) * 4, 50_000)
    assert measure(measuring(tmp_path, Told(us=noisy), Told(us=(1000,)))[0]).passed


def test_a_fresh_answer_that_is_not_the_bases_fails(tmp_path: Path) -> None:
    verdict = measure(measuring(tmp_path, Told(), Told(us=(100,), values=(7, 7, 7, 7, 7, 8)))[0])
    assert (verdict.cause, verdict.score) == (VerdictCause.FAILED, Decimal(0))
    assert "fresh input" in verdict.detail


def test_what_a_candidates_import_takes_is_in_each_of_its_times(tmp_path: Path) -> None:
    verdict = measure(measuring(tmp_path, Told(), Told(us=(100,), import_us=60_000))[0])
    assert verdict.score == 0
    assert verdict.measurement is not None
    assert verdict.measurement.import_excess_ns == 59_500_000
