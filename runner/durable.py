"""Writing that is there whole or not at all: temporary folders, fsync, and renames that never replace."""

import ctypes
import errno
import hashlib
import os
import re
import shutil
import stat
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from runner.errors import SealTakenError, StorageError

TEMPORARY = ".tmp-"
"""How the name of everything unfinished begins; `leftovers` lists it."""

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
"""A name that every tool reads alike."""

_CHUNK = 1 << 20
_RENAME_NOREPLACE = 1
_AT_FDCWD = -100


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What was written into a file."""

    sha256: str
    size: int


def leftovers(parent: Path) -> tuple[Path, ...]:
    """List what a killed runner left unfinished directly below a folder."""
    return tuple(sorted(parent.glob(f"{TEMPORARY}*"))) if parent.is_dir() else ()


def make_folders(path: Path) -> None:
    """Make a folder and its parents, durably."""
    if path.is_dir():
        return
    make_folders(path.parent)
    with _storage(path):
        path.mkdir(exist_ok=True)
        _sync(path.parent)


def make_private(path: Path) -> None:
    """Make a folder that its owner alone can look into, durably; one that is there stays as its owner made it."""
    if path.is_dir():
        return
    make_folders(path.parent)
    with _storage(path):
        path.mkdir(mode=0o700, exist_ok=True)
        _sync(path.parent)


@contextmanager
def unfinished(parent: Path, name: str) -> Iterator[Path]:
    """Give a fresh folder beside the final one; move it there at the end, or leave no trace of it."""
    if not NAME.fullmatch(name):
        raise ValueError(f"evidence cannot be kept under the name {name!r}")
    make_folders(parent)
    final = parent / name
    temporary = parent / f"{TEMPORARY}{name}-{uuid.uuid4().hex[:12]}"
    try:
        with _storage(final):
            temporary.mkdir(mode=0o755)
            yield temporary
            rename_new(temporary, final)
            _sync(parent)
    finally:
        _discard(temporary)


@contextmanager
def _storage(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in {errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR} and os.path.lexists(path):
            raise SealTakenError(file=str(path)) from error
        raise StorageError(file=str(path), found=error.strerror or str(error)) from error


def replace_file(path: Path, data: bytes) -> None:
    """Put a derived file in its place, whole; an older one is replaced. Evidence is never written like this.

    Raises:
        StorageError: the disk failed or is full; the older file stands then.
    """
    make_folders(path.parent)
    temporary = path.with_name(f"{TEMPORARY}{path.name}-{uuid.uuid4().hex[:12]}")
    try:
        with _storage(path):
            write_file(path.parent, temporary.name, data)
            temporary.chmod(0o644)
            temporary.rename(path)
            _sync(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


def write_file(root: Path, path: str, content: bytes | Path) -> Written:
    """Write one new file, durable and read-only, and tell what was written."""
    target = root / path
    if not target.parent.is_dir():
        target.parent.mkdir(parents=True)
    digest, size = hashlib.sha256(), 0
    out = os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC, 0o444)
    try:
        for chunk in _chunks(content):
            digest.update(chunk)
            size += len(chunk)
            _write_all(out, chunk)
        os.fchmod(out, 0o444)
        os.fsync(out)
    finally:
        os.close(out)
    return Written(sha256=digest.hexdigest(), size=size)


def append_file(path: Path, data: bytes) -> None:
    """Add to a file that grows, for good before this returns.

    Raises:
        StorageError: the disk failed or is full; part of the data may be there.
    """
    with _storage(path):
        out = os.open(path, os.O_CREAT | os.O_APPEND | os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
        try:
            _write_all(out, data)
            os.fsync(out)
        finally:
            os.close(out)


def settle_file(path: Path) -> None:
    """Make durable what somebody else has written into a file, before this returns.

    Raises:
        StorageError: the disk failed.
    """
    with _storage(path), _opened(path) as file:
        os.fsync(file)


def _write_all(out: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(out, rest) :]


def _chunks(content: bytes | Path) -> Iterator[bytes]:
    if isinstance(content, bytes):
        yield content
        return
    with _opened(content) as source:
        while chunk := os.read(source, _CHUNK):
            yield chunk


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    """Open a regular file and nothing else: no link is followed, no pipe is waited for."""
    source = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(source).st_mode):
            raise OSError(errno.EINVAL, "not a regular file", str(path))
        yield source
    finally:
        os.close(source)


def read_regular(path: Path) -> bytes:
    """Read a regular file, and nothing else."""
    return b"".join(_chunks(path))


def settle(folder: Path, *, writable: bool) -> None:
    """Make every folder durable from the bottom up; sealed ones also lose their write bits."""
    for place, _, _ in os.walk(folder, topdown=False):
        if not writable:
            Path(place).chmod(0o555)
        _sync(Path(place))


def _sync(folder: Path) -> None:
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def _discard(temporary: Path) -> None:
    if not os.path.lexists(temporary):
        return
    for place, _, _ in os.walk(temporary):
        Path(place).chmod(0o755)
    shutil.rmtree(temporary, ignore_errors=True)


def rename_new(source: Path, target: Path) -> None:
    """Move a folder to a name that must be free."""
    libc = ctypes.CDLL(None, use_errno=True)
    old, new = os.fsencode(source), os.fsencode(target)
    if libc.renameat2(_AT_FDCWD, old, _AT_FDCWD, new, _RENAME_NOREPLACE) == 0:
        return
    code = ctypes.get_errno()
    if code not in {errno.EINVAL, errno.ENOSYS}:
        raise OSError(code, os.strerror(code), str(target))
    rename_plain(source, target)


def rename_plain(source: Path, target: Path) -> None:
    """Move a folder where the file system knows no exclusive rename.

    Between the look and the move nothing can be lost: a folder only ever replaces an empty one, and a sealed
    folder is never empty.
    """
    if os.path.lexists(target):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target))
    source.rename(target)
