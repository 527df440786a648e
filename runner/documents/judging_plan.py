"""What judges are asked, fixed before the first of them is: every asking, and those that nobody may answer."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from runner.documents.judging import Cell, Item, Skipped, View
from runner.documents.model import Document, Identifier, Sha256, Shape


class PlannedAsking(Shape):
    """One question to one judge."""

    judge: Identifier
    """Who answers."""
    instead_of: Identifier | None
    """The judge whose place a fallback takes; null: nobody's."""
    item: Item
    view: View


class JudgingPlan(Document):
    """judging/plans/<N>/plan.json: all askings about the submissions that were sealed by then. The last one counts.

    Another one is made where more submissions are there, or other pairs are wanted; what was answered stays.
    """

    SCHEMA_NAME: ClassVar[str] = "judging-plan"

    schema_: Literal["cleanroom/judging-plan/1"] = Field(default="cleanroom/judging-plan/1", alias="schema")
    release: Identifier
    manifest_sha256: Sha256
    pairs: Annotated[int, Field(ge=1, le=100_000)] | None
    """How many pairs of a nomination were asked for by `--pairs`; null: what the release says."""
    cells: tuple[Cell, ...]
    """The submissions that came far enough to be judged, in the manifest's order."""
    askings: tuple[PlannedAsking, ...]
    """In the order of asking, judge by judge."""
    skipped: tuple[Skipped, ...]
