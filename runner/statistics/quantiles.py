"""Quantiles of Student's t, from the incomplete beta function. Pure.

The continued fraction is Lentz's (W. J. Lentz, Appl. Opt. 15, 1976), the quantile is found by halving.
"""

from functools import lru_cache
from math import exp, lgamma, log, log1p, sqrt
from statistics import NormalDist

TWO_SIDED_95 = 0.975
"""The quantile that bounds the middle 95 percent."""

_TINY = 1e-300
_NEAR = 1e-15
_MOST = 500
_HALVINGS = 200
_LARGE = 1e7
"""Degrees of freedom from which t is told from the normal distribution by nothing that is printed."""


@lru_cache(maxsize=256)
def t_quantile(chance: float, degrees: float) -> float:
    """Give the value that Student's t stays below with this chance.

    Raises:
        ValueError: no chance between 0 and 1, or no degree of freedom.
    """
    if not 0 < chance < 1 or degrees <= 0:
        raise ValueError(
            f"found a chance of {chance} with {degrees} degrees of freedom; expected 0 < chance < 1, and 1"
        )
    if degrees >= _LARGE:
        return NormalDist().inv_cdf(chance)
    tail = min(chance, 1 - chance)
    # t = sqrt(d (1 - x) / x), where x is the point that Beta(d/2, 1/2) stays below with chance 2 tail.
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if incomplete_beta(middle, degrees / 2, 0.5) < 2 * tail:
            low = middle
        else:
            high = middle
    if high >= 1:
        return 0.0
    found = sqrt(degrees * (1 - high) / high)
    return found if chance > tail else -found


def incomplete_beta(x: float, a: float, b: float) -> float:
    """Give the regularised incomplete beta function I_x(a, b)."""
    if x <= 0 or x >= 1:
        return 0.0 if x <= 0 else 1.0
    front = exp(a * log(x) + b * log1p(-x) + lgamma(a + b) - lgamma(a) - lgamma(b))
    if x > (a + 1) / (a + b + 2):  # the fraction converges quickly on the other side alone
        return 1 - front * _fraction(1 - x, b, a) / b
    return front * _fraction(x, a, b) / a


def _fraction(x: float, a: float, b: float) -> float:
    upper, lower = 1.0, 1 / _apart(1 - (a + b) * x / (a + 1))
    value = lower
    for m in range(1, _MOST):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            lower = 1 / _apart(1 + term * lower)
            upper = _apart(1 + term / upper)
            value *= upper * lower
        if abs(upper * lower - 1) < _NEAR:
            break
    return value


def _apart(value: float) -> float:
    """Keep a divisor from nothing."""
    return value if abs(value) > _TINY else _TINY
