"""By what the files of attempts are known again without reading them: inode, size, time of change.

Whoever writes to a file, renames it, or sets its mode, owner or times changes its time of change (ctime), which nobody
can set back short of setting the machine's clock or writing to the disk beneath the file system. Git's index works the
same way.
Folders are known by what is in them. What judges and people add beside a submission changes no row, and is left out.

All of it comes from GNU find, a process a core, since nothing in Python looks at so many files as quickly, and since
whoever waits can do something else meanwhile.
"""

import hashlib
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from runner.schedule import Cell

FIND = "/usr/bin/find"
_ADDED = ("judges", "manual-reviews")
"""Folders beside a submission that are in no row."""
_AT = 3
"""How far below a nomination's folder these stand: attempt, try, and they."""
_NAMED = [word for name in _ADDED for word in ("-o", "-name", name)][1:]
_FILE = "%d %f %i %s %C@\\0"
_FOLDER = "%d %f/\\0"
_SECOND = 10**9


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """One attempt's files, as they are now."""

    sha256: str
    said: bytes = field(repr=False)

    @property
    def newest_ns(self) -> int:
        """Give when any of them was changed last, in nanoseconds since 1970."""
        return max((_changed(record) for record in self.said.split(b"\0")), default=0)


NOTHING = Mark(sha256=hashlib.sha256(b"").hexdigest(), said=b"")
"""Of an attempt that has no files."""


class Marking:
    """Looks at all attempts of a release while its owner does something else."""

    def __init__(self, release: Path, cells: Sequence[Cell], shares: int) -> None:
        """Plan the looking; nothing is begun.

        Args:
            release: the folder of the release's evidence.
            cells: its planned attempts.
            shares: how many processes look.
        """
        self._cells = cells
        pairs = dict.fromkeys((one.candidate, one.nomination) for one in cells)
        there = [(*each, release / each[0] / each[1]) for each in pairs]
        found = [each for each in there if each[2].is_dir()]
        size = max(1, -(-len(found) // max(1, shares)))
        self._shares = [found[at : at + size] for at in range(0, len(found), size)]
        self._running: list[tuple[subprocess.Popen[bytes], IO[bytes]]] = []
        self._open = ExitStack()

    def __enter__(self) -> Self:
        """Begin to look."""
        try:
            for share in self._shares:
                self._running.append(self._begin([place for _, _, place in share]))
        except OSError:
            self._running.clear()  # without find nothing is known again
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End what still looks."""
        for process, _ in self._running:
            process.kill()
            process.wait()
        self._open.close()

    def _begin(self, places: Sequence[Path]) -> tuple[subprocess.Popen[bytes], IO[bytes]]:
        given = self._open.enter_context(tempfile.TemporaryFile())  # noqa: SIM115 - the stack closes it
        told = self._open.enter_context(tempfile.TemporaryFile())  # noqa: SIM115 - the stack closes it
        given.write(b"\0".join(bytes(place) for place in places))
        given.seek(0)
        argv = [FIND, "-files0-from", "-", "-type", "d", "-printf", _FOLDER, "(", *_NAMED, ")", "-prune"]
        argv += ["-o", "!", "-type", "d", "-printf", _FILE]
        process = subprocess.Popen(argv, stdin=given, stdout=told, stderr=subprocess.DEVNULL, env={"LC_ALL": "C"})
        return process, told

    def marks(self) -> tuple[Mark | None, ...]:
        """Give each attempt's mark, in the order of the cells; None where nobody could look."""
        found: dict[tuple[str, str, int], Mark | None] = {}
        unseen: set[tuple[str, str]] = set()
        looked = [*self._running, *[None] * (len(self._shares) - len(self._running))]
        for share, looking in zip(self._shares, looked, strict=True):
            places = [(candidate, nomination) for candidate, nomination, _ in share]
            if looking is None or looking[0].wait() != 0:
                unseen.update(places)  # something went away meanwhile, or could not be looked into: all is read
            else:
                looking[1].seek(0)
                found.update(_marks(looking[1].read(), places))
        return tuple(
            None
            if (each.candidate, each.nomination) in unseen
            else found.get((each.candidate, each.nomination, each.attempt), NOTHING)
            for each in self._cells
        )


def _marks(said: bytes, places: Sequence[tuple[str, str]]) -> Iterator[tuple[tuple[str, str, int], Mark | None]]:
    """Take apart what find said: a folder of a nomination, its attempts, and all below each. Names hold no NUL."""
    folders = (b"\0" + said.removesuffix(b"\0")).split(b"\x000 ")[1:]
    for (candidate, nomination), folder in zip(places, folders, strict=True):
        for attempt in folder.split(b"\x001 ")[1:]:
            name = attempt.partition(b"\0")[0]
            number = name.removeprefix(b"attempt-").removesuffix(b"/")
            if number.isdigit() and name == b"attempt-%d/" % int(number):
                yield (candidate, nomination, int(number)), _mark(attempt)


def _mark(attempt: bytes) -> Mark | None:
    """Give the mark of what find said of an attempt; None where folders were left out that are not those of judges."""
    for name in _ADDED:
        folder = f" {name}/".encode()
        if folder in attempt:
            attempt = (attempt + b"\0").replace(b"\0%d%b\0" % (_AT, folder), b"\0").removesuffix(b"\0")
            if folder in attempt:
                return None
    return Mark(sha256=hashlib.sha256(attempt).hexdigest(), said=attempt)


def _changed(record: bytes) -> int:
    """Give a file's time of change; of a folder, 0."""
    whole, _, part = record.rpartition(b" ")[2].partition(b".")
    return int(whole) * _SECOND + int(part[:9].ljust(9, b"0")) if whole.isdigit() and part.isdigit() else 0
