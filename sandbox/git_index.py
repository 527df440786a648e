"""Git's index file, version 2, as far as we need it: paths, modes and object names, no stat data."""

import hashlib
import struct
from collections.abc import Mapping
from dataclasses import dataclass

from sandbox.errors import PatchError

REGULAR, EXECUTABLE, LINK = 0o100644, 0o100755, 0o120000
MODES = frozenset({REGULAR, EXECUTABLE, LINK})
"""What can be in a tree of ours. A gitlink (160000) cannot."""

_HEADER = struct.Struct(">4sII")
_ENTRY = struct.Struct(">24xI12x20sH")
_VERSION = 2
_NAME_MASK = 0xFFF
_ALIGNMENT = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """What an index, or a tree of git's, says of a path: a mode and a blob's object name."""

    mode: int
    name: str


def encode_index(slots: Mapping[bytes, Slot]) -> bytes:
    """Lay out an index file."""
    parts = [_HEADER.pack(b"DIRC", _VERSION, len(slots))]
    for path in sorted(slots):
        slot = slots[path]
        entry = _ENTRY.pack(slot.mode, bytes.fromhex(slot.name), min(len(path), _NAME_MASK)) + path
        parts.append(entry + bytes(_ALIGNMENT - len(entry) % _ALIGNMENT))
    content = b"".join(parts)
    return content + hashlib.sha1(content, usedforsecurity=False).digest()


def decode_index(content: bytes) -> dict[bytes, Slot]:
    """Read an index file that git wrote; its extensions are passed over.

    Raises:
        PatchError: it is of another version, or holds an unmerged entry or a mode that we do not know.
    """
    try:
        signature, version, count = _HEADER.unpack_from(content)
        if (signature, version) != (b"DIRC", _VERSION):
            raise PatchError(f"git wrote an index of version {version}")
        slots: dict[bytes, Slot] = {}
        at = _HEADER.size
        for _ in range(count):
            mode, name, flags = _ENTRY.unpack_from(content, at)
            start = at + _ENTRY.size
            path = content[start : content.index(b"\0", start)]
            if mode not in MODES or flags & ~_NAME_MASK:
                raise PatchError(f"git's index has mode {mode:o} and flags {flags:x} at {path!r}")
            slots[path] = Slot(mode=mode, name=name.hex())
            length = _ENTRY.size + len(path)
            at += length + _ALIGNMENT - length % _ALIGNMENT
    except (struct.error, ValueError) as error:
        raise PatchError("git's index is cut short") from error
    return slots
