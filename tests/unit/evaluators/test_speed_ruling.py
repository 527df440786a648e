"""Laws of times: exact medians, intervals without a distribution, a floor of noise, inclusive boundaries."""

from decimal import Decimal
from fractions import Fraction

import pytest

from evaluators.speed_ruling import (
    FEWEST_PAIRS,
    Doubt,
    bucket_of,
    charged,
    check_pairs,
    coverage,
    credit,
    drift_of,
    floor_of,
    import_excess,
    interval,
    interval_text,
    is_baseline_first,
    is_settled,
    median,
    rank_of,
    score_of,
    times_text,
)
from evaluators.speed_values import Pair, Scale

SCALE = Scale(buckets={Decimal("1.5"): Decimal("0.4"), Decimal(3): Decimal("0.7"), Decimal(10): Decimal(1)})
BASE, NEW = (10, 20, 5, 8, 40, 12, 3), (5, 18, Decimal("5.1"), 4, 44, 6, Decimal("2.7"))
SEVEN = tuple(Fraction(one) / Fraction(other) for one, other in zip(BASE, NEW, strict=True))
LOGS = ("0.01", "-0.02", "0.015", "-0.005", "0.03", "-0.01", "0", "0.02", "-0.025", "0.005")
QUIET = Decimal("1.02")


def pairs(*ratios: object, baseline: int = 60_000_000) -> tuple[Pair, ...]:
    return tuple(
        Pair(
            baseline_ns=baseline,
            candidate_ns=int(baseline / Fraction(str(ratio))),
            baseline_first=is_baseline_first(index),
        )
        for index, ratio in enumerate(ratios)
    )


@pytest.mark.parametrize(
    ("values", "middle"),
    [(SEVEN, Fraction(10, 9)), ((1, 3), Fraction(2)), ((5,), Fraction(5)), ((1, 2, 900), Fraction(2))],
)
def test_a_median_is_exact_and_no_outlier_moves_it(values: tuple[object, ...], middle: Fraction) -> None:
    assert median(map(Fraction, values)) == middle


@pytest.mark.parametrize(
    ("count", "rank", "surely"),
    [
        (7, 1, "0.984375"),
        (7, 2, "0.875"),
        (6, 1, "0.96875"),
        (9, 2, "0.9609375"),
        (11, 2, "0.98828125"),
        (5, 1, "0.9375"),
    ],
)
def test_how_surely_two_ordered_values_hold_the_median(count: int, rank: int, surely: str) -> None:
    assert coverage(count, rank) == Fraction(surely)


@pytest.mark.parametrize(("count", "rank"), [(6, 1), (7, 1), (8, 1), (9, 2), (11, 2), (12, 3), (15, 4), (100, 40)])
def test_the_narrowest_interval_of_95_percent_is_taken(count: int, rank: int) -> None:
    assert rank_of(count) == rank
    assert coverage(count, rank) >= Fraction("0.95") > coverage(count, rank + 1)


def test_seven_pairs_hold_their_median_between_the_least_and_the_largest() -> None:
    found = interval(SEVEN)
    assert (found.low, found.high, found.coverage) == (min(SEVEN), max(SEVEN), Fraction("0.984375"))


def test_fewer_than_six_pairs_have_no_interval() -> None:
    assert FEWEST_PAIRS == 6
    with pytest.raises(ValueError, match="too few"):
        interval(SEVEN[:5])


def test_the_floor_is_two_deviations_of_the_logarithms() -> None:
    ratios = [Fraction(Decimal(each).exp()) for each in LOGS]
    assert floor_of(ratios).quantize(Decimal("0.0000001")) == Decimal("1.0356450")  # 1.0356444, rounded up


@pytest.mark.parametrize(("times", "least", "most"), [((100, 100, 100), "1", "1"), ((100, 200, 100), "3.9", "4.1")])
def test_a_floor_is_seen_in_the_baselines_own_times(times: tuple[int, ...], least: str, most: str) -> None:
    assert Decimal(least) <= drift_of(times) <= Decimal(most)


@pytest.mark.parametrize(
    ("ratio", "bucket", "score"),
    [
        (Fraction(3, 2), "1.5", "0.4"),
        (Fraction(3, 2) - Fraction(1, 10**12), None, "0"),
        (Fraction(3), "3", "0.7"),
        (Fraction(3) - Fraction(1, 10**12), "1.5", "0.4"),
        (Fraction(10), "10", "1"),
        (Fraction(301), "10", "1"),
        (Fraction(1), None, "0"),
        (Fraction(1, 3), None, "0"),
    ],
)
def test_a_boundary_belongs_to_its_bucket_exactly(ratio: Fraction, bucket: str | None, score: str) -> None:
    found = bucket_of(SCALE, ratio)
    assert found == (None if bucket is None else Decimal(bucket))
    assert score_of(SCALE, found) == Decimal(score)


def test_a_boundary_that_no_binary_fraction_hits_is_hit() -> None:
    scale = Scale(buckets={Decimal("1.1"): Decimal(1)})
    assert bucket_of(scale, Pair(baseline_ns=11, candidate_ns=10, baseline_first=True).ratio) == Decimal("1.1")
    assert bucket_of(scale, Fraction(11 * 10**17 - 1, 10**18)) is None


@pytest.mark.parametrize(
    ("ratios", "bucket"),
    [
        ((12,) * 11, "10"),
        ((9, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12), "10"),
        ((9, 9, 12, 12, 12, 12, 12, 12, 12, 12, 12), "3"),
        ((1, 1, 12, 12, 12, 12, 12, 12, 12, 12, 12), None),
        ((1.05,) * 11, None),
    ],
)
def test_the_low_end_is_credited_and_never_the_middle(ratios: tuple[float, ...], bucket: str | None) -> None:
    found = credit(SCALE, pairs(*ratios), QUIET)
    assert found.bucket == (None if bucket is None else Decimal(bucket))
    assert found.doubt is None


def test_what_is_below_the_floor_is_no_credit_but_a_doubt_where_the_floor_hides_a_bucket() -> None:
    found = credit(SCALE, pairs(*(2,) * 11), Decimal("2.5"))
    assert (found.bucket, found.doubt) == (None, Doubt.NOISY)


def test_a_noisy_floor_takes_nothing_from_what_is_far_above_it_and_gives_nothing_to_what_is_far_below() -> None:
    assert credit(SCALE, pairs(*(40,) * 11), Decimal("2.5")).bucket == Decimal(10)
    below = credit(SCALE, pairs(*(1,) * 11), Decimal("2.5"))
    assert (below.bucket, below.doubt) == (None, None)


def test_noise_that_comes_meanwhile_shows_in_the_baselines_times() -> None:
    wild = [
        Pair(baseline_ns=each.baseline_ns * (1 + 3 * (index % 2)), candidate_ns=each.candidate_ns, baseline_first=True)
        for index, each in enumerate(pairs(*(2,) * 11))
    ]
    found = credit(SCALE, wild, QUIET)
    assert found.doubt is Doubt.NOISY
    assert found.floor > SCALE.lowest


def test_a_candidate_that_makes_its_own_times_uncertain_loses_and_is_no_doubt() -> None:
    found = credit(SCALE, pairs(1, 20, 1, 20, 1, 20, 1, 20, 1, 20, 1), QUIET)
    assert (found.bucket, found.doubt) == (None, None)


@pytest.mark.parametrize(
    ("ratios", "settled"), [((1, 1), True), ((1, 2), False), ((1.4, 1.4), True), ((1.5, 1.5), False), ((1,), False)]
)
def test_what_the_first_pairs_settle_the_others_could_not_change(ratios: tuple[float, ...], *, settled: bool) -> None:
    first = pairs(*ratios)
    assert is_settled(SCALE, first, 11) is settled
    if settled:
        whole = [*first, *pairs(*(1000,) * (11 - len(first)))]
        assert credit(SCALE, whole, Decimal(1)).bucket is None


def test_work_at_import_is_part_of_every_call() -> None:
    excess = import_excess([500, 600, 700], [60_000_500, 60_000_600, 60_000_700])
    assert excess == 60_000_000
    assert median(each.ratio for each in charged(pairs(*(1000,) * 7), excess)) < 1


def test_a_quicker_import_is_no_gain() -> None:
    assert import_excess([900, 900], [100, 100]) == 0


def test_both_sides_begin_in_turn_and_the_baseline_warms_up() -> None:
    assert [is_baseline_first(index) for index in range(-1, 4)] == [True, True, False, True, False]


@pytest.mark.parametrize(
    ("count", "turned", "told"), [(7, False, None), (8, False, "7 pairs instead of 8"), (7, True, "pair 0")]
)
def test_pairs_are_looked_through(count: int, told: str | None, *, turned: bool) -> None:
    found = tuple(
        Pair(baseline_ns=1, candidate_ns=1, baseline_first=is_baseline_first(index) is not turned) for index in range(7)
    )
    said = check_pairs(found, count)
    assert said is None if told is None else told in (said or "")


@pytest.mark.parametrize(("base", "mine"), [(0, 1), (1, 0), (-5, 1)])
def test_no_time_is_zero(base: int, mine: int) -> None:
    with pytest.raises(ValueError, match="above zero"):
        Pair(baseline_ns=base, candidate_ns=mine, baseline_first=True)


def test_what_people_read_is_never_narrower_than_it_is() -> None:
    assert interval_text(interval([Fraction(10, 3)] * 6)) == "[3.333, 3.334] (96.8 %)"
    assert times_text(Decimal("1.0356")) == "1.036"
