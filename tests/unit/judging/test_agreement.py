"""Alpha, kappa and the binomial test: published values, laws, and where they do not exist."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.judging.agreement import ALL_THE_SAME, NOTHING_TWICE, Agreement, Level, Weights, alpha, kappa, together
from runner.judging.chance import even_chance

CANONICAL = (
    (1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None),
    (1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3),
    (None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None),
    (1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None),
)
"""Four raters, twelve things: the example of Krippendorff 2011."""


def things(raters: Sequence[Sequence[int | None]]) -> list[list[int]]:
    return [[value for value in thing if value is not None] for thing in zip(*raters, strict=True)]


def number(found: Agreement) -> float:
    assert found.value is not None
    return float(found.value)


@pytest.mark.parametrize(
    ("level", "expected"),
    [(Level.NOMINAL, 0.7434210526), (Level.ORDINAL, 0.8153875038), (Level.INTERVAL, 0.8491071429)],
)
def test_alpha_of_krippendorffs_example(level: Level, expected: float) -> None:
    found = alpha(things(CANONICAL), level)
    assert abs(number(found) - expected) < 1e-9
    assert found.items == 11


def test_alpha_and_kappa_of_two_raters_with_two_values() -> None:
    raters = [[int(each) for each in row] for row in ("0100000010", "1110010000")]
    assert abs(number(alpha(things(raters), Level.NOMINAL)) - 0.0952381) < 1e-6
    assert abs(number(kappa(list(zip(*raters, strict=True)), (0, 1))) - 0.0909091) < 1e-6


def table(rows: Sequence[Sequence[int]]) -> list[tuple[int, int]]:
    return [(one, other) for one, row in enumerate(rows) for other, count in enumerate(row) for _ in range(count)]


@pytest.mark.parametrize(
    ("rows", "weights", "expected"),
    [
        pytest.param([[20, 5], [10, 15]], Weights.PLAIN, 0.4, id="two values"),
        pytest.param([[90, 5], [5, 0]], Weights.PLAIN, -0.0526316, id="paradox of a common value"),
        pytest.param([[11, 1, 0], [2, 8, 3], [0, 1, 9]], Weights.PLAIN, 0.7008547, id="three values"),
        pytest.param([[11, 1, 0], [2, 8, 3], [0, 1, 9]], Weights.LINEAR, 0.7758463, id="three values, linear"),
        pytest.param([[11, 1, 0], [2, 8, 3], [0, 1, 9]], Weights.QUADRATIC, 0.8507008, id="three values, quadratic"),
    ],
)
def test_kappa_of_published_tables(rows: list[list[int]], weights: Weights, expected: float) -> None:
    found = kappa(table(rows), range(len(rows)), weights)
    assert abs(number(found) - expected) < 1e-6


@pytest.mark.parametrize(
    ("found", "why"),
    [
        pytest.param(alpha([], Level.NOMINAL), NOTHING_TWICE, id="alpha of nothing"),
        pytest.param(alpha([[1], [2], []], Level.ORDINAL), NOTHING_TWICE, id="alpha of single ratings"),
        pytest.param(alpha([[3, 3], [3, 3, 3]], Level.INTERVAL), ALL_THE_SAME, id="alpha of one value"),
        pytest.param(kappa([], (0, 1)), NOTHING_TWICE, id="kappa of nothing"),
        pytest.param(kappa([(1, 1), (1, 1)], (0, 1)), ALL_THE_SAME, id="kappa of one value"),
        pytest.param(kappa([(1, 1)], (0, 1), Weights.QUADRATIC), ALL_THE_SAME, id="weighted kappa of one value"),
    ],
)
def test_what_does_not_exist_is_none_and_says_why(found: Agreement, why: str) -> None:
    assert (found.value, found.why) == (None, why)


def test_a_rater_without_variation_beside_one_with_it_has_kappa_zero() -> None:
    assert kappa([(1, 1), (1, 0), (1, 1)], (0, 1)).value == 0


def test_kappa_refuses_what_is_not_of_the_scale() -> None:
    with pytest.raises(ValueError, match="found 7; expected one of"):
        kappa([(1, 7)], (0, 1))


def test_texts_have_no_intervals() -> None:
    with pytest.raises(TypeError, match="expected numbers"):
        alpha([["tie", "first"]], Level.INTERVAL)


def test_texts_have_a_nominal_alpha() -> None:
    assert number(alpha([["tie", "tie"], ["first", "first"]], Level.NOMINAL)) == 1


UNITS = st.lists(st.lists(st.integers(0, 10), max_size=4), min_size=1, max_size=12)


@given(UNITS)
def test_interval_alpha_is_one_less_the_ratio_of_mean_squares(units: list[list[int]]) -> None:
    rated = [unit for unit in units if len(unit) > 1]
    values = [value for unit in rated for value in unit]
    found = alpha(units, Level.INTERVAL)
    if len(set(values)) < 2:
        assert found.value is None
        return
    within = sum(Fraction(2, len(unit) - 1) * sum((a - b) ** 2 for a, b in combinations(unit, 2)) for unit in rated)
    among = Fraction(2, len(values) - 1) * sum((a - b) ** 2 for a, b in combinations(values, 2))
    assert found.value == 1 - within / among


@given(UNITS, st.sampled_from(Level))
def test_alpha_knows_no_order_of_things_and_raters(units: list[list[int]], level: Level) -> None:
    assert alpha(units, level) == alpha([unit[::-1] for unit in reversed(units)], level)
    assert (alpha(units, level).value or 0) <= 1


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=20), st.sampled_from(Weights))
def test_kappa_knows_no_order_of_raters(pairs: list[tuple[int, int]], weights: Weights) -> None:
    found = kappa(pairs, range(4), weights)
    assert found == kappa([(other, one) for one, other in pairs], range(4), weights)
    if found.value is not None:
        assert (found.value == 1) == all(one == other for one, other in pairs)


def test_raters_are_compared_where_both_rated() -> None:
    raters = {"b": {1: 5, 2: 6}, "a": {2: 7, 3: 8}, "c": {4: 1}}
    assert together(raters) == (("a", "b", [(7, 6)]), ("a", "c", []), ("b", "c", []))


def test_the_exact_binomial_test() -> None:
    found = even_chance(18, 30)
    assert found is not None
    assert abs(float(found) - 0.3615946) < 1e-6
    assert even_chance(5, 10) == 1
    assert even_chance(0, 5) == even_chance(5, 5) == Fraction(1, 16)
    assert even_chance(0, 0) is None
    with pytest.raises(ValueError, match="no more hits than tries"):
        even_chance(3, 2)
