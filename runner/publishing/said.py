"""What agents, models and tests said in a release's private evidence, read when it is asked for."""

import io
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from runner.durable import read_regular
from runner.gateway.recording import BrokenRecordingError, Recording, read_recording
from runner.gateway.relay.recording import read_records
from runner.kept import EXCHANGES, LOGS

_ATTEMPT = re.compile(r"([^/]+)/([^/]+)/attempts/(attempt-[0-9]+)/.+")
_WORDS = ("streams/stdout", "streams/stderr", "telemetry.json", f"{LOGS}/*", "void.json", "evaluators/*.json")
_LEAST_INSTRUCTION = 40
"""Letters of a line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """The private texts of one release's attempts."""

    folder: Path
    """The release's folder in the store."""

    def said(self, file: str) -> Iterator[bytes]:
        """Give every text behind a published file of an attempt: streams, messages, exchanges, what units printed."""
        found = _ATTEMPT.fullmatch(file)
        if found is None:
            return
        attempt = self.folder / found[1] / found[2] / found[3]
        for pattern in _WORDS:
            for path in sorted(attempt.rglob(pattern)):
                yield read_regular(path)
        for path in _recordings(attempt):
            yield from _bodies(path)

    def instructions(self, candidate: str) -> Iterator[str]:
        """Give the lines that a candidate's program told its model at first, before the task."""
        for path in _recordings(self.folder / candidate):
            try:
                recording = read_recording(read_regular(path))
            except BrokenRecordingError:
                continue
            if texts := tuple(_instructions(recording)):
                lines = (line.strip() for text in texts for line in text.splitlines())
                yield from (line for line in lines if len(line) >= _LEAST_INSTRUCTION)
                return


def _bodies(recording: Path) -> Iterator[bytes]:
    """Yield what was asked and given; of a broken recording, what stands before the break."""
    with suppress(BrokenRecordingError):
        yield from (record.body for record in read_records(io.BytesIO(read_regular(recording))))


def _recordings(folder: Path) -> list[Path]:
    return sorted(folder.rglob(f"{EXCHANGES}/*.gz"))


def _instructions(recording: Recording) -> Iterator[str]:
    """Yield what every request says besides the conversation, in each of the three protocols."""
    for exchange in recording.exchanges:
        try:
            asked = json.loads(recording.request(exchange))
        except (ValueError, RecursionError):
            continue
        if isinstance(asked, Mapping):
            for name in ("instructions", "system"):
                yield from _texts(asked.get(name))
            for name in ("messages", "input"):
                yield from _told(asked.get(name))
            yield from _described(asked.get("tools"))


def _told(messages: object) -> Iterator[str]:
    for message in messages if isinstance(messages, list) else ():
        if isinstance(message, Mapping) and message.get("role") in {"system", "developer"}:
            yield from _texts(message.get("content"))


def _described(tools: object) -> Iterator[str]:
    for tool in tools if isinstance(tools, list) else ():
        if isinstance(tool, Mapping):
            inner = tool.get("function")
            yield from _texts((inner if isinstance(inner, Mapping) else tool).get("description"))


def _texts(content: object) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        for part in content:
            if isinstance(part, Mapping):
                yield from _texts(part.get("text"))
