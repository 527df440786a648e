"""From a snapshot and the trees it names to a fixture's files. The same commits give the same files anywhere. Pure."""

import difflib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Protocol

from runner.documents.snapshot import ReviewDiff, Snapshot, SnapshotPatch
from runner.errors import FixtureError
from runner.fields import is_plain_path
from runner.fixture import never_in_a_fixture
from runner.history.presets import completed
from runner.members import CAPS, Member, checked_members, named
from runner.rules import Matcher, matcher
from runner.seeding import shown_difference

_LARGE_FILE = b"version https://git-lfs.github.com/spec/"


class Trees(Protocol):
    """Commits, read."""

    def listing(self, commit: str) -> tuple[bytes, ...]:
        """Give every path of a commit."""

    def members(self, commit: str, wanted: Matcher) -> tuple[Member, ...]:
        """Give the files and links of a commit at the wanted paths."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapped:
    """A fixture's files, and what was left out because it speaks to agents, or is a cache."""

    members: tuple[Member, ...]
    orders: tuple[bytes, ...] = ()


def commits_of(snapshot: Snapshot) -> tuple[str, ...]:
    """Name every commit that a snapshot is made of."""
    found = [snapshot.commit, *(each.commit for each in snapshot.overlays or ())]
    found.append(None if snapshot.review_diff is None else snapshot.review_diff.base)
    return tuple(dict.fromkeys(each for each in found if each is not None))


def needed(snapshot: Snapshot) -> Matcher:
    """Give what says which paths of its commits a snapshot could want; the clone brings no others."""
    whole = completed(snapshot)
    rules = [whole.paths or ("**",), *(each.paths for each in whole.overlays or ())]
    wanted, kept = matcher(tuple(rule for each in rules for rule in each)), _keeper(whole)
    shown = {path.encode() for path in (() if whole.review_diff is None else whole.review_diff.paths)}
    strip = whole.strip or 0
    return lambda path: (wanted(path) and kept(path)) or stripped(path, strip) in shown


def snap(snapshot: Snapshot, trees: Trees, origin: str) -> Snapped:
    """Make a fixture's files.

    Raises:
        FixtureError: the commits, or what is to be found in them, are not as the snapshot says.
    """
    whole = completed(snapshot)
    placed: dict[bytes, Member] = {}
    orders: set[bytes] = set()
    for field, commit, rules in _layers(whole):
        taken, left = _taken(whole, trees, (field, commit, rules), origin)
        placed |= {member.path: member for member in taken}
        orders |= left
    for path, text in (whole.files or {}).items():
        placed[path.encode()] = Member(path=path.encode(), data=text.encode())
    for number, patch in enumerate(whole.patches or ()):
        _patch(placed, patch, f"snapshot.patches[{number}]", origin)
    if whole.review_diff is not None:
        _lay_diff(placed, whole.review_diff, whole, trees, origin)
    return Snapped(members=_checked(placed, origin), orders=tuple(sorted(orders)))


Layer = tuple[str, str, tuple[str, ...]]
"""The field that asks for it, a commit, and rules."""


def _layers(whole: Snapshot) -> Iterator[Layer]:
    if whole.commit is not None:
        yield "snapshot.paths", whole.commit, whole.paths or ("**",)
    for number, overlay in enumerate(whole.overlays or ()):
        yield f"snapshot.overlays[{number}].paths", overlay.commit, overlay.paths


def _taken(whole: Snapshot, trees: Trees, layer: Layer, origin: str) -> tuple[list[Member], set[bytes]]:
    field, commit, rules = layer
    strip, kept, listing = whole.strip or 0, _keeper(whole), trees.listing(commit)
    for rule in rules:
        if not any(map(matcher((rule,)), listing)):
            near = difflib.get_close_matches(rule, sorted({each.decode("utf-8", "replace") for each in listing}), n=1)
            hint = f"did you mean {near[0]}?" if near else "a folder ends in '/'; mend the rule, or the commit"
            raise _refused(origin, field, f"{rule}, which means no file of {commit}", "rules that mean files", hint)
    wanted = matcher(rules)
    chosen = [path for path in listing if wanted(path)]
    for path in chosen:
        if strip and path.count(b"/") < strip:
            found = f"nothing left of {named(path)} without {strip} parts"
            raise _refused(origin, "snapshot.strip", found, "longer paths alone", "strip less, or narrow the paths")
    orders = {path for path in chosen if never_in_a_fixture(path) and kept(path)}
    members = trees.members(commit, lambda path: wanted(path) and kept(path) and path not in orders)
    return [replace(each, path=stripped(each.path, strip)) for each in members], orders


@dataclass(frozen=True, slots=True, kw_only=True)
class _Keeper:
    """Says that a repository's path is not excluded."""

    strip: int
    names: tuple[bytes, ...]
    folders: frozenset[bytes]
    paths: Matcher

    def __call__(self, path: bytes) -> bool:
        left = stripped(path, self.strip)
        *above, name = left.split(b"/")
        is_named = any(fnmatchcase(name, glob) for glob in self.names) or not self.folders.isdisjoint(above)
        return not is_named and not self.paths(left)


def _keeper(whole: Snapshot) -> Matcher:
    return keeper(whole.exclude or (), whole.strip or 0)


def keeper(rules: tuple[str, ...], strip: int = 0) -> Matcher:
    """Give what says that a path is not excluded by these rules."""
    inner = [rule for rule in rules if "/" in rule[:-1]]
    return _Keeper(
        strip=strip,
        names=tuple(rule.encode() for rule in rules if "/" not in rule),
        folders=frozenset(rule[:-1].encode() for rule in rules if rule.endswith("/") and rule not in inner),
        paths=matcher(tuple(inner)),
    )


def stripped(path: bytes, parts: int) -> bytes:
    """Give a path without its leading parts."""
    return b"/".join(path.split(b"/")[parts:])


def _patch(placed: dict[bytes, Member], patch: SnapshotPatch, field: str, origin: str) -> None:
    path = patch.file.encode()
    if patch.content is not None:
        known = placed.get(path, Member(path=path))
        placed[path] = Member(path=path, data=patch.content.encode(), executable=known.executable)
        return
    member, find = placed.get(path), (patch.find or "").encode()
    if member is None or member.target is not None:
        found = f"{patch.file}, which is no file of the fixture"
        raise _refused(origin, f"{field}.file", found, "one that is", "mend its path, or write 'content'")
    times = member.data.count(find)
    if times != 1:
        found = f"the text {times} times in {patch.file}"
        mend = "mend the text: the commit holds another file than the patch was written for"
        raise _refused(origin, f"{field}.find", found, "exactly once", mend)
    placed[path] = replace(member, data=member.data.replace(find, (patch.replace or "").encode()))


def _lay_diff(placed: dict[bytes, Member], review: ReviewDiff, whole: Snapshot, trees: Trees, origin: str) -> None:
    target, strip = review.file.encode(), whole.strip or 0
    if target in placed:
        found = f"{review.file}, which the fixture has"
        raise _refused(origin, "snapshot.review_diff.file", found, "a free path", "choose another")
    shown = {path.encode() for path in review.paths}
    rules = matcher(whole.paths or ("**",))
    before = trees.members(review.base, lambda path: rules(path) and stripped(path, strip) in shown)
    old = {stripped(member.path, strip): member.data for member in before}
    parts: list[bytes] = []
    for path in sorted(shown):
        if path not in placed:
            found = f"{named(path)}, which is no file of the fixture"
            raise _refused(origin, "snapshot.review_diff.paths", found, "files of the fixture", "remove it")
        parts += shown_difference(path, old.get(path), placed[path].data)
    placed[target] = Member(path=target, data=b"".join(parts))


def _checked(placed: dict[bytes, Member], origin: str) -> tuple[Member, ...]:
    """Refuse what a nomination's folder cannot hold."""
    if not placed:
        mend = "widen the paths, or exclude less"
        raise _refused(origin, "snapshot", "no file that is left", "at least one file", mend)
    for path, member in placed.items():
        if member.target is not None:
            mend = "exclude it, or write its file into the snapshot"
            raise _refused(origin, named(path), "a symbolic link", "files alone", mend)
        if member.data.startswith(_LARGE_FILE):
            mend = "exclude it, or write its file into the snapshot"
            raise _refused(origin, named(path), "a pointer of Git LFS", "the file that it stands for", mend)
        if not is_plain_path(path.decode("utf-8", "surrogateescape")):
            raise _refused(origin, named(path), "a name that is not plain", "printable names in UTF-8", "exclude it")
    return checked_members(placed.values(), origin, CAPS)


def _refused(origin: str, field: str, found: str, expected: str, mend: str) -> FixtureError:
    return FixtureError(file=origin, field=field, found=found, expected=expected, mend=mend)
