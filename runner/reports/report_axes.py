"""Axes of plots: where a value stands, and which values are written down. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

_WIDE = 30.0
"""Largest over smallest value from which an axis counts in powers."""
_NICE = (1.0, 2.0, 5.0, 10.0)
_TICKS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """A stretch of values on a stretch of a plot."""

    low: float
    high: float
    start: float
    end: float
    powers: bool = False
    """Whether equal steps are equal factors."""

    def at(self, value: float) -> float:
        """Give where a value stands."""
        low, high, here = (log10(each) if self.powers else each for each in (self.low, self.high, value))
        return self.start + (self.end - self.start) * (here - low) / (high - low)


def axis(values: Sequence[float], start: float, end: float) -> Axis:
    """Give the axis of some amounts: from nothing, or in powers where they are far apart."""
    top = max(values, default=0.0) or 1.0
    least = min(values, default=0.0)
    if least > 0 and top / least > _WIDE:
        return Axis(low=10 ** floor(log10(least)), high=10 ** ceil(log10(top)), start=start, end=end, powers=True)
    return Axis(low=0.0, high=_step(top) * ceil(top / _step(top) - 1e-9), start=start, end=end)


def ticks(found: Axis) -> tuple[float, ...]:
    """Give the values to write down at an axis."""
    if found.powers:
        return tuple(10.0**power for power in range(round(log10(found.low)), round(log10(found.high)) + 1))
    step = _step(found.high)
    return tuple(step * at for at in range(round(found.high / step) + 1))


def _step(top: float) -> float:
    rough = top / _TICKS
    power = 10.0 ** floor(log10(rough))
    return next(nice * power for nice in _NICE if nice * power >= rough * (1 - 1e-9))
