"""What a change makes of each file, from the two trees: content against content, never the text of a diff. Pure.

A line that begins with `--` or `++` is a line like others here; in a diff it looks like a file's head.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from evaluators.lines import equal_runs
from evaluators.model import Submission
from sandbox.tree import Entry, Kind

CODE = (b".py", b".pyi", b".js", b".mjs", b".cjs", b".jsx", b".ts", b".tsx", b".go")
"""How files of code end."""

PYTHON = (b".py", b".pyi")

_TEST_NAME = re.compile(rb"test_.*\.pyi?|.*_test\.(py|go)|.*\.(test|spec)\.[cm]?[jt]sx?")
_TEST_FOLDERS = frozenset({b"tests", b"test", b"__tests__"})


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """One path that differs; None stands where there is no plain file."""

    path: bytes
    before: bytes | None
    after: bytes | None

    @property
    def is_text(self) -> bool:
        """Whether both sides are text, so that lines can be counted."""
        return b"\0" not in (self.before or b"") and b"\0" not in (self.after or b"")

    @property
    def is_code(self) -> bool:
        """Whether it is a file of code that can be read by lines."""
        return self.path.endswith(CODE) and self.is_text

    @property
    def is_python(self) -> bool:
        """Whether it is Python."""
        return self.path.endswith(PYTHON) and self.is_text

    @property
    def is_test(self) -> bool:
        """Whether it is a file of tests."""
        return is_test(self.path)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lines:
    """Lines that only one side has, by their numbers from 1."""

    added: tuple[tuple[int, str], ...]
    removed: tuple[tuple[int, str], ...]


def is_test(path: bytes) -> bool:
    """Whether a path is that of tests in one of the known languages, by its name or its folder."""
    *folders, name = path.split(b"/")
    return bool(_TEST_NAME.fullmatch(name)) or (name.endswith(CODE) and not _TEST_FOLDERS.isdisjoint(folders))


def file_changes(
    entries: Iterable[Entry], blobs: Callable[[str], bytes], before: Callable[[bytes], bytes | None]
) -> tuple[FileChange, ...]:
    """Give what a change makes of each path, in order; `before` gives the base's plain file at a path."""
    found = (
        FileChange(
            path=entry.path,
            before=before(entry.path),
            after=None if entry.sha256 is None else blobs(entry.sha256),
        )
        for entry in sorted(entries, key=lambda entry: entry.path)
        if entry.kind is not Kind.FOLDER
    )
    return tuple(found)


def changes_of(submission: Submission) -> tuple[FileChange, ...]:
    """Give what a submission makes of each path."""
    known = {entry.path: entry.sha256 for entry in submission.below.entries if entry.sha256 is not None}
    below = submission.below.blobs
    return file_changes(
        submission.change.entries,
        submission.change.blobs,
        lambda path: below(known[path]) if path in known else None,
    )


def lines_of(content: bytes | None) -> tuple[str, ...]:
    """Part a file into lines; bytes that are no UTF-8 stay apart from each other."""
    if not content:
        return ()
    lines = content.decode("utf-8", "surrogateescape").split("\n")
    return tuple(lines if lines[-1] else lines[:-1])


def changed_lines(change: FileChange) -> Lines:
    """Give the lines of a text that only one side has."""
    before, after = lines_of(change.before), lines_of(change.after)
    runs = equal_runs(before, after)
    kept_before = frozenset(_covered((at, count) for at, _, count in runs))
    kept_after = frozenset(_covered((at, count) for _, at, count in runs))
    return Lines(
        added=tuple((number, line) for number, line in enumerate(after, 1) if number - 1 not in kept_after),
        removed=tuple((number, line) for number, line in enumerate(before, 1) if number - 1 not in kept_before),
    )


def _covered(runs: Iterable[tuple[int, int]]) -> Iterator[int]:
    for at, count in runs:
        yield from range(at, at + count)


def size_of(changes: Iterable[FileChange]) -> tuple[int, int]:
    """Count the lines that a change adds and removes, over its texts."""
    found = [changed_lines(each) for each in changes if each.is_text]
    return sum(len(each.added) for each in found), sum(len(each.removed) for each in found)
