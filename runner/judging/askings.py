"""From judge documents to askings: one question to one judge, and what came of it in the end. Pure."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from runner.documents.judging import (
    Cell,
    ControlItem,
    FlagKind,
    PairItem,
    PairVerdict,
    RubricItem,
    RubricVerdict,
    Skipped,
    Unscored,
    UnscoredWhy,
    View,
)
from runner.documents.reviews import ManualReview
from runner.errors import VerificationError
from runner.judging.terms import Terms

Said = RubricVerdict | PairVerdict | Unscored
Item = RubricItem | PairItem | ControlItem


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """Everything that was said."""

    documents: tuple[Said, ...]
    skipped: tuple[Skipped, ...] = ()
    reviews: tuple[ManualReview, ...] = ()
    lengths: Mapping[str, int] = field(default_factory=dict)
    """Changed lines of submissions, by digest; those that nobody counted are not there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """One question to one judge, and what came of it after all its answers."""

    judge: str
    item: Item
    view: View
    said: Said
    """The verdict, or the last answer that was none."""
    answers: int
    stood_in: bool

    @property
    def is_scored(self) -> bool:
        """Whether a verdict came."""
        return not isinstance(self.said, Unscored)

    @property
    def is_blind(self) -> bool:
        """Whether no name was left in what was shown."""
        return all(flag.kind is not FlagKind.IDENTITY_LEFT for flag in self.said.flags)

    @property
    def why(self) -> UnscoredWhy | None:
        """Why no verdict came."""
        return self.said.why if isinstance(self.said, Unscored) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """All askings, and those that nobody was given."""

    askings: tuple[Asking, ...]
    unasked: Mapping[UnscoredWhy, int]


def settle(judged: Judged, terms: Terms) -> Settled:
    """Bring the answers to each asking together; what was asked again counts once.

    Raises:
        VerificationError: a document is of another release, of somebody whom the release does not know, or says
            something else than another one about the same asking.
    """
    _check(judged, terms)
    answers: dict[tuple[str, Item, View], list[Said]] = {}
    unasked: Counter[UnscoredWhy] = Counter()
    for said in judged.documents:
        if said.asked is not None:
            answers.setdefault((said.asked.judge, said.item, said.asked.view), []).append(said)
        elif isinstance(said, Unscored):
            unasked[said.why] += 1
    return Settled(askings=tuple(_asking(*key, found) for key, found in answers.items()), unasked=unasked)


def _asking(judge: str, item: Item, view: View, answers: list[Said]) -> Asking:
    verdicts = [said for said in answers if not isinstance(said, Unscored)]
    if len(verdicts) > 1:
        raise VerificationError(f"found {len(verdicts)} verdicts of {judge} on one asking; expected one: {item!r}")
    last = verdicts[0] if verdicts else max(answers, key=_number)
    stood_in = last.asked is not None and last.asked.instead_of is not None
    return Asking(judge=judge, item=item, view=view, said=last, answers=len(answers), stood_in=stood_in)


def _number(said: Said) -> int:
    return 0 if said.asked is None else said.asked.number


def _check(judged: Judged, terms: Terms) -> None:
    for said in judged.documents:
        if (said.release, said.manifest_sha256) != (terms.release, terms.manifest_sha256):
            raise VerificationError(f"found a verdict of {said.release}; expected one of {terms.release}'s manifest")
        if said.asked is not None and said.asked.judge not in terms.judges:
            raise VerificationError(f"found a verdict of {said.asked.judge}; expected one of the release's judges")
    for each in judged.reviews:
        if (each.trial.release, each.trial.manifest_sha256) != (terms.release, terms.manifest_sha256):
            raise VerificationError(
                f"found a review of {each.trial.release}; expected one of {terms.release}'s manifest"
            )
    items = [said.item for said in judged.documents] + [each.item for each in judged.skipped]
    named = {cell.candidate for item in items for cell in cells(item)} | {r.trial.candidate for r in judged.reviews}
    if strangers := named - set(terms.candidates):
        raise VerificationError(f"found a verdict about {min(strangers)}; expected the release's candidates")


def cells(item: Item) -> tuple[Cell, ...]:
    """Give the submissions that an asking is about; none for a control that is made of the solution."""
    match item:
        case RubricItem():
            return (item.cell,)
        case PairItem():
            return (item.first, item.second)
        case ControlItem():
            return () if item.cell is None else (item.cell,)


def place(cell: Cell) -> tuple[str, str, int, int, str]:
    """Give what submissions are sorted by."""
    return (cell.candidate, cell.nomination, cell.attempt, cell.try_, cell.submission_sha256)
