"""norms.json: how a change is made, beside what it achieves. Never part of an outcome."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from evaluators.norm_scale import NormId
from runner.documents.model import DecimalText, Document, Sha256, Shape

Count = Annotated[int, Field(ge=0)]


class NormFact(Shape):
    """One norm: what was counted, or why nothing could be."""

    id: NormId
    weight: DecimalText
    """Of the whole, where all can be measured; the others share that of one that cannot."""
    penalty: DecimalText | None
    """From 0 to 1; null where it was not measured."""
    counts: Mapping[str, Count]
    """What the penalty follows from; empty where it was not measured."""
    reason: str
    """Why it was not measured; empty where it was."""
    found: tuple[str, ...]
    """The first places, at most twenty."""


class Norms(Document):
    """norms.json: all norms of a submission, counted from the two trees."""

    SCHEMA_NAME: ClassVar[str] = "norms"

    schema_: Literal["cleanroom/norms/1"] = Field(default="cleanroom/norms/1", alias="schema")
    version: Annotated[int, Field(ge=1)]
    """Of weights and rules."""
    tree_sha256: Sha256
    norms: tuple[NormFact, ...]
    """In the order of the weights; none where nothing was changed."""
    score: DecimalText | None
    """One less the weighted penalties of what was measured; null where nothing was."""
    reason: str
    """Why there are none; empty where there are."""
    lint_log_sha256: Sha256 | None
    """What ruff said of both sides is kept privately, below logs/; null where it was not asked."""


class NormsShort(Shape):
    """Norms in short, as tables have them."""

    score: DecimalText | None
    """Null where nothing was measured."""
    penalties: Mapping[NormId, DecimalText | None]
    """Null: not measured."""


class NormsMean(Shape):
    """A candidate's norms over its attempts."""

    solved: DecimalText | None
    """Mean score over the solved attempts that have one; null where none has."""
    solved_count: Count
    """How many these are."""
    counted: DecimalText | None
    """Mean score over all attempts that count and have one."""
    counted_count: Count
    """How many these are."""
