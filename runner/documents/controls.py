"""The record of a nomination's controls: proof that it can be solved, and is not solved already. Private."""

from collections.abc import Mapping
from typing import ClassVar, Literal

from pydantic import Field, JsonValue

from evaluators.model import Assurance, VerdictCause
from runner.documents.model import DecimalText, Document, Identifier, Sha256, Shape


class ControlVerdict(Shape):
    """What one evaluator said of one control."""

    id: Identifier
    passed: bool
    cause: VerdictCause
    assurance: Assurance
    score: DecimalText | None


class Control(Shape):
    """One change whose outcome was known before."""

    name: str
    """`base`, `solution`, or the path of a patch in `wrong/`, `half/` or `alternative/`."""
    kind: Literal["base", "solution", "unrelated", "wrong", "half", "alternative"]
    """What of the nomination it is."""
    tree_sha256: Sha256
    """Of base + change."""
    public_tests: bool
    """Whether they passed."""
    verdicts: tuple[ControlVerdict, ...]
    """One an evaluator."""


class CalibratedEvaluator(Shape):
    """What an evaluator learned from the solution: its expected cases, and what it needs to judge."""

    id: Identifier
    kind: Identifier
    sha256: Sha256
    """The evaluator's digest, calibration included."""
    cases: tuple[str, ...]
    """Ids of its expected cases."""
    calibration: Mapping[str, JsonValue] | None
    """Null where its kind needs none."""


class ControlsRecord(Document):
    """controls/<nomination>.json. It tells hidden cases and stays private; its digest is public."""

    SCHEMA_NAME: ClassVar[str] = "controls"

    schema_: Literal["cleanroom/controls/1"] = Field(default="cleanroom/controls/1", alias="schema")
    nomination: Identifier
    nomination_sha256: Sha256
    fixture_sha256: Sha256
    evaluators: tuple[CalibratedEvaluator, ...]
    """What each learned from the solution."""
    controls: tuple[Control, ...]
    """What was judged, and how it ended."""
