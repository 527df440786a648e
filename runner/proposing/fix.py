"""A fix in a repository's history: what stood before, what it changes, and what its tests need."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from runner.documents.snapshot import Snapshot
from runner.errors import FixtureError, UsageError
from runner.history.clone import Clone, Slot, bring, resolved
from runner.history.regenerating import Reading
from runner.history.snapshot import Snapped, snap, stripped
from runner.history.source import find_source, revision
from runner.members import Member
from runner.proposing.change import Sorted, is_of_tests, sort_change, test_root
from runner.rules import matcher

_FILE_MODES = frozenset({b"100644", b"100755", b"100664"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What somebody wants a nomination to be made of."""

    id: str
    repository: Path
    commit: str
    """Of the fix, as they call it."""
    paths: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    strip: int = 0
    sources: tuple[str, ...] = ()
    """Rules that say which changed files are the fix; none: those that look like code."""
    command: tuple[str, ...] = ()
    """Of the public tests; none: pytest over the folder of tests."""
    requirements: Path | None = None
    prompt: str | None = None
    licence: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Fix:
    """One fix, read. Paths are those of the fixture."""

    commit: str
    message: str
    snapshot: Snapshot
    before: Snapped
    after: Mapping[str, Member]
    """What the fix leaves at the touched paths, and among tests."""
    sorted: Sorted

    @property
    def parent(self) -> Mapping[str, Member]:
        """The fixture's files by path."""
        return {member.path.decode(): member for member in self.before.members}


def read_fix(asked: Asked, place: Path) -> Fix:
    """Read a fix and the commit before it, by way of our own clone.

    Raises:
        FixtureError: history does not have them, or the fixture would lack what the fix changes.
        UsageError: it is no fix of any source.
    """
    source = find_source(asked.repository)
    (name,) = resolved(source, [revision(source, asked.commit)])
    commit = bring(source, place, (name,), matcher(())).commit(name)
    if not commit.parents:
        raise UsageError(f"{name} is the first commit of its history, and nothing stands before it; name a fix")
    parent = commit.parents[0]
    chosen = matcher(asked.paths or ("**",))
    clone = bring(source, place, (parent, name), chosen)
    snapshot = _snapshot(asked, parent)
    before = snap(snapshot, Reading(clone=clone, names={parent: parent}), source.name)
    old, new = (_by_path(clone, each, asked) for each in (parent, name))
    touched = {path for path in old.keys() | new.keys() if _told(old.get(path)) != _told(new.get(path))}
    rules = matcher(asked.sources)
    wanted = {path: rules(path.encode()) for path in touched} if asked.sources else None
    parts = sort_change(touched, wanted)
    fix = Fix(
        commit=name,
        message=commit.message,
        snapshot=snapshot,
        before=before,
        after=_after(clone, name, new, touched),
        sorted=parts,
    )
    _check(fix, old)
    return fix


def _snapshot(asked: Asked, parent: str) -> Snapshot:
    return Snapshot(commit=parent, paths=asked.paths or None, strip=asked.strip or None, exclude=asked.exclude or None)


def _by_path(clone: Clone, commit: str, asked: Asked) -> dict[str, Slot]:
    """Give the files of a commit by their paths in the fixture; what has no plain name there is passed over."""
    chosen = matcher(asked.paths or ("**",))
    slots = [slot for slot in clone.slots(commit) if slot.mode in _FILE_MODES and chosen(slot.path)]
    return {
        stripped(slot.path, asked.strip).decode(): slot
        for slot in slots
        if slot.path.count(b"/") >= asked.strip and _is_text(slot.path)
    }


def _after(clone: Clone, commit: str, new: Mapping[str, Slot], touched: set[str]) -> dict[str, Member]:
    tests = {path for path in new if is_of_tests(path) or test_root(path) is not None}
    paths = {new[path].path: path for path in (touched & new.keys()) | tests}
    members = clone.members(commit, lambda path: path in paths)
    return {
        paths[member.path]: Member(path=paths[member.path].encode(), data=member.data, executable=member.executable)
        for member in members
    }


def _check(fix: Fix, old: Mapping[str, Slot]) -> None:
    if not fix.sorted.sources:
        touched = ", ".join((*fix.sorted.tests, *fix.sorted.others)[:5]) or "nothing"
        raise UsageError(f"{fix.commit} changes no source file (it changes {touched}); name some: --source RULE")
    for path in fix.sorted.sources:
        if path in old and path not in fix.parent:
            raise FixtureError(
                file=fix.commit,
                field=path,
                found="a file that the fix changes and the fixture lacks",
                expected="a fixture with all of them",
                mend="exclude less, or name other sources: --source RULE",
            )


def _told(slot: Slot | None) -> tuple[str, bytes] | None:
    return None if slot is None else (slot.name, slot.mode)


def _is_text(path: bytes) -> bool:
    try:
        return path.decode().isprintable()
    except UnicodeDecodeError:
        return False
