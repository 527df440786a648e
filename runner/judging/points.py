"""Points of rubrics and reviews: means that never hold an unknown, and counts of what is missing. Pure."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from runner.documents.judging import Cell, RubricItem, RubricVerdict, Skipped, View
from runner.documents.reviews import ManualReview, PointScale
from runner.judging.askings import Asking
from runner.judging.duels import mean

Rated = tuple[str, str]
"""A candidate and a criterion."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reviewed:
    """A submission as reviews name it, for what judges and reviewers both said something of."""

    submission_sha256: str
    criterion: str


@dataclass(slots=True, kw_only=True)
class Tally:
    """What one judge or reviewer gave to one candidate for one criterion."""

    given: dict[Cell, list[int]] = field(default_factory=dict)
    """Points of each submission, over repeats."""
    unscored: int = 0
    skipped: int = 0
    not_blind: int = 0

    @property
    def scored(self) -> int:
        """How many askings have points."""
        return sum(len(points) for points in self.given.values())

    @property
    def mean(self) -> Fraction | None:
        """The mean over nominations of the mean over submissions of the mean over repeats; None of nothing."""
        by_nomination: dict[str, list[Fraction]] = {}
        for cell, points in self.given.items():
            by_nomination.setdefault(cell.nomination, []).append(Fraction(sum(points), len(points)))
        return mean([mean(each) for each in by_nomination.values()]) if by_nomination else None


Tallies = Mapping[Rated, Tally]


def tallies(askings: Iterable[Asking], skipped: Iterable[Skipped]) -> Mapping[str, Tallies]:
    """Give what each judge gave, by judge, candidate and criterion. What was shown without comments is left out."""
    found: dict[str, dict[Rated, Tally]] = {}
    for asking in askings:
        if isinstance(asking.item, RubricItem) and asking.view is View.FULL:
            for criterion in asking.item.criteria:
                _count(_tally(found, asking.judge, asking.item.cell, criterion), asking, asking.item.cell, criterion)
    for each in skipped:
        if isinstance(each.item, RubricItem):
            for criterion in each.item.criteria:
                _tally(found, each.judge, each.item.cell, criterion).skipped += 1
    return found


def _count(tally: Tally, asking: Asking, cell: Cell, criterion: str) -> None:
    if not isinstance(asking.said, RubricVerdict):
        tally.unscored += 1
    elif not asking.is_blind:
        tally.not_blind += 1
    else:
        tally.given.setdefault(cell, []).append(asking.said.points[criterion])


def _tally(found: dict[str, dict[Rated, Tally]], judge: str, cell: Cell, criterion: str) -> Tally:
    return found.setdefault(judge, {}).setdefault((cell.candidate, criterion), Tally())


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewGroup:
    """Reviews that may be taken together: of one reviewer, on one scale, and declared alike."""

    reviewer: str
    scale: PointScale
    blind: bool
    results_known: bool


def review_tallies(reviews: Iterable[ManualReview]) -> Mapping[ReviewGroup, Tallies]:
    """Give what each reviewer gave, by candidate and criterion; scales and declarations are never mixed."""
    found: dict[ReviewGroup, dict[Rated, Tally]] = {}
    for review in reviews:
        group = ReviewGroup(
            reviewer=review.reviewer.id,
            scale=review.scale,
            blind=review.blind,
            results_known=review.results_known,
        )
        for score in review.scores:
            rated = (review.trial.candidate, score.criterion)
            tally = found.setdefault(group, {}).setdefault(rated, Tally())
            tally.given.setdefault(_cell(review), []).append(score.points)
    return found


def _cell(review: ManualReview) -> Cell:
    trial = review.trial
    return Cell(
        candidate=trial.candidate,
        nomination=trial.nomination,
        attempt=trial.attempt,
        try_=trial.try_,
        submission_sha256=review.submission_sha256,
    )


def first_points(askings: Iterable[Asking]) -> dict[str, dict[Reviewed, int]]:
    """Give each judge's points of the planned asking, repeats left out: what raters are compared by."""
    found: dict[str, dict[Reviewed, int]] = {}
    for asking in askings:
        item, said = asking.item, asking.said
        if isinstance(item, RubricItem) and isinstance(said, RubricVerdict) and item.repeat == 0:
            if asking.view is not View.FULL or not asking.is_blind:
                continue
            for criterion, points in said.points.items():
                key = Reviewed(submission_sha256=item.cell.submission_sha256, criterion=criterion)
                found.setdefault(asking.judge, {})[key] = points
    return found


def reviewed_points(reviews: Iterable[ManualReview]) -> dict[str, dict[Reviewed, int]]:
    """Give each reviewer's points on our own scale; those of other scales are not comparable and left out."""
    found: dict[str, dict[Reviewed, int]] = {}
    for review in reviews:
        if review.scale is PointScale.ZERO_TO_TEN:
            for score in review.scores:
                key = Reviewed(submission_sha256=review.submission_sha256, criterion=score.criterion)
                found.setdefault(review.reviewer.id, {})[key] = score.points
    return found


def all_alike(askings: Iterable[Asking]) -> tuple[int | None, int]:
    """Give the points that all of a judge's scores are, if they are, and how many scores there are."""
    values: Counter[int] = Counter(
        points for asking in askings if isinstance(asking.said, RubricVerdict) for points in asking.said.points.values()
    )
    return (next(iter(values)) if len(values) == 1 else None), values.total()


def criteria_mean(means: Sequence[Fraction | None]) -> Fraction | None:
    """Give the mean of several means; None if one of them is unknown, or there are none."""
    known = [each for each in means if each is not None]
    return mean(known) if known and len(known) == len(means) else None
