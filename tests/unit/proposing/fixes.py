"""Fixes as they are read from history, written down."""

from collections.abc import Mapping
from pathlib import Path

from runner.documents.snapshot import Snapshot
from runner.history.snapshot import Snapped
from runner.members import Member
from runner.proposing.change import sort_change
from runner.proposing.fix import Asked, Fix

PARENT, NAME = "a" * 40, "b" * 40


def asked(**fields: object) -> Asked:
    known: dict[str, object] = {"id": "fixed", "repository": Path("/srv/theirs"), "commit": NAME}
    return Asked(**(known | fields))  # type: ignore[arg-type]


def fix(
    before: Mapping[str, str],
    after: Mapping[str, str],
    raw: Mapping[str, bytes] | None = None,
    *,
    message: str = "",
    snapshot: Snapshot | None = None,
) -> Fix:
    """Give a fix; `raw` are files of it that are no text."""
    later = {path: text.encode() for path, text in after.items()} | dict(raw or {})
    touched = {path for path, data in later.items() if before.get(path, "").encode() != data or path not in before}
    return Fix(
        commit=NAME,
        message=message,
        snapshot=snapshot or Snapshot(commit=PARENT),
        before=Snapped(
            members=tuple(Member(path=path.encode(), data=text.encode()) for path, text in sorted(before.items()))
        ),
        after={path: Member(path=path.encode(), data=data) for path, data in later.items()},
        sorted=sort_change(touched),
    )
