"""What moves a judge: places, texts that speak to it, length, its own family. Pure counts."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from runner.documents.judging import Cell, ControlItem, FlagKind, PairVerdict, RubricItem, RubricVerdict, View
from runner.judging.askings import Asking
from runner.judging.chance import even_chance
from runner.judging.duels import Duel, duels, mean
from runner.judging.points import Tallies


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """How often something moved a judge one way, and the other."""

    towards: int = 0
    away: int = 0

    @property
    def of(self) -> int:
        """How often it moved the judge at all."""
        return self.towards + self.away

    @property
    def chance(self) -> Fraction | None:
        """How likely that is if both ways are; None where nothing moved."""
        return even_chance(self.towards, self.of)


def moved(steps: Iterable[Fraction | int]) -> Moved:
    """Count steps up and down; steps of nothing are none."""
    signs = [(step > 0) - (step < 0) for step in steps]
    return Moved(towards=signs.count(1), away=signs.count(-1))


def by_place(whole: Iterable[Duel]) -> Moved:
    """Count the pairs whose two orders together favour what was shown first, and second.

    With both orders of each pair, quality favours neither place.
    """
    slots = [duel.slots for duel in whole if duel.slots is not None]
    return moved(first - second for first, second in slots)


def by_text(askings: Sequence[Asking]) -> Moved:
    """Count how often changes with a text that speaks to judges did better with comments than without, and worse."""
    return moved([*_duel_steps(askings), *_point_steps(askings)])


def _duel_steps(askings: Sequence[Asking]) -> Iterator[Fraction]:
    speaking: dict[frozenset[Cell], Cell] = {}
    for asking in askings:
        sides = {flag.side for flag in asking.said.flags if flag.kind is FlagKind.INJECTION}
        item = asking.item
        if len(sides) == 1 and isinstance(asking.said, PairVerdict) and not isinstance(item, ControlItem | RubricItem):
            speaking[frozenset((item.first, item.second))] = item.first if sides == {"first"} else item.second
    bare = {(duel.one, duel.other): duel.share for duel in duels(askings, View.BARE)}
    for duel in duels(askings):
        cell = speaking.get(frozenset((duel.one, duel.other)))
        before, after = bare.get((duel.one, duel.other)), duel.share
        if cell is not None and before is not None and after is not None:
            yield after - before if cell == duel.one else before - after


def _point_steps(askings: Sequence[Asking]) -> Iterator[int]:
    bare = {item: said.points for item, said in _rubrics(askings, View.BARE)}
    for item, said in _rubrics(askings, View.FULL):
        if item in bare and any(flag.kind is FlagKind.INJECTION for flag in said.flags):
            yield from (points - bare[item][name] for name, points in said.points.items())


def _rubrics(askings: Iterable[Asking], view: View) -> Iterator[tuple[RubricItem, RubricVerdict]]:
    for asking in askings:
        if isinstance(asking.item, RubricItem) and isinstance(asking.said, RubricVerdict) and asking.view is view:
            yield asking.item, asking.said


def by_length(whole: Iterable[Duel], lengths: Mapping[str, int]) -> tuple[int, int]:
    """Count the decided pairs of a longer and a shorter change: those that the longer one won, and all."""
    won = of = 0
    for duel in whole:
        one, other = (lengths.get(cell.submission_sha256) for cell in (duel.one, duel.other))
        if one is not None and other is not None and one != other and duel.winner in {"one", "other"}:
            of += 1
            won += (duel.winner == "one") == (one > other)
    return won, of


@dataclass(frozen=True, slots=True, kw_only=True)
class Voice:
    """What one judge said: what others are held against."""

    duels: Mapping[tuple[Cell, Cell], Fraction]
    """Of each pair with both orders, the part of the win of the first."""
    points: Mapping[tuple[Cell, str], Fraction]
    """By submission and criterion."""


def voice(whole: Iterable[Duel], tallies: Tallies) -> Voice:
    """Give what a judge said, repeats taken together."""
    return Voice(
        duels={(duel.one, duel.other): duel.share for duel in whole if duel.share is not None},
        points={
            (cell, criterion): Fraction(sum(points), len(points))
            for (_, criterion), tally in tallies.items()
            for cell, points in tally.given.items()
        },
    )


def chorus(voices: Iterable[Voice]) -> Voice:
    """Give the mean of what several judges said of each thing."""
    shares: dict[tuple[Cell, Cell], list[Fraction]] = {}
    points: dict[tuple[Cell, str], list[Fraction]] = {}
    for each in voices:
        for pair, share in each.duels.items():
            shares.setdefault(pair, []).append(share)
        for rated, value in each.points.items():
            points.setdefault(rated, []).append(value)
    return Voice(
        duels={pair: mean(each) for pair, each in shares.items()},
        points={rated: mean(each) for rated, each in points.items()},
    )


def by_family(own: Voice, rest: Voice, is_own: Mapping[str, bool]) -> Moved:
    """Count how often work of a judge's own family did better with it than with the others, and worse.

    Points are held against how generous the judge is to everybody else's work. `is_own` goes by candidate.
    """
    steps: list[Fraction] = []
    for (one, other), share in own.duels.items():
        theirs = rest.duels.get((one, other))
        if theirs is not None and is_own[one.candidate] != is_own[other.candidate]:
            steps.append(share - theirs if is_own[one.candidate] else theirs - share)
    apart = {key: points - rest.points[key] for key, points in own.points.items() if key in rest.points}
    strange = [step for (cell, _), step in apart.items() if not is_own[cell.candidate]]
    if strange:
        usual = mean(strange)
        steps += (step - usual for (cell, _), step in apart.items() if is_own[cell.candidate])
    return moved(steps)
