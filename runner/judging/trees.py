"""From a base and a change to it, as captured and proven, to the paths that differ, with what stands there. Pure."""

import bisect
from collections.abc import Iterator, Mapping, Sequence

from runner.judging.changes import Content, FileChange
from sandbox.api import Pack
from sandbox.contents import Contents
from sandbox.errors import TreeError
from sandbox.patch import Blobs
from sandbox.tree import Entry, Kind


class Base:
    """A frozen tree, ready to be compared with many changes."""

    def __init__(self, entries: Sequence[Entry], contents: Contents) -> None:
        self._entries: Mapping[bytes, Entry] = {entry.path: entry for entry in entries}
        self._paths = sorted(self._entries)
        self._contents = contents

    def content(self, path: bytes) -> Content | None:
        """Give what stands at a path; None for nothing, and for a folder.

        Raises:
            TreeError: the bytes of a file are not kept.
        """
        entry = self._entries.get(path)
        return None if entry is None else _content(entry, self._contents.get)

    def beneath(self, path: bytes) -> Iterator[bytes]:
        """List the paths below a folder."""
        prefix = path + b"/"
        at = bisect.bisect_left(self._paths, prefix)
        while at < len(self._paths) and self._paths[at].startswith(prefix):
            yield self._paths[at]
            at += 1


def file_changes(base: Base, change: Pack) -> tuple[FileChange, ...]:
    """Give every file and link that a change adds, removes or alters, sorted by path.

    Raises:
        TreeError: the bytes of a file are not there.
    """
    after = {entry.path: _content(entry, change.blobs) for entry in change.entries}
    gone = (path for entry in change.entries if entry.kind is not Kind.FOLDER for path in base.beneath(entry.path))
    paths = sorted({*after, *gone})
    sides = ((path, base.content(path), after.get(path)) for path in paths)
    return tuple(FileChange(path=path, before=before, after=now) for path, before, now in sides if before != now)


def _content(entry: Entry, blobs: Blobs) -> Content | None:
    if entry.target is not None:
        return Content(data=entry.target, link=True)
    if entry.kind is not Kind.FILE:
        return None
    if entry.sha256 is None:
        raise TreeError(f"{entry.path!r}: a file without a digest")
    return Content(data=blobs(entry.sha256), executable=entry.executable)
