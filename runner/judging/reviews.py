"""Reviews by people: written for a submission or brought in from elsewhere, kept beside it, never replaced."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Literal, NoReturn

from pydantic import ConfigDict, Field, JsonValue

from runner.canonical import canonical
from runner.documents.manifest import Manifest
from runner.documents.model import DecimalText, Shape
from runner.documents.reviews import ManualReview, PointScale
from runner.documents.seal import Trial
from runner.durable import new_file
from runner.errors import DocumentError, SealTakenError, UsageError
from runner.judges import criterion_id
from runner.naming import named_try
from runner.parsing import decode, parse_json, validate
from runner.store import Store, cell_of

REVIEWS = "manual-reviews"
"""Folder of a try, beside its sealed submission."""

NEW = "the new review"
"""What errors call a review that is no file yet."""


class ReviewTakenError(UsageError):
    """The reviewer has reviewed this submission before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What is reviewed: a sealed submission, and what the release asks of its reviewers."""

    trial: Trial
    submission_sha256: str
    criteria: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """What a reviewer says of themselves and the submission."""

    reviewer: str
    type: str
    blind: bool
    results_known: bool
    points: Mapping[str, int]
    """By criterion, 0 to 10."""
    summary: str | None


def find_subject(store: Store, manifest: Manifest, wanted: str) -> Subject:
    """Give the submission of a named attempt, every byte of it hashed again.

    Raises:
        UnknownNameError: no attempt is called so.
        UsageError: it left no submission, or the release has no criteria.
        SealBrokenError: its evidence is not what was sealed.
    """
    trial = named_try(store, manifest, wanted)
    found = next(each for each in store.tries(cell_of(trial)) if each.trial == trial)
    if found.submission is None:
        raise UsageError(f"{wanted} left no submission that could be reviewed; name another try")
    criteria = review_criteria(manifest)
    if not criteria:
        raise UsageError(f"release {manifest.release} has no criteria to give points for; freeze one that has")
    return Subject(trial=trial, submission_sha256=found.submission.digest, criteria=criteria)


def review_criteria(manifest: Manifest) -> tuple[str, ...]:
    """Give the names of what a release asks points for."""
    return tuple(criterion_id(entry) for entry in manifest.criteria)


def written_review(subject: Subject, declared: Declared) -> ManualReview:
    """Make a review that is written for this release.

    Raises:
        DocumentError, DocumentErrors: a criterion is missing or unknown, or something is not of its form.
    """
    _check_criteria(declared.points, subject.criteria, NEW)
    return validate(
        ManualReview,
        {
            **_head(subject, declared.reviewer, declared.type, declared.points),
            "blind": declared.blind,
            "results_known": declared.results_known,
            "scale": PointScale.ZERO_TO_TEN.value,
            "summary": declared.summary,
            "original": None,
        },
        NEW,
    )


class _ForeignReviewer(Shape):
    model_config = ConfigDict(frozen=True, extra="ignore", strict=True, defer_build=True)

    id: str
    type: str


class _Foreign(Shape):
    """The reference system's review (kind `manual_code_review`); what else stands in it is kept and not read."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True, defer_build=True)

    schema_version: Literal[1]
    kind: Literal["manual_code_review"]
    release: str
    candidate: str
    nomination: str
    attempt: int
    reviewer: _ForeignReviewer
    identity_blind: bool
    scores: Mapping[str, Annotated[int, Field(ge=0, le=10)]]
    average: DecimalText | int | None = None
    summary: str | None = None
    evidence: Mapping[str, JsonValue] | None = None


def foreign_review(
    data: bytes, file: str, subject: Subject, scale: PointScale, reviewer: str | None = None
) -> ManualReview:
    """Bring a review of the reference system in: its points stay what they are, on the scale that is declared.

    Who had the objective evaluator's result before them is said to know hidden results.

    Args:
        data: the foreign document's bytes; they are kept as they are.
        file: what errors call it.
        subject: what it must be a review of.
        scale: which scale its points are of; the document does not say.
        reviewer: a name that can be a file's, where the document's own cannot.

    Raises:
        DocumentError, DocumentErrors: it is none, is of another attempt, or says an average that is not its own.
    """
    found = validate(_Foreign, parse_json(data, file, decimals_as_text=True), file)
    trial = subject.trial
    for field, said, expected in (
        ("release", found.release, trial.release),
        ("candidate", found.candidate, trial.candidate),
        ("nomination", found.nomination, trial.nomination),
        ("attempt", str(found.attempt), str(trial.attempt)),
    ):
        if said != expected:
            _refuse(file, field, repr(said[:100]), repr(expected), "name the attempt that was reviewed")
    _check_criteria(found.scores, subject.criteria, file)
    _check_average(found, file)
    return validate(
        ManualReview,
        {
            **_head(subject, reviewer or found.reviewer.id, found.reviewer.type, found.scores),
            "blind": found.identity_blind,
            "results_known": "objective_evaluator_passed" in (found.evidence or {}),
            "scale": scale.value,
            "summary": (found.summary or "").strip() or None,
            "original": {"kind": found.kind, "text": decode(data, file)},
        },
        file,
    )


def _head(subject: Subject, reviewer: str, kind: str, points: Mapping[str, int]) -> dict[str, object]:
    return {
        "schema": "cleanroom/manual-review/1",
        "trial": subject.trial.model_dump(mode="json", by_alias=True),
        "submission_sha256": subject.submission_sha256,
        "reviewer": {"id": reviewer, "type": kind},
        "scores": [{"criterion": name, "points": points[name]} for name in subject.criteria],
    }


def _check_criteria(given: Iterable[str], criteria: Sequence[str], file: str) -> None:
    names = set(given)
    if missing := [name for name in criteria if name not in names]:
        _refuse(file, "scores", f"none for {', '.join(missing)}", "one for each criterion of the release", "add it")
    if strange := sorted(names - set(criteria)):
        known = ", ".join(criteria)
        _refuse(file, "scores", f"one for {strange[0]!r}", f"criteria of the release: {known}", "remove it")


def _check_average(found: _Foreign, file: str) -> None:
    """Hold a written average against the points, as far as it was rounded."""
    if found.average is None:
        return
    said = Decimal(found.average)
    exponent = said.as_tuple().exponent
    step = Fraction(1, 10**-exponent) if isinstance(exponent, int) else Fraction(1)
    mean = Fraction(sum(found.scores.values()), len(found.scores))
    if abs(Fraction(said) - mean) > step / 2:
        _refuse(file, "average", str(said), f"{float(mean):.4f}, the mean of its scores", "ask its reviewer")


def _refuse(file: str, field: str, found: str, expected: str, mend: str) -> NoReturn:
    raise DocumentError(file=file, field=field, found=found, expected=expected, mend=mend)


def review_file(store: Store, trial: Trial, reviewer: str) -> Path:
    """Give the place of a reviewer's review of a submission."""
    return store.folder(trial) / REVIEWS / f"{reviewer}.json"


def keep_review(store: Store, review: ManualReview) -> Path:
    """Keep a review beside its submission; each reviewer has one.

    Raises:
        ReviewTakenError: this reviewer has reviewed it before; that review is left as it is.
        StorageError: the disk failed or is full.
    """
    file = review_file(store, review.trial, review.reviewer.id)
    try:
        new_file(file, canonical(review))
    except SealTakenError as error:
        raise ReviewTakenError(
            f"{file}: found a review of {review.reviewer.id}; expected none; the first one stays, "
            "since whoever may review until the points are right decides the points"
        ) from error
    return file
