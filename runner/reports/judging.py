"""The summary of judging for people: the same numbers as the document, with what must be said beside them."""

from collections.abc import Iterable, Iterator

from runner.documents.judging_summary import (
    Coefficient,
    CriterionPoints,
    JudgeStanding,
    JudgingSummary,
    Lean,
    Part,
    RatingInterval,
    RatingScale,
)
from runner.reports.marks import UNKNOWN, cell, table

RULES = (
    "Judges never change an objective result. Means are over what is known, and the count beside them says of how "
    "much; what has no verdict is neither a zero nor a loss. Points and pairs are no ranking."
)
SCALE = (
    "0 is the scale's middle; 400 points are odds of ten to one. Ties are half a win for each. Intervals hold 90% of "
    "samples of whole nominations."
)

_JUDGES = (
    "Judge", "Family", "Batch", "Askings", "Scored", "Unscored", "Asked again", "Skipped", "Stood in", "Not blind",
)  # fmt: skip
_CONDUCT = (
    "Judge", "Same in both orders", "Same when repeated", "Shown first won", "Pairs leaning to first / second (chance)",
    "Same without comments", "Texts to judges helped / hurt (chance)", "Longer won",
    "Own family better / worse than with others (chance)",
)  # fmt: skip
_CONTROLS = ("Judge", "Hidden control", "Held", "Unscored", "May be missed", "Bound")
_REVIEWS = ("Candidate", "Reviewer", "Scale", "Blind", "Knew hidden results", "Criterion", "Mean", "Reviews")
_DUELS = ("Candidate", "Judge", "Won", "Lost", "Tied", "Incomplete")
_RATINGS = ("Candidate", "Rating", "90% interval", "Ridge / 10", "Ridge x 10")
_GAPS = ("Above", "Below", "Distance", "Standard error", "90% interval", "Told apart")
_AGREEMENT = ("On", "Among", "Raters", "Krippendorff's alpha", "Items")
_KAPPAS = ("On", "One", "Other", "Same", "Cohen's kappa", "Items")


def judging_markdown(summary: JudgingSummary) -> str:
    """Write a summary of judging down for people."""
    lines = [
        f"# Judging of release {cell(summary.release)}",
        "",
        f"Manifest sha256 `{summary.manifest_sha256}`.",
        *(f"\n**{cell(note)}.**" for note in summary.notes),
        "",
        RULES,
        *_section("Judges", table(_JUDGES, (_judge(each) for each in summary.judges))),
        *_unasked(summary),
        *_faults(summary.judges),
        *_section("How far judges can be believed", table(_CONDUCT, (_conduct(each) for each in summary.judges))),
        *_section("Hidden controls", table(_CONTROLS, _controls(summary.judges))),
        *_section("Points", _points(summary)),
        *_section("Reviews", table(_REVIEWS, _reviews(summary)), when=any(c.reviews for c in summary.candidates)),
        *_section("Pairs", table(_DUELS, _duels(summary)), when=any(c.duels for c in summary.candidates)),
        *_ratings(summary),
        *_section("Agreement", table(_AGREEMENT, _agreement(summary)), when=bool(summary.agreement)),
        *_section("Agreement of each two", table(_KAPPAS, _kappas(summary)), when=bool(summary.kappas)),
    ]
    return "\n".join(lines) + "\n"


def _section(title: str, lines: Iterable[str], *, when: bool = True) -> Iterator[str]:
    if when:
        yield from ("", f"## {title}", "", *lines)


def _judge(each: JudgeStanding) -> Iterator[str]:
    yield from (each.judge, each.family or UNKNOWN, each.batch.upper() if each.batch == "lost" else each.batch)
    yield from (str(each.askings), str(each.scored))
    yield ", ".join(f"{count.why.value}: {count.count} ({_percent(count.share)})" for count in each.unscored) or "none"
    yield str(each.asked_again)
    yield ", ".join(f"{count.why.value}: {count.count}" for count in each.skipped) or "none"
    yield from (str(each.stood_in), str(each.not_blind))


def _unasked(summary: JudgingSummary) -> Iterator[str]:
    if summary.unasked:
        counts = ", ".join(f"{cell(each.why.value)}: {each.count}" for each in summary.unasked)
        yield from ("", f"Askings that no judge was given: {counts}.")


def _faults(judges: Iterable[JudgeStanding]) -> Iterator[str]:
    said = [
        *(f"- {cell(each.judge)}: {cell(fault.says)}." for each in judges for fault in each.faults),
        *(f"- {cell(each.judge)}, batch lost: {cell(why)}." for each in judges for why in each.lost_for),
    ]
    yield from _section("What is wrong with judges", said or ["Nothing was found."])


def _conduct(each: JudgeStanding) -> Iterator[str]:
    yield from (each.judge, _part(each.orders), _part(each.repeats), _part(each.first_slot), _lean(each.slot_lean))
    yield from (_part(each.views), _lean(each.text_lean), _part(each.length), _lean(each.family_lean))


def _controls(judges: Iterable[JudgeStanding]) -> Iterator[tuple[str, ...]]:
    for judge in judges:
        for each in judge.controls:
            held = f"{each.held} of {each.answered}"
            end = "CROSSED" if each.crossed else "held" if each.answered else UNKNOWN
            yield judge.judge, each.control.value, held, str(each.unscored), f"{each.bound_percent}%", end


def _points(summary: JudgingSummary) -> Iterator[str]:
    """Give a row for each candidate and criterion, a column for each judge."""
    asked = [each.judge for each in summary.judges if any(_given(summary, each.judge))]
    lost = {each.judge for each in summary.judges if each.batch == "lost"}
    head = ("Candidate", "Criterion", "Mean (judges)", *(f"{name} (LOST)" if name in lost else name for name in asked))
    rows: list[list[str]] = []
    for candidate in summary.candidates:
        given = {(each.judge, row.criterion): row for each in candidate.judges for row in each.criteria}
        for mean in candidate.criteria:
            columns = [_criterion(given.get((name, mean.criterion))) for name in asked]
            rows.append([candidate.candidate, mean.criterion, f"{mean.mean or UNKNOWN} ({mean.judges})", *columns])
        rows.append([candidate.candidate, "all criteria", candidate.mean or UNKNOWN, *("" for _ in asked)])
    yield from table(map(cell, head), rows)


def _given(summary: JudgingSummary, judge: str) -> Iterator[bool]:
    return (each.judge == judge for candidate in summary.candidates for each in candidate.judges)


def _criterion(row: CriterionPoints | None) -> str:
    """Give a mean, and what it leaves out."""
    if row is None:
        return UNKNOWN
    left = {"unscored": row.unscored, "skipped": row.skipped, "not blind": row.not_blind}
    out = [f"{count} {why}" for why, count in left.items() if count]
    return f"{row.mean or UNKNOWN} ({', '.join([f'{row.scored} scored', *out])})"


def _reviews(summary: JudgingSummary) -> Iterator[tuple[str, ...]]:
    for candidate in summary.candidates:
        for each in candidate.reviews:
            declared = (each.scale.value, _yes(each.blind), _yes(each.results_known))
            for row in each.criteria:
                mean = (row.criterion, row.mean or UNKNOWN, str(row.scored))
                yield candidate.candidate, each.reviewer, *declared, *mean


def _duels(summary: JudgingSummary) -> Iterator[tuple[str, ...]]:
    lost = {each.judge for each in summary.judges if each.batch == "lost"}
    for candidate in summary.candidates:
        for each in candidate.duels:
            judge = each.judge or "all kept judges"
            counts = (each.won, each.lost, each.tied, each.incomplete)
            yield candidate.candidate, f"{judge} (LOST)" if judge in lost else judge, *map(str, counts)


def _ratings(summary: JudgingSummary) -> Iterator[str]:
    for number, scale in enumerate(summary.scales, 1):
        title = "Ratings" if len(summary.scales) == 1 else f"Ratings, scale {number} of {len(summary.scales)}"
        rows = (
            (each.candidate, each.rating, _interval(each.interval), each.weaker, each.stronger)
            for each in scale.ratings
        )
        yield from _section(title, (*_about(scale, summary), "", *table(_RATINGS, rows)))
        gaps = (
            (each.above, each.below, each.gap, each.error or UNKNOWN, _interval(each.interval), _known(each.apart))
            for each in scale.gaps
        )
        yield from ("", *table(_GAPS, gaps))


def _about(scale: RatingScale, summary: JudgingSummary) -> Iterator[str]:
    if len(summary.scales) > 1:
        yield "No comparison joins these scales: their ratings cannot be compared."
    yield SCALE
    yield f"{scale.comparisons} comparisons in {scale.nominations} nominations; ridge {summary.method.ridge}."
    if scale.no_interval is not None:
        yield f"No intervals: {cell(scale.no_interval)}."
    if len(scale.groups) > 1:
        groups = " > ".join(cell(", ".join(group)) for group in scale.groups)
        yield f"**Wins between these groups go one way only: {groups}. No distance between them is known.**"


def _agreement(summary: JudgingSummary) -> Iterator[tuple[str, ...]]:
    for row in summary.agreement:
        yield row.what, row.among, ", ".join(row.raters), _coefficient(row.alpha), str(row.alpha.items)


def _kappas(summary: JudgingSummary) -> Iterator[tuple[str, ...]]:
    for row in summary.kappas:
        yield row.what, row.one, row.other, _part(row.same), _coefficient(row.kappa), str(row.kappa.items)


def _coefficient(found: Coefficient) -> str:
    return f"none: {found.why}" if found.value is None else found.value


def _part(found: Part) -> str:
    return UNKNOWN if found.share is None else f"{found.hits} of {found.of} ({_percent(found.share)})"


def _lean(found: Lean) -> str:
    return UNKNOWN if found.chance is None else f"{found.towards} / {found.away} ({found.chance})"


def _percent(share: str | None) -> str:
    return UNKNOWN if share is None else f"{float(share):.1%}"


def _interval(found: RatingInterval | None) -> str:
    return UNKNOWN if found is None else f"{found.low} to {found.high}"


def _yes(known: bool) -> str:  # noqa: FBT001 - it is what is written down
    return "yes" if known else "no"


def _known(found: bool | None) -> str:  # noqa: FBT001 - as above
    return UNKNOWN if found is None else _yes(found)
