"""How often something can still happen that was seen k times in n, and what is counted so. Pure."""

from collections.abc import Mapping
from decimal import ROUND_HALF_EVEN, Decimal
from math import comb

from evaluators.model import Verdict

_PLACES = Decimal("0.0001")
_CONFIDENCE = 0.95
_STEPS = 60


def upper_bound(seen: int, tries: int) -> Decimal:
    """Give the upper end of the one-sided 95% interval of a rate (Clopper and Pearson, Biometrika 26, 1934).

    The rate p at which `seen` or fewer of `tries` happen with a probability of 5%; 1 where nothing was tried.
    """
    if seen >= tries:
        return Decimal(1)
    low, high = seen / tries, 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        at_most = sum(comb(tries, each) * middle**each * (1 - middle) ** (tries - each) for each in range(seen + 1))
        low, high = (middle, high) if at_most > 1 - _CONFIDENCE else (low, middle)
    return Decimal(high).quantize(_PLACES, ROUND_HALF_EVEN)


def flakes(first: Mapping[str, Mapping[str, Verdict]], other: Mapping[str, Mapping[str, Verdict]]) -> int:
    """Count the verdicts of a round, by control and evaluator, that are not those of the first round."""
    return sum(
        (verdict.cause, verdict.score) != (other[control][name].cause, other[control][name].score)
        for control, verdicts in first.items()
        for name, verdict in verdicts.items()
    )
