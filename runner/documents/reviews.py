"""A review of a submission by a person, or by whoever looked at it outside the clean room."""

from enum import StrEnum
from typing import Annotated, ClassVar, Literal, Self

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from runner.documents.judging import Points
from runner.documents.model import Document, Identifier, Sha256, Shape
from runner.documents.seal import Trial
from runner.fields import Criterion, Line, refusal

MOST_ORIGINAL = 200_000
"""Characters of a foreign review that are kept."""


def _written(text: str) -> str:
    if any(not (letter.isprintable() or letter in "\n\t") for letter in text) or text != text.strip():
        raise refusal("plain text without control or invisible characters", "remove them, and blanks at the ends")
    return text


Prose = Annotated[str, StringConstraints(min_length=1, max_length=20_000), AfterValidator(_written)]
"""What a person writes: lines of plain text."""


class PointScale(StrEnum):
    """From where to where points go. Points of different scales are never mixed."""

    ZERO_TO_TEN = "0-10"
    """Ours."""
    ONE_TO_TEN = "1-10"
    """Of reviews that were brought in."""

    @property
    def lowest(self) -> int:
        """The fewest points that it has."""
        return 0 if self is PointScale.ZERO_TO_TEN else 1


class Reviewer(Shape):
    """Who reviewed."""

    id: Identifier
    """Also the name of the file."""
    type: Line
    """What they are, in their own words: `person`, `maintainer`, or a program."""


class ReviewScore(Shape):
    """What one criterion was given."""

    criterion: Criterion
    points: Points


class Original(Shape):
    """The foreign document that a review was brought in from, letter for letter."""

    kind: Literal["manual_code_review"]
    """What the document calls itself."""
    text: Annotated[str, StringConstraints(min_length=1, max_length=MOST_ORIGINAL)]


class ManualReview(Document):
    """manual-reviews/<reviewer>.json: beside a submission, bound to it, and never replaced."""

    SCHEMA_NAME: ClassVar[str] = "manual-review"

    schema_: Literal["cleanroom/manual-review/1"] = Field(default="cleanroom/manual-review/1", alias="schema")
    trial: Trial
    submission_sha256: Sha256
    """Digest of the sealed submission that was reviewed."""
    reviewer: Reviewer
    blind: bool
    """Declared: the reviewer did not know whose work it is."""
    results_known: bool
    """Declared: the reviewer knew results that are hidden from judges."""
    scale: PointScale
    scores: Annotated[tuple[ReviewScore, ...], Field(min_length=1)]
    """One for each criterion of the release, in its order. A mean is nobody's to write: tables work it out."""
    summary: Prose | None
    """Null: nothing was said."""
    original: Original | None
    """Null: written for this release."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        names = [score.criterion for score in self.scores]
        if len(set(names)) != len(names):
            raise refusal("each criterion once", "remove one of the two")
        if any(score.points < self.scale.lowest for score in self.scores):
            raise refusal(f"points of the scale {self.scale}", "name the scale that the points are of")
        return self
