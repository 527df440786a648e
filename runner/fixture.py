"""The frozen tree a candidate starts from, and the solution as a change to it."""

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from runner.errors import FixtureError
from runner.members import Caps, Member, checked_members, named, too_much
from runner.sdist import Downloads, Pin, unpack
from sandbox.api import Pack
from sandbox.contents import Contents, MemoryContents
from sandbox.errors import TreeError
from sandbox.tree import Entry, Kind, apply_change, differences, snapshot

Rule = Callable[[bytes], bool]
"""Whether a workspace path is meant."""

INSTRUCTIONS = frozenset(
    {
        *(b"agents.md", b"agents.override.md", b"agent.md", b"claude.md", b"claude.local.md", b"gemini.md"),
        *(b".cursorrules", b".windsurfrules", b".clinerules", b"copilot-instructions.md", b".mcp.json"),
        *(b"opencode.json", b"opencode.jsonc", b".claude", b".codex", b".cursor", b".opencode"),
        *(b".agents", b".gemini"),
    }
)
"""What coding agents read as orders, whoever wrote it. In lower case, at every depth, never in a fixture."""

CACHES = frozenset((b"__pycache__", b".pytest_cache", b".mypy_cache", b".ruff_cache", b".hypothesis"))


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderSource:
    """A folder of the checkout, taken whole."""

    folder: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class SeededSource:
    """Files written out in the nomination: path below the root -> text."""

    files: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class SdistSource:
    """A source distribution, unpacked and never installed."""

    pin: Pin


Source = FolderSource | SeededSource | SdistSource


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """Where in the workspace a source stands, and what of it never gets there."""

    root: str = "."
    drops: Rule = lambda _: False
    """Asked with workspace paths."""
    caps: Caps = field(default_factory=Caps)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fixture:
    """A whole tree by workspace paths, sorted; `contents` holds its files and its listings."""

    entries: tuple[Entry, ...]
    contents: Contents
    digest: str
    dropped: tuple[bytes, ...] = ()
    """Paths of the source that were left out."""

    @property
    def pack(self) -> Pack:
        """The tree as it travels to the keeper."""
        return Pack(entries=self.entries, blobs=self.contents.get)


@dataclass(frozen=True, slots=True, kw_only=True)
class Solution:
    """A nomination's reference change to its fixture."""

    change: Pack
    digest: str
    """Tree digest of fixture + change."""


def build_fixture(source: Source, ground: Ground, downloads: Downloads) -> Fixture:
    """Read a source and make the frozen tree of it; the same source gives the same digest anywhere.

    Raises:
        FixtureError: it holds what no fixture may hold, or nothing.
        SupplyError: a pinned file is not here and cannot be fetched.
    """
    match source:
        case FolderSource(folder=folder):
            origin = str(folder)
            members = checked_members(read_members(folder, ground.caps), origin, ground.caps)
        case SeededSource(files=files):
            origin = "fixture.files"
            seeds = (Member(path=path.encode(), data=text.encode()) for path, text in files.items())
            members = checked_members(seeds, origin, ground.caps)
        case SdistSource(pin=pin):
            origin = f"sdist {pin}"
            members = unpack(downloads.obtain(pin), pin, ground.caps)
    unwanted = _is_sdist_note if isinstance(source, SdistSource) else _nothing
    return plant(members, ground, unwanted, origin)


def plant(members: Iterable[Member], ground: Ground, unwanted: Rule, origin: str) -> Fixture:
    """Put members below the root, without what is dropped; `unwanted` is asked with the source's own paths.

    Raises:
        FixtureError: nothing is left.
    """
    prefix = b"" if ground.root == "." else ground.root.encode() + b"/"
    contents = MemoryContents()
    entries: list[Entry] = []
    dropped: list[bytes] = []
    for member in members:
        path = prefix + member.path
        if never_in_a_fixture(member.path) or unwanted(member.path) or ground.drops(path):
            dropped.append(member.path)
        else:
            entries.append(_entry(path, member, contents))
    if not entries:
        raise FixtureError(
            file=origin,
            field="fixture",
            found=f"no file ({len(dropped)} dropped)",
            expected="at least one file",
            mend="name a source with files in it, and drop fewer",
        )
    entries.sort(key=lambda entry: entry.path)
    digest = snapshot(entries, contents)
    return Fixture(entries=tuple(entries), contents=contents, digest=digest, dropped=tuple(sorted(dropped)))


def check_fixture(fixture: Fixture, frozen: str, origin: str) -> None:
    """Say nothing if the rebuilt fixture is the frozen one.

    Raises:
        FixtureError: it drifted; both digests are named.
    """
    if fixture.digest != frozen:
        raise FixtureError(
            file=origin,
            field="fixture",
            found=f"a drifted tree, {fixture.digest}",
            expected=f"the frozen tree, {frozen}",
            mend="restore the fixture's files, or freeze a release with a new id",
        )


def projected(fixture: Fixture, later: Fixture, allowed: Rule, origin: str) -> Solution:
    """Make a solution of what a later tree changes at the allowed paths; all else stays the fixture's.

    Raises:
        FixtureError: at the allowed paths the two are the same.
    """
    contents = MemoryContents(below=fixture.contents)
    for entry in later.entries:
        if entry.sha256 is not None:
            contents.put(later.contents.get(entry.sha256))
    snapshot(later.entries, contents)
    wanted = {entry.path: entry for entry in later.entries}
    change = tuple(
        wanted.get(difference.path, Entry(path=difference.path, kind=Kind.GONE))
        for difference in differences(fixture.digest, later.digest, contents)
        if allowed(difference.path)
    )
    if not change:
        raise FixtureError(
            file=origin,
            field="solution",
            found="no difference at the allowed paths",
            expected="a later source that changes at least one of them",
            mend="name the later version that holds the fix, or widen allowed_changes",
        )
    try:
        digest = apply_change(fixture.digest, change, contents)
    except TreeError as error:
        raise FixtureError(
            file=origin,
            field="solution",
            found=f"a change that is no tree at the allowed paths ({error})",
            expected="allowed paths that hold the whole change",
            mend="widen allowed_changes",
        ) from error
    return Solution(change=Pack(entries=change, blobs=contents.get), digest=digest)


def never_in_a_fixture(path: bytes) -> bool:
    """Whether a path holds orders for coding agents, or a cache."""
    parts = path.lower().split(b"/")
    return any(part in INSTRUCTIONS or part in CACHES for part in parts) or path.endswith((b".pyc", b".pyo"))


def read_members(folder: Path, caps: Caps) -> Iterator[Member]:
    """Walk a trusted folder without following links.

    Raises:
        FixtureError: it is no folder, cannot be read, or holds a FIFO, socket or device.
    """
    top = os.fsencode(folder)
    try:
        yield from _walk(top, b"", caps)
    except OSError as error:
        raise FixtureError(
            file=str(folder),
            field="fixture",
            found=error.strerror or str(error),
            expected="a readable folder",
            mend="give the nomination its fixture folder",
        ) from error


def _walk(top: bytes, below: bytes, caps: Caps) -> Iterator[Member]:
    with os.scandir(os.path.join(top, below)) as found:  # noqa: PTH118 - paths are bytes
        children = sorted(found, key=lambda child: child.name)
    for child in children:
        path = below + b"/" + child.name if below else child.name
        if never_in_a_fixture(path) and child.is_dir(follow_symlinks=False):
            continue
        if child.is_symlink():
            yield Member(path=path, target=os.readlink(child.path))  # noqa: PTH115 - paths are bytes
        elif child.is_dir(follow_symlinks=False):
            yield from _walk(top, path, caps)
        else:
            yield _file(child, path, caps)


def _file(child: os.DirEntry[bytes], path: bytes, caps: Caps) -> Member:
    descriptor = os.open(child.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as stream:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise FixtureError(
                file=os.fsdecode(child.path),
                field=named(path),
                found="something that is no file, folder or link",
                expected="files, folders and links",
                mend="remove it",
            )
        data = stream.read(caps.file_bytes + 1)
    if len(data) > caps.file_bytes:
        raise too_much(os.fsdecode(child.path), path, caps)
    return Member(path=path, data=data, executable=bool(status.st_mode & stat.S_IXUSR))


def _entry(path: bytes, member: Member, contents: Contents) -> Entry:
    if member.target is not None:
        return Entry(path=path, kind=Kind.LINK, target=member.target)
    sha256 = contents.put(member.data)
    return Entry(
        path=path, kind=Kind.FILE, executable=member.executable, sha256=sha256, size=len(member.data)
    )


def _is_sdist_note(path: bytes) -> bool:
    """Whether a path is what packaging added: it names the release and says nothing of the code."""
    return path == b"PKG-INFO" or any(part.endswith(b".egg-info") for part in path.split(b"/"))


def _nothing(_path: bytes) -> bool:
    return False
