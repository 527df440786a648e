"""Reading the recording of an attempt's exchanges; its form is told in runner/gateway/relay/recording.py. Pure."""

import io
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Annotated, Literal, TypeVar

from pydantic import Field, ValidationError

from runner.canonical import sha256
from runner.documents.ledger import Count, FailureKind, Refusal
from runner.documents.model import Sha256, Shape
from runner.gateway.relay.recording import BrokenRecordingError, Record, read_records

Sequence = Annotated[int, Field(ge=1)]


class Asked(Shape):
    """The head of what an agent asked."""

    record: Literal["asked"]
    sequence: Sequence
    operation: str
    method: str
    target: str
    size: Count
    sha256: Sha256
    """Of the whole body, also where it is cut."""
    cut: bool


class Part(Shape):
    """The head of a part of an answer."""

    record: Literal["part"]
    sequence: Sequence


class Given(Shape):
    """The head of the last part of an answer."""

    record: Literal["given"]
    sequence: Sequence
    status: int | None
    content_type: str | None
    stream: bool
    size: Count
    cut: bool
    redacted: Count
    ended: bool
    failure: FailureKind | None
    refusal: Refusal | None
    played: Sequence | None


Head = TypeVar("Head", Asked, Part, Given)


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """What was asked in one request, and what was given; null where its writer did not get to that."""

    asked: Asked
    given: Given | None = None
    request: tuple[int, int]
    """Where the record of the request stands in the file."""
    answer: tuple[tuple[int, int], ...] = ()

    @property
    def sequence(self) -> int:
        """Give the number that the ledger's line has too."""
        return self.asked.sequence


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """The exchanges of a recording, by their numbers; bodies stay compressed until they are wanted."""

    data: bytes = field(repr=False)
    exchanges: tuple[Exchange, ...]
    torn: bool
    """Whether the last record was not written to its end."""

    def request(self, exchange: Exchange) -> bytes:
        """Give the body of a request, as it came from the agent."""
        return self._bodies((exchange.request,))

    def given(self, exchange: Exchange) -> bytes:
        """Give what was passed on as the answer, the provider's key apart."""
        return self._bodies(exchange.answer)

    def _bodies(self, places: Iterable[tuple[int, int]]) -> bytes:
        members = (self.data[start : start + size] for start, size in places)
        return b"".join(next(read_records(io.BytesIO(member))).body for member in members)


def read_recording(data: bytes) -> Recording:
    """Read a recording.

    Raises:
        BrokenRecordingError: it is none, beyond what a killed writer leaves.
    """
    found: dict[int, Exchange] = {}
    end = 0
    for record in read_records(io.BytesIO(data)):
        _note(found, record)
        end = record.start + record.size
    exchanges = tuple(found[sequence] for sequence in sorted(found))
    return Recording(data=data, exchanges=exchanges, torn=end < len(data))


def _note(found: dict[int, Exchange], record: Record) -> None:
    place, known = (record.start, record.size), found.get(record.sequence)
    if record.kind == "asked":
        if known is not None:
            raise BrokenRecordingError(f"exchange {record.sequence} is asked twice")
        asked = _parsed(Asked, record)
        _check_asked(asked, record.body)
        found[asked.sequence] = Exchange(asked=asked, request=place)
        return
    if known is None or known.given is not None:
        raise BrokenRecordingError(f"exchange {record.sequence} is answered before it is asked, or twice")
    given = _parsed(Given, record) if record.kind == "given" else None
    if given is None:
        _parsed(Part, record)
    found[record.sequence] = replace(known, given=given, answer=(*known.answer, place))


def _check_asked(asked: Asked, body: bytes) -> None:
    if not asked.cut and (len(body), sha256(body)) != (asked.size, asked.sha256):
        raise BrokenRecordingError(f"the request of exchange {asked.sequence} is not what its head says")
    if asked.cut and body:
        raise BrokenRecordingError(f"the request of exchange {asked.sequence} is cut, and there")


def _parsed(head: type[Head], record: Record) -> Head:
    try:
        return head.model_validate(record.head)
    except ValidationError as error:
        raise BrokenRecordingError(
            f"a head of exchange {record.sequence} is none: {error.error_count()} errors"
        ) from error


__all__ = ["Asked", "BrokenRecordingError", "Exchange", "Given", "Recording", "read_recording"]
