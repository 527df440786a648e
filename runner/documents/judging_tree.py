"""What an in-depth judge may look around in: base and change put together, with no more in it than its packet shows."""

from enum import StrEnum
from typing import ClassVar, Literal

from pydantic import Field

from runner.documents.facts import PathText
from runner.documents.judging import View
from runner.documents.model import Document, Sha256, Shape


class WithheldWhy(StrEnum):
    """Why something is not in the tree that a judge reads."""

    AGENT_FILE = "agent_file"
    """Agents obey it, or it tells which one worked there."""
    NO_TEXT = "no_text"
    """A file of the change that is no text, or was none: the packet tells size and digest alone."""
    LINK = "link"
    """A link of the change; the packet tells where it leads."""
    DOCUMENT = "document"
    """A document of the change, in the view without comments."""


class Withheld(Shape):
    """One path that was left out."""

    path: PathText
    why: WithheldWhy


class WorkspaceRecord(Document):
    """judging/workspaces/<sha256>/record.json: the tree that an in-depth judge reads. It holds names, so it is private.

    Lines that the change adds stand in it as the packet shows them: scrubbed, escaped and cut in the same way.
    """

    SCHEMA_NAME: ClassVar[str] = "workspace-record"

    schema_: Literal["cleanroom/workspace-record/1"] = Field(default="cleanroom/workspace-record/1", alias="schema")
    fixture_sha256: Sha256
    """Tree digest of the frozen base."""
    tree_sha256: Sha256
    """Tree digest of what the judge reads."""
    view: View
    """Which form of the changed files it has."""
    withheld: tuple[Withheld, ...]
    """By path."""
