"""How likely a count is by chance alone. Pure, exact."""

from fractions import Fraction
from math import comb


def even_chance(hits: int, of: int) -> Fraction | None:
    """Give the exact two-sided binomial probability of a count at least as far from the half; None of nothing.

    Raises:
        ValueError: more hits than there can be.
    """
    if not 0 <= hits <= of:
        raise ValueError(f"found {hits} of {of}; expected no more hits than tries")
    if of == 0:
        return None
    tail = min(hits, of - hits)
    return min(Fraction(1), Fraction(2 * sum(comb(of, each) for each in range(tail + 1)), 2**of))
