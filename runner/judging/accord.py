"""Agreement between judges, and between judges and reviewers: who said what of the same thing. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction

from runner.documents.judging import Cell
from runner.documents.judging_summary import AgreementRow, Coefficient, KappaRow, Part
from runner.documents.reviews import ManualReview
from runner.documents.writing import decimal_text
from runner.judging.agreement import Agreement, Level, Value, Weights, alpha, kappa, together
from runner.judging.conduct import Conduct, Counted
from runner.judging.duels import Duel, Winner, side
from runner.judging.points import Reviewed, first_points, reviewed_points

PAIRS = "pairs"
_WINNERS: tuple[Winner, ...] = ("one", "tie", "other")
_POINTS = tuple(range(11))
_PLACES = Decimal("0.0001")

Ratings = dict[str, dict[object, Value]]
"""By rater: what it said of each thing."""


def accord(
    kept: Sequence[Conduct], reviews: Sequence[ManualReview], criteria: Sequence[str]
) -> tuple[tuple[AgreementRow, ...], tuple[KappaRow, ...]]:
    """Give alpha among judges and among judges and reviewers, and kappa of each two raters, by what they rated."""
    judges = _judges(kept, criteria)
    reviewers = _reviewers(reviews, criteria, [duel for each in kept for duel in each.whole])
    rows: list[AgreementRow] = []
    kappas: list[KappaRow] = []
    for what in (PAIRS, *criteria):
        ours, theirs = judges.get(what, {}), reviewers.get(what, {})
        if len(ours) > 1:
            rows.append(_row(what, "judges", ours))
        if ours and theirs:
            rows.append(_row(what, "judges and reviewers", {**ours, **theirs}))
        kappas += _kappas(what, {**ours, **theirs})
    return tuple(rows), tuple(kappas)


def _judges(kept: Sequence[Conduct], criteria: Sequence[str]) -> dict[str, Ratings]:
    found: dict[str, Ratings] = {}
    for each in kept:
        winners: dict[object, Value] = {
            (duel.one, duel.other): duel.winner for duel in each.whole if duel.winner is not None
        }
        if winners:
            found.setdefault(PAIRS, {})[each.judge] = winners
    points = first_points(asking for each in kept for asking in each.askings)
    return _by_criterion(points, criteria, found)


def _reviewers(reviews: Sequence[ManualReview], criteria: Sequence[str], met: Iterable[Duel]) -> dict[str, Ratings]:
    """Give what reviewers gave; of a pair that one of them reviewed both sides of, the one with more points wins."""
    found: dict[str, Ratings] = {}
    pairs = {(duel.one, duel.other) for duel in met}
    for name, totals in _totals(reviews).items():
        preferred: dict[object, Value] = {
            pair: winner for pair in pairs if (winner := _preferred(totals, pair)) is not None
        }
        if preferred:
            found.setdefault(PAIRS, {})[_reviewer(name)] = preferred
    points = {_reviewer(name): given for name, given in reviewed_points(reviews).items()}
    return _by_criterion(points, criteria, found)


def _reviewer(name: str) -> str:
    """Keep a reviewer apart from a judge of the same name."""
    return f"reviewer {name}"


def _by_criterion(
    points: Mapping[str, Mapping[Reviewed, int]], criteria: Sequence[str], found: dict[str, Ratings]
) -> dict[str, Ratings]:
    for criterion in criteria:
        for name, given in points.items():
            of: dict[object, Value] = {key: value for key, value in given.items() if key.criterion == criterion}
            if of:
                found.setdefault(criterion, {})[name] = of
    return found


def _totals(reviews: Iterable[ManualReview]) -> dict[str, dict[str, int]]:
    """Give each reviewer's sum of points by submission. One reviewer keeps to one scale, or is left out here."""
    scales: dict[str, set[str]] = {}
    totals: dict[str, dict[str, int]] = {}
    for review in reviews:
        name = review.reviewer.id
        scales.setdefault(name, set()).add(review.scale)
        totals.setdefault(name, {})[review.submission_sha256] = sum(score.points for score in review.scores)
    return {name: given for name, given in totals.items() if len(scales[name]) == 1}


def _preferred(totals: Mapping[str, int], pair: tuple[Cell, Cell]) -> Winner | None:
    one, other = (totals.get(cell.submission_sha256) for cell in pair)
    if one is None or other is None:
        return None
    return side(Fraction(1, 2) + (one > other) - (other > one))


def _row(what: str, among: str, raters: Ratings) -> AgreementRow:
    things = dict.fromkeys(thing for given in raters.values() for thing in given)
    units = [[given[thing] for given in raters.values() if thing in given] for thing in things]
    level = Level.NOMINAL if what == PAIRS else Level.ORDINAL
    return AgreementRow.model_validate(
        {"what": what, "among": among, "raters": tuple(sorted(raters)), "alpha": coefficient(alpha(units, level))}
    )


def _kappas(what: str, raters: Ratings) -> Iterator[KappaRow]:
    for one, other, pairs in together(raters):
        if pairs:
            found = kappa(pairs, _WINNERS) if what == PAIRS else kappa(pairs, _POINTS, Weights.QUADRATIC)
            yield KappaRow(
                what=what,
                one=one,
                other=other,
                same=part((sum(a == b for a, b in pairs), len(pairs))),
                kappa=coefficient(found),
            )


def coefficient(found: Agreement) -> Coefficient:
    """Write down a coefficient, or why there is none."""
    return Coefficient(value=number(found.value), why=found.why, items=found.items)


def part(counted: Counted) -> Part:
    """Write down so many of so many."""
    hits, of = counted
    return Part(hits=hits, of=of, share=number(Fraction(hits, of)) if of else None)


def chance(value: Fraction | None) -> str | None:
    """Write a probability with four places; one that is smaller is written as the smallest that is not 0."""
    return number(None if value is None else max(value, Fraction(_PLACES)))


def number(value: Fraction | None) -> str | None:
    """Write a number with at most four places; None stays unknown."""
    if value is None:
        return None
    return decimal_text((Decimal(value.numerator) / Decimal(value.denominator)).quantize(_PLACES))
