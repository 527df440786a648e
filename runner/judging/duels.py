"""Pairs: what a judge says of two submissions over both orders. Pure."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from runner.documents.judging import Cell, Choice, PairItem, PairVerdict, View
from runner.judging.askings import Asking, place

_FIRST_WINS = {Choice.FIRST: Fraction(1), Choice.TIE: Fraction(1, 2), Choice.SECOND: Fraction(0)}
"""An abstention is not among them: it is neither a tie nor a loss."""

_TURNED = {Choice.FIRST: Choice.SECOND, Choice.SECOND: Choice.FIRST}

Winner = Literal["one", "other", "tie"]


@dataclass(slots=True, kw_only=True)
class Duel:
    """Two submissions of a nomination before one judge: its choices by who was shown first."""

    judge: str
    one: Cell
    """The sides are named by their order (`askings.place`), whatever the plan calls first."""
    other: Cell
    one_shown: dict[int, Choice] = field(default_factory=dict)
    """Choices by repeat where `one` was shown first; FIRST is `one`."""
    other_shown: dict[int, Choice] = field(default_factory=dict)

    @property
    def share(self) -> Fraction | None:
        """The part of the win of `one`: the mean of both orders, in each over repeats; None without both."""
        orders = [_mean(each.values()) for each in (self.one_shown, self.other_shown)]
        known = [share for share in orders if share is not None]
        return sum(known, Fraction(0)) / 2 if len(known) == 2 else None  # noqa: PLR2004 - both orders

    @property
    def winner(self) -> Winner | None:
        """Who won over both orders; orders that contradict each other make a tie."""
        return None if self.share is None else side(self.share)

    @property
    def plain(self) -> tuple[Choice, Choice] | None:
        """The choices of the two orders, repeats left out; None unless both were made."""
        one, other = self.one_shown.get(0), self.other_shown.get(0)
        if one is None or other is None or Choice.ABSTAIN in {one, other}:
            return None
        return one, other

    @property
    def slots(self) -> tuple[int, int] | None:
        """How often the two orders chose what was shown first, and second; None unless both were made."""
        if self.plain is None:
            return None
        one, other = self.plain
        first = (one is Choice.FIRST) + (other is Choice.SECOND)
        return first, (one is Choice.SECOND) + (other is Choice.FIRST)


def _mean(choices: Iterable[Choice]) -> Fraction | None:
    shares = [_FIRST_WINS[choice] for choice in choices if choice is not Choice.ABSTAIN]
    return sum(shares, Fraction(0)) / len(shares) if shares else None


def side(share: Fraction) -> Winner:
    """Say who has the larger part of a win."""
    half = Fraction(1, 2)
    return "tie" if share == half else "one" if share > half else "other"


def duels(askings: Iterable[Asking], view: View = View.FULL, *, blind: bool = True) -> tuple[Duel, ...]:
    """Bring a judge's askings about pairs together, in the order of the pairs.

    With `blind` verdicts on changes with a name in them count as none. Pairs that have no verdict at all are there too.
    """
    found: dict[tuple[str, Cell, Cell], Duel] = {}
    for asking in askings:
        item = asking.item
        if not isinstance(item, PairItem) or asking.view is not view:
            continue
        one, other = sorted((item.first, item.second), key=place)
        duel = found.setdefault((asking.judge, one, other), Duel(judge=asking.judge, one=one, other=other))
        if isinstance(asking.said, PairVerdict) and (asking.is_blind or not blind):
            choice = asking.said.verdict
            shown = item.first if item.shown_a == "first" else item.second
            choices = duel.one_shown if shown == one else duel.other_shown
            choices[item.repeat] = choice if item.first == one else _TURNED.get(choice, choice)
    return tuple(sorted(found.values(), key=lambda duel: (place(duel.one), place(duel.other), duel.judge)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Meeting:
    """Two candidates in one nomination, over all their attempts and all judges: one comparison."""

    nomination: str
    one: str
    other: str
    share: Fraction


def meetings(whole: Sequence[Duel]) -> Iterator[Meeting]:
    """Give one unit of weight for each two candidates of a nomination: the mean over pairs of the mean over judges."""
    pairs: dict[tuple[Cell, Cell], list[Fraction]] = {}
    for duel in whole:
        if duel.share is not None:
            pairs.setdefault((duel.one, duel.other), []).append(duel.share)
    met: dict[tuple[str, str, str], list[Fraction]] = {}
    for (one, other), shares in pairs.items():
        if one.candidate != other.candidate:
            key = (one.nomination, one.candidate, other.candidate)
            met.setdefault(key, []).append(mean(shares))
    for (nomination, first, second), shares in sorted(met.items()):
        yield Meeting(nomination=nomination, one=first, other=second, share=mean(shares))


def mean(values: Sequence[Fraction]) -> Fraction:
    """Give the exact mean of at least one value."""
    return sum(values, Fraction(0)) / len(values)


def steady(askings: Iterable[Asking]) -> tuple[int, int]:
    """Count the verdicts that were asked for once more in the same order, and the same ones among them."""
    first: dict[tuple[str, PairItem], Choice] = {}
    again: list[tuple[str, PairItem, Choice]] = []
    for asking in askings:
        if isinstance(asking.item, PairItem) and isinstance(asking.said, PairVerdict) and asking.view is View.FULL:
            key = asking.item.model_copy(update={"repeat": 0})
            if asking.item.repeat:
                again.append((asking.judge, key, asking.said.verdict))
            else:
                first[asking.judge, key] = asking.said.verdict
    known = [(first[judge, key], choice) for judge, key, choice in again if (judge, key) in first]
    return sum(one is other for one, other in known), len(known)
