"""Bugs planted in a fixture, as a private file of its nomination says: exact replacements, and the diff under review.

The file is `{"changes": [{"file", "find", "replace"}, ...], "review_diff": path or null}`. Paths are those of the
source, below its root. A text that is not there exactly once is refused, loudly: the source has drifted.
"""

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Annotated

from pydantic import Field

from runner.documents.model import Shape
from runner.errors import FixtureError
from runner.fields import RelativePath
from runner.members import Member
from runner.parsing import parse_json, validate

Text = Annotated[str, Field(max_length=100_000)]


class Replacement(Shape):
    """One place that is written otherwise."""

    file: RelativePath
    find: Annotated[Text, Field(min_length=1)]
    """Must stand in the file exactly once, after the changes before it."""
    replace: Text


class Seed(Shape):
    """All that is planted."""

    changes: Annotated[tuple[Replacement, ...], Field(min_length=1, max_length=1000)]
    """Applied in order."""
    review_diff: RelativePath | None = None
    """Where the whole change is laid as a unified diff, for a reviewer to read; null: nowhere."""


def parse_seed(data: bytes, file: str) -> Seed:
    """Read a seed.

    Raises:
        DocumentError, DocumentErrors: it is none.
    """
    return validate(Seed, parse_json(data, file), file)


def plant(members: tuple[Member, ...], seed: Seed, file: str) -> tuple[Member, ...]:
    """Give the members with the seed in them, and the diff that shows it where one is wanted.

    Raises:
        FixtureError: a text does not stand where it must, exactly once; or the diff's place is taken.
    """
    before = {member.path: member for member in members}
    after = dict(before)
    for number, change in enumerate(seed.changes):
        path = change.file.encode()
        after[path] = _changed(after.get(path), change, f"changes[{number}]", file)
    if seed.review_diff is not None:
        path = seed.review_diff.encode()
        if any(_overlap(path, each) for each in after):
            raise _refused(file, "review_diff", f"{seed.review_diff}, which the fixture has", "a free path")
        after[path] = Member(path=path, data=b"".join(_diff(before, after)))
    return tuple(after.values())


def _overlap(one: bytes, other: bytes) -> bool:
    """Whether both cannot be files: they are the same path, or one lies beneath the other."""
    return one == other or one.startswith(other + b"/") or other.startswith(one + b"/")


def _changed(member: Member | None, change: Replacement, field: str, file: str) -> Member:
    if member is None or member.target is not None:
        raise _refused(file, f"{field}.file", f"{change.file}, which is no file of the fixture", "one that is")
    find = change.find.encode()
    times = member.data.count(find)
    if times != 1:
        raise _refused(file, f"{field}.find", f"the text {times} times in {change.file}", "exactly once")
    return replace(member, data=member.data.replace(find, change.replace.encode()))


def _diff(before: Mapping[bytes, Member], after: Mapping[bytes, Member]) -> Iterator[bytes]:
    for path in sorted(after):
        yield from shown_difference(path, before[path].data, after[path].data)


def shown_difference(path: bytes, old: bytes | None, new: bytes) -> Iterator[bytes]:
    """Give the lines of a unified diff of one file, which without old bytes is new; none where nothing differs."""
    if old != new:
        name = path.decode("utf-8", "replace")
        begins = "/dev/null" if old is None else f"a/{name}"
        lines = difflib.unified_diff(_lines(old or b""), _lines(new), begins, f"b/{name}")
        yield from (_ended(line).encode("utf-8", "surrogateescape") for line in lines)


def _lines(data: bytes) -> list[str]:
    return data.decode("utf-8", "surrogateescape").splitlines(keepends=True)


def _ended(line: str) -> str:
    return line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def _refused(file: str, field: str, found: str, expected: str) -> FixtureError:
    return FixtureError(file=file, field=field, found=found, expected=expected, mend="mend the seed, or its source")
