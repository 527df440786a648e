"""The tools that look at and change files below one folder."""

import os
import re
import signal
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from types import FrameType
from typing import NoReturn

from .text import shorten

LISTED, MATCHES, MATCH_CHARS = 400, 200, 300
SEARCH_BYTES = 2 << 20
READ_BYTES = 64 << 20
WRITE_BYTES = 16 << 20
SNIFFED = 8192


class ToolError(Exception):
    """A reply to the model that says what was wrong with its call."""


@dataclass(frozen=True)
class Files:
    """File tools of one workspace. Every path is checked after all links in it were followed."""

    root: Path
    limit: int
    """Characters of one reply."""
    search_s: float

    def list_dir(self, path: str = ".") -> str:
        """List one folder."""
        folder = self._place(path)
        if not folder.is_dir():
            raise ToolError(f"{path} is not a folder")
        names = sorted(self._label(entry) for entry in os.scandir(folder))
        more = [f"[... {len(names) - LISTED} more entries ...]"] if len(names) > LISTED else []
        return "\n".join([*names[:LISTED], *more]) or "(empty)"

    @staticmethod
    def _label(entry: "os.DirEntry[str]") -> str:
        if entry.is_symlink():
            return f"{entry.name} -> {Path(entry.path).readlink()}"
        return entry.name + "/" * entry.is_dir(follow_symlinks=False)

    def read_file(self, path: str, first_line: int = 1, last_line: int | None = None) -> str:
        """Give a file's text, or some lines of it."""
        data = self._read(path)
        if b"\0" in data[:SNIFFED]:
            return f"{path} is a binary file of {len(data)} bytes; it cannot be shown"
        lines = data.decode("utf-8", "replace").splitlines(keepends=True)
        last = len(lines) if last_line is None else min(last_line, len(lines))
        if first_line < 1 or (last_line is not None and last_line < first_line):
            raise ToolError(f"first_line {first_line} and last_line {last_line} are no range; lines count from 1")
        if first_line > max(1, len(lines)):
            raise ToolError(f"{path} has {len(lines)} lines; there is no line {first_line}")
        text = "".join(lines[first_line - 1 : last])
        head = f"[{path}: lines {first_line}-{last} of {len(lines)}]"
        return f"{head}\n{shorten(text, self.limit)}"

    def search(self, pattern: str, path: str = ".", glob: str = "*") -> str:
        """Find lines that match a regular expression."""
        start = self._place(path)
        try:
            wanted = re.compile(pattern)
        except (re.error, RecursionError, OverflowError) as error:
            raise ToolError(f"the pattern is not a regular expression: {error}") from error
        found: list[str] = []
        with _Alarm(self.search_s):
            for line in self._matches(wanted, start, glob):
                found.append(line)
                if len(found) == MATCHES:
                    found.append(f"[... stopped after {MATCHES} matches ...]")
                    break
        return shorten("\n".join(found), self.limit) or "no match"

    def _matches(self, wanted: "re.Pattern[str]", start: Path, glob: str) -> Iterator[str]:
        for file in self._files(start):
            name = str(file.relative_to(os.path.realpath(self.root)))
            if not (fnmatch(file.name, glob) or fnmatch(name, glob)):
                continue
            data = self._searchable(file)
            for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
                if wanted.search(line):
                    yield f"{name}:{number}: {line[:MATCH_CHARS]}"

    @staticmethod
    def _searchable(file: Path) -> bytes:
        """Give a file's bytes; none of a file that is large, binary or closed to us."""
        try:
            data = file.read_bytes() if file.stat().st_size <= SEARCH_BYTES else b""
        except OSError:
            return b""
        return b"" if b"\0" in data[:SNIFFED] else data

    @staticmethod
    def _files(start: Path) -> Iterator[Path]:
        if start.is_file():
            yield start
        for folder, folders, names in os.walk(start):
            folders[:] = sorted(name for name in folders if name != ".git")
            for name in sorted(names):
                file = Path(folder, name)
                if not file.is_symlink() and file.is_file():
                    yield file

    def write_file(self, path: str, content: str) -> str:
        """Write a whole file."""
        place, data = self._place(path), content.encode("utf-8", "surrogatepass")
        if len(data) > WRITE_BYTES:
            raise ToolError(f"the content has {len(data)} bytes; at most {WRITE_BYTES} can be written")
        self._must_not_be_odd(place, path)
        was = place.exists()
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
        return f"{'replaced' if was else 'wrote'} {path}: {len(data)} bytes"

    def edit(self, path: str, old: str, new: str, count: int = 1) -> str:
        """Replace an exact text that stands in a file as often as was said."""
        if not old or count < 1:
            raise ToolError("old must not be empty and count must be at least 1")
        data, before = self._read(path), old.encode("utf-8", "surrogatepass")
        found = data.count(before)
        if found != count:
            hint = "" if found else "; read the file and copy the text exactly, spaces and line ends included"
            raise ToolError(f"old stands {found} times in {path}, not {count}; nothing was changed{hint}")
        self._place(path).write_bytes(data.replace(before, new.encode("utf-8", "surrogatepass")))
        return f"edited {path}: {count} replaced"

    def _read(self, path: str) -> bytes:
        place = self._place(path)
        if not place.exists():
            raise ToolError(f"there is no {path}")
        self._must_not_be_odd(place, path)
        if place.stat().st_size > READ_BYTES:
            raise ToolError(f"{path} has {place.stat().st_size} bytes; that is too large to read")
        return place.read_bytes()

    @staticmethod
    def _must_not_be_odd(place: Path, path: str) -> None:
        # A named pipe would block for ever.
        if place.exists() and not stat.S_ISREG(place.stat().st_mode):
            raise ToolError(f"{path} is {'a folder' if place.is_dir() else 'not a plain file'}")

    def _place(self, path: str) -> Path:
        root = os.path.realpath(self.root)
        place = os.path.realpath(os.path.join(root, path))  # noqa: PTH118 - realpath follows what pathlib would drop
        if place != root and not place.startswith(root + os.sep):
            raise ToolError(f"{path} lies outside the workspace")
        return Path(place)


class _Alarm:
    """Ends what takes too long; the regular expression engine looks for signals while it matches."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def __enter__(self) -> None:
        signal.signal(signal.SIGALRM, self._ring)
        signal.setitimer(signal.ITIMER_REAL, self._seconds)

    def __exit__(self, *raised: object) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)

    def _ring(self, _number: int, _frame: FrameType | None) -> NoReturn:
        raise ToolError(f"the search took more than {self._seconds:g} s; ask for less")
