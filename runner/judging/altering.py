"""Changes made of a change, for hidden controls: padded, spoken to the judge, doing nothing, cut short. Pure.

Comments are added at the end of a file, where they can never fall into a string: the program stays the same.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from evaluators.lines import equal_runs
from runner.judging.changes import FileChange
from runner.judging.languages import Language, language_of, line_comment

_CODE = frozenset({Language.PYTHON, Language.SLASHES, Language.HASH, Language.DASHES})

Gap = tuple[int, int, int, int]
"""Old lines from, to; new lines from, to."""


def with_comments(changes: Sequence[FileChange], lines: Sequence[str]) -> tuple[FileChange, ...] | None:
    """Add comments at the end of the first changed file that can have some; None where none can."""
    for at, change in enumerate(changes):
        altered = _commented(change, lines)
        if altered is not None:
            return (*changes[:at], altered, *changes[at + 1 :])
    return None


def null(changes: Sequence[FileChange], comment: str) -> tuple[FileChange, ...]:
    """Give a change that does nothing: a comment in a file that stood there before, or none at all."""
    for change in changes if comment else ():
        idle = _commented(replace(change, after=change.before), [comment])
        if idle is not None:
            return (idle,)
    return ()


def truncated(changes: Sequence[FileChange]) -> tuple[FileChange, ...]:
    """Give the first half of a change, by lines in the order of paths; where it ends, it ends in the middle."""
    ordered = sorted(changes, key=lambda change: change.path)
    left = sum(_weight(change) for change in ordered) // 2
    kept: list[FileChange] = []
    for change in ordered:
        weight = _weight(change)
        if weight > left:
            kept += _beginning(change, left)
            break
        kept.append(change)
        left -= weight
    return tuple(kept)


def _commented(change: FileChange, lines: Sequence[str]) -> FileChange | None:
    language = language_of(change.path.decode("utf-8", "surrogateescape"))
    if change.after is None or change.after.link or b"\0" in change.after.data or language not in _CODE:
        return None
    comments = [line_comment(language, line) or "" for line in lines]
    data = change.after.data
    end = b"" if data.endswith(b"\n") or not data else b"\n"
    return replace(change, after=replace(change.after, data=data + end + "\n".join([*comments, ""]).encode()))


def _weight(change: FileChange) -> int:
    sides = _texts(change)
    return 1 if sides is None else sum(m - i + n - j for i, m, j, n in _gaps(*sides))


def _beginning(change: FileChange, left: int) -> tuple[FileChange, ...]:
    """Keep so many lines of what a change does to a file, and at most half of the stretch that they end in."""
    sides = _texts(change)
    if sides is None:
        return ()
    before, after = sides
    made: list[bytes] = []
    done = 0
    for i, m, j, n in _gaps(before, after):
        made += before[done:i]
        done = m
        if m - i + n - j > left:
            made += after[j : j + min(left, (n - j) // 2)]
            break
        made += after[j:n]
        left -= m - i + n - j
    data = b"".join((*made, *before[done:]))
    if change.after is None:
        return ()
    short = replace(change, after=replace(change.after, data=data))
    same = change.before is not None and change.before.data == data
    return () if same or (change.before is None and not data) else (short,)


def _texts(change: FileChange) -> tuple[list[bytes], list[bytes]] | None:
    """Give both sides in lines with their ends; None where one is no text, or gone."""
    sides = (change.before, change.after)
    if change.after is None or any(side is not None and (side.link or b"\0" in side.data) for side in sides):
        return None
    before, after = (b"" if side is None else side.data for side in sides)
    return before.splitlines(keepends=True), after.splitlines(keepends=True)


def _gaps(before: Sequence[bytes], after: Sequence[bytes]) -> Iterator[Gap]:
    old = [line.decode("latin-1") for line in before]
    new = [line.decode("latin-1") for line in after]
    i = j = 0
    for at, to, count in (*equal_runs(old, new), (len(old), len(new), 0)):
        if at > i or to > j:
            yield i, at, j, to
        i, j = at + count, to + count
