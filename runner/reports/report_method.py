"""What a report says about itself: how its numbers are made, what its evidence is, what must be said beside it."""

from collections.abc import Iterator

from runner.reports.report import Place, Report, Source
from runner.statistics.separation import LEVEL

_RATES = """
Solved means completed, with public tests and every evaluator passed. Voids, unavailable and missing attempts are in no
rate. A solve rate is the mean over nominations, each weighing the same. Its interval is Wilson's, with as many attempts
as would, independent of each other, be as sure (attempts at one nomination are not), and the quantile of Student's t
for the number of nominations.
"""
_COSTS = """
Cost per solve is every cost over every solve, with Fieller's interval over nominations. Costs are those that providers
reported; where one is unknown, so is the sum. '>= x' says that only the least is known.
"""
_TESTS = f"""
Two candidates are told apart by the nominations that both tried: McNemar's mid-p value for one attempt each, else by
changing signs; at {float(LEVEL):g}, corrected by Holm for all comparisons with the leader. Else they are not separable,
whatever their order. The leader was chosen by the same results.
"""
_REPEATS = "pass@k and pass^k are without bias, and unknown for more attempts than each nomination had."
_REVIEWS = """
Review points are means of judges whose batches were kept, rounded to whole points; Overall is their mean. Judges change
no objective result.
"""
_ASSURANCE = "Assurance says how far submitted code was from what judged it: split, in_process, exit_code."

METHOD = tuple(" ".join(each.split()) for each in (_RATES, _COSTS, _TESTS, _REPEATS, _REVIEWS, _ASSURANCE))
"""How the numbers are made, a paragraph each."""

DIFFERS = (
    "ranked candidates tried different nominations: ranks compare rates on different tasks, and only the paired test, "
    "on what both tried, compares like with like"
)


def evidence_rule() -> str:
    """Say what the digest of a row is."""
    return (
        "A row's digest is the SHA-256 over a line an attempt, in the order of the plan: "
        "'CANDIDATE/NOMINATION/attempt-N DIGEST', where DIGEST is that of the sealed folder (SEAL.json), or 'none'. "
        "'runner verify' reads all of it again."
    )


def digests(source: Source) -> Iterator[tuple[str, str]]:
    """Name the documents that a release's rows are from, each with its SHA-256."""
    yield "manifest.json", source.manifest_sha256
    yield "aggregate.json", source.aggregate_sha256
    if source.judging_sha256 is not None:
        yield "judging.json", source.judging_sha256


def too_many(report: Report) -> str:
    """Say where attempts stand that would be too many for a page."""
    return f"The {report.attempts} attempts and their digests stand in each release's aggregate.json, named below."


def report_notes(report: Report) -> Iterator[str]:
    """Give what has to be said beside the tables."""
    said = dict.fromkeys(note for source in report.sources for note in source.notes)
    yield from said
    if report.differs:
        yield DIFFERS
    for source in report.sources:
        if source.superseded_by is not None:
            yield f"release {source.release} was superseded by {source.superseded_by}; its rows are not ranked"
    if any(each.contender.place is Place.CONTROL for each in report.rows):
        yield "rows for comparison (controls, anchors) compete with nobody and are not ranked"
