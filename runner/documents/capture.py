"""capture.json: what the capture met besides files and links, and so is in no patch."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from runner.documents.facts import PathText, Size, Violation
from runner.documents.model import Document, Shape


class RawMode(Shape):
    """A path whose mode is not the one that a tree gives it."""

    path: PathText
    mode: Annotated[int, Field(ge=0, le=0o7777)]


class Capture(Document):
    """Everything by path, sorted by the paths' bytes. Only `findings` are held against a candidate."""

    SCHEMA_NAME: ClassVar[str] = "capture"

    schema_: Literal["cleanroom/capture/1"] = Field(default="cleanroom/capture/1", alias="schema")
    entries: Size
    """How many paths the inspection looked at."""
    git_touched: bool
    """Something happened in the workspace's own .git."""
    modes: tuple[RawMode, ...] = ()
    empty_folders: tuple[PathText, ...] = ()
    hard_links: tuple[tuple[PathText, ...], ...] = ()
    """Paths that were one file, group by group."""
    sparse: tuple[PathText, ...] = ()
    findings: tuple[Violation, ...] = ()
    """What no patch can carry: each breaks the policy."""
