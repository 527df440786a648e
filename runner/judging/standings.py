"""What a summary says of each judge and each candidate. Pure."""

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction

from runner.documents.judging import Cell, SkippedWhy, UnscoredWhy
from runner.documents.judging_summary import (
    CandidateStanding,
    ControlResult,
    CriterionPoints,
    Duels,
    Fault,
    JudgePoints,
    JudgeStanding,
    Lean,
    MeanPoints,
    ReviewPoints,
    SkippedCount,
    UnscoredCount,
)
from runner.judging.accord import chance, number, part
from runner.judging.conduct import Conduct
from runner.judging.duels import Duel, mean, side
from runner.judging.faults import faults
from runner.judging.leanings import Moved
from runner.judging.panel import Panel
from runner.judging.points import Tallies, Tally, criteria_mean, review_tallies


def judge_standing(panel: Panel, seen: Conduct) -> JudgeStanding:
    """Say what a judge was asked, and how far it can be believed."""
    family = panel.family_lean(seen)
    return JudgeStanding(
        judge=seen.judge,
        family=panel.terms.judges[seen.judge],
        askings=len(seen.askings),
        scored=len(seen.askings) - seen.missing,
        unscored=unscored_counts(seen.unscored, len(seen.askings)),
        asked_again=sum(asking.answers - 1 for asking in seen.askings),
        skipped=_skipped(panel, seen.judge),
        stood_in=sum(asking.stood_in for asking in seen.askings),
        not_blind=sum(asking.is_scored and not asking.is_blind for asking in seen.askings),
        orders=part(seen.orders),
        repeats=part(seen.repeats),
        first_slot=part(seen.first_slot),
        slot_lean=_lean(seen.places),
        views=part(seen.views),
        text_lean=_lean(seen.texts),
        length=part(seen.length),
        family_lean=_lean(family),
        controls=tuple(
            ControlResult(
                control=each.control,
                held=each.held,
                answered=each.answered,
                unscored=each.unscored,
                bound_percent=each.bound,
                crossed=each.crossed,
            )
            for each in seen.controls
        ),
        batch="lost" if seen.crossed else "kept",
        crossed=seen.crossed,
        lost_for=seen.lost_for,
        faults=tuple(Fault(kind=kind, says=says) for kind, says in faults(seen, family)),
    )


def _lean(found: Moved) -> Lean:
    return Lean(towards=found.towards, away=found.away, chance=chance(found.chance))


def unscored_counts(counts: Mapping[UnscoredWhy, int], of: int) -> tuple[UnscoredCount, ...]:
    """Write down askings without a verdict, by cause."""
    return tuple(
        UnscoredCount(why=why, count=counts[why], share=part((counts[why], of)).share)
        for why in UnscoredWhy
        if counts.get(why)
    )


def _skipped(panel: Panel, judge: str) -> tuple[SkippedCount, ...]:
    counts = {why: sum(e.judge == judge and e.why is why for e in panel.judged.skipped) for why in SkippedWhy}
    return tuple(SkippedCount(why=why, count=count) for why, count in counts.items() if count)


def candidate_standing(panel: Panel, name: str) -> CandidateStanding:
    """Say what judges and reviewers gave a candidate, and how its pairs ended."""
    criteria = tuple(_mean(panel, name, criterion) for criterion in panel.terms.criteria)
    return CandidateStanding(
        candidate=name,
        family=panel.terms.candidates[name],
        judges=tuple(
            JudgePoints(judge=each.judge, criteria=points)
            for each in panel.conducts
            if (points := _points(panel, panel.points_of(each.judge), name))
        ),
        criteria=tuple(row for row, _ in criteria),
        mean=number(criteria_mean([together for _, together in criteria])),
        reviews=tuple(_reviews(panel, name)),
        duels=tuple(_duels(panel, name)),
    )


def _mean(panel: Panel, name: str, criterion: str) -> tuple[MeanPoints, Fraction | None]:
    given = [panel.points_of(each.judge).get((name, criterion)) for each in panel.kept]
    means = [tally.mean for tally in given if tally is not None and tally.mean is not None]
    together = mean(means) if means else None
    return MeanPoints(criterion=criterion, mean=number(together), judges=len(means)), together


def _points(panel: Panel, given: Tallies, name: str) -> tuple[CriterionPoints, ...]:
    return tuple(
        _tally(criterion, given[name, criterion]) for criterion in panel.terms.criteria if (name, criterion) in given
    )


def _tally(criterion: str, tally: Tally) -> CriterionPoints:
    return CriterionPoints(
        criterion=criterion,
        mean=number(tally.mean),
        scored=tally.scored,
        unscored=tally.unscored,
        skipped=tally.skipped,
        not_blind=tally.not_blind,
    )


def _reviews(panel: Panel, name: str) -> Iterator[ReviewPoints]:
    groups = review_tallies(panel.judged.reviews)
    for group in sorted(groups, key=lambda group: (group.reviewer, group.scale, group.blind, group.results_known)):
        if points := _points(panel, groups[group], name):
            yield ReviewPoints(
                reviewer=group.reviewer,
                scale=group.scale,
                blind=group.blind,
                results_known=group.results_known,
                criteria=points,
            )


def _duels(panel: Panel, name: str) -> Iterator[Duels]:
    """Give how a candidate's pairs ended: for the kept judges together, then for each judge."""
    kept = [duel for each in panel.kept for duel in each.whole if name in _names(duel)]
    shares: dict[tuple[Cell, Cell], list[Fraction]] = {(duel.one, duel.other): [] for duel in kept}
    for duel in kept:
        if duel.share is not None:
            shares[duel.one, duel.other].append(duel.share)
    if shares:
        yield _ended(None, name, ((one, mean(each) if each else None) for (one, _), each in shares.items()))
    for each in panel.conducts:
        own = [duel for duel in each.whole if name in _names(duel)]
        if own:
            yield _ended(each.judge, name, ((duel.one, duel.share) for duel in own))


def _names(duel: Duel) -> tuple[str, str]:
    return duel.one.candidate, duel.other.candidate


def _ended(judge: str | None, name: str, pairs: Iterable[tuple[Cell, Fraction | None]]) -> Duels:
    """Count pairs by their end for one candidate; each pair is its first side and that one's part of the win."""
    ends = [
        "incomplete"
        if share is None
        else "tied"
        if side(share) == "tie"
        else "won"
        if (side(share) == "one") == (one.candidate == name)
        else "lost"
        for one, share in pairs
    ]
    return Duels(
        judge=judge,
        won=ends.count("won"),
        lost=ends.count("lost"),
        tied=ends.count("tied"),
        incomplete=ends.count("incomplete"),
    )
