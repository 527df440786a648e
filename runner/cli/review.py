"""`runner review add` and `runner review check`."""

import json
from pathlib import Path

import click

from runner.cli.names import ATTEMPT
from runner.documents.reviews import ManualReview, PointScale
from runner.errors import UsageError, VerificationError
from runner.judging.reviews import Declared, Subject, find_subject, foreign_review, keep_review, written_review
from runner.naming import name_of, named_try
from runner.parsing import file_name, read_file
from runner.reports.aggregate import planned
from runner.sealed import find_evidence
from runner.settings import host_settings
from runner.verification.folders import Reader
from runner.verification.reviews import check_reviews, submission_digest
from runner.verify import committed_schemas


@click.group()
def review() -> None:
    """Keep people's reviews beside the submissions that they are of."""


@review.command()
@click.argument("attempt", metavar="ATTEMPT", type=ATTEMPT)
@click.option("--reviewer", metavar="ID", help="Who reviewed; with --from: instead of the name that stands there.")
@click.option("--type", "kind", default="person", metavar="TEXT", help="What the reviewer is; person, if not given.")
@click.option("--blind", type=click.Choice(["yes", "no"]), help="Whether the reviewer did not know whose work it is.")
@click.option("--results-known", is_flag=True, help="The reviewer knew results that are hidden from judges.")
@click.option("--points", multiple=True, metavar="CRITERION=POINTS", help="0 to 10, for each criterion once.")
@click.option("--summary", metavar="TEXT", help="What the reviewer says.")
@click.option("--from", "source", type=click.Path(path_type=Path), help="Bring in a review of the reference system.")
@click.option(
    "--scale", type=click.Choice([each.value for each in PointScale]), help="With --from: what its points are of."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON line.")
@click.pass_obj
def add(  # noqa: PLR0913 - one parameter an option
    config: Path | None,
    *,
    attempt: str,
    reviewer: str | None,
    kind: str,
    blind: str | None,
    results_known: bool,
    points: tuple[str, ...],
    summary: str | None,
    source: Path | None,
    scale: str | None,
    as_json: bool,
) -> None:
    """Keep a review of a sealed submission, for good: each reviewer has one.

    ATTEMPT is candidate/nomination/attempt-N, which means its last try, or candidate/nomination/attempt-N/try-K. The
    review lies beside the submission, names its digest, and changes nothing of it. Points that are brought in stay on
    their own scale.
    """
    if source is not None and (points or summary or blind or results_known):
        raise UsageError("--from brings a whole review in; leave --points, --summary, --blind and --results-known out")
    _, manifest, store = find_evidence(host_settings(config))
    subject = find_subject(store, manifest, attempt)
    if source is not None:
        made = _brought_in(source, subject, scale, reviewer)
    else:
        if reviewer is None or blind is None or scale is not None:
            raise UsageError("a new review needs --reviewer and --blind yes or no; --scale is for --from alone")
        declared = Declared(
            reviewer=reviewer,
            type=kind,
            blind=blind == "yes",
            results_known=results_known,
            points=_points(points),
            summary=summary,
        )
        made = written_review(subject, declared)
    kept = keep_review(store, made)
    told = {"attempt": name_of(subject.trial), "reviewer": made.reviewer, "kept": str(kept)}
    click.echo(json.dumps(told) if as_json else f"kept: {kept}")


def _brought_in(source: Path, subject: Subject, scale: str | None, reviewer: str | None) -> ManualReview:
    if scale is None:
        raise UsageError("a review that is brought in does not say what its points are of; add --scale 0-10 or 1-10")
    return foreign_review(read_file(source), file_name(source), subject, PointScale(scale), reviewer)


def _points(given: tuple[str, ...]) -> dict[str, int]:
    """Read `criterion=points` texts."""
    found: dict[str, int] = {}
    for text in given:
        name, _, number = text.partition("=")
        if not (number.isascii() and number.isdecimal()) or len(number) > len("10") or name in found:
            raise UsageError(f"--points: found {text[:100]!r}; expected each criterion once, such as clarity=7")
        found[name] = int(number)
    return found


@review.command()
@click.argument("attempts", metavar="[ATTEMPT]...", nargs=-1, type=ATTEMPT)
@click.option("--json", "as_json", is_flag=True, help="JSON lines.")
@click.pass_obj
def check(config: Path | None, *, attempts: tuple[str, ...], as_json: bool) -> int:
    """Check reviews: their form, and what they are bound to. Without ATTEMPT, all of the release."""
    _, manifest, store = find_evidence(host_settings(config))
    trials = dict.fromkeys(
        (named_try(store, manifest, name) for name in attempts)
        if attempts
        else (store.trial(cell, number) for cell in planned(manifest) for number in store.numbers(cell))
    )
    read = Reader(committed_schemas()).one
    found = [
        check_reviews(store.folder(trial), trial, submission_digest(store.folder(trial)), manifest, read)
        for trial in trials
    ]
    findings = [finding for each in found for finding in each.findings]
    for finding in findings:
        told = {"file": finding.file, "found": finding.found, "expected": finding.expected}
        click.echo(json.dumps(told) if as_json else str(finding))
    if not as_json:
        for note in (note for each in found for note in each.unchecked):
            click.echo(f"note: {note}", err=True)
        said = f"{len(findings)} findings" if findings else "each is what it says it is"
        click.echo(f"checked {sum(each.files for each in found)} reviews: {said}")
    return VerificationError.exit_code if findings else 0
