"""What the reference system derives from what: outcomes, allowed paths, sums and means. Pure."""

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any, TypeGuard

from runner.reference_system.documents import Number, Run, Times

OUTCOMES = ("missing_artifacts", "unavailable", "agent_failure", "forbidden_changes", "tests_failed", "completed")
"""The first of them that a candidate's nominations have is the candidate's."""
UNJUDGED = frozenset({"unavailable", "agent_failure", "forbidden_changes"})
"""Outcomes whose submissions no judge is asked about."""

_HEADER_END = (b"@@ ", b"GIT binary patch", b"Binary files ")
_NAMES = (b"--- a/", b"+++ b/", b'--- "a/', b'+++ "b/', b"rename from ", b"rename to ", b"copy from ", b"copy to ")
_ESCAPE = re.compile(rb"\\([0-7]{3}|.)")
_ESCAPED = {b"a": b"\a", b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v"}


def outcome_of(run: Run, forbidden: Sequence[str]) -> str:
    """Give the outcome that a run's facts have: the first that holds, in their order."""
    if run.agent is None:
        return "unavailable"
    if run.agent.failed:
        return "agent_failure"
    if forbidden:
        return "forbidden_changes"
    return "tests_failed" if run.tests is None or run.tests.failed else "completed"


def combined(outcomes: Iterable[str]) -> str:
    """Give a candidate's outcome over its nominations."""
    found = set(outcomes)
    return next((each for each in OUTCOMES if each in found), "missing_artifacts")


def forbidden_of(changed: Iterable[str], allowed: Iterable[str]) -> list[str]:
    """List the changed paths that are neither an allowed one nor below it."""
    entries = [each.rstrip("/") for each in allowed]
    return [path for path in changed if not any(path == each or path.startswith(f"{each}/") for each in entries)]


def elapsed_ms(times: Times) -> int | None:
    """Give the milliseconds between two times; None where one is missing, or none."""
    if times.started_at is None or times.completed_at is None:
        return None
    try:
        began, ended = (datetime.fromisoformat(each) for each in (times.started_at, times.completed_at))
        return round((ended - began) / timedelta(milliseconds=1))
    except (ValueError, TypeError):
        return None


def total(parts: Iterable[Number | None]) -> Number | None:
    """Add up; null where a part is unknown, as for nothing at all when there is none."""
    known = list(parts)
    found = [each for each in known if each is not None]
    return sum(found) if len(found) == len(known) else None


def known_total(parts: Iterable[Number | None]) -> Number | None:
    """Add up what is known; null where nothing is."""
    found = [each for each in parts if each is not None]
    return sum(found) if found else None


def mean(parts: Sequence[Number]) -> float | None:
    """Give the mean; null of nothing."""
    return sum(parts) / len(parts) if parts else None


def valid_scores(scores: dict[str, Any] | None, criteria: Iterable[str]) -> bool:
    """Whether a judge's scores count: every criterion has a number from 1 to 10."""
    wanted = list(criteria)
    return bool(wanted) and all(_is_score((scores or {}).get(each)) for each in wanted)


def is_number(value: object) -> TypeGuard[Number]:
    """Whether it is a number, which true and false are not."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_score(value: object) -> bool:
    return is_number(value) and 1 <= value <= 10  # noqa: PLR2004 - its scale


def paths_of_diff(diff: bytes) -> Iterator[str]:
    """List the paths that the headers of a git diff name; those of empty and of binary files may be missing."""
    in_header = False
    for line in diff.split(b"\n"):
        if line.startswith(b"diff --git "):
            in_header = True
        elif line.startswith(_HEADER_END):
            in_header = False
        elif in_header and line.startswith(_NAMES):
            yield _path_of(line)


def _path_of(line: bytes) -> str:
    name = next(line.removeprefix(each) for each in _NAMES if line.startswith(each))
    is_quoted = line.startswith((b'--- "', b'+++ "')) or name.startswith(b'"')
    plain = _ESCAPE.sub(_unescaped, name.strip(b'"')) if is_quoted else name.removesuffix(b"\t")
    return plain.decode(errors="replace")


def _unescaped(found: re.Match[bytes]) -> bytes:
    said = found[1]
    return bytes([int(said, 8) & 0xFF]) if len(said) == 3 else _ESCAPED.get(said, said)  # noqa: PLR2004 - octal
