"""Lines for a terminal, some of them a candidate's: nothing of theirs steers it or passes for ours. Pure.

Every line is neutralised here, in one place, when it is written: control, escape, bidirectional and invisible
characters stand escaped (`⟦U+202E⟧`). What others wrote has a bar before each of its lines,
also where a long one is folded.
"""

import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from itertools import zip_longest

from runner.judging.letters import shown

BAR = "  | "
"""Before each line that somebody else wrote."""

GAP = "  "
"""Between two columns."""

NARROW = 100
"""On a terminal of fewer columns nothing stands beside each other."""


class Tone(StrEnum):
    """What a line is, for colours."""

    PLAIN = "plain"
    HEADING = "heading"
    GOOD = "good"
    BAD = "bad"
    FAINT = "faint"
    ADDED = "added"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line, not neutralised yet; `quoted` if somebody else wrote it."""

    text: str
    tone: Tone = Tone.PLAIN
    quoted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Lines beside others; on a narrow terminal and off one, before them."""

    left: tuple[Line, ...]
    right: tuple[Line, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A line as a terminal may have it: spans of text, each with its tone."""

    spans: tuple[tuple[str, Tone], ...]

    @property
    def text(self) -> str:
        """Give it without tones."""
        return "".join(text for text, _ in self.spans).rstrip()


def plain(text: str, tone: Tone = Tone.PLAIN) -> Line:
    """Give a line of ours."""
    return Line(text=text, tone=tone)


def heading(text: str) -> tuple[Line, Line]:
    """Give a heading and what parts it from what stood before."""
    return Line(text=""), Line(text=text, tone=Tone.HEADING)


def quoted(text: str, most: int | None, tone: Tone = Tone.PLAIN) -> Iterator[Line]:
    """Give a text of somebody else's, at most so many lines of it."""
    lines = text.removesuffix("\n").split("\n")
    kept = lines if most is None or len(lines) <= most + 1 else lines[:most]
    for line in kept:
        yield Line(text=line, tone=tone, quoted=True)
    if len(kept) < len(lines):
        yield Line(text=f"  ({len(lines) - len(kept)} more lines; --full shows them)", tone=Tone.FAINT)


def written(lines: Iterable[Line | Pair], width: int | None) -> Iterator[Written]:
    """Write lines for a terminal of some width; None: for a file or a pipe, where nothing is folded."""
    for line in lines:
        if isinstance(line, Pair):
            yield from _columns(line, width)
        else:
            yield from (Written(spans=((text, line.tone),)) for text in _folded(line, width))


def _columns(pair: Pair, width: int | None) -> Iterator[Written]:
    """Fold lines into two columns, where there is room for two."""
    if width is None or width < NARROW:
        yield from written((*pair.left, *pair.right), width)
        return
    each = (width - len(GAP)) // 2
    left, right = (
        [(text, line.tone) for line in side for text in _folded(line, each)] for side in (pair.left, pair.right)
    )
    nothing = ("", Tone.PLAIN)
    for first, second in zip_longest(left, right, fillvalue=nothing):
        padding = " " * (each - cells(first[0])) + GAP
        yield Written(spans=(first, (padding, Tone.PLAIN), second))


def _folded(line: Line, width: int | None) -> Iterator[str]:
    """Neutralise a line and fold it; each part of what somebody else wrote has its bar."""
    ahead = BAR if line.quoted else ""
    text, _ = shown(line.text.expandtabs(8))
    if width is None:
        yield f"{ahead}{text}".rstrip()
        return
    room = max(8, width - len(ahead))
    rest, follows = text, ahead
    while True:
        part = _fitting(rest, room)
        yield f"{follows}{part}".rstrip()
        rest = rest[len(part) :]
        if not rest:
            return
        follows = ahead or "    "
        room = max(8, width - len(follows))


def _fitting(text: str, room: int) -> str:
    """Give as much of a text as fits; at least one character."""
    if text.isascii():
        return text[:room]
    taken = 0
    for at, letter in enumerate(text):
        taken += _cells_of(letter)
        if taken > room and at:
            return text[:at]
    return text


def cells(text: str) -> int:
    """Say how many cells of a terminal a text takes."""
    return len(text) if text.isascii() else sum(map(_cells_of, text))


@lru_cache(maxsize=4096)
def _cells_of(letter: str) -> int:
    if unicodedata.combining(letter):
        return 0
    return 2 if unicodedata.east_asian_width(letter) in {"W", "F"} else 1
