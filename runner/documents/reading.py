"""read.json: which attempts a table was read from, and by what their files are known again. A memory, no evidence."""

from typing import ClassVar, Literal

from pydantic import Field

from runner.documents.model import Document, Identifier, Sha256


class ReadAttempts(Document):
    """read.json beside aggregate.json; whoever removes it loses nothing but time."""

    SCHEMA_NAME: ClassVar[str] = "read-attempts"

    schema_: Literal["cleanroom/read-attempts/1"] = Field(default="cleanroom/read-attempts/1", alias="schema")
    release: Identifier
    manifest_sha256: Sha256
    code_sha256: Sha256
    """Of the code that read: other code reads everything again."""
    aggregate_sha256: Sha256
    """Of the table that holds what was read."""
    attempts: tuple[Sha256 | None, ...]
    """In the manifest's order: SHA-256 over name, inode, size and time of change of each file. Null:
    it was changed too shortly before it was read, and is read again."""
