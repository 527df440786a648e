"""The result channel of an in-process suite, read back: framed, numbered, keyed records. Pure.

The bytes come from a process that ran submitted code. Whatever does not fit exactly is forged; a last frame
that was cut off is a process that ended early.
"""

import hmac
import json
from collections.abc import Sequence
from dataclasses import dataclass

PHASES = ("setup", "call", "teardown")

_LENGTH, _SEAL, _FRAME_BYTES = 4, 32, 64 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """One phase of one test, as pytest reported it."""

    id: str
    when: str
    part: bool
    """Whether it is of a subtest only."""
    outcome: str
    expected_failure: bool
    raised: bool
    """Whether the phase ended with an exception, whatever the report says."""
    ms: int
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """All that came over the channel."""

    started: bool = False
    collected: tuple[str, ...] | None = None
    """Ids in the order of running; None if collection never ended."""
    troubles: tuple[str, ...] = ()
    """Why modules could not be collected."""
    phases: tuple[Phase, ...] = ()
    status: int | None = None
    """pytest's own, once it was over."""
    forged: str | None = None
    """What on the channel cannot have come from the harness."""


def passed(phases: Sequence[Phase]) -> bool:
    """Whether these are the phases of a test that passed, subtests and all. Skipped is not passed."""
    whole = tuple(phase.when for phase in phases if not phase.part)
    return whole == PHASES and all(phase.outcome == "passed" and not phase.expected_failure for phase in phases)


class _ForgedError(Exception):
    """A record that the harness does not write."""


def read_channel(stream: bytes, key: bytes) -> Transcript:
    """Read a channel up to its end or the first record that the harness cannot have written."""
    reader = _Reader()
    try:
        for number, (seal, payload) in enumerate(_frames(stream)):
            _check_seal(key, number, seal, payload)
            reader.take(_object(payload))
    except _ForgedError as forged:
        return reader.transcript(str(forged))
    return reader.transcript(None)


def _check_seal(key: bytes, number: int, seal: bytes, payload: bytes) -> None:
    expected = hmac.digest(key, number.to_bytes(8, "big") + payload, "sha256")
    if not hmac.compare_digest(seal, expected):
        raise _ForgedError(f"record {number} does not carry the channel's key")


def _frames(stream: bytes) -> list[tuple[bytes, bytes]]:
    frames = []
    at = 0
    while len(stream) - at >= _LENGTH:
        size = int.from_bytes(stream[at : at + _LENGTH], "big")
        if not _SEAL < size <= _FRAME_BYTES:
            frames.append((b"", stream[at : at + _LENGTH]))
            break
        frame = stream[at + _LENGTH : at + _LENGTH + size]
        if len(frame) < size:
            break
        frames.append((frame[:_SEAL], frame[_SEAL:]))
        at += _LENGTH + size
    return frames


def _object(payload: bytes) -> dict[str, object]:
    try:
        record = json.loads(payload)
    except (ValueError, RecursionError) as error:
        raise _ForgedError("a record is no JSON") from error
    if not isinstance(record, dict):
        raise _ForgedError("a record is no object")
    return record


class _Reader:
    """Takes records in their one legal order."""

    def __init__(self) -> None:
        self._started = False
        self._awaited: int | None = None
        self._collected: list[str] = []
        self._troubles: list[str] = []
        self._phases: list[Phase] = []
        self._status: int | None = None

    def take(self, record: dict[str, object]) -> None:
        """Take the next record."""
        kind = record.get("kind")
        if self._status is not None:
            raise _ForgedError("a record came after the last one")
        if self._started == (kind == "started"):
            raise _ForgedError("the first record, and no other, says that the suite started")
        if self._started:
            self._take_result(kind, record)
        self._started = True

    def _take_result(self, kind: object, record: dict[str, object]) -> None:
        match kind:
            case "trouble":
                self._troubles.append(_text(record, "detail"))
            case "collecting" if self._awaited is None:
                self._awaited = _number(record, "count")
            case "collected" if self._awaited is not None and len(self._collected) < self._awaited:
                self._collected.append(_text(record, "id"))
            case "phase" if self._awaited == len(self._collected):
                self._phases.append(_phase(record))
            case "finished":
                self._status = _number(record, "status")
            case _:
                raise _ForgedError(f"a record of kind {kind!r} where there can be none")

    def transcript(self, forged: str | None) -> Transcript:
        whole = self._awaited == len(self._collected)
        return Transcript(
            started=self._started,
            collected=tuple(self._collected) if whole else None,
            troubles=tuple(self._troubles),
            phases=tuple(self._phases),
            status=self._status,
            forged=forged,
        )


def _phase(record: dict[str, object]) -> Phase:
    return Phase(
        id=_text(record, "id"),
        when=_text(record, "when"),
        part=_truth(record, "part"),
        outcome=_text(record, "outcome"),
        expected_failure=_truth(record, "expected_failure"),
        raised=_truth(record, "raised"),
        ms=_number(record, "ms"),
        detail=_text(record, "detail"),
    )


def _text(record: dict[str, object], name: str) -> str:
    value = record.get(name)
    if not isinstance(value, str):
        raise _ForgedError(f"{name} of a record is no text")
    return value


def _number(record: dict[str, object], name: str) -> int:
    value = record.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise _ForgedError(f"{name} of a record is no count")
    return value


def _truth(record: dict[str, object], name: str) -> bool:
    value = record.get(name)
    if not isinstance(value, bool):
        raise _ForgedError(f"{name} of a record is neither true nor false")
    return value
