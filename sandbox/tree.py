"""Trees: entries, snapshots and their digest."""

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """What stands at a path. Only the first three can be in a tree; GONE is a deletion in a change."""

    FILE = "file"
    LINK = "link"
    FOLDER = "folder"
    GONE = "gone"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One path of a tree or of a change to one.

    `path` is relative, raw bytes, without `.`, `..` or empty parts. A FILE has `sha256` (hex) and `size` (bytes);
    a LINK has its `target` (raw bytes); a FOLDER stands only where it is empty or on its own.
    """

    path: bytes
    kind: Kind
    executable: bool = False
    sha256: str | None = None
    size: int = 0
    target: bytes | None = None
