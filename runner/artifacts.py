"""The one place that writes evidence: whole folders, sealed, durable, never replaced; and reads them back."""

import ctypes
import errno
import hashlib
import os
import re
import shutil
import stat
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from runner.canonical import D, canonical, parse, parse_lines, sha256
from runner.documents.seal import SEAL_NAME, Seal, SealedFile, SealKind, Trial
from runner.errors import SealBrokenError, SealTakenError, StorageError, UsageError

__all__ = [
    "Bond",
    "Files",
    "Flaw",
    "Sealed",
    "canonical",
    "inspect_sealed",
    "leftovers",
    "make_folders",
    "new_folder",
    "parse",
    "parse_lines",
    "read_sealed",
    "seal_folder",
    "sha256",
]

TEMPORARY = ".tmp-"
"""How the name of every unfinished folder begins; `leftovers` lists them."""

_CHUNK = 1 << 20
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_PATH = re.compile(rf"{_NAME.pattern}(/{_NAME.pattern})*")
_LONGEST = 200
_RENAME_NOREPLACE = 1
_AT_FDCWD = -100

Files = Mapping[str, bytes | Path]
"""Relative path -> its bytes, or the runner's own file that holds them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bond:
    """What a sealed folder belongs to."""

    kind: SealKind
    trial: Trial
    grading: str | None = None
    submission_sha256: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sealed:
    """A sealed folder whose bytes were all hashed again."""

    folder: Path
    seal: Seal
    digest: str

    def bytes(self, path: str) -> bytes:
        """Give one of its files.

        Raises:
            SealBrokenError: it is not in the seal, or no longer what was sealed.
        """
        listed = next((each for each in self.seal.files if each.path == path), None)
        if listed is None:
            raise SealBrokenError(
                file=str(self.folder / path), found="no such file in the seal", expected="the file"
            )
        return _content(self.folder, listed)

    def holds(self, path: str) -> bool:
        """Whether the seal lists this file."""
        return any(each.path == path for each in self.seal.files)

    def document(self, model: type[D], path: str) -> D:
        """Give one of its files as a document."""
        return parse(model, self.bytes(path), str(self.folder / path))

    def documents(self, model: type[D], path: str) -> tuple[D, ...]:
        """Give one of its files with one document a line."""
        return parse_lines(model, self.bytes(path), str(self.folder / path))


@dataclass(frozen=True, slots=True, kw_only=True)
class Flaw:
    """One thing about a sealed folder that is not as it was sealed."""

    file: Path
    found: str
    expected: str


def seal_folder(parent: Path, name: str, files: Files, bond: Bond) -> str:
    """Write a sealed folder that is there whole or not at all, and give its digest.

    Raises:
        SealTakenError: the name is taken; what stands there is left as it is.
        StorageError: the disk failed or is full; nothing is visible under the name.
    """
    _check_paths(files)
    with _unfinished(parent, name) as temporary:
        listed = tuple(_write(temporary, path, files[path]) for path in sorted(files))
        seal = Seal(
            kind=bond.kind,
            trial=bond.trial,
            grading=bond.grading,
            submission_sha256=bond.submission_sha256,
            files=listed,
        )
        data = canonical(seal)
        _write(temporary, SEAL_NAME, data)
        _settle(temporary, writable=False)
    return sha256(data)


def new_folder(parent: Path, name: str, files: Files) -> None:
    """Write a folder that later gets more folders into it; its files are whole from the start."""
    _check_paths(files)
    with _unfinished(parent, name) as temporary:
        for path in sorted(files):
            _write(temporary, path, files[path])
        _settle(temporary, writable=True)


def read_sealed(folder: Path) -> Sealed:
    """Open a sealed folder; every byte is hashed again.

    Raises:
        SealBrokenError: something is not as it was sealed.
    """
    sealed, flaws = inspect_sealed(folder)
    if flaws or sealed is None:
        first = flaws[0]
        raise SealBrokenError(file=str(first.file), found=first.found, expected=first.expected)
    return sealed


def inspect_sealed(folder: Path) -> tuple[Sealed | None, tuple[Flaw, ...]]:
    """Open a sealed folder and list everything that is not as it was sealed."""
    place = folder / SEAL_NAME
    try:
        data = _read(place)
        seal = parse(Seal, data, str(place))
    except (OSError, UsageError) as error:
        return None, (Flaw(file=place, found=str(error), expected="a readable seal"),)
    flaws = [flaw for each in seal.files if (flaw := _compare(folder, each)) is not None]
    known = {each.path for each in seal.files} | {SEAL_NAME}
    flaws += [
        Flaw(file=folder / path, found="a path that was not sealed", expected="nothing here")
        for path in _walk(folder)
        if path not in known
    ]
    return Sealed(folder=folder, seal=seal, digest=sha256(data)), tuple(flaws)


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


def _check_paths(files: Files) -> None:
    folded = [path.casefold() for path in files]
    for path in files:
        if not _PATH.fullmatch(path) or len(path) > _LONGEST or folded.count(path.casefold()) > 1:
            raise ValueError(f"evidence cannot be kept under the path {path!r}")
    if SEAL_NAME.casefold() in folded:
        raise ValueError(f"{SEAL_NAME} is written by sealing alone")


@contextmanager
def _unfinished(parent: Path, name: str) -> Iterator[Path]:
    """Give a fresh folder beside the final one; move it there at the end, or leave no trace of it."""
    if not _NAME.fullmatch(name):
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


def _write(root: Path, path: str, content: bytes | Path) -> SealedFile:
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
    return SealedFile(path=path, sha256=digest.hexdigest(), size=size)


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


def _read(path: Path) -> bytes:
    return b"".join(_chunks(path))


def _settle(folder: Path, *, writable: bool) -> None:
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


def _content(folder: Path, listed: SealedFile) -> bytes:
    path = folder / listed.path
    expected = f"sha256 {listed.sha256}"
    try:
        data = _read(path)
    except OSError as error:
        found = error.strerror or str(error)
        raise SealBrokenError(file=str(path), found=found, expected=expected) from error
    if sha256(data) != listed.sha256 or len(data) != listed.size:
        raise SealBrokenError(file=str(path), found=f"sha256 {sha256(data)}", expected=expected)
    return data


def _compare(folder: Path, listed: SealedFile) -> Flaw | None:
    try:
        _content(folder, listed)
    except SealBrokenError as broken:
        return Flaw(file=Path(broken.file), found=broken.found, expected=broken.expected)
    return None


def _walk(folder: Path) -> Iterator[str]:
    """List every path below that is not a folder with something in it."""
    for place, folders, names in os.walk(folder):
        here = Path(place)
        links = [name for name in folders if (here / name).is_symlink()]
        if not folders and not names and here != folder:
            yield str(here.relative_to(folder))
        for name in (*names, *links):
            yield str((here / name).relative_to(folder))
