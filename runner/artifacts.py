"""The one place that writes evidence: whole folders, sealed, durable, never replaced; and reads them back."""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from runner.canonical import D, canonical, parse, parse_lines, sha256
from runner.disk import DISK, Disk
from runner.documents.seal import SEAL_NAME, Seal, SealedFile, SealKind, Trial
from runner.durable import (
    NAME,
    TEMPORARY,
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

    def bytes(self, path: str) -> bytes:
        """Give one of its files.

        Raises:
            SealBrokenError: it is not in the seal, or no longer what was sealed.
        """
        listed = next((each for each in self.seal.files if each.path == path), None)
        if listed is None:
            raise SealBrokenError(file=str(self.folder / path), found="no such file in the seal", expected="the file")
        return _content(self.folder, listed)

    def holds(self, path: str) -> bool:
        """Whether the seal lists this file."""
        return any(each.path == path for each in self.seal.files)

    def below(self, folder: str) -> "Sealed":
        """Give what lies in one of its folders as if that had been sealed by itself."""
        head = f"{folder}/"
        files = tuple(
            each.model_copy(update={"path": each.path.removeprefix(head)})
            for each in self.seal.files
            if each.path.startswith(head)
        )
        return replace(self, folder=self.folder / folder, seal=self.seal.model_copy(update={"files": files}))

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
        data = read_regular(place)
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


def _content(folder: Path, listed: SealedFile) -> bytes:
    path = folder / listed.path
    expected = f"sha256 {listed.sha256}"
    try:
        data = read_regular(path)
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
