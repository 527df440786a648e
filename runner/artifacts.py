"""The one place that writes evidence: whole folders, sealed, durable, never replaced; and reads them back."""

import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from runner.canonical import D, canonical, parse, parse_lines, sha256
from runner.disk import DISK, Disk
from runner.documents.seal import SEAL_NAME, Seal, SealedFile, SealKind, Trial
from runner.durable import (
    NAME,
    TEMPORARY,
    hash_regular,
    leftovers,
    make_folders,
    make_private,
    read_regular,
    replace_file,
    settle,
    settle_name,
    unfinished,
    write_file,
)
from runner.errors import SealBrokenError, SealTakenError, UsageError

__all__ = [
    "TEMPORARY",
    "Bond",
    "Files",
    "Flaw",
    "Sealed",
    "canonical",
    "inspect_sealed",
    "keep_folder",
    "leftovers",
    "make_folders",
    "make_private",
    "new_folder",
    "open_sealed",
    "parse",
    "parse_lines",
    "read_sealed",
    "replace_file",
    "seal_folder",
    "sha256",
]

_PATH = re.compile(rf"{NAME.pattern}(/{NAME.pattern})*")
_LONGEST = 200

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
    files: Mapping[str, SealedFile]
    """What the seal lists, by path."""
    held: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    """Files that were kept in memory when they were hashed."""

    def bytes(self, path: str) -> bytes:
        """Give one of its files.

        Raises:
            SealBrokenError: it is not in the seal, or no longer what was sealed.
        """
        if path in self.held:
            return self.held[path]
        listed = self.files.get(path)
        if listed is None:
            raise SealBrokenError(file=str(self.folder / path), found="no such file in the seal", expected="the file")
        data, broken = _read(f"{self.folder}/{path}", listed, keep=True)
        if data is None:
            raise SealBrokenError(file=str(self.folder / path), found=broken or "nothing", expected=_wanted(listed))
        return data

    def holds(self, path: str) -> bool:
        """Whether the seal lists this file."""
        return path in self.files

    def below(self, folder: str) -> "Sealed":
        """Give what lies in one of its folders as if that had been sealed by itself."""
        head = f"{folder}/"
        files = {
            path.removeprefix(head): each.model_copy(update={"path": path.removeprefix(head)})
            for path, each in self.files.items()
            if path.startswith(head)
        }
        return Sealed(
            folder=self.folder / folder,
            seal=self.seal.model_copy(update={"files": tuple(files.values())}),
            digest=self.digest,
            files=files,
            held={path.removeprefix(head): data for path, data in self.held.items() if path.startswith(head)},
        )

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


def seal_folder(parent: Path, name: str, files: Files, bond: Bond, *, disk: Disk = DISK) -> str:
    """Write a sealed folder that is there whole or not at all, and give its digest.

    Raises:
        SealTakenError: the name is taken; what stands there is left as it is.
        StorageError: the disk failed or is full; nothing is visible under the name.
    """
    _check_paths(files)
    with unfinished(parent, name, disk=disk) as temporary:
        listed = tuple(_write(temporary, path, files[path], disk) for path in sorted(files))
        seal = Seal(
            kind=bond.kind,
            trial=bond.trial,
            grading=bond.grading,
            submission_sha256=bond.submission_sha256,
            files=listed,
        )
        data = canonical(seal)
        write_file(temporary, SEAL_NAME, data, disk=disk)
        settle(temporary, writable=False, disk=disk)
    return sha256(data)


def new_folder(parent: Path, name: str, files: Files, *, disk: Disk = DISK) -> None:
    """Write a folder that later gets more folders into it; its files are whole from the start.

    Raises:
        SealTakenError: the name is taken; what stands there is left as it is.
        StorageError: the disk failed or is full; nothing is visible under the name.
    """
    _check_paths(files)
    with unfinished(parent, name, disk=disk) as temporary:
        for path in sorted(files):
            write_file(temporary, path, files[path], disk=disk)
        settle(temporary, writable=True, disk=disk)


def keep_folder(parent: Path, name: str, files: Files, *, disk: Disk = DISK) -> None:
    """Write a folder that is named by what it holds; one that stands there already is made to last.

    Raises:
        StorageError: the disk failed or is full.
    """
    try:
        new_folder(parent, name, files, disk=disk)
    except SealTakenError:
        settle_name(parent / name, disk=disk)


Keep = Callable[[str], bool]
"""Says whether a file, by its path in the folder, stays in memory once it is hashed."""


def _nothing(_path: str) -> bool:
    return False


def read_sealed(folder: Path, keep: Keep = _nothing) -> Sealed:
    """Open a sealed folder; every byte is hashed again.

    Raises:
        SealBrokenError: something is not as it was sealed.
    """
    sealed, flaws = inspect_sealed(folder, keep)
    if flaws or sealed is None:
        first = flaws[0]
        raise SealBrokenError(file=str(first.file), found=first.found, expected=first.expected)
    return sealed


def open_sealed(folder: Path) -> Sealed:
    """Open a sealed folder by its seal alone; each of its files is hashed when it is read.

    Raises:
        SealBrokenError: the seal cannot be read.
    """
    sealed = _by_seal(folder)
    if isinstance(sealed, Flaw):
        raise SealBrokenError(file=str(sealed.file), found=sealed.found, expected=sealed.expected)
    return sealed


def _by_seal(folder: Path) -> Sealed | Flaw:
    place = folder / SEAL_NAME
    try:
        data = read_regular(place)
        seal = parse(Seal, data, str(place))
    except (OSError, UsageError) as error:
        return Flaw(file=place, found=str(error), expected="a readable seal")
    return Sealed(folder=folder, seal=seal, digest=sha256(data), files={each.path: each for each in seal.files})


def inspect_sealed(folder: Path, keep: Keep = _nothing) -> tuple[Sealed | None, tuple[Flaw, ...]]:
    """Open a sealed folder and list everything that is not as it was sealed; each file is read once."""
    sealed = _by_seal(folder)
    if isinstance(sealed, Flaw):
        return None, (sealed,)
    held: dict[str, bytes] = {}
    flaws: list[Flaw] = []
    here = os.fspath(folder)
    for each in sealed.seal.files:
        content, broken = _read(f"{here}/{each.path}", each, keep=keep(each.path))
        if broken is not None:
            flaws.append(Flaw(file=folder / each.path, found=broken, expected=_wanted(each)))
        elif content is not None:
            held[each.path] = content
    known = sealed.files.keys() | {SEAL_NAME}
    flaws += (
        Flaw(file=folder / path, found="a path that was not sealed", expected="nothing here")
        for path in _walk(here, "")
        if path not in known
    )
    return replace(sealed, held=held), tuple(flaws)


def _write(folder: Path, path: str, content: bytes | Path, disk: Disk) -> SealedFile:
    written = write_file(folder, path, content, disk=disk)
    return SealedFile(path=path, sha256=written.sha256, size=written.size)


def _check_paths(files: Files) -> None:
    folded = [path.casefold() for path in files]
    for path in files:
        if not _PATH.fullmatch(path) or len(path) > _LONGEST or folded.count(path.casefold()) > 1:
            raise ValueError(f"evidence cannot be kept under the path {path!r}")
    if SEAL_NAME.casefold() in folded:
        raise ValueError(f"{SEAL_NAME} is written by sealing alone")


def _read(path: str, listed: SealedFile, *, keep: bool) -> tuple[bytes | None, str | None]:
    """Hash a file; give its bytes if they are kept, and what it is if it is not what was sealed."""
    try:
        digest, size, data = hash_regular(path, keep=listed.size if keep else -1)
    except OSError as error:
        return None, error.strerror or str(error)
    if digest != listed.sha256 or size != listed.size:
        return None, f"sha256 {digest}"
    return data, None


def _wanted(listed: SealedFile) -> str:
    return f"sha256 {listed.sha256}"


def _walk(folder: str, within: str) -> Iterator[str]:
    """List every path below that is not a folder with something in it, in order."""
    try:
        with os.scandir(f"{folder}/{within}") as found:
            entries = sorted((each.name, each.is_dir(follow_symlinks=False)) for each in found)
    except OSError:
        return  # what cannot be looked into cannot be read either, which is a flaw already
    if not entries and within:
        yield within
    for name, is_folder in entries:
        path = f"{within}/{name}" if within else name
        if is_folder:
            yield from _walk(folder, path)
        else:
            yield path
