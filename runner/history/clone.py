"""Our own clone of somebody's repository: a bare one that holds the objects we want, each hashed again on its way in.

git runs in two places, both ours: in a scratch repository that finds the other's objects and nothing else of it, and in
the clone. Trees are walked by our own reader; nothing is checked out, so no attribute, filter or link means anything.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from runner.errors import FixtureError
from runner.history.source import OBJECT_NAME, Revision, Source
from runner.members import CAPS, Member, named, too_much
from runner.rules import Matcher
from sandbox.errors import PatchError
from sandbox.git import ObjectReader, make_repository, object_reader, run_git, scratch_repository
from sandbox.patch import parse_tree

CLONE = "histories.git"
"""Folder of the state; it can be removed, and comes back with `--from-git`."""

_FOLDER, _LINK, _MODULE = b"40000", b"120000", b"160000"
_EXECUTABLE = 0o100
_MOST_SLOTS = 500_000
"""Of one commit's tree: what unfolds beyond that is no source code."""
_GONE = "missing"
_NAME = 40
"""Hex digits of an object's name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """One commit."""

    name: str
    tree: str
    parents: tuple[str, ...]
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """What stands at one path of a commit."""

    path: bytes
    mode: bytes
    name: str

    @property
    def is_file(self) -> bool:
        """Whether it has content of its own: files, and links."""
        return self.mode != _MODULE


@dataclass(frozen=True, slots=True, kw_only=True)
class Clone:
    """A repository of ours. `origin` is what errors call the history in it."""

    path: Path
    origin: str
    mend: str = "fetch what is missing there (a shallow or partial clone lacks objects)"

    def commit(self, name: str) -> Commit:
        """Read a commit.

        Raises:
            FixtureError: it is not here.
        """
        with _reading(self, name), object_reader(self.path) as reader:
            return _commit(reader, name)

    def listing(self, commit: str) -> tuple[bytes, ...]:
        """Give every path of a commit.

        Raises:
            FixtureError: it is not here.
        """
        return tuple(slot.path for slot in self.slots(commit))

    def slots(self, commit: str) -> tuple[Slot, ...]:
        """Give what stands at every path of a commit.

        Raises:
            FixtureError: it is not here.
        """
        with _reading(self, commit), object_reader(self.path) as reader:
            return tuple(_Walk(reader).slots(_commit(reader, commit).tree))

    def members(self, commit: str, wanted: Matcher) -> tuple[Member, ...]:
        """Give the files and links of a commit at the wanted paths.

        Raises:
            FixtureError: something is not here, too large, or a submodule.
        """
        with _reading(self, commit), object_reader(self.path) as reader:
            slots = tuple(slot for slot in _Walk(reader).slots(_commit(reader, commit).tree) if wanted(slot.path))
            for slot in slots:
                if not slot.is_file:
                    mend = "exclude it, or write its files into the snapshot"
                    raise _refused(self.origin, named(slot.path), "a submodule", "files", mend)
            return tuple(_member(slot, reader) for slot in slots)

    def ancestor(self, text: str) -> str:
        """Give the commit that a whole name with steps behind it leads to."""
        name, steps = text[:_NAME], text[_NAME:]
        return self.find(Revision(name=name, steps=steps))

    def find(self, revision: Revision) -> str:
        """Give the whole name of the commit that is meant.

        Raises:
            FixtureError: it is not here.
        """
        asked = f"{revision.name}{revision.steps}^{{commit}}"
        with _reading(self, f"{revision.name}{revision.steps}"):
            found = run_git(self.path, "rev-parse", "--verify", "--quiet", "--end-of-options", asked)
        return found.decode().strip()


@contextmanager
def _reading(clone: Clone, commit: str) -> Iterator[None]:
    """Say what to do where git lacks something, or finds it broken."""
    try:
        yield
    except PatchError as error:
        found = f"not all that is wanted of it ({error})"
        raise _refused(clone.origin, commit, found, "a commit with its objects", clone.mend) from error


def open_clone(place: Path) -> Clone:
    """Give what was brought before, without the repository that it came from."""
    if not (place / "HEAD").exists():
        make_repository(place)
    mend = "name the repository: --from-git REPO"
    return Clone(path=place, origin=f"history in {place}", mend=mend)


def resolved(source: Source, revisions: Iterable[Revision]) -> tuple[str, ...]:
    """Give the whole names of somebody's commits.

    Raises:
        FixtureError: one is not there.
    """
    with scratch_repository(source.common) as bridge:
        clone = Clone(path=bridge, origin=source.name)
        return tuple(clone.find(each) for each in revisions)


def bring(source: Source, place: Path, commits: Iterable[str], wanted: Matcher, passed: Iterable[str] = ()) -> Clone:
    """Bring commits into the clone: their trees, their parents' names, and what stands at the wanted paths.

    Of those that are `passed` on the way to them, nothing but the commit.

    Raises:
        FixtureError: something is not there, or more than a fixture may hold.
        PatchError: git failed in our own clone.
    """
    clone = open_clone(place)
    with scratch_repository(source.common) as bridge:
        outside = Clone(path=bridge, origin=source.name)
        needed = _Needed(others=set(passed))
        for commit in dict.fromkeys(commits):
            with _reading(outside, commit), object_reader(bridge) as reader:
                needed.add(commit, reader, wanted)
        lacking = _lacking(clone.path, needed.names)
        if lacking:
            with _reading(outside, "objects"):
                _check_sizes(bridge, lacking, needed.blobs, source)
                asked = "".join(f"{name}\n" for name in lacking).encode()
                pack = run_git(bridge, "pack-objects", "--stdout", "-q", "--threads=1", "--window=0", stdin=asked)
            run_git(clone.path, "index-pack", "--stdin", stdin=pack, durable=True)
            _check_arrived(clone.path, lacking, source)
    return Clone(path=clone.path, origin=source.name)


@dataclass(slots=True)
class _Needed:
    """Names of the objects that are wanted; a blob with its path."""

    others: set[str] = field(default_factory=set)
    blobs: dict[str, bytes] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        return sorted(self.others | set(self.blobs))

    def add(self, name: str, reader: ObjectReader, wanted: Matcher) -> None:
        commit = _commit(reader, name)
        walk = _Walk(reader)
        self.blobs.update(
            (slot.name, slot.path) for slot in walk.slots(commit.tree) if slot.is_file and wanted(slot.path)
        )
        self.others |= {name, *walk.trees}


class _Walk:
    """Walks a tree folder by folder, without recursion, up to a bound."""

    def __init__(self, reader: ObjectReader) -> None:
        self._reader = reader
        self._read: dict[str, tuple[tuple[bytes, tuple[bytes, str]], ...]] = {}
        self._count = 0

    @property
    def trees(self) -> frozenset[str]:
        """The trees that were read."""
        return frozenset(self._read)

    def slots(self, tree: str) -> Iterator[Slot]:
        """Give everything but folders, in no order."""
        waiting = [(b"", tree)]
        while waiting:
            above, name = waiting.pop()
            for part, (mode, child) in self._folder(name):
                self._count += 1
                if self._count > _MOST_SLOTS:
                    raise PatchError(f"a tree of more than {_MOST_SLOTS} entries")
                if mode == _FOLDER:
                    waiting.append((above + part + b"/", child))
                else:
                    yield Slot(path=above + part, mode=mode, name=child)

    def _folder(self, name: str) -> tuple[tuple[bytes, tuple[bytes, str]], ...]:
        if name not in self._read:
            try:
                self._read[name] = tuple(parse_tree(self._reader.read(name, b"tree")))
            except ValueError as error:
                raise PatchError(f"{name} is no tree") from error
        return self._read[name]


def _commit(reader: ObjectReader, name: str) -> Commit:
    content = reader.read(name, b"commit").decode("utf-8", "replace")
    head, _, message = content.partition("\n\n")
    lines = [line.partition(" ") for line in head.split("\n")]
    trees = [words for word, _, words in lines if word == "tree"]
    parents = tuple(words for word, _, words in lines if word == "parent")
    if len(trees) != 1 or not all(OBJECT_NAME.fullmatch(each) for each in (*trees, *parents)):
        raise PatchError(f"{name} is no commit")
    return Commit(name=name, tree=trees[0], parents=parents, message=message)


def _member(slot: Slot, reader: ObjectReader) -> Member:
    data = reader.read(slot.name, b"blob")
    if slot.mode == _LINK:
        return Member(path=slot.path, target=data)
    return Member(path=slot.path, data=data, executable=bool(int(slot.mode, 8) & _EXECUTABLE))


def _asked(place: Path, names: Iterable[str]) -> Iterator[tuple[str, ...]]:
    stdin = "".join(f"{name}\n" for name in names).encode()
    for line in run_git(place, "cat-file", "--batch-check", stdin=stdin).decode().splitlines():
        yield tuple(line.split())


def _lacking(place: Path, names: Iterable[str]) -> list[str]:
    return [words[0] for words in _asked(place, names) if words[-1] == _GONE]


def _check_sizes(bridge: Path, names: list[str], blobs: dict[str, bytes], source: Source) -> None:
    total = 0
    for name, *words in _asked(bridge, names):
        if words[-1] == _GONE:
            raise PatchError(f"{name} is missing")
        size = int(words[-1])
        total += size if name in blobs else 0
        if name in blobs and (size > CAPS.file_bytes or total > CAPS.total_bytes):
            raise too_much(source.name, blobs[name], CAPS)


def _check_arrived(place: Path, names: list[str], source: Source) -> None:
    """Hold what came against what was asked for: an index of theirs that lies has given us other objects."""
    if lost := _lacking(place, names):
        mend = "run 'git fsck' there, or give a fresh clone"
        raise _refused(source.name, lost[0], "another object under this name", "sound packs", mend)


def _refused(origin: str, where: str, found: str, expected: str, mend: str) -> FixtureError:
    return FixtureError(file=origin, field=where, found=found, expected=expected, mend=mend)
