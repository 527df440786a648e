"""Writing that is there whole or not at all: temporary folders, fsync, and renames that never replace.

Each function takes the `Disk` whose calls it makes. After a failed fsync nothing is believed: what was written is
withdrawn, and a retry writes it anew.
"""

import errno
import fcntl
import hashlib
import os
import re
import stat
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from runner.disk import DISK, Disk
from runner.errors import SealTakenError, StorageError

TEMPORARY = ".tmp-"
"""How the name of everything unfinished begins; `leftovers` lists it."""

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
"""A name that every tool reads alike."""

_CHUNK = 1 << 20
_FOLDER = os.O_RDONLY | os.O_DIRECTORY
_NEW_FILE = os.O_CREAT | os.O_EXCL | os.O_WRONLY


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What was written into a file."""

    sha256: str
    size: int


def leftovers(parent: Path) -> tuple[Path, ...]:
    """List what a killed runner left unfinished directly below a folder."""
    return tuple(sorted(parent.glob(f"{TEMPORARY}*"))) if parent.is_dir() else ()


def make_folders(path: Path, *, disk: Disk = DISK) -> None:
    """Make a folder and its parents, durably.

    Raises:
        StorageError: the disk failed or is full.
    """
    _make(path, 0o777, disk)


def make_private(path: Path, *, disk: Disk = DISK) -> None:
    """Make a folder that its owner alone can look into, durably; one that is there stays as its owner made it.

    Raises:
        StorageError: the disk failed or is full.
    """
    _make(path, 0o700, disk)


def _make(path: Path, mode: int, disk: Disk) -> None:
    if path.is_dir():
        # Whoever made it may have been killed before its name was durable. It is so before anything comes into it,
        # so that no more than the last name of a path is ever in doubt.
        with _storage(path), suppress(PermissionError):
            _sync(path.parent, disk)
        return
    _make(path.parent, 0o777, disk)
    with _storage(path):
        try:
            disk.make_folder(path, mode)
        except FileExistsError:
            if not path.is_dir():
                raise
        _sync(path.parent, disk)


@contextmanager
def unfinished(parent: Path, name: str, *, disk: Disk = DISK) -> Iterator[Path]:
    """Give a fresh folder beside the final one; move it there at the end, or leave no trace of it.

    Raises:
        SealTakenError: the name is taken; what stands there is left as it is.
        StorageError: the disk failed or is full; nothing is visible under the name.
    """
    if not NAME.fullmatch(name):
        raise ValueError(f"evidence cannot be kept under the name {name!r}")
    make_folders(parent, disk=disk)
    final = parent / name
    temporary = parent / f"{TEMPORARY}{name}-{uuid.uuid4().hex[:12]}"
    try:
        with _storage(final):
            disk.make_folder(temporary, 0o755)
            yield temporary
            _show(temporary, final, disk)
    finally:
        _discard(temporary, disk)


def _show(temporary: Path, final: Path, disk: Disk) -> None:
    """Give what is whole its name for good; without knowing that it lasts, it does not keep it."""
    known = temporary.stat().st_ino
    try:
        disk.rename_new(temporary, final)
        _sync(final.parent, disk)
    except OSError:
        with suppress(OSError):
            if final.lstat().st_ino == known:
                disk.rename_new(final, temporary)
        raise


@contextmanager
def _storage(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in {errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR} and os.path.lexists(path):
            raise SealTakenError(file=str(path)) from error
        raise StorageError(file=str(path), found=error.strerror or str(error)) from error


def replace_file(path: Path, data: bytes, *, disk: Disk = DISK) -> None:
    """Put a derived file in its place, whole; an older one is replaced. Evidence is never written like this.

    Raises:
        StorageError: the disk failed or is full; the older file stands then, or the new one, and nothing between.
    """
    make_folders(path.parent, disk=disk)
    temporary = path.with_name(f"{TEMPORARY}{path.name}-{uuid.uuid4().hex[:12]}")
    try:
        with _storage(path):
            _write_new(temporary, data, 0o644, disk)
            disk.rename(temporary, path)
            _sync(path.parent, disk)
    finally:
        with suppress(OSError):
            disk.remove(temporary)


def new_file(path: Path, data: bytes, *, disk: Disk = DISK) -> None:
    """Write one new read-only file under a name that must be free: whole or not at all, for good before this returns.

    Raises:
        SealTakenError: the name is taken; what stands there is left as it is.
        StorageError: the disk failed or is full; nothing is visible under the name.
    """
    make_folders(path.parent, disk=disk)
    temporary = path.with_name(f"{TEMPORARY}{path.name}-{uuid.uuid4().hex[:12]}")
    try:
        with _storage(path):
            _write_new(temporary, data, 0o444, disk)
            _show(temporary, path, disk)
    finally:
        with suppress(OSError):
            disk.remove(temporary)


def write_file(root: Path, path: str, content: bytes | Path, *, disk: Disk = DISK) -> Written:
    """Write one new file, durable and read-only, and tell what was written.

    Its name, and that of a folder made for it, lasts only after `settle`.

    Raises:
        OSError: the disk failed or is full; `unfinished` makes a StorageError of it, and discards the file.
    """
    target = root / path
    _make_above(target, disk)
    return _write_new(target, content, 0o444, disk)


def write_private(path: Path, data: bytes, *, disk: Disk = DISK) -> None:
    """Write one new file that its owner alone can read, for good before this returns.

    Raises:
        StorageError: the disk failed or is full.
    """
    with _storage(path):
        _write_new(path, data, 0o600, disk)
        _sync(path.parent, disk)


def _make_above(target: Path, disk: Disk) -> None:
    if not target.parent.is_dir():
        _make_above(target.parent, disk)
        disk.make_folder(target.parent, 0o777)


def _write_new(target: Path, content: bytes | Path, mode: int, disk: Disk) -> Written:
    digest, size = hashlib.sha256(), 0
    with _opened(target, _NEW_FILE, disk) as out:
        for chunk in _chunks(content):
            digest.update(chunk)
            size += len(chunk)
            _write_all(out, chunk, disk)
        disk.chmod(out, mode)
        disk.sync(out)
    return Written(sha256=digest.hexdigest(), size=size)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep other runners from changing what lies in a folder, which must be there; one after another."""
    with _opened(folder, _FOLDER, DISK) as opened:
        fcntl.flock(opened, fcntl.LOCK_EX)
        yield


def append_file(path: Path, data: bytes, *, disk: Disk = DISK) -> None:
    """Add to a file that grows, for good before this returns.

    A runner that is killed, or a machine that fails, may leave a part of the data at the file's end, or as many
    other bytes; what a call before has added stays.

    Raises:
        StorageError: the disk failed or is full; the file ends as it did, where the disk lets it be cut.
    """
    with _storage(path), _opened(path, os.O_CREAT | os.O_APPEND | os.O_WRONLY, disk, 0o644) as out:
        before = os.fstat(out).st_size
        if before:
            # A runner that was killed may have left its last bytes unsynced: never are those of two calls in doubt.
            disk.sync(out)
        else:
            # First the name, then the bytes: whoever finds a byte in it need not ask whether its name lasts.
            _sync(path.parent, disk)
        whole = False
        try:
            _write_all(out, data, disk)
            disk.sync(out)
            whole = True
        finally:
            if not whole:
                with suppress(OSError):
                    disk.truncate(out, before)


def cut_file(path: Path, size: int, *, disk: Disk = DISK) -> None:
    """Cut a growing file to its first bytes, for good: what a call that never returned has left goes.

    Raises:
        StorageError: the disk failed.
    """
    with _storage(path), _opened(path, os.O_WRONLY, disk) as out:
        disk.truncate(out, size)
        disk.sync(out)


def settle_file(path: Path, *, disk: Disk = DISK) -> None:
    """Make durable what somebody else has written into a file, before this returns.

    Raises:
        StorageError: the disk failed.
    """
    with _storage(path), open_regular(path) as file:
        disk.sync(file)


def settle_name(path: Path, *, disk: Disk = DISK) -> None:
    """Make durable that something stands under its name.

    Whoever finds a folder that `unfinished` made, and tells others of it, calls this first: the runner that made it
    may have been killed in between.

    Raises:
        StorageError: the disk failed.
    """
    with _storage(path):
        _sync(path.parent, disk)


def _write_all(out: int, data: bytes, disk: Disk) -> None:
    rest = memoryview(data)
    while rest:
        taken = disk.write(out, rest)
        if not taken:
            raise OSError(errno.EIO, "nothing more was taken")
        rest = rest[taken:]


def _chunks(content: bytes | Path) -> Iterator[bytes]:
    if isinstance(content, bytes):
        yield content
        return
    with open_regular(content) as source:
        while chunk := os.read(source, _CHUNK):
            yield chunk


@contextmanager
def open_regular(path: Path) -> Iterator[int]:
    """Open a regular file and nothing else for reading: no link is followed, no pipe is waited for."""
    source, _ = _open_regular(path)
    try:
        yield source
    finally:
        os.close(source)


def _open_regular(path: Path | str) -> tuple[int, int]:
    """Open a regular file, and give its size as well."""
    source = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    facts = os.fstat(source)
    if not stat.S_ISREG(facts.st_mode):
        os.close(source)
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    return source, facts.st_size


@contextmanager
def _opened(path: Path, flags: int, disk: Disk, mode: int = 0) -> Iterator[int]:
    opened = disk.open(path, flags, mode)
    try:
        yield opened
    finally:
        # Whatever this says, the descriptor is gone, and what must last was synced before.
        with suppress(OSError):
            disk.close(opened)


def read_regular(path: Path | str) -> bytes:
    """Read a regular file, and nothing else."""
    source, size = _open_regular(path)
    try:
        return _read_all(source, size)
    finally:
        os.close(source)


def hash_regular(path: Path | str, *, keep: int = -1) -> tuple[str, int, bytes | None]:
    """Hash a regular file, and nothing else: its SHA-256, its size, and its bytes if it has just `keep` of them.

    A big file that is not kept is never in memory as a whole.
    """
    source, size = _open_regular(path)
    try:
        if size <= _CHUNK or size == keep:
            data = _read_all(source, size)
            return hashlib.sha256(data).hexdigest(), len(data), data if len(data) == keep else None
        with os.fdopen(source, "rb", buffering=0, closefd=False) as stream:
            digest = hashlib.file_digest(stream, "sha256")
            return digest.hexdigest(), stream.tell(), None
    finally:
        os.close(source)


def _read_all(source: int, size: int) -> bytes:
    """Read to the end, which one call comes to where a file keeps its size."""
    first = os.read(source, size + 1)
    if len(first) == size:
        return first
    chunks = [first]
    while chunk := os.read(source, _CHUNK):
        chunks.append(chunk)
    return b"".join(chunks)


def settle(folder: Path, *, writable: bool, disk: Disk = DISK) -> None:
    """Make every folder durable from the bottom up; sealed ones also lose their write bits."""
    for place, _, _ in os.walk(folder, topdown=False):
        with _opened(Path(place), _FOLDER, disk) as opened:
            if not writable:
                disk.chmod(opened, 0o555)
            disk.sync(opened)


def _sync(folder: Path, disk: Disk) -> None:
    with _opened(folder, _FOLDER, disk) as opened:
        disk.sync(opened)


def _discard(temporary: Path, disk: Disk) -> None:
    """Remove what was not finished; what the disk does not let go stays, under a name that tells what it is."""
    for place, _, _ in os.walk(temporary):
        with suppress(OSError), _opened(Path(place), _FOLDER, disk) as opened:
            disk.chmod(opened, 0o755)
    for place, _, names in os.walk(temporary, topdown=False):
        for name in names:
            with suppress(OSError):
                disk.remove(Path(place, name))
        with suppress(OSError):
            disk.remove_folder(Path(place))
