"""How far raters agree beyond chance: Krippendorff's alpha and Cohen's kappa. Pure, exact fractions.

Sources: K. Krippendorff, Computing Krippendorff's alpha-reliability (2011); J. Cohen, A coefficient of agreement for
nominal scales, Educ. Psychol. Meas. 20 (1960), and Weighted kappa, Psychol. Bull. 70 (1968).
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from itertools import combinations

NOTHING_TWICE = "nothing was rated by two"
ALL_THE_SAME = "all ratings are the same, so that agreement by chance is complete too"


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """A coefficient: 1 complete agreement, 0 what chance gives, below 0 less than that."""

    value: Fraction | None
    """None: `why` says why there is none. It is then neither 0 nor 1."""
    why: str | None
    items: int
    """How many things were rated by two or more."""


class Level(StrEnum):
    """What differences between values mean."""

    NOMINAL = "nominal"
    """Values are equal or not."""
    ORDINAL = "ordinal"
    """Values are ranks."""
    INTERVAL = "interval"
    """Differences are numbers."""


Value = int | str
"""Texts are possible at the nominal level alone."""


def alpha(units: Iterable[Sequence[Value]], level: Level) -> Agreement:
    """Give Krippendorff's alpha.

    Args:
        units: for each thing that was rated its values, in any order; ratings that are missing are left out, and
            things with one rating say nothing.
        level: what a difference is.
    """
    rated = [tuple(unit) for unit in units if len(unit) > 1]
    if not rated:
        return Agreement(value=None, why=NOTHING_TWICE, items=0)
    total = Counter(value for unit in rated for value in unit)
    apart = _distances(total, level)
    size = total.total()
    expected = sum((total[one] * total[other] * apart[one, other] for one, other in apart), Fraction(0))
    if expected == 0:
        return Agreement(value=None, why=ALL_THE_SAME, items=len(rated))
    observed = Fraction(0)
    for unit in rated:
        counts = Counter(unit)
        pairs = sum((counts[one] * counts[other] * apart[one, other] for one, other in apart), Fraction(0))
        observed += pairs / (len(unit) - 1)
    return Agreement(value=1 - (size - 1) * observed / expected, why=None, items=len(rated))


def _distances(total: Counter[Value], level: Level) -> dict[tuple[Value, Value], Fraction]:
    """Give the squared distance of each two different values that occur."""
    values = sorted(total, key=lambda value: (isinstance(value, str), value))
    return {
        (one, other): _distance(values[at : at + 1 + values[at:].index(other)], total, level)
        for at, one in enumerate(values)
        for other in values[at + 1 :]
    }


def _distance(between: Sequence[Value], total: Counter[Value], level: Level) -> Fraction:
    """Give the squared distance of the ends of a stretch of values."""
    one, other = between[0], between[-1]
    match level:
        case Level.NOMINAL:
            return Fraction(1)
        case Level.ORDINAL:
            ranks = sum(total[value] for value in between) - Fraction(total[one] + total[other], 2)
            return ranks**2
        case Level.INTERVAL:
            if isinstance(one, str) or isinstance(other, str):
                raise TypeError(f"found {one!r} and {other!r}; expected numbers at the interval level")
            return Fraction(one - other) ** 2


class Weights(StrEnum):
    """How much of an agreement a disagreement takes away."""

    PLAIN = "plain"
    """All of it."""
    LINEAR = "linear"
    """In proportion to the steps between the two."""
    QUADRATIC = "quadratic"
    """To their square."""


def kappa(pairs: Sequence[tuple[Value, Value]], scale: Sequence[Value], weights: Weights = Weights.PLAIN) -> Agreement:
    """Give Cohen's kappa of two raters.

    Args:
        pairs: what the two said of each thing that both rated.
        scale: every value that there is, in order.
        weights: what a disagreement weighs.

    Raises:
        ValueError: a value is not of the scale.
    """
    place = {value: at for at, value in enumerate(scale)}
    if strange := next((value for pair in pairs for value in pair if value not in place), None):
        raise ValueError(f"found {strange!r}; expected one of {list(scale)}")
    if not pairs:
        return Agreement(value=None, why=NOTHING_TWICE, items=0)
    ones, others = (Counter(place[pair[side]] for pair in pairs) for side in (0, 1))
    seen = Counter((place[one], place[other]) for one, other in pairs)
    expected = sum(ones[a] * others[b] * _weight(a - b, weights) for a in ones for b in others)
    if expected == 0:
        return Agreement(value=None, why=ALL_THE_SAME, items=len(pairs))
    observed = sum(count * _weight(a - b, weights) for (a, b), count in seen.items())
    return Agreement(value=1 - Fraction(observed * len(pairs), expected), why=None, items=len(pairs))


def _weight(steps: int, weights: Weights) -> int:
    match weights:
        case Weights.PLAIN:
            return int(steps != 0)
        case Weights.LINEAR:
            return abs(steps)
        case Weights.QUADRATIC:
            return steps**2


def together(raters: Mapping[str, Mapping[object, Value]]) -> tuple[tuple[str, str, list[tuple[Value, Value]]], ...]:
    """Give for each two raters what they said of the things that both rated."""
    return tuple(
        (one, other, [(raters[one][item], raters[other][item]) for item in raters[one] if item in raters[other]])
        for one, other in combinations(sorted(raters), 2)
    )
