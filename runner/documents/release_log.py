"""release-log-entry: what the log of releases keeps of a freeze or a publication."""

from enum import StrEnum
from typing import ClassVar, Literal

from pydantic import Field

from runner.documents.model import Document, Identifier, Sha256

LOG_FOLDER = "log"
"""Below releases/; no release can have this id."""


class LogKind(StrEnum):
    """What was done with a release."""

    FREEZE = "freeze"
    PUBLISH = "publish"


class LogEntry(Document):
    """One line of releases/log/entries.jsonl, and without its end one leaf of the log's tree."""

    SCHEMA_NAME: ClassVar[str] = "release-log-entry"

    schema_: Literal["cleanroom/release-log-entry/1"] = Field(default="cleanroom/release-log-entry/1", alias="schema")
    kind: LogKind
    release: Identifier
    sha256: Sha256
    """Of manifest.json where it was frozen, of release.dsse.json where it was published."""
