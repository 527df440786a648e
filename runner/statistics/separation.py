"""Who can be told from the leader: by the nominations that both tried, never by intervals that overlap. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from runner.statistics.pairs import Test, holm, mcnemar, sign_flip
from runner.statistics.rates import Tried

LEVEL = Fraction(1, 20)
"""A chance below this, corrected for the number of comparisons, tells two apart."""

Tries = Mapping[str, Tried]
"""By nomination."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One candidate beside the leader."""

    shared: int
    """Nominations that both tried."""
    gap: Fraction | None
    """The leader's mean rate on these, less the other's."""
    test: Test | None
    chance: Fraction | None
    """Of as large a difference without any; None where nothing is shared."""
    corrected: Fraction | None
    """The same for all comparisons of the table together (Holm)."""

    @property
    def is_separated(self) -> bool:
        """Whether the two were told apart; what is not known tells nobody apart."""
        return self.corrected is not None and self.corrected < LEVEL


def beside_leader(leader: Tries, others: Sequence[Tries]) -> tuple[Comparison, ...]:
    """Compare each of the others to the leader; the chances are corrected for all of them."""
    found = [_compare(leader, each) for each in others]
    known = [each.chance for each in found if each.chance is not None]
    corrected = iter(holm(known))
    return tuple(
        Comparison(
            shared=each.shared,
            gap=each.gap,
            test=each.test,
            chance=each.chance,
            corrected=None if each.chance is None else next(corrected),
        )
        for each in found
    )


def _compare(leader: Tries, other: Tries) -> Comparison:
    shared = [name for name in leader if name in other]
    if not shared:
        return Comparison(shared=0, gap=None, test=None, chance=None, corrected=None)
    pairs = [(leader[name], other[name]) for name in shared]
    differences = [one.rate - two.rate for one, two in pairs]
    once = all(one.of == two.of == 1 for one, two in pairs)
    return Comparison(
        shared=len(shared),
        gap=sum(differences, Fraction(0)) / len(shared),
        test=Test.MCNEMAR if once else Test.SIGN_FLIP,
        chance=_mcnemar(differences) if once else sign_flip(differences),
        corrected=None,
    )


def _mcnemar(differences: Sequence[Fraction]) -> Fraction:
    return mcnemar(sum(each > 0 for each in differences), sum(each < 0 for each in differences))
