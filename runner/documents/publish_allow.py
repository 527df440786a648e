"""What may be published although a scan finds it: `config/<name>.publish-allow.json`, written by people."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field, StringConstraints

from runner.documents.model import Document, Sha256, Shape
from runner.fields import Line

RuleName = Literal[
    "secret",
    "token-shape",
    "entropy",
    "private-path",
    "host-name",
    "evaluator-content",
    "raw-output",
    "judge-identity",
    "unreadable",
]

FilePattern = Annotated[str, StringConstraints(min_length=1, max_length=400, pattern=r"^[A-Za-z0-9*?._/-]+$")]
"""A published path; `*` stands for any letters within one folder's name, `?` for one, `**` for any folders."""


class AllowEntry(Shape):
    """One text that may stand, where, and why."""

    rule: RuleName
    """The rule that finds it."""
    file: FilePattern
    """Where it may stand, from the release's folder down."""
    sha256: Sha256
    """Of the text, as the finding tells it. The text itself never stands here."""
    reason: Annotated[Line, Field(min_length=10)]
    """Why it may be published. Published with it."""


class PublishAllow(Document):
    """What somebody looked at and let pass."""

    SCHEMA_NAME: ClassVar[str] = "publish-allow"

    schema_: Literal["cleanroom/publish-allow/1"] = Field(default="cleanroom/publish-allow/1", alias="schema")
    entries: Annotated[tuple[AllowEntry, ...], Field(max_length=10_000)] = ()
    """One a text and place."""
