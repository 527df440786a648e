"""The form of a recording: what an agent asked its model, and what it was given. Pure.

A recording is a file that only grows: gzip members (RFC 1952), one after another. The plain text of a member is one
*record*: a head, which is a line of JSON of at most 8 KiB, and the rest, which is a body.

    {"record":"asked","sequence":1,"operation":"chat","method":"POST","target":"/v1/chat/completions",
     "size":40356,"sha256":"...","cut":false}                                            + the request's body
    {"record":"part","sequence":1}                                                       + 1 MiB of the answer
    {"record":"given","sequence":1,"status":200,"content_type":"text/event-stream","stream":true,"size":9316,
     "cut":false,"redacted":0,"ended":true,"failure":null,"refusal":null,"played":null}  + the rest of the answer

`sequence` is the ledger's. The records of one exchange come in this order, those of several may be mixed. Both `asked`
and `given` are in the file before the ledger's line is with the runner. `cut` says that not all of a body was kept,
`redacted` how often the provider's key stood in the answer and was replaced, `ended` whether the answer was sent to its
end. `played` is for replays alone: the number of the exchange that was played again. A file whose writer was killed
may end amid a member.
"""

import gzip
import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol, cast

from .terms import Json

HEAD_LIMIT = 8 << 10
PART = 1 << 20
"""Bytes of an answer that are held before they are written as a record of their own."""
BODY_LIMIT = 18 << 20
"""Of a record; the gateway takes no request of more than 16 MiB."""
_READ = 256 << 10
_RECORDS = frozenset({"asked", "part", "given"})


class BrokenRecordingError(Exception):
    """A file is no recording, beyond what a killed writer leaves."""


class Source(Protocol):
    """What a recording is read from: an open file is one."""

    def read(self, size: int, /) -> bytes:
        """Give the next bytes; none at the end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One member of a recording."""

    head: Json
    body: bytes = field(repr=False)
    start: int
    """Where its member begins in the file."""
    size: int
    """Length of its member."""

    @property
    def kind(self) -> str:
        """Give `asked`, `part` or `given`."""
        return str(self.head["record"])

    @property
    def sequence(self) -> int:
        """Give the number of its exchange."""
        return cast("int", self.head["sequence"])


def write_record(head: Json, body: bytes) -> bytes:
    """Give a record's member. The lowest level: agents wait while their requests are kept."""
    return gzip.compress(json.dumps(head).encode() + b"\n" + body, compresslevel=1, mtime=0)


def read_records(source: Source) -> Iterator[Record]:
    """Read the records of a recording; one that its writer did not finish is left out.

    Raises:
        BrokenRecordingError: it is no recording.
    """
    start, rest = 0, b""
    while rest := rest or source.read(_READ):
        member = _Member()
        behind = member.read(source, rest)
        if behind is None:
            return
        rest = behind
        head, _, body = bytes(member.plain).partition(b"\n")
        yield Record(head=_head(head), body=body, start=start, size=member.size)
        start += member.size


class _Member:
    """One gzip member while it is read."""

    def __init__(self) -> None:
        self._inflate = zlib.decompressobj(wbits=31)
        self.plain = bytearray()
        self.size = 0

    def read(self, source: Source, data: bytes) -> bytes | None:
        """Read the member to its end; give what was read beyond it, or None where the file ends first."""
        while data:
            data = self._take(data)
            if self._inflate.eof:
                return data
            data = data or source.read(_READ)
        return None

    def _take(self, data: bytes) -> bytes:
        """Read on; give what is left."""
        try:
            self.plain += self._inflate.decompress(data, BODY_LIMIT + HEAD_LIMIT + 1 - len(self.plain))
        except zlib.error as error:
            raise BrokenRecordingError(f"not a gzip member: {error}") from error
        if len(self.plain) > BODY_LIMIT + HEAD_LIMIT:
            raise BrokenRecordingError(f"a record of more than {BODY_LIMIT} bytes")
        rest = self._inflate.unused_data if self._inflate.eof else self._inflate.unconsumed_tail
        self.size += len(data) - len(rest)
        return rest


def _head(data: bytes) -> Json:
    try:
        head = json.loads(data) if len(data) <= HEAD_LIMIT else None
    except (ValueError, RecursionError) as error:
        raise BrokenRecordingError("a record whose head is not JSON") from error
    if not isinstance(head, dict) or head.get("record") not in _RECORDS:
        raise BrokenRecordingError("a record whose head is none")
    sequence = head.get("sequence")
    if isinstance(sequence, bool) or not isinstance(sequence, int) or sequence < 1:
        raise BrokenRecordingError("a record without the number of its exchange")
    return head
