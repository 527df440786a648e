"""A package's file, pinned by digest: obtained once, then read in memory. Nothing of it ever runs."""

import gzip
import hashlib
import io
import re
import tarfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from runner.durable import replace_file
from runner.errors import FixtureError, SupplyError
from runner.folder import Caps
from runner.members import Member, checked_members, checked_path, named, too_much
from runner.parsing import read_file
from sandbox.spec import MIB

CAPS = Caps(files=20_000, file_bytes=64 * MIB, total_bytes=256 * MIB)
"""How much a source distribution may unpack to."""

ARCHIVE_BYTES = 64 * MIB
"""The largest source distribution."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pin:
    """One file of one release of a package."""

    name: str
    version: str
    sha256: str
    kind: Literal["sdist", "npm"] = "sdist"

    @property
    def origin(self) -> str:
        """What errors call it."""
        return f"{self.kind} {self}"

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


def normal_name(name: str) -> str:
    """Give a distribution's name in the one spelling that all its spellings share."""
    return re.sub(r"[-_.]+", "-", name).lower()


class PackageIndex(Protocol):
    """Where source distributions come from."""

    def download(self, pin: Pin) -> bytes:
        """Fetch the source distribution's bytes; whether they are the pinned ones is not its business."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Downloads:
    """The folder of files fetched before, each named by its digest, and where new ones come from."""

    folder: Path
    index: PackageIndex | None
    """None where nothing may be fetched."""

    def obtain(self, pin: Pin) -> bytes:
        """Give the pinned bytes, from the folder if it has them. They are hashed either way.

        Raises:
            FixtureError: what is served is not what is pinned.
            StorageError: it cannot be kept.
            SupplyError: nothing can be fetched.
        """
        kept = self.folder / pin.sha256
        if kept.is_file():
            data = read_file(kept, ARCHIVE_BYTES)
            if hashlib.sha256(data).hexdigest() == pin.sha256:
                return data
        if self.index is None:
            raise SupplyError(
                file=pin.origin,
                field="sha256",
                found=f"no file {kept}",
                expected="the source distribution fetched before",
                mend="run this command once where the package index can be reached",
            )
        data = self.index.download(pin)
        check_digest(data, pin)
        replace_file(kept, data)
        return data


def check_digest(data: bytes, pin: Pin) -> None:
    """Say nothing if `data` is what the pin names.

    Raises:
        FixtureError: it is not; both digests are named.
    """
    found = hashlib.sha256(data).hexdigest()
    if found != pin.sha256:
        raise FixtureError(
            file=pin.origin,
            field="sha256",
            found=found,
            expected=pin.sha256,
            mend="pin the digest of the file you have reviewed; the index serves another",
        )


def unpack(archive: bytes, pin: Pin, caps: Caps = CAPS) -> tuple[Member, ...]:
    """Read a `.tar.gz` whole: files and inner links, its one top folder stripped, sorted by path.

    Raises:
        FixtureError: it is no such archive, or holds what no fixture may hold.
    """
    origin = pin.origin
    plain = _decompressed(archive, origin, caps)
    try:
        with tarfile.open(fileobj=io.BytesIO(plain), mode="r:", encoding="utf-8", errors="surrogateescape") as tar:
            members = tuple(_members(tar, origin, caps))
            rest = plain[tar.offset :]
    except (tarfile.TarError, OSError, ValueError, OverflowError, EOFError) as error:
        raise _no_archive(origin, f"a broken archive ({error})") from error
    if rest.strip(b"\0"):
        raise _no_archive(origin, f"{len(rest)} bytes behind the archive's end")
    return checked_members(_without_top(members, origin), origin, caps)


def _decompressed(archive: bytes, origin: str, caps: Caps) -> bytes:
    # Headers and padding come on top of what files hold: at most 3 blocks a member in practice.
    most = caps.total_bytes + 1536 * caps.files
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(archive)) as stream:
            plain = stream.read(most + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise _no_archive(origin, f"no gzip stream ({error})") from error
    if len(plain) > most:
        raise too_much(origin, b"", caps)
    return plain


def _members(tar: tarfile.TarFile, origin: str, caps: Caps) -> Iterator[Member]:
    for count, info in enumerate(tar, start=1):
        path = info.name.removeprefix("./").encode("utf-8", "surrogateescape")
        if count > caps.files or info.size > caps.file_bytes:
            raise too_much(origin, path, caps)
        if info.isdir():
            if path not in {b"", b"."}:
                checked_path(path, origin)
        elif info.issym():
            yield Member(path=path, target=info.linkname.encode("utf-8", "surrogateescape"))
        elif info.isreg() and not info.issparse():
            yield Member(path=path, data=_content(tar, info), executable=bool(info.mode & 0o100))
        else:
            raise FixtureError(
                file=origin,
                field=named(path),
                found=f"an entry of tar type {info.type!r}",
                expected="files, folders and symbolic links",
                mend="name another source",
            )


def _content(tar: tarfile.TarFile, info: tarfile.TarInfo) -> bytes:
    stream = tar.extractfile(info)
    data = b"" if stream is None else stream.read()
    if len(data) != info.size:
        raise tarfile.ReadError(f"{named(info.name.encode('utf-8', 'surrogateescape'))} is cut short")
    return data


def _without_top(members: tuple[Member, ...], origin: str) -> Iterator[Member]:
    tops = {checked_path(member.path, origin).split(b"/", 1)[0] for member in members}
    if len(tops) != 1 or any(b"/" not in member.path for member in members):
        raise _no_archive(origin, f"{len(tops)} entries at the top")
    for member in members:
        yield Member(
            path=member.path.split(b"/", 1)[1],
            data=member.data,
            executable=member.executable,
            target=member.target,
        )


def _no_archive(origin: str, found: str) -> FixtureError:
    return FixtureError(
        file=origin,
        field="archive",
        found=found,
        expected="a .tar.gz with everything in one top folder",
        mend="pin a source distribution of that form, or name another source",
    )
