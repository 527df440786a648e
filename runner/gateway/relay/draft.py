"""A ledger line while it is being written."""

import hashlib
import threading
import time
from dataclasses import dataclass, field

from .tally import Tally
from .taping import Tape
from .terms import Json


@dataclass(slots=True, kw_only=True)
class Passed:
    """What went through a tunnel so far, which is all that is known of it."""

    host: str
    sent: int = 0
    """Bytes from the agent."""
    received: int = 0
    """Bytes to it."""

    def told(self) -> Json:
        """Give it as the ledger has it."""
        return {"host": self.host, "sent_bytes": self.sent, "received_bytes": self.received}


@dataclass(slots=True, kw_only=True)
class Draft:
    """What is known of one request so far. Whoever settles it first writes the line; only once."""

    sequence: int
    opened: float
    """Monotonic seconds at which the attempt was opened."""
    started: float
    operation: str
    tape: Tape
    """Keeps what was asked and what was given."""
    request: bytes = field(default=b"", repr=False)
    model_asked: str | None = None
    stream: bool = False
    amended: tuple[str, ...] = ()
    features: tuple[str, ...] = ()
    status_upstream: int | None = None
    status_given: int | None = None
    first_byte: float | None = None
    complete: bool = False
    failure: str | None = None
    refusal: str | None = None
    retries: int = 0
    wait_ms: int = 0
    tally: Tally = field(default_factory=Tally)
    response_bytes: int = 0
    response_hash: str | None = None
    passed: Passed | None = None
    settled: threading.Event = field(default_factory=threading.Event)
    _once: threading.Lock = field(default_factory=threading.Lock)

    def claim(self) -> bool:
        """Say whether the caller is the one to write the line."""
        return self._once.acquire(blocking=False)

    def line(self, now: float) -> Json:
        """Give the line as it stands."""
        return {
            "schema": "cleanroom/ledger-line/1",
            "sequence": self.sequence,
            "operation": self.operation,
            "started_ms": _ms(self.opened, self.started),
            "first_byte_ms": None if self.first_byte is None else _ms(self.started, self.first_byte),
            "duration_ms": _ms(self.started, now),
            "model_asked": self.model_asked,
            "model_answered": self.tally.model,
            "provider_answered": self.tally.provider,
            "stream": self.stream,
            "status_upstream": self.status_upstream,
            "status_given": self.status_given,
            "complete": self.complete,
            "finish_reason": self.tally.finish_reason,
            "failure": self.failure,
            "refusal": self.refusal,
            "tokens": dict(self.tally.tokens),
            "cost": self.tally.cost,
            "retries": self.retries,
            "wait_ms": self.wait_ms,
            "amended": list(self.amended),
            "provider_features": list(self.features),
            "request_bytes": len(self.request),
            "request_sha256": hashlib.sha256(self.request).hexdigest(),
            "response_bytes": self.response_bytes,
            "response_sha256": self.response_hash,
            "tunnel": None if self.passed is None else self.passed.told(),
        }

    def first(self) -> None:
        """Note that the first byte is on its way to the agent."""
        self.first_byte = time.monotonic() if self.first_byte is None else self.first_byte


def _ms(start: float, end: float) -> int:
    return max(0, int((end - start) * 1_000))
