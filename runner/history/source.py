"""Somebody's git repository, of which only objects and names are read. No git ever runs on it.

Its configuration, hooks, attributes, index, work tree and worktrees mean nothing here. A repository that borrows its
objects from another, or holds anything but plain files among them, is refused.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from runner.errors import FixtureError
from runner.fields import is_plain_path
from runner.parsing import decode, file_name, read_file

OBJECT_NAME = re.compile(r"[0-9a-f]{40}")
_LONGER_NAME = re.compile(r"[0-9a-f]{64}")
_SHORT_NAME = re.compile(r"[0-9a-f]{7,40}")
_RELATIVE = re.compile(r"(?P<name>[^~^]+)(?P<steps>(?:[~^][0-9]{0,4}){0,8})")
_PACKED_BYTES = 64 << 20
_LINK_BYTES = 4096
_LINKS = 5
_DEPTH = 2
"""Folders below `objects/` have no folders in them."""
_BORROWED = ("info/alternates", "info/http-alternates")


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A repository of somebody's on this host."""

    place: Path
    """As it was named."""
    git_dir: Path
    """Where its HEAD is."""
    common: Path
    """Where its objects and references are; another folder than `git_dir` in a linked work tree."""

    @property
    def name(self) -> str:
        """What errors call it."""
        return file_name(self.place)


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """A commit as it was asked for: an object's name, perhaps shortened, and steps to its ancestors."""

    name: str
    steps: str = ""

    def way(self) -> tuple["Revision", ...]:
        """Give every commit on the way to it, itself included: without them a clone cannot follow the steps."""
        single = ""
        for kind, count in re.findall(r"([~^])([0-9]*)", self.steps):
            single += "^" * int(count or 1) if kind == "~" else f"^{count}"
        steps = re.findall(r"\^[0-9]*", single)
        return tuple(Revision(name=self.name, steps="".join(steps[:count])) for count in range(len(steps) + 1))


def find_source(place: Path) -> Source:
    """Find a repository's own folder: bare, beside a work tree, or behind the `.git` file of a linked one.

    Raises:
        FixtureError: there is none, or its objects are not all its own and plain.
        DocumentError: a file of it cannot be read.
    """
    top = Path(os.path.realpath(place))
    git_dir = _git_dir(top, place)
    common = git_dir
    if (git_dir / "commondir").is_file():
        common = Path(os.path.realpath(git_dir / _line(git_dir / "commondir")))
    if not (git_dir / "HEAD").is_file() or not (common / "objects").is_dir():
        raise _refused(place, "", "no git repository", "one that is on this host", "clone it, and give its folder")
    _check_objects(common / "objects", place)
    return Source(place=place, git_dir=git_dir, common=common)


def revision(source: Source, text: str) -> Revision:
    """Read what somebody calls a commit: an object's name, a branch, a tag or HEAD, with `~2` or `^` behind it.

    Raises:
        FixtureError: it is no such name, or nothing has it.
        DocumentError: a file of the repository cannot be read.
    """
    parts = _RELATIVE.fullmatch(text)
    name = None if parts is None else _object_of(source, parts["name"])
    if parts is None or name is None:
        mend = "give the commit's whole name, as 'git rev-parse' prints it"
        raise _refused(source.place, text[:100], "no commit of that name", "one of this repository", mend)
    if _LONGER_NAME.fullmatch(name):
        raise _refused(
            source.place, text[:100], "a repository of SHA-256 objects", "one of SHA-1 objects", "convert it"
        )
    return Revision(name=name, steps=parts["steps"])


def _git_dir(top: Path, place: Path) -> Path:
    inner = top / ".git"
    if inner.is_dir():
        return Path(os.path.realpath(inner))
    if inner.is_file():
        words = _line(inner)
        if not words.startswith("gitdir: "):
            raise _refused(place, ".git", "a file that names no folder", "'gitdir: <folder>'", "give the repository")
        return Path(os.path.realpath(top / words.removeprefix("gitdir: ")))
    return top


def _check_objects(objects: Path, place: Path) -> None:
    if objects.is_symlink():
        raise _refused(place, "objects", "a symbolic link", "a folder", "give the repository that it leads to")
    for borrowed in _BORROWED:
        if (objects / borrowed).is_file() and read_file(objects / borrowed, _PACKED_BYTES).strip():
            mend = "run 'git repack -a -d' there and remove that file, or clone it with 'git clone --no-local'"
            raise _refused(place, f"objects/{borrowed}", "objects borrowed from elsewhere", "its own alone", mend)
    for odd in _odd(objects, 0):
        mend = "remove it, or give a fresh clone"
        raise _refused(place, file_name(odd), "something else than a file", "plain files among its objects", mend)


def _odd(folder: Path, depth: int) -> Iterator[Path]:
    """Give what git might wait for, or be led away by, among objects."""
    with os.scandir(folder) as found:
        for child in found:
            if child.is_dir(follow_symlinks=False) and depth < _DEPTH:
                yield from _odd(Path(child.path), depth + 1)
            elif not child.is_file(follow_symlinks=False):
                yield Path(child.path)


def _object_of(source: Source, name: str) -> str | None:
    if _SHORT_NAME.fullmatch(name) or _LONGER_NAME.fullmatch(name):
        return name
    if not is_plain_path(name):
        return None
    tries = (name,) if name.isupper() else (f"refs/{name}", f"refs/tags/{name}", f"refs/heads/{name}")
    tries = (name, *tries) if name.startswith("refs/") else tries
    remote = () if name.isupper() else (f"refs/remotes/{name}",)
    packed = _packed(source)
    return next((found for each in (*tries, *remote) if (found := _followed(source, each, packed)) is not None), None)


def _followed(source: Source, reference: str, packed: dict[str, str]) -> str | None:
    for _ in range(_LINKS):
        folder = source.common if reference.startswith("refs/") else source.git_dir
        place = folder / reference
        words = _line(place) if place.is_file() else packed.get(reference, "")
        if OBJECT_NAME.fullmatch(words) or _LONGER_NAME.fullmatch(words):
            return words
        target = words.removeprefix("ref: ")
        if target == words or not target.startswith("refs/") or not is_plain_path(target):
            return None
        reference = target
    return None


def _packed(source: Source) -> dict[str, str]:
    place = source.common / "packed-refs"
    if not place.is_file():
        return {}
    lines = read_file(place, _PACKED_BYTES).decode("utf-8", "replace").splitlines()
    pairs = (line.partition(" ") for line in lines if not line.startswith(("#", "^")))
    return {reference: name for name, _, reference in pairs}


def _line(place: Path) -> str:
    return decode(read_file(place, _LINK_BYTES), file_name(place)).removesuffix("\n")


def _refused(place: Path, field: str, found: str, expected: str, mend: str) -> FixtureError:
    return FixtureError(file=file_name(place), field=field, found=found, expected=expected, mend=mend)
