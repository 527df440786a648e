"""The frozen tree a candidate starts from: a nomination's source below its root, `public/` laid over it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import assert_never

from runner.documents.nomination import FolderFixture, NpmFixture, PackageFixture, SdistFixture, SeededFixture
from runner.errors import FixtureError
from runner.folder import StoredFile
from runner.members import CAPS, Member, checked_members
from runner.nomination import FIXTURE, PRIVATE, PUBLIC, Nomination
from runner.parsing import file_name
from runner.rules import Matcher, matcher
from runner.sdist import Downloads, Pin, unpack
from runner.seeding import parse_seed, plant
from sandbox.api import Pack
from sandbox.contents import Contents, MemoryContents
from sandbox.tree import Entry, Kind, snapshot

INSTRUCTIONS = frozenset(
    {
        *(b"agents.md", b"agents.override.md", b"agent.md", b"claude.md", b"claude.local.md", b"gemini.md"),
        *(b".cursorrules", b".windsurfrules", b".clinerules", b"copilot-instructions.md", b".mcp.json"),
        *(b"opencode.json", b"opencode.jsonc", b".claude", b".codex", b".cursor", b".opencode"),
        *(b".agents", b".gemini"),
    }
)
"""What coding agents read as orders, whoever wrote it. In lower case, at every depth, never in a fixture."""

CACHES = frozenset({b"__pycache__", b".pytest_cache", b".mypy_cache", b".ruff_cache", b".hypothesis"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Fixture:
    """A whole tree by workspace paths, sorted; `contents` holds its files and its listings."""

    entries: tuple[Entry, ...]
    contents: Contents
    digest: str
    """Tree digest, `public/` included."""
    public: tuple[Entry, ...] = ()
    """The entries of `public/`, which are laid over a submission again before its public tests run."""
    dropped: tuple[bytes, ...] = ()
    """Paths of the source that were left out; `INSTRUCTIONS` and caches as workspace paths."""

    @property
    def pack(self) -> Pack:
        """The tree as it travels to the keeper."""
        return Pack(entries=self.entries, blobs=self.contents.get)

    @property
    def public_pack(self) -> Pack:
        """`public/` alone, as it travels to the keeper."""
        return Pack(entries=self.public, blobs=self.contents.get)


def build_fixture(nomination: Nomination, downloads: Downloads) -> Fixture:
    """Read a nomination's source and make its frozen tree; the same source gives the same tree anywhere.

    Raises:
        DocumentError, FixtureError: it holds what no fixture may hold, or nothing.
        SupplyError: a pinned file is not here and cannot be fetched.
    """
    members, dropped = _source(nomination, downloads)
    if nomination.spec.seed is not None:
        members = _seeded(nomination, nomination.spec.seed, members)
    return _plant(nomination, members, dropped)


def _source(nomination: Nomination, downloads: Downloads) -> tuple[tuple[Member, ...], tuple[bytes, ...]]:
    """Give the members of a nomination's source, and the paths that were left out."""
    source = nomination.spec.fixture
    match source:
        case SdistFixture() | NpmFixture():
            return _from_package(source, package_pin(source), downloads)
        case FolderFixture():
            return tuple(stored_members(nomination.below(FIXTURE))), ()
        case SeededFixture(files=files, executable=executable):
            members = tuple(
                Member(path=path.encode(), data=text.encode(), executable=path in executable)
                for path, text in files.items()
            )
            return members, ()
        case _:
            assert_never(source)


def _seeded(nomination: Nomination, name: str, members: tuple[Member, ...]) -> tuple[Member, ...]:
    stored = nomination.find(f"{PRIVATE}/{name}")
    if stored is None:
        raise FixtureError(
            file=nomination.file,
            field="seed",
            found=f"{name}, which is not in {PRIVATE}/",
            expected=f"a file of {PRIVATE}/",
            mend="add it, or remove 'seed'",
        )
    file = file_name(stored.place)
    return plant(members, parse_seed(stored.read(), file), file)


def build_later(nomination: Nomination, version: str, sha256: str, downloads: Downloads) -> Fixture:
    """Make the tree that another version of a nomination's package gives."""
    source = nomination.spec.fixture
    if not isinstance(source, SdistFixture | NpmFixture):
        raise TypeError(f"{nomination.id} is made from no package")
    pin = replace(package_pin(source), version=version, sha256=sha256)
    members, dropped = _from_package(source, pin, downloads)
    return _plant(nomination, members, dropped)


def _from_package(
    source: PackageFixture, pin: Pin, downloads: Downloads
) -> tuple[tuple[Member, ...], tuple[bytes, ...]]:
    is_kept = _keeper(source)
    kept: list[Member] = []
    dropped: list[bytes] = []
    for member in unpack(downloads.obtain(pin), pin):
        below = _below(member.path, source.path)
        wanted = below is not None and not _is_packaging_note(member.path)
        if wanted and below is not None and is_kept(below):
            kept.append(replace(member, path=below))
        else:
            dropped.append(member.path)
    return tuple(kept), tuple(dropped)


def package_pin(source: SdistFixture | NpmFixture) -> Pin:
    """Name the package file that a nomination is made from."""
    return Pin(name=source.name, version=source.version, sha256=source.sha256, kind=source.kind)


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


def stored_members(files: Iterable[StoredFile]) -> Iterator[Member]:
    """Read files of one of a nomination's folders; their paths begin below that folder."""
    for file in files:
        path = file.path.partition("/")[2].encode()
        yield Member(path=path, data=file.read(), executable=file.executable)


def never_in_a_fixture(path: bytes) -> bool:
    """Whether a path holds orders for coding agents, or a cache."""
    parts = path.lower().split(b"/")
    return any(part in INSTRUCTIONS or part in CACHES for part in parts) or path.endswith((b".pyc", b".pyo"))


def _plant(nomination: Nomination, members: tuple[Member, ...], dropped: tuple[bytes, ...] = ()) -> Fixture:
    root = nomination.spec.root
    prefix = b"" if root == "." else root.encode() + b"/"
    source = {prefix + member.path: member for member in members}
    public = {member.path: member for member in stored_members(nomination.below(PUBLIC))}
    orders = {path for path in (*source, *public) if never_in_a_fixture(path)}
    placed = {path: member for path, member in {**source, **public}.items() if path not in orders}
    if not placed.keys() & source.keys():
        raise FixtureError(
            file=nomination.file,
            field="fixture",
            found=f"no file ({len(dropped) + len(orders)} dropped)",
            expected="at least one file",
            mend="name a source with files in it, keep more and drop less",
        )
    checked = checked_members((replace(member, path=path) for path, member in placed.items()), nomination.file, CAPS)
    return _frozen(checked, frozenset(public), (*dropped, *orders))


def _frozen(placed: tuple[Member, ...], public: frozenset[bytes], dropped: tuple[bytes, ...]) -> Fixture:
    contents = MemoryContents()
    entries = tuple(_entry(member, contents) for member in placed)
    return Fixture(
        entries=entries,
        contents=contents,
        digest=snapshot(entries, contents),
        public=tuple(entry for entry in entries if entry.path in public),
        dropped=tuple(sorted(dropped)),
    )


def _entry(member: Member, contents: Contents) -> Entry:
    if member.target is not None:
        return Entry(path=member.path, kind=Kind.LINK, target=member.target)
    sha256, size = contents.put(member.data), len(member.data)
    return Entry(path=member.path, kind=Kind.FILE, executable=member.executable, sha256=sha256, size=size)


def _below(path: bytes, folder: str) -> bytes | None:
    """Give the path as seen from a folder; None outside of it."""
    if folder == ".":
        return path
    prefix = folder.encode() + b"/"
    return path.removeprefix(prefix) if path.startswith(prefix) else None


def _keeper(source: PackageFixture) -> Matcher:
    """Give what says whether a path below the source's folder belongs to the fixture."""
    keeps, drops = matcher(source.keep), matcher(source.drop)
    return lambda path: (not source.keep or keeps(path)) and not drops(path)


def _is_packaging_note(path: bytes) -> bool:
    """Whether packaging added a file: it names the release and says nothing of the code."""
    return path == b"PKG-INFO" or any(part.endswith(b".egg-info") for part in path.split(b"/"))
