"""Values that other programs and papers give: intervals, costs of a solve, paired tests, pass@k."""

from fractions import Fraction
from itertools import combinations, product
from statistics import NormalDist

import pytest

from runner.statistics.pairs import _drawn, _signed, holm, mcnemar, sign_flip
from runner.statistics.quantiles import incomplete_beta, t_quantile
from runner.statistics.rates import Tried, solve_rate, wilson
from runner.statistics.repeats import mean_pass, pass_at, pass_every, shown
from runner.statistics.spending import Paid, cost_per_solve

NORMAL = NormalDist().inv_cdf(0.975)
ONE = (10, 8, 6, 4, 10, 2, 0, 6, 8, 4)
"""Tenths: a candidate's rates on ten nominations, each of five attempts."""
OTHER = (8, 8, 4, 4, 8, 0, 0, 6, 4, 2)
COSTS = ("1.2", ".8", "2.5", ".6", "3.1", "1", ".9", "1.4")
SOLVES = (1, 1, 0, 1, 0, 1, 1, 0)


@pytest.mark.parametrize(
    ("degrees", "expected"),
    [
        (1, 12.7062047362), (2, 4.3026527297), (4, 2.7764451052), (9, 2.2621571628), (19, 2.0930240544),
        (99, 1.9842169516), (1e6, 1.9599663568), (1e8, 1.9599639845),
    ],
)  # fmt: skip
def test_quantiles_of_t_are_those_of_the_tables(degrees: float, expected: float) -> None:
    assert t_quantile(0.975, degrees) == pytest.approx(expected, abs=1e-9)
    assert t_quantile(0.025, degrees) == pytest.approx(-expected, abs=1e-9)


def test_half_of_t_is_below_zero() -> None:
    assert t_quantile(0.5, 7) == pytest.approx(0, abs=1e-7)


@pytest.mark.parametrize(("chance", "degrees"), [(0, 3), (1, 3), (0.5, 0), (-1, 3), (0.5, -1)])
def test_no_quantile_without_a_chance_and_degrees(chance: float, degrees: float) -> None:
    with pytest.raises(ValueError, match="expected"):
        t_quantile(chance, degrees)


def test_the_incomplete_beta_function_of_whole_numbers_is_a_sum_of_binomials() -> None:
    # I_x(2, 3) = P(Bin(4, x) >= 2)
    assert incomplete_beta(0.3, 2, 3) == pytest.approx(0.3483, abs=1e-12)
    assert (incomplete_beta(0, 2, 3), incomplete_beta(1, 2, 3)) == (0, 1)


@pytest.mark.parametrize(
    ("hits", "of", "low", "high"),
    [
        (45, 50, 0.7863976856, 0.9565242351), (0, 10, 0, 0.2775327999), (10, 10, 0.7224672001, 1),
        (1, 3, 0.0614919447, 0.7923403992), (137, 500, 0.2367406257, 0.3147055762),
    ],
)  # fmt: skip
def test_wilsons_interval(hits: int, of: int, low: float, high: float) -> None:
    found = wilson(hits / of, of, NORMAL)
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-9)


def test_attempts_at_one_nomination_count_for_less_than_independent_ones() -> None:
    found = solve_rate([Tried(solved=each // 2, of=5) for each in ONE])
    assert found is not None
    assert found.interval is not None
    assert found.value == Fraction(29, 50)
    assert found.effective == pytest.approx(22.0120482, abs=1e-7)
    assert found.interval.low == pytest.approx(0.3500205040, abs=1e-9)
    assert found.interval.high == pytest.approx(0.7797990752, abs=1e-9)


def test_a_rate_of_one_nomination_has_no_interval() -> None:
    found = solve_rate([Tried(solved=3, of=4)])
    assert found is not None
    assert (found.value, found.interval) == (Fraction(3, 4), None)


@pytest.mark.parametrize(("solved", "low", "high"), [(0, 0, 0.3385), (1, 0.6615, 1)])
def test_without_any_spread_each_nomination_counts_once(solved: int, low: float, high: float) -> None:
    found = solve_rate([Tried(solved=solved * 9, of=9)] * 10)
    assert found is not None
    assert found.interval is not None
    assert found.effective == 10
    assert (found.interval.low, found.interval.high) == pytest.approx((low, high), abs=1e-4)


def test_an_interval_holds_its_rate_and_stays_a_rate() -> None:
    for rates in product(range(4), repeat=3):
        found = solve_rate([Tried(solved=each, of=3) for each in rates])
        assert found is not None
        assert found.interval is not None
        assert 0 <= found.interval.low <= found.value <= found.interval.high <= 1


def test_nothing_has_no_rate() -> None:
    assert solve_rate([]) is None
    with pytest.raises(ValueError, match="at least one"):
        Tried(solved=0, of=0)
    with pytest.raises(ValueError, match="no more solved"):
        Tried(solved=2, of=1)


def _paid(solves: tuple[int, ...]) -> list[Paid]:
    return [Paid(cost=Fraction(cost), solved=each, of=1) for cost, each in zip(COSTS, solves, strict=True)]


def test_fiellers_interval_of_the_cost_of_a_solve() -> None:
    found = cost_per_solve(_paid(SOLVES))
    assert found is not None
    assert found.value == Fraction("2.3")
    assert (found.low, found.high) == pytest.approx((0.6900336, 10.7820609), abs=1e-7)


def test_a_cost_has_no_upper_end_where_it_is_not_clear_that_anything_is_solved() -> None:
    found = cost_per_solve(_paid((1, 0, 0, 0, 0, 0, 0, 0)))
    assert found is not None
    assert found.is_unbounded
    assert found.value == Fraction("11.5")
    assert found.low is not None
    assert 0 < found.low < 11.5


def test_where_nothing_was_solved_only_the_least_cost_is_known() -> None:
    found = cost_per_solve(_paid((0,) * 8))
    assert found is not None
    assert found.value is None
    assert found.is_unbounded
    # 11.5 / 8 a nomination, over the upper end of 0 of 8: t^2 / (8 + t^2)
    reach = t_quantile(0.975, 7) ** 2
    assert found.low == pytest.approx(11.5 / 8 * (8 + reach) / reach, rel=1e-9)


def test_the_cost_of_a_solve_of_one_nomination_has_no_interval() -> None:
    found = cost_per_solve([Paid(cost=Fraction(3), solved=2, of=4)])
    assert found is not None
    assert (found.value, found.low, found.high) == (Fraction(3, 2), None, None)
    assert cost_per_solve([]) is None


def test_mcnemars_mid_p() -> None:
    assert mcnemar(12, 3) == mcnemar(3, 12) == Fraction("0.021270751953125")
    assert mcnemar(0, 0) == 1
    assert mcnemar(3, 3) == 1 - Fraction(20, 64) / 2


def _differences() -> list[Fraction]:
    return [Fraction(one - other, 10) for one, other in zip(ONE, OTHER, strict=True)]


def test_changing_every_sign() -> None:
    assert sign_flip(_differences()) == Fraction(32, 1024)


def test_counting_sums_is_trying_every_way() -> None:
    for signed in ([3, -1, 4], [2, 2, -2, 1], [1], [5, -5], [1, 1, 1, 1, 1, -3]):
        found = abs(sum(signed))
        ways = [abs(sum(s * each for s, each in zip(signs, signed, strict=True)))
                for signs in product((1, -1), repeat=len(signed))]  # fmt: skip
        assert sign_flip([Fraction(each, 7) for each in signed]) == Fraction(
            sum(way >= found for way in ways), len(ways)
        )


def test_no_difference_is_sure_to_come_by_chance() -> None:
    assert sign_flip([]) == sign_flip([Fraction(0)] * 3) == 1


def test_drawn_ways_come_near_the_counted_ones_and_are_the_same_each_time() -> None:
    signed = _signed(_differences())
    assert float(_drawn(signed)) == pytest.approx(32 / 1024, abs=0.006)
    assert _drawn(signed) == _drawn(signed)


def test_differences_without_a_coarse_step_are_drawn() -> None:
    fine = [Fraction(1, 1009 + 2 * each) for each in range(40)]
    assert sign_flip(fine) == Fraction(1, 10_000)  # none of the drawn ways is as large: only the observed one


def test_holms_correction() -> None:
    chances = [
        Fraction(each) for each in (".001", ".008", ".039", ".041", ".042", ".06", ".074", ".205", ".212", ".216")
    ]
    expected = [".01", ".072", *[".312"] * 5, *[".615"] * 3]
    assert holm(chances) == tuple(map(Fraction, expected))
    assert holm(chances[::-1]) == tuple(map(Fraction, expected[::-1]))


@pytest.mark.parametrize(
    ("of", "solved", "k", "once", "always"),
    [
        (10, 3, 1, 0.3, 0.3), (10, 3, 5, 0.9166666667, 0), (5, 1, 3, 0.6, 0), (10, 7, 3, 0.9916666667, 0.2916666667),
        (200, 3, 100, 0.8768844221, 0),
    ],
)  # fmt: skip
def test_pass_at_k_and_pass_every_k(of: int, solved: int, k: int, once: float, always: float) -> None:
    tried = Tried(solved=solved, of=of)
    assert float(pass_at(tried, k)) == pytest.approx(once, abs=1e-9)
    assert float(pass_every(tried, k)) == pytest.approx(always, abs=1e-9)


def test_pass_at_k_is_what_all_choices_of_k_attempts_give() -> None:
    for of in range(1, 7):
        for solved, k in product(range(of + 1), range(1, of + 1)):
            chosen = list(combinations([True] * solved + [False] * (of - solved), k))
            tried = Tried(solved=solved, of=of)
            assert pass_at(tried, k) == Fraction(sum(map(any, chosen)), len(chosen))
            assert pass_every(tried, k) == Fraction(sum(map(all, chosen)), len(chosen))


def test_means_over_nominations() -> None:
    tried = [Tried(solved=each, of=5) for each in (0, 1, 3, 5)]
    found = [mean_pass(tried, k) for k in (2, 3, 5)]
    assert found == [
        (Fraction(".575"), Fraction(".325")), (Fraction(".65"), Fraction(".275")), (Fraction(".75"), Fraction(".25")),
    ]  # fmt: skip


def test_more_attempts_than_there_are_say_nothing() -> None:
    with pytest.raises(ValueError, match="no more than there are"):
        pass_at(Tried(solved=1, of=2), 3)
    assert mean_pass([Tried(solved=1, of=2), Tried(solved=1, of=5)], 3) is None
    assert mean_pass([], 1) is None
    assert shown([Tried(solved=1, of=2), Tried(solved=1, of=5)]) == (1, 2)
