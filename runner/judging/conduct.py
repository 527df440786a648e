"""How far a judge can be believed: controls, orders, repeats, views, and the bounds that lose its batch. Pure."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from runner.documents.judging import Choice, ControlItem, ControlKind, PairVerdict, UnscoredWhy, View
from runner.judges import ControlBounds
from runner.judging.askings import Asking
from runner.judging.duels import Duel, duels, steady
from runner.judging.leanings import Moved, by_length, by_place, by_text

Counted = tuple[int, int]
"""So many of so many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """What came of the hidden controls of one kind."""

    control: ControlKind
    held: int
    missed: tuple[PairVerdict, ...]
    unscored: int
    bound: int
    """Percent of the answered that may be missed."""

    @property
    def answered(self) -> int:
        """How many have a verdict."""
        return self.held + len(self.missed)

    @property
    def crossed(self) -> bool:
        """Whether more was missed than may be."""
        return len(self.missed) * 100 > self.bound * self.answered

    def missed_for(self, choice: Choice) -> int:
        """How often the wrong verdict was this one; `second` is what was made beside the change."""
        return sum(each.verdict is choice for each in self.missed)

    @property
    def missed_in_one_place(self) -> int:
        """How many of the misses the preference of one place would explain."""
        slots = [each.slot for each in self.missed]
        return max(slots.count("A"), slots.count("B"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Conduct:
    """One judge's askings, counted."""

    judge: str
    askings: tuple[Asking, ...]
    unscored: Mapping[UnscoredWhy, int]
    controls: tuple[Held, ...]
    orders: Counted
    """The same verdict in both orders, of pairs with both."""
    repeats: Counted
    """The same verdict again, of verdicts that were asked for once more."""
    first_slot: Counted
    """Decided for what was shown first, of decided verdicts of pairs with both orders."""
    places: Moved
    views: Counted
    """The same verdict without comments, of pairs shown in both views."""
    texts: Moved
    length: Counted
    whole: tuple[Duel, ...]
    """Pairs, with the verdicts on changes without names alone."""
    unscored_bound: int
    """Percent."""

    @property
    def missing(self) -> int:
        """How many askings have no verdict."""
        return sum(self.unscored.values())

    @property
    def is_past_unscored(self) -> bool:
        """Whether more askings have no verdict than the release allows."""
        return self.missing * 100 > self.unscored_bound * len(self.askings)

    @property
    def crossed(self) -> tuple[str, ...]:
        """The names of the bounds that were crossed."""
        controls = tuple(each.control.value for each in self.controls if each.crossed)
        return (*controls, "unscored") if self.is_past_unscored else controls

    @property
    def lost_for(self) -> tuple[str, ...]:
        """The bounds that were crossed; each loses the whole batch."""
        lost = [
            f"hidden controls of kind {each.control.value}: {len(each.missed)} of {each.answered} missed, "
            f"and at most {each.bound}% may be"
            for each in self.controls
            if each.crossed
        ]
        if self.is_past_unscored:
            lost.append(
                f"{self.missing} of {len(self.askings)} askings have no verdict, and at most {self.unscored_bound}% may"
            )
        return tuple(lost)


def conduct(judge: str, askings: Sequence[Asking], bounds: ControlBounds, lengths: Mapping[str, int]) -> Conduct:
    """Count what a judge did. `lengths` are the changed lines of submissions, by digest; empty where unknown."""
    whole = duels(askings)
    plain = [duel.plain for duel in whole if duel.plain is not None]
    slots = [duel.slots for duel in whole if duel.slots is not None]
    return Conduct(
        judge=judge,
        askings=tuple(askings),
        unscored=Counter(asking.why for asking in askings if asking.why is not None),
        controls=tuple(_held(askings, bounds)),
        orders=(sum(one is other for one, other in plain), len(plain)),
        repeats=steady(askings),
        first_slot=(sum(first for first, _ in slots), sum(first + second for first, second in slots)),
        places=by_place(whole),
        views=_views(askings),
        texts=by_text(askings),
        length=by_length(whole, lengths),
        whole=whole,
        unscored_bound=bounds.unscored,
    )


def _held(askings: Iterable[Asking], bounds: ControlBounds) -> Iterator[Held]:
    asked: dict[ControlKind, list[tuple[ControlItem, Asking]]] = {}
    for asking in askings:
        if isinstance(asking.item, ControlItem) and asking.view is View.FULL:
            asked.setdefault(asking.item.control, []).append((asking.item, asking))
    for kind in ControlKind:
        if found := asked.get(kind):
            answered = [(item, each.said) for item, each in found if isinstance(each.said, PairVerdict)]
            missed = tuple(said for item, said in answered if said.verdict is not item.expected)
            yield Held(
                control=kind,
                held=len(answered) - len(missed),
                missed=missed,
                unscored=len(found) - len(answered),
                bound=bounds.of(kind),
            )


def _views(askings: Sequence[Asking]) -> Counted:
    choices: dict[View, dict[object, Choice]] = {view: {} for view in View}
    for asking in askings:
        if isinstance(asking.said, PairVerdict):
            choices[asking.view][asking.item] = asking.said.verdict
    full = choices[View.FULL]
    both = [(full[item], bare) for item, bare in choices[View.BARE].items() if item in full]
    return sum(one is other for one, other in both), len(both)
