"""What one solve costs, and how sure that is. Pure.

Source: E. C. Fieller, Some problems in interval estimation, J. R. Stat. Soc. B 16 (1954). Where it is not clear that
anything is solved at all, the interval has no upper end, and none is made up.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt

from runner.statistics.quantiles import TWO_SIDED_95, t_quantile
from runner.statistics.rates import FEWEST, wilson


@dataclass(frozen=True, slots=True, kw_only=True)
class Paid:
    """One nomination: what its attempts that count cost together, and how many of them solved it."""

    cost: Fraction
    solved: int
    of: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CostPerSolve:
    """What a solve costs."""

    value: Fraction | None
    """All costs over all solves, those of attempts that failed too; None where nothing was solved."""
    low: float | None
    """Of 95%; None where there is no interval, since there is one nomination."""
    high: float | None
    """None: there is no upper end (with `low`), or no interval."""

    @property
    def is_unbounded(self) -> bool:
        """Whether only the least it may cost is known."""
        return self.low is not None and self.high is None


def cost_per_solve(paid: Sequence[Paid]) -> CostPerSolve | None:
    """Give the cost of a solve with Fieller's interval over nominations; None of nothing."""
    if not paid:
        return None
    cost, solved = sum((each.cost for each in paid), Fraction(0)), sum(each.solved for each in paid)
    value = cost / solved if solved else None
    if len(paid) < FEWEST:
        return CostPerSolve(value=value, low=None, high=None)
    if value is None:
        return CostPerSolve(value=None, low=_least(paid, cost), high=None)
    low, high = _fieller(paid, t_quantile(TWO_SIDED_95, len(paid) - 1))
    return CostPerSolve(value=value, low=low, high=high)


def _least(paid: Sequence[Paid], cost: Fraction) -> float:
    """Give what a solve costs at least where nothing was solved: by the highest rate that may still be true."""
    attempts = sum(each.of for each in paid)
    highest = wilson(0.0, len(paid), t_quantile(TWO_SIDED_95, len(paid) - 1)).high
    return float(cost / attempts) / highest


def _fieller(paid: Sequence[Paid], reach: float) -> tuple[float, float | None]:
    """Give both ends; the upper one is None where there is none."""
    size = len(paid)
    cost, solved = sum(each.cost for each in paid) / size, Fraction(sum(each.solved for each in paid), size)
    scale = size * (size - 1)
    spread_cost = sum(((each.cost - cost) ** 2 for each in paid), Fraction(0)) / scale
    spread_solved = sum(((each.solved - solved) ** 2 for each in paid), Fraction(0)) / scale
    joint = sum(((each.cost - cost) * (each.solved - solved) for each in paid), Fraction(0)) / scale
    # The ends are where a R^2 - 2 b R + c = 0.
    square = Fraction(reach) ** 2
    a, b, c = solved**2 - square * spread_solved, cost * solved - square * joint, cost**2 - square * spread_cost
    root = b**2 - a * c
    if a > 0 and root >= 0:
        ends = sorted(float(b) / float(a) + sign * sqrt(root) / float(a) for sign in (-1, 1))
        return max(0.0, ends[0]), ends[1]
    if a < 0 < c:
        return (float(b) - sqrt(root)) / float(a), None
    return 0.0, None
