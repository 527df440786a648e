"""Many fixed texts looked for at once, at the speed of the interpreter's own sets. Pure.

A text of at least 15 bytes holds a whole block of 8 bytes of whatever stands around it, wherever it begins. So the
haystack is taken as a row of such blocks, and those that no wanted text holds are passed over by one set operation.
Texts of 7 to 14 bytes are looked for in the same way by blocks of 4. No library of ours has Aho-Corasick.
"""

import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")

SHORTEST = 7
"""Bytes; what is shorter cannot be looked for here."""

_LONG, _SHORT = 8, 4
"""Bytes of a block."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit(Generic[T]):
    """A wanted text, and where it begins."""

    start: int
    needle: bytes
    means: T


class Needles(Generic[T]):
    """Wanted texts and what each means."""

    def __init__(self, wanted: Mapping[bytes, T]) -> None:
        """Take texts of at least `SHORTEST` bytes.

        Raises:
            ValueError: one is shorter.
        """
        if any(len(needle) < SHORTEST for needle in wanted):
            raise ValueError(f"a text of less than {SHORTEST} bytes cannot be looked for by blocks")
        self._wanted = dict(wanted)
        self._long = _blocks((each for each in wanted if len(each) >= 2 * _LONG - 1), _LONG)
        self._short = _blocks((each for each in wanted if len(each) < 2 * _LONG - 1), _SHORT)

    def __bool__(self) -> bool:
        return bool(self._wanted)

    def find(self, data: bytes) -> Iterator[Hit[T]]:
        """Yield every place of every wanted text in order, overlapping ones too."""
        seen: set[tuple[int, bytes]] = set()
        if self._long:
            row = memoryview(data)[: len(data) // _LONG * _LONG].cast("Q")
            seen.update(self._around(data, self._long, self._long.keys() & row, _LONG))
        if self._short:
            row = memoryview(data)[: len(data) // _SHORT * _SHORT].cast("I")
            seen.update(self._around(data, self._short, self._short.keys() & row, _SHORT))
        for start, needle in sorted(seen):
            yield Hit(start=start, needle=needle, means=self._wanted[needle])

    def _around(self, data: bytes, blocks: "_Blocks", found: set[int], width: int) -> Iterator[tuple[int, bytes]]:
        """Yield whole texts around the blocks that were found."""
        for block in found:
            for place in _places(data, block.to_bytes(width, sys.byteorder)):
                for needle, offset in blocks[block]:
                    start = place - offset
                    if start >= 0 and data.startswith(needle, start):
                        yield start, needle


_Blocks = dict[int, list[tuple[bytes, int]]]
"""A block as a number -> the wanted texts that hold it, and where."""


def _places(data: bytes, block: bytes) -> Iterator[int]:
    """Yield where a block stands in the row of blocks."""
    place = data.find(block)
    while place >= 0:
        if place % len(block) == 0:
            yield place
        place = data.find(block, place + 1)


def _blocks(wanted: Iterable[bytes], width: int) -> _Blocks:
    """Give one block of each text for every way in which it can lie; the most varied, for that is the rarest."""
    found: _Blocks = {}
    for needle in wanted:
        for first in range(width):
            offsets = range(first, len(needle) - width + 1, width)
            best = max(offsets, key=lambda at: len(set(needle[at : at + width])))
            block = int.from_bytes(needle[best : best + width], sys.byteorder)
            found.setdefault(block, []).append((needle, best))
    return found
