"""A recording as it is played again: its exchanges by what was asked, each taken once, in their order."""

import os
import threading
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from .control import die
from .matching import key_of
from .recording import BrokenRecordingError, Record, read_records
from .terms import Json

Place = tuple[int, int]
"""Where a record's member begins in the file, and how long it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """A recorded answer that is given again."""

    sequence: int
    status: int | None
    content_type: str
    stream: bool
    ended: bool
    is_last: bool
    """Whether nothing was asked after it."""
    refusal: str | None
    parts: Iterator[bytes] = field(repr=False)


@dataclass(slots=True)
class Shelf:
    """What a recording holds. It is read through once; bodies stay in the file until they are wanted."""

    descriptor: int
    _waiting: dict[str, deque[int]] = field(default_factory=dict)
    _given: dict[int, Json] = field(default_factory=dict)
    _places: dict[int, list[Place]] = field(default_factory=dict)
    _last: int = 0
    _turn: threading.Lock = field(default_factory=threading.Lock)

    def fill(self) -> None:
        """Read the recording; a broken one ends this program, as a fault."""
        keys: dict[int, str] = {}
        try:
            with open(os.dup(self.descriptor), "rb") as source:  # noqa: PTH123 - a descriptor has no path
                for record in read_records(source):
                    self._note(record, keys)
        except BrokenRecordingError as error:
            die(f"the recording is none: {error}")
        self._last = max(keys, default=0)
        for sequence in sorted(keys.keys() & self._given.keys()):
            self._waiting.setdefault(keys[sequence], deque()).append(sequence)

    def _note(self, record: Record, keys: dict[int, str]) -> None:
        head, sequence = record.head, record.sequence
        if record.kind == "asked":
            if not head.get("cut"):
                operation, method, target = (str(head.get(name)) for name in ("operation", "method", "target"))
                keys[sequence] = key_of(operation, method, target, record.body)
            return
        self._places.setdefault(sequence, []).append((record.start, record.size))
        if record.kind == "given" and not head.get("cut"):
            self._given[sequence] = head

    def take(self, operation: str, method: str, target: str, body: bytes) -> Played | None:
        """Give the first answer to such a request that was not given yet."""
        key = key_of(operation, method, target, body)
        with self._turn:
            waiting = self._waiting.get(key)
            if not waiting:
                return None
            sequence = waiting.popleft()
        head = self._given[sequence]
        status, refusal = head.get("status"), head.get("refusal")
        return Played(
            sequence=sequence,
            status=status if isinstance(status, int) else None,
            content_type=str(head.get("content_type")),
            stream=head.get("stream") is True,
            ended=head.get("ended") is True,
            is_last=sequence == self._last,
            refusal=refusal if isinstance(refusal, str) else None,
            parts=self._parts(sequence),
        )

    def _parts(self, sequence: int) -> Iterator[bytes]:
        for start, size in self._places[sequence]:
            yield next(read_records(_Span(self.descriptor, start, start + size))).body


@dataclass(slots=True)
class _Span:
    """A span of the file, read without moving anybody's place in it."""

    descriptor: int
    at: int
    end: int

    def read(self, size: int, /) -> bytes:
        """Give the next bytes; none at the end."""
        data = os.pread(self.descriptor, min(size, self.end - self.at), self.at)
        self.at += len(data)
        return data
