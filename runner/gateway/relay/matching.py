"""Which request is which in another run of the same agent: what varies from run to run is left out. Pure.

Found by running OpenCode 1.18.33, Codex 0.171.0 and Claude Code 2.1.332 twice each on the same task.
"""

import hashlib
import json
import re
from collections.abc import Mapping

from .rules import BRACES
from .terms import Json

MEMBERS: Mapping[str, str] = {
    "client_metadata": "Codex: ids of its installation, session and turn",
    "metadata": "Claude Code: ids of its device and session",
    "prompt_cache_key": "Codex: the id of its session",
    "safety_identifier": "of whoever asks",
    "user": "of whoever asks",
}
"""Members of a body that say who asks and not what."""

ITEMS = "input"
"""The list whose items Codex gives ids of their own."""

_MONTH = "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*"
TEXTS: Mapping[str, re.Pattern[str]] = {
    "uuid": re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"),
    "chunk": re.compile(r"\bChunk ID: [0-9a-f]{6}\b"),  # Codex, above what a command printed
    "date": re.compile(rf"\b20\d\d-[01]\d-[0-3]\d\b|\b{_MONTH} [ 0-3]?\d\b(?:,? 20\d\d\b)?"),
    "weekday": re.compile(r"\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)(?:day|sday|nesday|rsday|urday)?\b"),
    "clock": re.compile(r"\b[0-2]\d:[0-5]\d(?::[0-5]\d(?:[.,]\d+)?)?\b(?: [A-Z]{3,4} 20\d\d\b)?"),
    "duration": re.compile(r"\b\d+(?:\.\d+)? ?(?:ms|s|secs?|seconds)\b"),
    "account": re.compile(r"\bu?19\d{8}\b"),  # each unit has one of its own
}
"""What in a text is another one in each run, by name; what programs print of their time is among it."""


def key_of(operation: str, method: str, target: str, body: bytes) -> str:
    """Give what a request is found by: protocol, model and normalised body (the model is in the body)."""
    told = json.dumps([operation, method, target]).encode()
    return hashlib.sha256(told + b"\n" + normalised(body)).hexdigest()


def normalised(body: bytes) -> bytes:
    """Give a body without what varies; one that is no JSON object as it is."""
    read = readable(body)
    try:
        return body if read is None else json.dumps(without_varying(read), sort_keys=True).encode()
    except RecursionError:
        return body


def readable(body: bytes) -> Json | None:
    """Read a body; None where it is no JSON object, or takes more memory than one should."""
    if body.count(b"{") + body.count(b"[") > BRACES:
        return None
    try:
        read = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return read if isinstance(read, dict) else None


def without_varying(body: Json) -> Json:
    """Leave out, or replace by its name, what varies from run to run."""
    kept = {name: value for name, value in body.items() if name not in MEMBERS}
    items = kept.get(ITEMS)
    if isinstance(items, list):
        kept[ITEMS] = [_without_id(item) for item in items]
    return {name: _steady(value) for name, value in kept.items()}


def _without_id(item: object) -> object:
    return {name: value for name, value in item.items() if name != "id"} if isinstance(item, dict) else item


def _steady(value: object) -> object:
    if isinstance(value, str):
        return _steady_text(value)
    if isinstance(value, list):
        return [_steady(item) for item in value]
    return {name: _steady(item) for name, item in value.items()} if isinstance(value, dict) else value


def _steady_text(text: str) -> str:
    for name, pattern in TEXTS.items():
        text = pattern.sub(f"<{name}>", text)
    return text
