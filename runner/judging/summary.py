"""The summary of a release's judging: judge documents and reviews in, one document out. Pure: no clock, no files."""

import hashlib
from collections.abc import Iterator, Sequence
from decimal import Decimal

from runner.documents.judging_summary import (
    JudgeStanding,
    JudgingSummary,
    RatingGap,
    RatingInterval,
    RatingMethod,
    RatingPoints,
    RatingScale,
)
from runner.documents.writing import decimal_text
from runner.judging.accord import accord
from runner.judging.askings import Judged
from runner.judging.duels import meetings
from runner.judging.panel import Panel, seat
from runner.judging.ratings import rate
from runner.judging.scales import Comparison, Interval, Method, Scale
from runner.judging.standings import candidate_standing, judge_standing, unscored_counts
from runner.judging.terms import Terms

_PLACES = Decimal("0.01")


def summarise(judged: Judged, terms: Terms) -> JudgingSummary:
    """Summarise everything that was said; the same documents give the same summary, in whatever order they come.

    Raises:
        VerificationError: a document is not of this release.
        StatsMissingError: there is something to rate, and numpy is not there.
    """
    panel = seat(judged, terms)
    agreement, kappas = accord(panel.kept, judged.reviews, terms.criteria)
    judges = tuple(judge_standing(panel, each) for each in panel.conducts)
    unasked = panel.settled.unasked
    method = Method(seed=terms.seed)
    return JudgingSummary(
        release=terms.release,
        manifest_sha256=terms.manifest_sha256,
        scripted=terms.scripted,
        own_family=terms.own_family,
        notes=tuple(_notes(terms, judges)),
        judges=judges,
        unasked=unscored_counts(unasked, sum(unasked.values()) + len(panel.settled.askings)),
        candidates=tuple(candidate_standing(panel, name) for name in terms.candidates),
        agreement=agreement,
        kappas=kappas,
        method=RatingMethod(
            ridge=decimal_text(Decimal(str(method.ridge))),
            draws=method.draws,
            seed_sha256=hashlib.sha256(terms.seed).hexdigest(),
        ),
        scales=tuple(_scale(each) for each in rate(tuple(_comparisons(panel)), method)),
    )


def _comparisons(panel: Panel) -> Iterator[Comparison]:
    for each in meetings([duel for judge in panel.kept for duel in judge.whole]):
        yield Comparison(task=each.nomination, first=each.one, second=each.other, share=float(each.share))


def _notes(terms: Terms, judges: Sequence[JudgeStanding]) -> Iterator[str]:
    """Give what has to be said beside every table."""
    if terms.scripted:
        yield "scripted: judges were played from scenario files; the summary says nothing about any real model"
    if terms.own_family:
        yield "own family: this release lets judges see work of their own family"
    for each in judges:
        if each.crossed:
            yield f"lost batch: nothing that {each.judge} said counts; bounds crossed: {', '.join(each.crossed)}"
        elif each.scored and not any(control.answered for control in each.controls):
            yield f"unproven: {each.judge} answered no hidden control, so that nothing tells how far to believe it"
    if judges and all(each.batch == "lost" for each in judges):
        yield "no judge is left: there are no means, no ratings and no agreement"


def _scale(found: Scale) -> RatingScale:
    return RatingScale(
        ratings=tuple(
            RatingPoints(
                candidate=each.name,
                rating=_points(each.points),
                interval=_interval(each.interval),
                weaker=_points(each.weaker),
                stronger=_points(each.stronger),
            )
            for each in found.ratings
        ),
        gaps=tuple(
            RatingGap(
                above=each.above,
                below=each.below,
                gap=_points(each.points),
                error=None if each.error is None else _points(each.error),
                interval=_interval(each.interval),
                apart=None if each.interval is None else each.interval.low > 0,
            )
            for each in found.gaps
        ),
        groups=found.groups,
        comparisons=found.comparisons,
        nominations=found.tasks,
        draws=found.draws,
        no_interval=found.no_interval,
    )


def _interval(found: Interval | None) -> RatingInterval | None:
    return None if found is None else RatingInterval(low=_points(found.low), high=_points(found.high))


def _points(value: float) -> str:
    """Write points of the scale with at most two places: the last bits of a double differ between machines."""
    return decimal_text(Decimal(value).quantize(_PLACES))
