"""Fixtures made anew of a repository's history, or only held against it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from runner.documents.snapshot import Snapshot
from runner.errors import FixtureError, UsageError
from runner.folder import list_files
from runner.history.clone import CLONE, Clone, bring, open_clone, resolved
from runner.history.snapshot import Snapped, commits_of, needed, snap
from runner.history.source import find_source, revision
from runner.inputs import Places
from runner.members import Member, named
from runner.nomination import DOCUMENT, FIXTURE, parse_spec
from runner.parsing import file_name, read_file
from runner.replacing import replace_tree
from sandbox.patch_text import refusal
from sandbox.tree import Entry, Kind, tree_digest

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Regenerated:
    """One nomination's fixture beside what its snapshot gives."""

    nomination: str
    digest: str
    """Tree digest of what the snapshot gives."""
    files: int
    differences: tuple[str, ...]
    """Paths at which the fixture was, or is, another."""
    orders: tuple[bytes, ...]
    """Paths that were left out: they speak to agents, or are caches."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Commits by the names that a snapshot calls them by, which may lead on to ancestors."""

    clone: Clone
    names: dict[str, str]

    def listing(self, commit: str) -> tuple[bytes, ...]:
        """Give every path of a commit."""
        return self.clone.listing(self.names[commit])

    def members(self, commit: str, wanted: Callable[[bytes], bool]) -> tuple[Member, ...]:
        """Give the files and links of a commit at the wanted paths."""
        return self.clone.members(self.names[commit], wanted)


def regenerate(places: Places, ids: tuple[str, ...], repository: Path | None, *, write: bool) -> Iterator[Regenerated]:
    """Make the fixtures of nominations again, one after another; the old one goes when the new one is there, checked.

    Raises:
        UsageError: a nomination has no snapshot.
        FixtureError: history does not give what a snapshot asks for.
        StorageError: a fixture cannot be written.
    """
    for name in ids:
        folder = places.nominations / name
        document = folder / DOCUMENT
        file = file_name(document)
        snapshot = parse_spec(read_file(document), file).snapshot
        if snapshot is None:
            raise UsageError(f"{file}: has no [snapshot]; write one, or name another nomination")
        made = snap(snapshot, read_history(snapshot, places.state / CLONE, repository, file), file)
        different = differing(folder / FIXTURE, made.members)
        if write and different:
            replace_tree(folder / FIXTURE, places.nominations, made.members)
        yield _told(name, made, different)


def snapshot_ids(places: Places, known: tuple[str, ...]) -> tuple[str, ...]:
    """Name the nominations among these that have a snapshot."""
    documents = {name: places.nominations / name / DOCUMENT for name in known}
    there = {name: place for name, place in documents.items() if place.is_file()}
    return tuple(
        name for name, place in there.items() if parse_spec(read_file(place), file_name(place)).snapshot is not None
    )


def read_history(snapshot: Snapshot, clone: Path, repository: Path | None, file: str) -> Reading:
    """Give the commits of a snapshot: out of a repository, by way of our own clone, or out of the clone alone.

    Raises:
        FixtureError: one is not there.
    """
    asked = commits_of(snapshot)
    if not asked:
        return Reading(clone=Clone(path=clone, origin=file), names={})
    if repository is None:
        ours = open_clone(clone)
        return Reading(clone=ours, names={each: ours.ancestor(each) for each in asked})
    source = find_source(repository)
    revisions = [revision(source, each) for each in asked]
    found = resolved(source, revisions)
    passed = resolved(source, [step for each in revisions for step in each.way()])
    ours = bring(source, clone, found, needed(snapshot), passed)
    return Reading(clone=ours, names=dict(zip(asked, found, strict=True)))


def differing(folder: Path, members: tuple[Member, ...]) -> tuple[str, ...]:
    """Name the paths at which a folder does not hold just these files.

    Raises:
        DocumentError: it holds what is no file.
    """
    stored = list_files(folder) if folder.exists() or folder.is_symlink() else ()
    there = {file.path: (file.sha256, file.executable) for file in stored}
    wanted = {each.path.decode(): (sha256(each.data).hexdigest(), each.executable) for each in members}
    return tuple(sorted(path for path in there.keys() | wanted.keys() if there.get(path) != wanted.get(path)))


def files_digest(members: tuple[Member, ...]) -> str:
    """Give the tree digest of files.

    Raises:
        FixtureError: a patch could not carry a path of them.
    """
    for member in members:
        if (why := refusal(member.path)) is not None:
            raise FixtureError(
                file="snapshot", field=named(member.path), found=why, expected="plain paths", mend="exclude it"
            )
    return tree_digest(
        Entry(
            path=each.path,
            kind=Kind.FILE,
            executable=each.executable,
            sha256=sha256(each.data).hexdigest(),
            size=len(each.data),
        )
        for each in members
    )


def _told(name: str, made: Snapped, different: tuple[str, ...]) -> Regenerated:
    return Regenerated(
        nomination=name,
        digest=files_digest(made.members),
        files=len(made.members),
        differences=different,
        orders=made.orders,
    )
