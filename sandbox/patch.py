"""Trusted patches: made from trees of our own bare repository, and proven by applying them independently."""

import hashlib
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from sandbox.contents import Contents, MemoryContents
from sandbox.errors import PatchError
from sandbox.git import (
    ObjectReader,
    make_repository,
    object_reader,
    quote,
    run_git,
    scratch_repository,
)
from sandbox.git_index import EXECUTABLE, LINK, REGULAR, Slot, decode_index, encode_index
from sandbox.patch_text import named_paths, refusal
from sandbox.tree import Entry, Kind, tree_digest

Blobs = Callable[[str], bytes]
"""Gives a file's bytes by their SHA-256, as in `api.Pack`."""

AUTHOR = b"dev <dev@localhost> 946684800 +0000"
"""The one author and the one date of every commit of ours; a candidate sees them, and they tell nothing."""

_DIFF = (
    "diff-tree", "-p", "--binary", "--full-index", "--no-renames", "--no-color", "--no-ext-diff",
    "--no-textconv", "--src-prefix=a/", "--dst-prefix=b/", "--unified=3", "--diff-algorithm=myers",
)  # fmt: skip
_APPLY = ("apply", "--cached", "--binary", "--whitespace=nowarn", "-")
_FOLDER_MODE = b"40000"
_NAME = 40
"""Hex digits of an object's name; a crash of the machine can leave a reference without them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """What a patch makes of its base: the paths that differ, and the bytes of the files among them."""

    changes: tuple[Entry, ...]
    contents: Contents


class Repository:
    """Our own bare repository of frozen bases; patches are made and applied in scratch ones above it."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def ingest(self, entries: Iterable[Entry], blobs: Blobs) -> str:
        """Keep a whole tree and give the commit it has here, always the same for the same tree.

        Raises:
            PatchError: it has a path that no patch could carry.
        """
        whole = tuple(sorted(entries, key=lambda entry: entry.path))
        if not (self._path / "HEAD").exists():
            make_repository(self._path)
        reference = f"refs/bases/{tree_digest(whole)}"
        known = self._path / reference
        commit = known.read_text().strip() if known.exists() else ""
        if len(commit) == _NAME:
            return commit
        known.unlink(missing_ok=True)
        return write_commit(self._path, reference, whole, blobs, durable=True)

    def diff(self, before: str, after: str) -> bytes:
        """Give the patch between two commits of this repository."""
        return run_git(self._path, *_DIFF, before, after)

    def patch(self, base: str, changes: Iterable[Entry], blobs: Blobs) -> bytes:
        """Give the patch that makes `changes` of a base; nothing of it stays in the repository."""
        with scratch_repository(self._path) as scratch:
            stream = b"".join(_import_stream("refs/heads/new", base, tuple(changes), blobs))
            return run_git(scratch, *_DIFF, base, _import(scratch, stream, durable=False))

    def apply(self, base: str, patch: bytes) -> Applied:
        """Apply a patch to a base, from the patch's text alone.

        The scratch repository knows the base and nothing that came after it, so that git cannot take a binary
        file's new content from its objects instead of from the patch.

        Raises:
            PatchError: it is no valid patch, does not apply exactly, or does what no patch of ours may.
        """
        if not patch:
            return Applied(changes=(), contents=MemoryContents())
        paths = named_paths(patch)
        with scratch_repository(self._path) as scratch, object_reader(scratch) as reader:
            before = _Base(base, reader).slots(paths)
            (scratch / "index").write_bytes(encode_index(before))
            run_git(scratch, *_APPLY, stdin=patch)
            after = decode_index((scratch / "index").read_bytes())
            _check_shape(paths, before, after)
            contents = MemoryContents()
            changes = tuple(
                _applied(path, after.get(path), reader, contents)
                for path in sorted(before.keys() | after.keys())
                if before.get(path) != after.get(path)
            )
        return Applied(changes=changes, contents=contents)


def write_commit(
    git_dir: Path, reference: str, entries: tuple[Entry, ...], blobs: Blobs, *, durable: bool = False
) -> str:
    """Write a whole tree as a commit without parents, by our one author, and give its name.

    Raises:
        PatchError: it has a path that no patch could carry.
    """
    for entry in entries:
        why = refusal(entry.path, entry.kind)
        if why is not None:
            raise PatchError(f"{entry.path!r} cannot be in a base: {why}")
    with tempfile.TemporaryFile() as stream:
        for part in _import_stream(reference, None, entries, blobs):
            stream.write(part)
        stream.seek(0)
        return _import(git_dir, stream, durable=durable)


class _Base:
    """A base commit's tree, opened folder by folder as far as it is needed."""

    def __init__(self, commit: str, reader: ObjectReader) -> None:
        self._reader = reader
        self._opened: dict[str, dict[bytes, tuple[bytes, str]]] = {}
        self._root = reader.read(commit, b"commit").split()[1].decode()

    def slots(self, paths: Iterable[bytes]) -> dict[bytes, Slot]:
        """Give what stands at the paths, beneath them, and where one of their folders should be."""
        found: dict[bytes, Slot] = {}
        for path in paths:
            mode, name = _FOLDER_MODE, self._root
            parts = path.split(b"/")
            for depth, part in enumerate(parts, 1):
                child = self._folder(name).get(part)
                if child is None:
                    break
                mode, name = child
                if mode != _FOLDER_MODE:
                    found[b"/".join(parts[:depth])] = Slot(mode=int(mode, 8), name=name)
                    break
            else:
                found.update(self._beneath(path, name))
        return found

    def _beneath(self, path: bytes, name: str) -> Iterator[tuple[bytes, Slot]]:
        waiting = [(path, name)]
        while waiting:
            folder, name = waiting.pop()
            for part, (mode, child) in self._folder(name).items():
                if mode == _FOLDER_MODE:
                    waiting.append((folder + b"/" + part, child))
                else:
                    yield folder + b"/" + part, Slot(mode=int(mode, 8), name=child)

    def _folder(self, name: str) -> dict[bytes, tuple[bytes, str]]:
        if name not in self._opened:
            self._opened[name] = dict(parse_tree(self._reader.read(name, b"tree")))
        return self._opened[name]


def parse_tree(content: bytes) -> Iterator[tuple[bytes, tuple[bytes, str]]]:
    """Give what a tree object names: each name with its mode and its object."""
    at = 0
    while at < len(content):
        space = content.index(b" ", at)
        end = content.index(b"\0", space)
        yield content[space + 1 : end], (content[at:space], content[end + 1 : end + 21].hex())
        at = end + 21


def _check_shape(paths: frozenset[bytes], before: dict[bytes, Slot], after: dict[bytes, Slot]) -> None:
    """Refuse a result that reaches beyond the named paths, or has a path beneath a file or link."""
    for path in before.keys() | after.keys():
        if before.get(path) != after.get(path) and path not in paths:
            raise PatchError(f"git changed {path!r}, which the patch does not name")
    for path in after:
        parts = path.split(b"/")
        if any(b"/".join(parts[:depth]) in after for depth in range(1, len(parts))):
            raise PatchError(f"the patch leaves {path!r} beneath a file or link")


def _applied(path: bytes, slot: Slot | None, reader: ObjectReader, contents: Contents) -> Entry:
    if slot is None:
        return Entry(path=path, kind=Kind.GONE)
    content = reader.read(slot.name, b"blob")
    if slot.mode == LINK:
        entry = Entry(path=path, kind=Kind.LINK, target=content)
    else:
        executable = slot.mode == EXECUTABLE
        sha256, size = contents.put(content), len(content)
        entry = Entry(path=path, kind=Kind.FILE, executable=executable, sha256=sha256, size=size)
    why = refusal(path, entry.kind)
    if why is not None:
        raise PatchError(f"the patch makes {path!r}: {why}")
    return entry


def _import(git_dir: Path, stream: bytes | BinaryIO, *, durable: bool) -> str:
    return run_git(git_dir, "fast-import", "--quiet", "--depth=0", stdin=stream, durable=durable).decode().strip()


def _import_stream(reference: str, base: str | None, entries: tuple[Entry, ...], blobs: Blobs) -> Iterator[bytes]:
    """Write the commit of a tree, or of a change to a base, for `git fast-import`; deletions go first."""
    yield b"feature done\ncommit %s\nmark :1\n" % reference.encode()
    yield b"author %s\ncommitter %s\ndata 5\nbase\n\n" % (AUTHOR, AUTHOR)
    if base is not None:
        yield b"from %s\n" % base.encode()
    for entry in entries:
        if entry.kind is Kind.GONE:
            yield b"D %s\n" % quote(entry.path)
    for entry in entries:
        if entry.kind in {Kind.FILE, Kind.LINK}:
            yield from _inline(entry, blobs)
    yield b"get-mark :1\ndone\n"


def _inline(entry: Entry, blobs: Blobs) -> tuple[bytes, ...]:
    content = blobs(entry.sha256) if entry.sha256 is not None else entry.target or b""
    if entry.sha256 is not None and hashlib.sha256(content).hexdigest() != entry.sha256:
        raise PatchError(f"the content given for {entry.path!r} is not what its digest says")
    mode = LINK if entry.kind is Kind.LINK else EXECUTABLE if entry.executable else REGULAR
    return b"M %o inline %s\ndata %d\n" % (mode, quote(entry.path), len(content)), content, b"\n"
