"""How sure a rate is that comes from several attempts at each of several nominations. Pure.

Attempts at one nomination are not independent of each other. So nominations are what is counted: each weighs the same,
and the spread between them says how many independent attempts there would have to be for as sure a rate.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt

from runner.statistics.quantiles import TWO_SIDED_95, t_quantile

FEWEST = 2
"""Nominations from which there is a spread."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """From where to where."""

    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """One nomination: how many attempts at it count, and how many of them solved it."""

    solved: int
    of: int

    def __post_init__(self) -> None:
        if not 0 <= self.solved <= self.of or self.of == 0:
            raise ValueError(f"found {self.solved} of {self.of}; expected at least one attempt, and no more solved")

    @property
    def rate(self) -> Fraction:
        """Give the part that was solved."""
        return Fraction(self.solved, self.of)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """A solve rate."""

    value: Fraction
    """The mean over nominations; each weighs the same."""
    interval: Interval | None
    """Of 95%; None for one nomination, which has no spread."""
    effective: float | None
    """As many independent attempts would make it as sure."""


def solve_rate(tried: Sequence[Tried]) -> Rate | None:
    """Give the mean rate and its interval: Wilson's, with the effective number of attempts and Student's t.

    None of nothing.
    """
    if not tried:
        return None
    size = len(tried)
    mean = sum((each.rate for each in tried), Fraction(0)) / size
    if size < FEWEST:
        return Rate(value=mean, interval=None, effective=None)
    error = sum(((each.rate - mean) ** 2 for each in tried), Fraction(0)) / (size - 1) / size
    effective = float(_effective(mean, error, size, sum(each.of for each in tried)))
    reach = t_quantile(TWO_SIDED_95, size - 1)
    return Rate(value=mean, interval=wilson(float(mean), effective, reach), effective=effective)


def _effective(mean: Fraction, error: Fraction, size: int, attempts: int) -> Fraction:
    """Give how many independent attempts have the variance that the mean has; without any, the nominations."""
    if error == 0:
        return Fraction(size)
    return min(max(mean * (1 - mean) / error, Fraction(1)), Fraction(attempts))


def wilson(rate: float, attempts: float, reach: float) -> Interval:
    """Give Wilson's score interval.

    Args:
        rate: the part of the attempts that succeeded.
        attempts: how many there were; need not be whole.
        reach: the quantile of the distribution that the error is taken to have.

    Raises:
        ValueError: no rate, or no attempts.
    """
    if not 0 <= rate <= 1 or attempts <= 0:
        raise ValueError(f"found a rate of {rate} of {attempts} attempts; expected 0 <= rate <= 1 of some")
    square = reach**2 / attempts
    middle = (rate + square / 2) / (1 + square)
    half = reach * sqrt(rate * (1 - rate) / attempts + square / (4 * attempts)) / (1 + square)
    return Interval(
        low=0.0 if rate == 0 else max(0.0, middle - half), high=1.0 if rate == 1 else min(1.0, middle + half)
    )
