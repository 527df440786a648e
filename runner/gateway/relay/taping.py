"""Keeping what passes between an agent and its model, one record after another, as it passes."""

import hashlib
import os
import threading
from dataclasses import dataclass, field

from .control import die
from .recording import PART, write_record
from .redaction import Redaction, forms_of
from .terms import Json

ANSWER_KEPT = 128 << 20
"""Bytes of one answer that are kept; of a longer one the beginning."""
RECORDING_LIMIT, PLAIN_LIMIT = 256 << 20, 4 << 30
"""Bytes of a whole recording, and of all bodies in it, after which no more are kept: somebody has to read them."""
TARGET_LIMIT, WORD_LIMIT = 2_000, 200


@dataclass(slots=True)
class Recorder:
    """The recording of one attempt; without a descriptor nothing is kept."""

    descriptor: int | None
    forms: tuple[bytes, ...] = field(default=(), repr=False)
    _written: int = 0
    _plain: int = 0
    _writing: threading.Lock = field(default_factory=threading.Lock)

    @property
    def is_full(self) -> bool:
        """Whether no further body is kept."""
        return self._written >= RECORDING_LIMIT or self._plain >= PLAIN_LIMIT

    def write(self, head: Json, body: bytes) -> None:
        """Append a record; a recording that cannot be kept ends this program, as a fault."""
        rest = memoryview(write_record(head, body))
        try:
            with self._writing:
                self._written += len(rest)
                self._plain += len(body)
                while rest and self.descriptor is not None:
                    rest = rest[os.write(self.descriptor, rest) :]
        except OSError as error:
            die(f"an exchange cannot be kept: {error.strerror}")

    def tape(self, sequence: int, operation: str, method: str, target: str) -> "Tape":
        """Begin an exchange."""
        told: Json = {"operation": operation, "method": method[:WORD_LIMIT], "target": target[:TARGET_LIMIT]}
        return Tape(recorder=self, sequence=sequence, told=told)

    def close(self) -> None:
        """Let the file go."""
        with self._writing:
            if self.descriptor is not None:
                os.close(self.descriptor)
                self.descriptor = None


def recorder(descriptor: int | None, credential: str | None) -> Recorder:
    """Make the recorder of an attempt whose provider's key is never to be kept."""
    return Recorder(descriptor, forms_of(credential))


@dataclass(slots=True, kw_only=True)
class Tape:
    """One exchange while it takes place. It holds at most a part of an answer, however long that is."""

    recorder: Recorder
    sequence: int
    told: Json
    """What the head of the record says of the request beside its body."""
    request: bytes = field(default=b"", repr=False)
    _status: int | None = None
    _content_type: str | None = None
    _stream: bool = False
    _ended: bool = False
    _played: int | None = None
    _size: int = 0
    _cut: bool = False
    _held: bytearray = field(default_factory=bytearray)
    _redaction: Redaction = field(init=False)
    _asked: bool = False
    _over: bool = False
    _turn: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self._redaction = Redaction(self.recorder.forms)

    def whole(self, status: int, content_type: str, body: bytes) -> None:
        """Note an answer in one piece."""
        self.begin(status, content_type, stream=False)
        self.add(body)
        self.end()

    def begin(self, status: int, content_type: str, *, stream: bool) -> None:
        """Note the head of an answer."""
        self._status, self._content_type, self._stream = status, content_type[:WORD_LIMIT], stream

    def add(self, data: bytes) -> None:
        """Note more of an answer."""
        with self._turn:
            if self._over or self.recorder.descriptor is None:
                return
            room = 0 if self.recorder.is_full else max(0, ANSWER_KEPT - self._size)
            self._size += len(data)
            self._cut |= len(data) > room
            self._held += data[:room]
            while len(self._held) >= PART:
                self._flush()

    def end(self) -> None:
        """Note that the answer is sent to its end as soon as its line is written."""
        self._ended = True

    def play(self, number: int) -> None:
        """Note which exchange of a recording was played again."""
        self._played = number

    def finish(self, failure: str | None, refusal: str | None) -> None:
        """Write down the exchange as it stands; what comes later is not of it."""
        with self._turn:
            if self._over:
                return
            self._over = True
            if self.recorder.descriptor is None:
                return
            self._ask()
            rest = self._redaction.take(bytes(self._held), last=True)
            self.recorder.write({**self._given(), "failure": failure, "refusal": refusal}, rest)
            self._held.clear()

    def _flush(self) -> None:
        self._ask()
        kept = self._redaction.take(bytes(self._held[:PART]), last=False)
        del self._held[:PART]
        self.recorder.write({"record": "part", "sequence": self.sequence}, kept)

    def _ask(self) -> None:
        """Write down what was asked, once, before anything of the answer."""
        if self._asked:
            return
        self._asked = True
        body, cut = self.request, self.recorder.is_full
        head: Json = {
            "record": "asked",
            "sequence": self.sequence,
            **self.told,
            "size": len(body),
            "sha256": hashlib.sha256(body).hexdigest(),
            "cut": cut,
        }
        self.recorder.write(head, b"" if cut else body)

    def _given(self) -> Json:
        return {
            "record": "given",
            "sequence": self.sequence,
            "status": self._status,
            "content_type": self._content_type,
            "stream": self._stream,
            "size": self._size,
            "cut": self._cut,
            "redacted": self._redaction.found,
            "ended": self._ended,
            "played": self._played,
        }
