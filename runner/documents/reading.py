"""read.json: which attempts a table was read from, and by what they are known again. A memory, no evidence."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field, NonNegativeInt, StringConstraints

from runner.documents.model import Document, Identifier, Sha256, Shape


class Holding(Shape):
    """A folder, and the names in it but for what judges and people add."""

    folder: str
    names: tuple[str, ...]


class LookedAt(Shape):
    """What of an attempt is looked at to know it again, by paths below its folder; nothing where there is none."""

    still: tuple[str, ...]
    """What was not changed since."""
    holding: tuple[Holding, ...]
    """The folders of its tries."""


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
    text_sha256: Sha256
    """Of aggregate.md, which tells the same."""
    newest_ns: Annotated[str, StringConstraints(pattern=r"^(0|[1-9][0-9]{0,18})$")]
    """Nothing that is looked at was changed later, in nanoseconds since 1970; a text, as no JSON number is so exact."""
    shapes: tuple[LookedAt, ...]
    attempts: tuple[NonNegativeInt | None, ...]
    """In the manifest's order: which of the shapes. Null: it was changed too shortly before it was read, or lacks
    something, and is read again."""
