"""What comes of more than one attempt at a nomination: solved at least once, solved every time. Pure, exact.

Source: M. Chen et al., Evaluating large language models trained on code (2021), for pass@k without bias.
"""

from collections.abc import Sequence
from fractions import Fraction
from math import comb

from runner.statistics.rates import Tried

SHOWN = (1, 2, 3, 5, 10, 20, 50, 100)
"""The numbers of attempts that are worth a column, as far as there are as many."""


def pass_at(tried: Tried, k: int) -> Fraction:
    """Give the chance that at least one of `k` attempts, drawn from those there are, solved it.

    Raises:
        ValueError: there are fewer attempts than that, so that nothing is known.
    """
    _check(tried, k)
    return 1 - Fraction(comb(tried.of - tried.solved, k), comb(tried.of, k))


def pass_every(tried: Tried, k: int) -> Fraction:
    """Give the chance that all of `k` attempts, drawn from those there are, solved it (pass^k).

    Raises:
        ValueError: as `pass_at`.
    """
    _check(tried, k)
    return Fraction(comb(tried.solved, k), comb(tried.of, k))


def _check(tried: Tried, k: int) -> None:
    if not 1 <= k <= tried.of:
        raise ValueError(f"found {k} of {tried.of} attempts; expected at least one, and no more than there are")


def mean_pass(tried: Sequence[Tried], k: int) -> tuple[Fraction, Fraction] | None:
    """Give the means of pass@k and pass^k over nominations; None where one was tried less often than that."""
    if not tried or any(each.of < k for each in tried):
        return None
    at_least_once = sum((pass_at(each, k) for each in tried), Fraction(0))
    every_time = sum((pass_every(each, k) for each in tried), Fraction(0))
    return at_least_once / len(tried), every_time / len(tried)


def shown(tried: Sequence[Tried]) -> tuple[int, ...]:
    """Give the numbers of attempts that can be shown of all nominations."""
    fewest = min((each.of for each in tried), default=0)
    return tuple(each for each in SHOWN if each <= fewest)
