"""A place in the line of pilots that want this host's clean room. It is no evidence, and goes with its pilot."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field, StringConstraints

from runner.documents.facts import Epoch
from runner.documents.model import Document, Identifier, Shape

Number = Annotated[int, Field(ge=1)]


class Selection(Shape):
    """What a pilot was asked for."""

    candidates: tuple[str, ...]
    """Ids or models; none: all."""
    nominations: tuple[str, ...]
    attempt: Annotated[int, Field(ge=1)] | None


class Ticket(Document):
    """One pilot. It lives as long as its ticket's file is locked; the number of its process proves nothing."""

    SCHEMA_NAME: ClassVar[str] = "ticket"

    schema_: Literal["cleanroom/ticket/1"] = Field(default="cleanroom/ticket/1", alias="schema")
    token: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{16}$")]
    """A random number that whoever started the pilot knows it by."""
    number: Number
    """Its place: whoever has the lowest is next."""
    release: Identifier
    store: str
    """The folder of its evidence."""
    selection: Selection
    asked_ms: Epoch
    process: Annotated[int, Field(ge=1)]
    log: str | None
    """The file that its words go to; null where it speaks to a terminal."""
