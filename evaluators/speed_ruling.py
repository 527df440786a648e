"""From times to a judgement of speed: medians, order-statistic intervals, the noise floor, buckets. Pure.

Every number is a whole, a fraction or a decimal: a ratio that stands on a boundary is on it, on every machine.
"""

import decimal
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from enum import StrEnum
from fractions import Fraction
from itertools import pairwise
from math import comb
from statistics import median as middle

from evaluators.speed_values import Interval, Pair, Scale

LEVEL = Fraction(95, 100)
"""How surely an interval holds the true median, at least."""

FEWEST_PAIRS = 6
"""Of which an interval of that level can be made."""

PLACES = Decimal("0.000001")
_EXACT = decimal.Context(prec=28)


def median(values: Iterable[Fraction]) -> Fraction:
    """Give the middle value, or the mean of the two in the middle."""
    return Fraction(middle(sorted(values)))


def coverage(count: int, rank: int) -> Fraction:
    """Say how surely the median lies between the value of this rank from below and the one from above."""
    return 1 - 2 * Fraction(sum(comb(count, each) for each in range(rank)), 2**count)


def interval(values: Iterable[Fraction], level: Fraction = LEVEL) -> Interval:
    """Give the narrowest pair of ordered values that holds the true median so surely; no distribution is assumed.

    Raises:
        ValueError: there are too few values.
    """
    ordered = sorted(values)
    count, rank = len(ordered), rank_of(len(ordered), level)
    return Interval(low=ordered[rank - 1], high=ordered[count - rank], coverage=coverage(count, rank))


def rank_of(count: int, level: Fraction = LEVEL) -> int:
    """Give the rank, from either end, of the values that make the interval of so many.

    Raises:
        ValueError: there are too few values.
    """
    ranks = [rank for rank in range(1, (count + 1) // 2 + 1) if coverage(count, rank) >= level]
    if not ranks:
        raise ValueError(f"{count} values are too few for an interval")
    return max(ranks)


def is_settled(scale: Scale, pairs: Sequence[Pair], count: int) -> bool:
    """Say whether no more pairs, of `count` in all, can bring the interval's low end to the lowest boundary."""
    return sum(each.ratio < Fraction(scale.lowest) for each in pairs) >= rank_of(count)


def floor_of(ratios: Sequence[Fraction]) -> Decimal:
    """Give what identical code may look like: exp(2 s), s the standard deviation of the logarithms of its ratios."""
    with decimal.localcontext(_EXACT):
        logs = [_log(each) for each in ratios]
        mean = sum(logs, Decimal(0)) / len(logs)
        return _above(sum(((each - mean) ** 2 for each in logs), Decimal(0)) / (len(logs) - 1))


def drift_of(times: Sequence[int]) -> Decimal:
    """Give the same floor from one thing's times, taken one after another: by what each differs from the one before."""
    with decimal.localcontext(_EXACT):
        steps = [_log(Fraction(after, before)) for before, after in pairwise(times)]
        return _above(sum((each**2 for each in steps), Decimal(0)) / len(steps))


def _above(variance: Decimal) -> Decimal:
    return (2 * variance.sqrt()).exp().quantize(PLACES, ROUND_CEILING)


def _log(ratio: Fraction) -> Decimal:
    return (Decimal(ratio.numerator) / Decimal(ratio.denominator)).ln()


def bucket_of(scale: Scale, ratio: Fraction) -> Decimal | None:
    """Give the highest boundary that a ratio reaches; a boundary is part of its bucket. None where it reaches none."""
    return max((each for each in scale.buckets if ratio >= Fraction(each)), default=None)


def score_of(scale: Scale, bucket: Decimal | None) -> Decimal:
    """Give what a bucket is worth."""
    return Decimal(0) if bucket is None else scale.buckets[bucket]


class Doubt(StrEnum):
    """Why nothing can be said of a candidate's speed: a fault, never a verdict."""

    NOISY = "the machine is too noisy"


@dataclass(frozen=True, slots=True, kw_only=True)
class Credit:
    """What pairs are worth."""

    bucket: Decimal | None
    floor: Decimal
    """The larger of the floor that was measured before, and of what the baseline's own times say meanwhile."""
    doubt: Doubt | None = None


def credit(scale: Scale, pairs: Sequence[Pair], floor: Decimal) -> Credit:
    """Credit the bucket that the interval's low end reaches, if that end is above the floor.

    Noise is a doubt only where it is the machine's own, seen in the baseline's times alone, and where another end of
    the interval would be worth something else. A candidate that makes its own times uncertain loses by it.
    """
    found = interval(each.ratio for each in pairs)
    widest = max(floor, drift_of([each.baseline_ns for each in pairs]))
    bucket = bucket_of(scale, found.low) if found.low >= Fraction(widest) else None
    is_open = bucket != bucket_of(scale, found.high)
    return Credit(bucket=bucket, floor=widest, doubt=Doubt.NOISY if is_open and widest >= scale.lowest else None)


def charged(pairs: Sequence[Pair], excess_ns: int) -> tuple[Pair, ...]:
    """Give the pairs with what the candidate did before its clock ran: work at import is part of each call."""
    return tuple(
        Pair(
            baseline_ns=each.baseline_ns,
            candidate_ns=each.candidate_ns + excess_ns,
            baseline_first=each.baseline_first,
        )
        for each in pairs
    )


def import_excess(baseline_ns: Sequence[int], candidate_ns: Sequence[int]) -> int:
    """Give what a candidate's import takes beyond the baseline's, by medians; never below zero."""
    return max(0, int(median(map(Fraction, candidate_ns)) - median(map(Fraction, baseline_ns))))


def is_baseline_first(index: int) -> bool:
    """Say who begins a pair: they take turns, and the warm-up, which is number -1, begins with the baseline."""
    return index < 0 or index % 2 == 0


def check_pairs(pairs: Sequence[Pair], count: int) -> str | None:
    """Say what is wrong with the pairs of a run; None where nothing is."""
    if len(pairs) != count:
        return f"{len(pairs)} pairs instead of {count}"
    wrong = [index for index, each in enumerate(pairs) if each.baseline_first != is_baseline_first(index)]
    return f"pair {wrong[0]} began with the wrong side" if wrong else None


def times_text(value: Fraction | Decimal, rounding: str = ROUND_HALF_EVEN) -> str:
    """Write a ratio for people."""
    exact = value if isinstance(value, Decimal) else Decimal(value.numerator) / Decimal(value.denominator)
    places = Decimal("0.001") if exact < 10 else Decimal("0.1")  # noqa: PLR2004 - four digits tell enough
    return format(exact.quantize(places, rounding), "f")


def interval_text(found: Interval) -> str:
    """Write an interval for people; it is never told narrower than it is."""
    percent = times_text(found.coverage * 100, ROUND_FLOOR)
    return f"[{times_text(found.low, ROUND_FLOOR)}, {times_text(found.high, ROUND_CEILING)}] ({percent} %)"
