"""A nomination's folder: all its files by path and digest. Links, special files and odd names are refused."""

import hashlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from runner.errors import DocumentError
from runner.fields import is_plain_path
from runner.parsing import file_name, open_file, read_file
from sandbox.spec import MIB

CACHES = frozenset({"__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis"})
"""What tools leave behind; never part of a nomination."""

_CHUNK = MIB


@dataclass(frozen=True, slots=True, kw_only=True)
class Caps:
    """How much a nomination's folder may hold."""

    files: int = 200_000
    file_bytes: int = 64 * MIB
    total_bytes: int = 1024 * MIB


_CAPS = Caps()


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredFile:
    """One file: where it stands below the folder, where that is on this host, and what it holds."""

    path: str
    place: Path
    sha256: str
    size: int
    executable: bool

    def read(self) -> bytes:
        """Give its bytes, which must still be those that were hashed.

        Raises:
            DocumentError: it changed.
        """
        data = read_file(self.place, self.size)
        if hashlib.sha256(data).hexdigest() != self.sha256:
            raise _refused(self.place, "other bytes than a moment ago", "a file that nobody writes to", "try again")
        return data


def hash_file(relative: str, place: Path, caps: Caps = _CAPS) -> StoredFile:
    """Read one file's facts.

    Raises:
        DocumentError: it is no regular file, cannot be read, or is too big.
    """
    digest = hashlib.sha256()
    size = 0
    with open_file(place) as (stream, facts):
        while size <= caps.file_bytes and (chunk := stream.read(_CHUNK)):
            digest.update(chunk)
            size += len(chunk)
    if size > caps.file_bytes:
        most = f"at most {caps.file_bytes} bytes"
        raise _refused(place, f"more than {caps.file_bytes} bytes", most, "shorten it")
    executable = bool(facts.st_mode & stat.S_IXUSR)
    return StoredFile(path=relative, place=place, sha256=digest.hexdigest(), size=size, executable=executable)


def list_files(folder: Path, prefix: str = "", caps: Caps = _CAPS) -> tuple[StoredFile, ...]:
    """Hash every file below a folder, sorted by path; `prefix` is put before their paths.

    Raises:
        DocumentError: it is no folder, holds what is no plain file or folder, or too much.
    """
    files: list[StoredFile] = []
    total = 0
    for relative, place in _walk(folder, prefix):
        stored = hash_file(relative, place, caps)
        files.append(stored)
        total += stored.size
        if len(files) > caps.files or total > caps.total_bytes:
            most = f"at most {caps.files} files and {caps.total_bytes} bytes"
            raise _refused(folder, "more than a nomination may hold", most, "remove what the task does not need")
    return tuple(sorted(files, key=lambda file: file.path))


def _walk(folder: Path, prefix: str) -> Iterator[tuple[str, Path]]:
    pending = [(prefix, folder)]
    while pending:
        relative, place = pending.pop()
        for child in _children(place):
            path = f"{relative}/{child.name}" if relative else child.name
            if child.is_dir(follow_symlinks=False):
                if child.name not in CACHES:
                    pending.append((path, Path(child.path)))
                continue
            if not is_plain_path(path):
                raise _refused(place, f"the name {child.name!a}", "printable names, not too long", "rename it")
            if not child.is_file(follow_symlinks=False):
                kind = "a symbolic link" if child.is_symlink() else "a special file"
                raise _refused(Path(child.path), kind, "files and folders alone", "put a plain file in its place")
            yield path, Path(child.path)


def _children(place: Path) -> list[os.DirEntry[str]]:
    if place.is_symlink():
        raise _refused(place, "a symbolic link", "a folder", "put the folder itself in its place")
    try:
        with os.scandir(place) as found:
            return list(found)
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or "an impossible path"
        raise _refused(place, reason.lower(), "a readable folder", "make it, or mend its name") from error


def _refused(place: Path, found: str, expected: str, mend: str) -> DocumentError:
    return DocumentError(file=file_name(place), field="", found=found, expected=expected, mend=mend)
