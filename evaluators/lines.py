"""What two texts have in common, line by line, in bounded time whatever the texts are. Pure.

Anchored on lines that stand once on each side (patience), then Myers' greedy search where little is left (An O(ND)
Difference Algorithm, 1986). Where that would take too long, a stretch counts as replaced.
"""

import bisect
import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

CONTEXT = 5
"""Unchanged lines shown around a change."""

_DEEPEST = 8
_MOST_EDITS = 100
_MOST_LINES = 600

Run = tuple[int, int, int]
"""Where equal lines begin on each side, and how many they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hunk:
    """A stretch that differs, with the lines around it: half-open ranges, and the equal runs inside."""

    before: tuple[int, int]
    after: tuple[int, int]
    runs: tuple[Run, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stretch:
    before: tuple[int, int]
    after: tuple[int, int]
    depth: int


def equal_runs(before: Sequence[str], after: Sequence[str]) -> tuple[Run, ...]:
    """List the equal stretches in order; what lies between them differs."""
    found: list[Run] = []
    waiting = [_Stretch(before=(0, len(before)), after=(0, len(after)), depth=0)]
    while waiting:
        stretch = _trimmed(waiting.pop(), before, after, found)
        if stretch is None:
            continue
        anchors = _anchors(stretch, before, after) if stretch.depth < _DEEPEST else []
        if anchors:
            waiting += _between(stretch, anchors)
            found += ((i, j, 1) for i, j in anchors)
        elif _is_small(stretch):
            found += _greedy(stretch, before, after)
    return tuple(_merged(found))


def hunks(before: Sequence[str], after: Sequence[str]) -> tuple[Hunk, ...]:
    """Group what differs into stretches with `CONTEXT` lines around each."""
    runs = equal_runs(before, after)
    gaps = list(_gaps(runs, len(before), len(after)))
    groups: list[list[_Stretch]] = []
    for gap in gaps:
        if groups and gap.before[0] - groups[-1][-1].before[1] <= 2 * CONTEXT:
            groups[-1].append(gap)
        else:
            groups.append([gap])
    return tuple(_hunk(group, len(before)) for group in groups)


def _hunk(group: list[_Stretch], length: int) -> Hunk:
    first, last = group[0], group[-1]
    lead = min(CONTEXT, first.before[0], first.after[0])
    tail = min(CONTEXT, length - last.before[1])
    runs: list[Run] = [(first.before[0] - lead, first.after[0] - lead, lead)]
    for one, other in itertools.pairwise(group):
        runs.append((one.before[1], one.after[1], other.before[0] - one.before[1]))
    runs.append((last.before[1], last.after[1], tail))
    return Hunk(
        before=(first.before[0] - lead, last.before[1] + tail),
        after=(first.after[0] - lead, last.after[1] + tail),
        runs=tuple(run for run in runs if run[2]),
    )


def _gaps(runs: Iterable[Run], before: int, after: int) -> Iterator[_Stretch]:
    i = j = 0
    for at, to, count in (*runs, (before, after, 0)):
        if at > i or to > j:
            yield _Stretch(before=(i, at), after=(j, to), depth=0)
        i, j = at + count, to + count


def _trimmed(stretch: _Stretch, before: Sequence[str], after: Sequence[str], found: list[Run]) -> _Stretch | None:
    """Take equal lines off both ends; None where nothing is left to compare."""
    (i, m), (j, n) = stretch.before, stretch.after
    start = i
    while i < m and j < n and before[i] == after[j]:
        i, j = i + 1, j + 1
    if i > start:
        found.append((start, j - (i - start), i - start))
    end = m
    while i < m and j < n and before[m - 1] == after[n - 1]:
        m, n = m - 1, n - 1
    if m < end:
        found.append((m, n, end - m))
    return None if i == m or j == n else _Stretch(before=(i, m), after=(j, n), depth=stretch.depth)


def _anchors(stretch: _Stretch, before: Sequence[str], after: Sequence[str]) -> list[tuple[int, int]]:
    """Give lines that stand once on each side, as many as keep their order."""
    here, there = _single(before, stretch.before), _single(after, stretch.after)
    pairs = [(i, there[line]) for line, i in here.items() if line in there]
    return _rising(pairs)


def _single(lines: Sequence[str], place: tuple[int, int]) -> dict[str, int]:
    seen: dict[str, int] = {}
    twice: set[str] = set()
    for index in range(*place):
        line = lines[index]
        if line in seen:
            twice.add(line)
        seen[line] = index
    return {line: index for line, index in seen.items() if line not in twice}


def _rising(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Give the longest part of the pairs, sorted by their first, whose second rises too."""
    ends: list[int] = []
    at: list[int] = []
    back: list[int] = []
    for index, (_, second) in enumerate(pairs):
        place = bisect.bisect_left(ends, second)
        back.append(at[place - 1] if place else -1)
        ends[place : place + 1] = [second]
        at[place : place + 1] = [index]
    found: list[tuple[int, int]] = []
    index = at[-1] if at else -1
    while index >= 0:
        found.append(pairs[index])
        index = back[index]
    return found[::-1]


def _between(stretch: _Stretch, anchors: list[tuple[int, int]]) -> Iterator[_Stretch]:
    i, j = stretch.before[0], stretch.after[0]
    for at, to in (*anchors, (stretch.before[1], stretch.after[1])):
        if at > i and to > j:
            yield _Stretch(before=(i, at), after=(j, to), depth=stretch.depth + 1)
        i, j = at + 1, to + 1


def _is_small(stretch: _Stretch) -> bool:
    return stretch.before[1] - stretch.before[0] + stretch.after[1] - stretch.after[0] <= _MOST_LINES


def _greedy(stretch: _Stretch, before: Sequence[str], after: Sequence[str]) -> list[Run]:
    """Search the shortest edit; no run where it is longer than `_MOST_EDITS`."""
    a, b = before[slice(*stretch.before)], after[slice(*stretch.after)]
    reached = {1: _Reach(x=0, runs=None)}
    for edits in range(min(_MOST_EDITS, len(a) + len(b)) + 1):
        for diagonal in range(-edits, edits + 1, 2):
            came = _step(reached, diagonal, edits)
            x = came.x
            while x < len(a) and x - diagonal < len(b) and a[x] == b[x - diagonal]:
                x += 1
            run = (stretch.before[0] + came.x, stretch.after[0] + came.x - diagonal, x - came.x)
            reached[diagonal] = _Reach(x=x, runs=(came.runs, run) if x > came.x else came.runs)
            if x >= len(a) and x - diagonal >= len(b):
                return list(_unwound(reached[diagonal].runs))
    return []


_Chain = tuple["_Chain | None", Run]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reach:
    """How far one comes on a diagonal, and by which equal runs."""

    x: int
    runs: _Chain | None


def _step(reached: dict[int, _Reach], diagonal: int, edits: int) -> _Reach:
    """Take a line of `after` in, or a line of `before` away: whichever leads further."""
    left, right = reached.get(diagonal - 1), reached.get(diagonal + 1)
    if left is None or (right is not None and diagonal != edits and (diagonal == -edits or left.x < right.x)):
        return right or _Reach(x=0, runs=None)
    return _Reach(x=left.x + 1, runs=left.runs)


def _unwound(chain: _Chain | None) -> Iterator[Run]:
    while chain is not None:
        chain, run = chain
        yield run


def _merged(found: list[Run]) -> Iterator[Run]:
    whole: Run | None = None
    for run in sorted(found):
        if whole is not None and (whole[0] + whole[2], whole[1] + whole[2]) == run[:2]:
            whole = (whole[0], whole[1], whole[2] + run[2])
            continue
        if whole is not None:
            yield whole
        whole = run
    if whole is not None:
        yield whole
