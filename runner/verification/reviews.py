"""Manual reviews held against the submission that they lie beside, and against the release."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from runner.canonical import sha256
from runner.documents.manifest import Manifest
from runner.documents.model import Document
from runner.documents.reviews import ManualReview
from runner.documents.seal import SEAL_NAME, Trial
from runner.durable import TEMPORARY
from runner.errors import DocumentError, DocumentErrors, UsageError
from runner.judging.reviews import REVIEWS, Subject, foreign_review, review_criteria
from runner.parsing import read_file
from runner.store import SUBMISSION
from runner.verification.model import Finding, differ

Read = Callable[[type[Document], bytes, Path], tuple[Document | None, tuple[Finding, ...]]]
"""Reads a document that stands alone, and holds it against its schema."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewsFound:
    """What was found about the reviews of one try."""

    findings: tuple[Finding, ...]
    reviews: tuple[ManualReview, ...]
    """Those that could be read."""
    files: int
    unchecked: tuple[str, ...]


def check_reviews(
    folder: Path, trial: Trial, submission_sha256: str | None, manifest: Manifest, read: Read
) -> ReviewsFound:
    """Check the reviews of a try.

    Args:
        folder: the try's folder; it need not have reviews.
        trial: the try.
        submission_sha256: digest of its sealed submission; None where it has none.
        manifest: the release's.
        read: how documents are read.
    """
    place = folder / REVIEWS
    names = sorted(each.name for each in place.iterdir()) if place.is_dir() else []
    unfinished = tuple(name for name in names if name.startswith(TEMPORARY))
    findings: list[Finding] = []
    if names and submission_sha256 is None:
        findings.append(Finding(file=str(place), found="reviews", expected="a submission that they are of"))
    reviews: list[ManualReview] = []
    for name in sorted(set(names) - set(unfinished)):
        review, more = _read(place / name, read)
        findings += more
        if review is not None and submission_sha256 is not None:
            criteria = review_criteria(manifest)
            subject = Subject(trial=trial, submission_sha256=submission_sha256, criteria=criteria)
            findings += check_review(review, subject, place / name)
            reviews.append(review)
    return ReviewsFound(
        findings=tuple(findings),
        reviews=tuple(reviews),
        files=len(names) - len(unfinished),
        unchecked=tuple(f"{place / name}: left unfinished by a killed runner" for name in unfinished),
    )


def submission_digest(folder: Path) -> str | None:
    """Give the digest of a try's sealed submission, whose own bytes `verify` looks at; None where there is none."""
    seal = folder / SUBMISSION / SEAL_NAME
    return sha256(read_file(seal)) if seal.exists() else None


def _read(file: Path, read: Read) -> tuple[ManualReview | None, tuple[Finding, ...]]:
    try:
        data = read_file(file)
    except UsageError as error:
        return None, (Finding(file=str(file), found=str(error), expected="a review"),)
    document, findings = read(ManualReview, data, file)
    return (document if isinstance(document, ManualReview) else None), findings


def check_review(review: ManualReview, subject: Subject, file: Path) -> Iterator[Finding]:
    """Find that a review is not of this submission, not for this release, or not what it was brought in from."""
    yield from differ(file, "name", file.name, f"{review.reviewer.id}.json")
    yield from differ(file, "trial", review.trial, subject.trial)
    yield from differ(file, "submission_sha256", review.submission_sha256, subject.submission_sha256)
    yield from differ(file, "criteria", tuple(score.criterion for score in review.scores), subject.criteria)
    if review.original is not None:
        yield from _brought_in(review, review.original.text.encode(), subject, file)


def _brought_in(review: ManualReview, original: bytes, subject: Subject, file: Path) -> Iterator[Finding]:
    """Bring the original in once more: nothing else may stand in the review."""
    try:
        again = foreign_review(original, f"{file}: original", subject, review.scale, review.reviewer.id)
    except (DocumentError, DocumentErrors) as error:
        yield Finding(file=str(file), found=str(error), expected="an original that says what the review says")
        return
    yield from differ(file, "review", review, again)
