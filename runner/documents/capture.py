"""capture.json: what the capture met besides files and links, and so is in no patch."""

from typing import ClassVar, Literal

from pydantic import Field

from runner.documents.facts import PathText, Size
from runner.documents.model import Document, Shape
from sandbox.findings import FindingKind


class CaptureFinding(Shape):
    """One finding. `path` is empty where it is of the workspace as a whole."""

    kind: FindingKind
    """What was found."""
    path: PathText
    mode: Size | None
    """Raw, where it was seen."""
    size: Size | None
    """Where it was seen."""
    detail: str


class Capture(Document):
    """Everything that was found, by path and kind; which of it breaks a rule is in policy.json."""

    SCHEMA_NAME: ClassVar[str] = "capture"

    schema_: Literal["cleanroom/capture/1"] = Field(default="cleanroom/capture/1", alias="schema")
    findings: tuple[CaptureFinding, ...]
    """Sorted."""
