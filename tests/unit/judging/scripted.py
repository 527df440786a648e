"""Judges that are played: each looks at what a packet would show and answers as its nature is. No units, no models."""

import hashlib
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from runner.canonical import sha256
from runner.documents.judging import (
    Asked,
    Cell,
    Choice,
    ControlItem,
    ControlKind,
    Flag,
    FlagKind,
    Item,
    PairItem,
    PairVerdict,
    RubricItem,
    RubricScore,
    RubricVerdict,
    Side,
    Unscored,
    UnscoredWhy,
    View,
)
from runner.judges import ControlBounds
from runner.judging.askings import Said
from runner.judging.terms import Terms

RELEASE, MANIFEST = "pilot", sha256(b"manifest")
CRITERIA = ("clarity", "scope")
FAMILIES = {"ace-1": "acme", "ace-2": "acme", "bolt-1": "bolt", "bolt-2": "bolt", "cube-1": "cube", "cube-2": "cube"}
NOMINATIONS = tuple(f"task-{number}" for number in range(6))
ONE_IN = 10
"""One pair asking of so many is repeated."""
EACH_CONTROL = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What a judge can make out of one change."""

    quality: float
    lines: int
    family: str
    speaks: bool = False
    """A text in it speaks to judges."""


Ballot = Choice | UnscoredWhy
"""FIRST is what stands first in the packet, as A."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scripted:
    """A judge by what it answers."""

    id: str
    family: str
    duel: Callable[[Shown, Shown, random.Random], Ballot]
    points: Callable[[Shown, random.Random], int | UnscoredWhy]


def cell(candidate: str, nomination: str) -> Cell:
    digest = sha256(f"{candidate} {nomination}".encode())
    return Cell(candidate=candidate, nomination=nomination, attempt=1, try_=1, submission_sha256=digest)


def shown(of: Cell, view: View = View.FULL) -> Shown:
    """Give a submission's nature: drawn once for all, from its digest."""
    dice = random.Random(of.submission_sha256)  # noqa: S311 - no secret is made of it
    strength = list(FAMILIES).index(of.candidate) * 0.35
    speaks = of.candidate.endswith("-2") and view is View.FULL
    quality = 4 + strength + dice.gauss(0, 1.2)
    return Shown(quality=quality, lines=dice.randint(5, 80), family=FAMILIES[of.candidate], speaks=speaks)


def lengths() -> dict[str, int]:
    return {each.submission_sha256: shown(each).lines for each in every_cell()}


def every_cell() -> Iterator[Cell]:
    return (cell(candidate, nomination) for nomination in NOMINATIONS for candidate in FAMILIES)


def rubric_items() -> Iterator[RubricItem]:
    return (RubricItem(cell=each, criteria=CRITERIA) for each in every_cell())


def pair_items() -> Iterator[PairItem]:
    """Give the circulant plan of degree 2, both orders, and one repeat of ten."""
    names = list(FAMILIES)
    count = 0
    for nomination in NOMINATIONS:
        for at, name in enumerate(names):
            for step in (1, 2):
                first, second = cell(name, nomination), cell(names[(at + step) % len(names)], nomination)
                for side in ("first", "second"):
                    planned = PairItem(nomination=nomination, first=first, second=second, shown_a=side)
                    yield planned
                    count += 1
                    if count % ONE_IN == 0:
                        yield planned.model_copy(update={"repeat": 1})


EXPECTED = {
    ControlKind.IDENTICAL: Choice.TIE,
    ControlKind.PADDED: Choice.TIE,
    ControlKind.INJECTED: Choice.TIE,
    ControlKind.KNOWN_WINNER: Choice.FIRST,
    ControlKind.NULL_PATCH: Choice.FIRST,
    ControlKind.TRUNCATED_PATCH: Choice.FIRST,
}


def control_items() -> Iterator[ControlItem]:
    for kind, expected in EXPECTED.items():
        for number in range(1, EACH_CONTROL + 1):
            nomination = NOMINATIONS[number % len(NOMINATIONS)]
            yield ControlItem(
                control=kind,
                nomination=nomination,
                cell=None,
                shown_a="first" if number % 2 else "second",
                expected=expected,
                number=number,
            )


def made(kind: ControlKind) -> tuple[Shown, Shown]:
    """Give a control's two sides: the change, and what was made beside it."""
    own = Shown(quality=9, lines=40, family="nobody")
    beside = {
        ControlKind.IDENTICAL: own,
        ControlKind.PADDED: replace(own, lines=90),
        ControlKind.INJECTED: replace(own, speaks=True),
        ControlKind.KNOWN_WINNER: replace(own, quality=2),
        ControlKind.NULL_PATCH: replace(own, quality=0, lines=0),
        ControlKind.TRUNCATED_PATCH: replace(own, quality=1, lines=20),
    }
    return own, beside[kind]


def documents(judge: Scripted, *, views: Sequence[View] = (View.FULL, View.BARE)) -> Iterator[Said]:
    """Ask a judge everything, in both views; controls in the full one alone."""
    dice = random.Random(judge.id)  # noqa: S311 - as above
    for view in views:
        for item in chain(rubric_items(), pair_items()):
            yield said(judge, item, view, dice)
    for control in control_items():
        yield said(judge, control, View.FULL, dice)


def said(judge: Scripted, item: Item, view: View, dice: random.Random) -> Said:
    """Give a judge's document on one asking."""
    asked = a_question(judge.id, view)
    if isinstance(item, RubricItem):
        return _rubric(judge, item, asked, dice)
    sides = made(item.control) if isinstance(item, ControlItem) else (shown(item.first, view), shown(item.second, view))
    turned = item.shown_a == "second"
    ballot = judge.duel(*(sides[::-1] if turned else sides), dice)
    flags = tuple(_flag(side) for side, each in zip(_SIDES, sides, strict=True) if each.speaks)
    if isinstance(ballot, UnscoredWhy):
        return _unscored(item, asked, ballot, flags)
    return PairVerdict(
        release=RELEASE,
        manifest_sha256=MANIFEST,
        item=item,
        asked=asked,
        verdict=_TURNED.get(ballot, ballot) if turned else ballot,
        reason="so it is",
        quotes=(),
        injection_seen=False,
        flags=flags,
    )


_SIDES: tuple[Side, Side] = ("first", "second")
_TURNED = {Choice.FIRST: Choice.SECOND, Choice.SECOND: Choice.FIRST}


def _rubric(judge: Scripted, item: RubricItem, asked: Asked, dice: random.Random) -> Said:
    seen = shown(item.cell, asked.view)
    points = [judge.points(seen, dice) for _ in item.criteria]
    flags = (_flag(None),) if seen.speaks else ()
    if missing := next((each for each in points if isinstance(each, UnscoredWhy)), None):
        return _unscored(item, asked, missing, flags)
    scores = tuple(
        RubricScore(criterion=criterion, points=int(each), reason="so it is")
        for criterion, each in zip(item.criteria, points, strict=True)
    )
    return RubricVerdict(
        release=RELEASE,
        manifest_sha256=MANIFEST,
        item=item,
        asked=asked,
        scores=scores,
        quotes=(),
        injection_seen=False,
        flags=flags,
    )


def _unscored(item: Item, asked: Asked, why: UnscoredWhy, flags: tuple[Flag, ...]) -> Unscored:
    return Unscored(release=RELEASE, manifest_sha256=MANIFEST, item=item, asked=asked, why=why, flags=flags)


def _flag(side: Side | None) -> Flag:
    return Flag(side=side, kind=FlagKind.INJECTION, count=1)


def a_question(judge: str, view: View = View.FULL, number: int = 1) -> Asked:
    return Asked(
        judge=judge,
        model=None,
        view=view,
        number=number,
        packet_sha256=sha256(b"packet"),
        prompt_sha256=sha256(b"prompt"),
        settings_sha256=sha256(b"settings"),
        solution="never",
        answer_sha256=None,
        duration_ms=1,
    )


def better(one: float, other: float, tie: float = 0.3) -> Choice:
    if abs(one - other) < tie:
        return Choice.TIE
    return Choice.FIRST if one > other else Choice.SECOND


def fair_points(seen: Shown, dice: random.Random) -> int:
    return max(0, min(10, round(seen.quality + dice.gauss(0, 0.4))))


def honest(name: str, family: str) -> Scripted:
    return Scripted(
        id=name,
        family=family,
        duel=lambda one, other, dice: better(one.quality + dice.gauss(0, 0.1), other.quality + dice.gauss(0, 0.1)),
        points=fair_points,
    )


def position_biased() -> Scripted:
    """Takes the first unless the second is far better."""
    return replace(honest("leftist", "flux"), duel=lambda one, other, _: better(one.quality + 4, other.quality))


def length_biased() -> Scripted:
    return replace(
        honest("weigher", "gust"),
        duel=lambda one, other, _: better(one.lines, other.lines),
        points=lambda seen, _: min(10, seen.lines // 8),
    )


def fond() -> Scripted:
    def liked(seen: Shown) -> float:
        return seen.quality + 3 * (seen.family == "acme")

    return replace(
        honest("uncle", "acme"),
        duel=lambda one, other, _: better(liked(one), liked(other)),
        points=lambda seen, _: max(0, min(10, round(liked(seen)))),
    )


def injected() -> Scripted:
    def told(seen: Shown) -> float:
        return 99 if seen.speaks else seen.quality

    return replace(
        honest("listener", "hush"),
        duel=lambda one, other, _: better(told(one), told(other)),
        points=lambda seen, dice: 10 if seen.speaks else fair_points(seen, dice),
    )


def broken() -> Scripted:
    fair = honest("stutterer", "iris")
    return replace(
        fair,
        duel=lambda one, other, dice: UnscoredWhy.UNPARSABLE if dice.random() < 0.4 else fair.duel(one, other, dice),
        points=lambda seen, dice: UnscoredWhy.TRUNCATED if dice.random() < 0.2 else fair_points(seen, dice),
    )


def silent() -> Scripted:
    return replace(
        honest("mute", "jade"),
        duel=lambda *_: UnscoredWhy.PROVIDER,
        points=lambda *_: UnscoredWhy.PROVIDER,
    )


def shrugging() -> Scripted:
    """Abstains from everything, and gives seven points to everything."""
    return replace(honest("shrug", "kite"), duel=lambda *_: Choice.ABSTAIN, points=lambda *_: 7)


def dicing() -> Scripted:
    return replace(
        honest("dicer", "lime"),
        duel=lambda _one, _other, dice: dice.choice((Choice.FIRST, Choice.SECOND, Choice.TIE)),
        points=lambda _seen, dice: dice.randint(0, 10),
    )


def terms(judges: Mapping[str, str | None], **changes: object) -> Terms:
    plain: dict[str, object] = {
        "release": RELEASE,
        "manifest_sha256": MANIFEST,
        "seed": hashlib.sha256(b"seed").digest(),
        "judges": judges,
        "candidates": FAMILIES,
        "criteria": CRITERIA,
        "bounds": ControlBounds(),
    }
    return Terms(**{**plain, **changes})  # type: ignore[arg-type] - a test's own words for fields
