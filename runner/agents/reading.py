"""Reading what an agent printed: JSON lines that may be anything, counted and cut to what documents hold. Pure."""

import json
import re
from collections import Counter
from collections.abc import Iterable
from decimal import Decimal

from runner.documents.telemetry import AgentError, FinishReason, ToolUse

Event = dict[str, object]

FINAL_LIMIT, MESSAGE_LIMIT, NAME_LIMIT, NAMES = 100_000, 4_000, 200, 64
_LARGEST = 2**53
_KINDS = {"provider_failed": "overloaded"}
"""Failure kinds of the ledger that agents are told by another word."""
_CODE = re.compile(r'"code"\s*:\s*"([a-z_]{1,40})"')
_WORD = re.compile(r"\b(auth|quota|unknown_model|provider_failed|network|malformed|refused|context_length|budget): ")
"""Our gateway's word for a failure, in the body of an answer or at the beginning of its message."""


def json_lines(stdout: bytes) -> tuple[list[Event], int]:
    """Give the objects among the lines of a stream, and how many lines were none."""
    events: list[Event] = []
    unreadable = 0
    for line in stdout.splitlines():
        event = None
        if line.lstrip().startswith(b"{"):
            try:
                event = json.loads(line, parse_float=Decimal)
            except (ValueError, RecursionError, ArithmeticError):
                event = None
        if isinstance(event, dict):
            events.append(event)
        elif line.strip():
            unreadable += 1
    return events, unreadable


def member(value: object, *path: str) -> object:
    """Give what stands at a path of members; None where the way is not there."""
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def is_one_of(value: object, words: frozenset[str]) -> bool:
    """Say whether a value is one of some words; it may be anything."""
    return isinstance(value, str) and value in words


def text_of(value: object, limit: int) -> str | None:
    """Give a text as a document can hold it."""
    return value[:limit].encode("utf-8", "replace").decode() if isinstance(value, str) else None


def count_of(value: object) -> int | None:
    """Give a count; None for anything else."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    return value if whole and isinstance(value, int) and 0 <= value <= _LARGEST else None


def status_of(value: object) -> int | None:
    """Give an HTTP status; None for anything else."""
    status = count_of(value)
    return status if status is not None and 100 <= status <= 599 else None  # noqa: PLR2004 - the range of statuses


def sum_of(values: Iterable[object]) -> int | None:
    """Add up the counts among some values; None if there is none."""
    counts = [count for value in values if (count := count_of(value)) is not None]
    return sum(counts) if counts else None


def tool_uses(used: Iterable[tuple[object, bool]]) -> tuple[ToolUse, ...]:
    """Count calls by name, and those that failed; a model may make up any number of names."""
    calls: Counter[str] = Counter()
    errors: Counter[str] = Counter()
    for told, failed in used:
        name = text_of(told, NAME_LIMIT) or "?"
        name = name if name in calls or len(calls) < NAMES else "?"
        calls[name] += 1
        errors[name] += failed
    return tuple(ToolUse(name=name, calls=calls[name], errors=errors[name]) for name in sorted(calls))


def finish_reasons(reasons: Iterable[object]) -> tuple[FinishReason, ...]:
    """Count why answers ended."""
    times = Counter(text_of(reason, NAME_LIMIT) or "unknown" for reason in reasons)
    return tuple(FinishReason(reason=reason, times=count) for reason, count in sorted(times.most_common(NAMES)))


def _told_kind(text: str) -> str | None:
    found = _CODE.search(text) or _WORD.search(text)
    return found[1] if found else None


def agent_error(message: object, *, kind: str | None = None, status: object = None) -> AgentError:
    """Put an agent's last error down; its kind is our gateway's word, where that can be found in it."""
    text = text_of(message, MESSAGE_LIMIT) or ""
    named = kind or _told_kind(text) or "unknown"
    return AgentError(kind=_KINDS.get(named, named)[:NAME_LIMIT], status=status_of(status), message=text)
