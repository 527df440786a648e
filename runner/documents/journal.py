"""journal.jsonl: one line for each state that a try reached, chained, so that none can go unseen."""

from enum import StrEnum
from typing import Annotated, ClassVar, Literal

from pydantic import Field, StringConstraints

from runner.documents.facts import Epoch
from runner.documents.model import Document, Sha256
from runner.documents.seal import Trial


class State(StrEnum):
    """What a try has reached, in the order in which that happens."""

    PLANNED = "planned"
    """It is begun next; nothing of it has run."""
    PROBING = "probing"
    """Its candidate is asked whether it is there."""
    RUNNING = "running"
    """Its agent is let to work next: from here on a model may be at work."""
    CAPTURED = "captured"
    """Its submission is sealed."""
    GRADED = "graded"
    """A grading of it is sealed."""
    SEALED = "sealed"
    """Nothing more is done about it; the digest is that of the grading that counts."""
    VOID = "void"
    """It left no submission; what there was is sealed, or the candidate was not available."""


class Entry(Document):
    """One line of the journal, canonical, without its line feed."""

    SCHEMA_NAME: ClassVar[str] = "journal"

    schema_: Literal["cleanroom/journal/1"] = Field(default="cleanroom/journal/1", alias="schema")
    at_ms: Epoch
    run: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{16}$")]
    """The process that wrote it: a random number of its own."""
    trial: Trial
    state: State
    """What was reached."""
    sealed_sha256: Sha256 | None
    """Digest of the sealed folder that the state speaks of; null where nothing is sealed yet."""
    previous: Sha256 | None
    """SHA-256 of the line before; null in the first."""
    recovered: bool
    """The folder was sealed by a runner that was killed before it wrote this line."""
    keyid: Sha256 | None = None
    """The runner's key; null where it had none."""
    sig: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9+/]{86}==$")] | None = None
    """Its signature of the same line with `sig` null, Ed25519, base64."""
