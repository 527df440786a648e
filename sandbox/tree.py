"""Trees: entries, snapshots, changes, and the digest that names a tree (its layout: sandbox.listing).

Listings are kept by digest, so a changed tree costs the folders on the way to its changes and nothing else.
"""

import hashlib
import itertools
import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from sandbox.contents import Contents, MemoryContents
from sandbox.errors import TreeError
from sandbox.listing import EMPTY_TREE, FOLDER_MARK, MAGIC, decode_listing, encode_listing

_CHUNK = 1 << 20
_HEX = 64
_LONGEST_PATH = 0xFFFF


class Kind(StrEnum):
    """What stands at a path. Only the first three can be in a tree; GONE is a deletion in a change."""

    FILE = "file"
    LINK = "link"
    FOLDER = "folder"
    GONE = "gone"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One path of a tree or of a change to one.

    `path` is relative, raw bytes, without `.`, `..` or empty parts. A FILE has `sha256` (hex) and `size`
    (bytes); a LINK has its `target` (raw bytes); a FOLDER stands only where it is empty or on its own.
    """

    path: bytes
    kind: Kind
    executable: bool = False
    sha256: str | None = None
    size: int = 0
    target: bytes | None = None

    def __post_init__(self) -> None:
        parts = self.path.split(b"/")
        odd = b"" in parts or b"." in parts or b".." in parts or b"\0" in self.path
        if odd or len(self.path) > _LONGEST_PATH:
            raise TreeError(f"{self.path!r} is no path of a tree")
        if (self.kind is Kind.FILE) != (len(self.sha256 or "") == _HEX):
            raise TreeError(f"{self.path!r}: a file, and nothing else, has a sha256")
        if (self.kind is Kind.LINK) != (self.target is not None):
            raise TreeError(f"{self.path!r}: a link, and nothing else, has a target")
        if self.executable and self.kind is not Kind.FILE:
            raise TreeError(f"{self.path!r}: only a file is executable")


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaf:
    """A file or link as a listing tells it; `digest` is of the content or of the link's text."""

    kind: Kind
    executable: bool
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One path that two trees do not share; None stands on the side that lacks it."""

    path: bytes
    before: Leaf | None
    after: Leaf | None


Folder = dict[bytes, "bytes | Folder"]
"""A folder at work: a child is its mark and digest, or, once opened, a folder at work itself."""


def tree_digest(entries: Iterable[Entry]) -> str:
    """Give the digest of the tree that has exactly these entries; empty folders count nothing."""
    return snapshot(entries, MemoryContents())


def snapshot(entries: Iterable[Entry], listings: Contents) -> str:
    """Keep the listings of the tree that has exactly these entries, and give its digest.

    Raises:
        TreeError: a path stands twice, lies beneath a file, or is GONE.
    """
    whole = tuple(entries)
    if any(entry.kind is Kind.GONE for entry in whole):
        raise TreeError("a whole tree has no deletions")
    listings.put(MAGIC)
    return apply_change(EMPTY_TREE, whole, listings)


def apply_change(base: str, changes: Iterable[Entry], listings: Contents) -> str:
    """Give the digest of the tree that `changes` make of `base`, keeping the listings that are new.

    Deletions go first: GONE takes away what stands at its path, whole. Then a FILE or LINK replaces what
    stands at its path, whole; a FOLDER replaces a file or link and leaves a folder as it is. The order given
    does not matter.

    Raises:
        TreeError: a path stands twice, or lies beneath what is a file or link after the deletions.
    """
    ordered = sorted(changes, key=lambda entry: entry.path)
    for one, other in itertools.pairwise(ordered):
        if one.path == other.path:
            raise TreeError(f"{one.path!r} stands twice")
    root: Folder = dict(decode_listing(listings.get(base)))
    for entry in ordered:
        if entry.kind in {Kind.GONE, Kind.FOLDER}:
            _take_away(root, entry, listings)
    for entry in ordered:
        if entry.kind is Kind.FOLDER:
            _descend(root, entry.path.split(b"/"), listings)
        elif entry.kind is not Kind.GONE:
            *parents, name = entry.path.split(b"/")
            _descend(root, parents, listings)[name] = _leaf(entry)
    return _close(root, listings)


def differences(before: str, after: str, listings: Contents) -> tuple[Difference, ...]:
    """List the paths at which two trees differ, in order of their bytes; equal folders are not opened."""
    found: list[Difference] = []
    waiting: list[tuple[bytes, bytes | None, bytes | None]] = [
        (b"", b"d" + bytes.fromhex(before), b"d" + bytes.fromhex(after))
    ]
    while waiting:
        path, old, new = waiting.pop()
        olds, news = _children(old, listings), _children(new, listings)
        prefix = path + b"/" if path else b""
        for name in olds.keys() | news.keys():
            sides = olds.get(name), news.get(name)
            if sides[0] == sides[1]:
                continue
            if any(side is not None and side[0] == FOLDER_MARK for side in sides):
                waiting.append((prefix + name, *sides))
            leaves = [None if side is None else read_node(side) for side in sides]
            if any(leaves):
                found.append(Difference(path=prefix + name, before=leaves[0], after=leaves[1]))
    return tuple(sorted(found, key=lambda difference: difference.path))


def lookup(root: str, path: bytes, listings: Contents) -> Leaf | None:
    """Give the file or link at a path of a tree; None where there is none, or a folder."""
    node = node_at(root, path, listings)
    return None if node is None else read_node(node)


def node_at(root: str, path: bytes, listings: Contents) -> bytes | None:
    """Give the mark and digest of what stands at a path of a tree, folders too; None where nothing does."""
    node = b"d" + bytes.fromhex(root)
    for part in path.split(b"/"):
        child = _children(node, listings).get(part)
        if child is None:
            return None
        node = child
    return node


def read_node(node: bytes) -> Leaf | None:
    """Give what a listing's mark and digest say; None for a folder."""
    if node[0] == FOLDER_MARK:
        return None
    kind = Kind.LINK if node[:1] == b"l" else Kind.FILE
    return Leaf(kind=kind, executable=node[:1] == b"x", digest=node[1:].hex())


def read_folder(root: Path) -> tuple[Entry, ...]:
    """Walk a *trusted* folder: its files, links and empty folders, in order, with normalised modes.

    Raises:
        TreeError: something in it is no file, folder or link.
    """
    found: list[Entry] = []
    waiting = [b""]
    while waiting:
        folder = waiting.pop()
        names = os.listdir(os.path.join(os.fsencode(root), folder))  # noqa: PTH118, PTH208 - paths are bytes
        if folder and not names:
            found.append(Entry(path=folder, kind=Kind.FOLDER))
        for name in names:
            path = folder + b"/" + name if folder else name
            entry = _read_entry(root, path)
            if entry is None:
                waiting.append(path)
            else:
                found.append(entry)
    return tuple(sorted(found, key=lambda entry: entry.path))


def _read_entry(root: Path, path: bytes) -> Entry | None:
    place = os.path.join(os.fsencode(root), path)  # noqa: PTH118 - paths are bytes
    status = os.lstat(place)
    if stat.S_ISDIR(status.st_mode):
        return None
    if stat.S_ISLNK(status.st_mode):
        return Entry(path=path, kind=Kind.LINK, target=os.readlink(place))  # noqa: PTH115 - paths are bytes
    if not stat.S_ISREG(status.st_mode):
        raise TreeError(f"{os.fsdecode(place)!r} is no file, folder or link")
    sha256, size = hashlib.sha256(), 0
    with open(place, "rb") as file:  # noqa: PTH123 - paths are bytes
        while chunk := file.read(_CHUNK):
            sha256.update(chunk)
            size += len(chunk)
    executable = bool(status.st_mode & stat.S_IXUSR)
    return Entry(path=path, kind=Kind.FILE, executable=executable, sha256=sha256.hexdigest(), size=size)


def _leaf(entry: Entry) -> bytes:
    if entry.target is not None:
        return b"l" + hashlib.sha256(entry.target).digest()
    mark = b"x" if entry.executable else b"f"
    return mark + bytes.fromhex(entry.sha256 or "")


def _children(node: bytes | None, listings: Contents) -> dict[bytes, bytes]:
    if node is None or node[0] != FOLDER_MARK:
        return {}
    return decode_listing(listings.get(node[1:].hex()))


def _open(folder: Folder, name: bytes, listings: Contents) -> Folder | None:
    """Open a child that is a folder, for good; None where it is missing or a leaf."""
    child = folder.get(name)
    if isinstance(child, bytes):
        if child[0] != FOLDER_MARK:
            return None
        opened: Folder = dict(_children(child, listings))
        folder[name] = opened
        return opened
    return child


def _take_away(root: Folder, entry: Entry, listings: Contents) -> None:
    folder = root
    *parents, name = entry.path.split(b"/")
    for part in parents:
        opened = _open(folder, part, listings)
        if opened is None:
            return
        folder = opened
    child = folder.get(name)
    if entry.kind is Kind.GONE or (isinstance(child, bytes) and child[0] != FOLDER_MARK):
        folder.pop(name, None)


def _descend(root: Folder, parts: list[bytes], listings: Contents) -> Folder:
    folder = root
    for part in parts:
        opened = _open(folder, part, listings)
        if opened is None:
            if part in folder:
                raise TreeError(f"{b'/'.join(parts)!r} lies beneath a file")
            opened = folder[part] = {}
        folder = opened
    return folder


def _close(root: Folder, listings: Contents) -> str:
    """Keep the listing of every opened folder, the deepest first, and give the root's digest."""
    opened = [(root, b"", root)]
    for _, _, folder in opened:  # grows while it is walked: folders come before what they hold
        opened += ((folder, name, child) for name, child in folder.items() if isinstance(child, dict))
    for parent, name, folder in reversed(opened[1:]):
        if folder:
            parent[name] = b"d" + bytes.fromhex(listings.put(encode_listing(dict(_closed(folder)))))
        else:
            del parent[name]
    return listings.put(encode_listing(dict(_closed(root))))


def _closed(folder: Folder) -> Iterator[tuple[bytes, bytes]]:
    for name, child in folder.items():
        if isinstance(child, dict):
            raise TreeError("a folder at work is still open")
        yield name, child
