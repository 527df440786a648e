"""Packs made from bytes in memory, and one pack laid over another."""

import hashlib
from collections.abc import Mapping

from sandbox.api import Pack
from sandbox.tree import Entry, Kind


def pack_files(files: Mapping[str, bytes]) -> Pack:
    """Give the pack of plain files by path."""
    contents = {hashlib.sha256(content).hexdigest(): content for content in files.values()}
    entries = tuple(
        Entry(path=path.encode(), kind=Kind.FILE, sha256=hashlib.sha256(content).hexdigest(), size=len(content))
        for path, content in sorted(files.items())
    )
    return Pack(entries=entries, blobs=contents.__getitem__)


NOTHING = pack_files({})
"""A pack without a file."""


def laid_over(below: Pack, above: Pack) -> Pack:
    """Give the change that lays `above` on `below`; what stands in the way of `above` is left out.

    A path is in the way if it is the same, lies beneath a file or link of `above`, or is what `above` needs
    as a folder.
    """
    wanted = {entry.path for entry in above.entries if entry.kind is not Kind.FOLDER}
    folders = {parent for entry in above.entries for parent in _parents(entry.path)}
    folders |= {entry.path for entry in above.entries if entry.kind is Kind.FOLDER}
    kept = tuple(
        entry
        for entry in below.entries
        if entry.path not in wanted
        and not (entry.path in folders and entry.kind is not Kind.FOLDER)
        and wanted.isdisjoint(_parents(entry.path))
    )
    known = {entry.sha256 for entry in above.entries}
    return Pack(
        entries=(*kept, *above.entries),
        blobs=lambda digest: above.blobs(digest) if digest in known else below.blobs(digest),
    )


def _parents(path: bytes) -> tuple[bytes, ...]:
    parts = path.split(b"/")
    return tuple(b"/".join(parts[:count]) for count in range(1, len(parts)))
