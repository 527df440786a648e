"""The wire form of a pack: a length, a JSON header that lists the entries, the files' bytes in that order.

It travels as the descriptor of a memfd or an unlinked file. Reading checks everything but the digests, which
are checked while the bytes are laid (sandbox.laying).
"""

import base64
import binascii
import json
import os
import re
import struct
from dataclasses import dataclass

from sandbox.api import Pack
from sandbox.errors import PackError, TreeError
from sandbox.tree import Entry, Kind

MOST_ENTRIES = 1_000_000
MOST_HEADER_BYTES = 512 << 20
LONGEST_NAME = 255
LONGEST_TARGET = 4095
_LENGTH = struct.Struct(">Q")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_CHUNK = 1 << 20
_ROWS = frozenset((str, str, bool, sha256, int, target) for sha256 in (str, type(None)) for target in (str, type(None)))
"""The types of a header's row: path, kind, executable, sha256, size, link target."""


@dataclass(frozen=True, slots=True)
class Packed:
    """An entry, and where the bytes of a file begin in the pack."""

    entry: Entry
    offset: int


def write_pack(pack: Pack, fd: int) -> None:
    """Write a pack to an empty file's descriptor, one file's bytes in memory at a time.

    Raises:
        PackError: a blob has not the size its entry promises.
    """
    header = json.dumps([_row(entry) for entry in pack.entries], separators=(",", ":")).encode("ascii")
    _write(fd, _LENGTH.pack(len(header)) + header)
    for entry in pack.entries:
        if entry.kind is Kind.FILE and entry.sha256 is not None:
            content = pack.blobs(entry.sha256)
            if len(content) != entry.size:
                raise PackError(f"{entry.path!r} has {len(content)} bytes; its entry says {entry.size}")
            _write(fd, content)


def read_header(fd: int) -> tuple[Packed, ...]:
    """Read and check a pack's entries; the descriptor's position does not matter and does not move.

    Raises:
        PackError: the pack is garbled, too large, does not add up, or has paths that contradict each other.
    """
    size = os.fstat(fd).st_size
    (length,) = _LENGTH.unpack(read_exactly(fd, 0, _LENGTH.size))
    start = _LENGTH.size + length
    if length > MOST_HEADER_BYTES or start > size:
        raise PackError(f"the header claims {length} bytes in a pack of {size}")
    packed = _placed(_parsed(read_exactly(fd, _LENGTH.size, length)), start)
    end = packed[-1].offset + packed[-1].entry.size if packed else start
    if end != size:
        raise PackError(f"the entries add up to {end} bytes; the pack has {size}")
    _check_paths(packed)
    return packed


def read_exactly(fd: int, offset: int, count: int) -> bytes:
    """Read `count` bytes at `offset`.

    Raises:
        PackError: the pack ends before.
    """
    parts = []
    while count:
        part = os.pread(fd, min(count, _CHUNK), offset)
        if not part:
            raise PackError("the pack ends too soon")
        parts.append(part)
        offset, count = offset + len(part), count - len(part)
    return b"".join(parts)


def _row(entry: Entry) -> list[object]:
    target = None if entry.target is None else _text(entry.target)
    return [_text(entry.path), entry.kind.value, entry.executable, entry.sha256, entry.size, target]


def _parsed(header: bytes) -> list[Entry]:
    try:
        rows = json.loads(header)
    except (ValueError, RecursionError) as error:
        raise PackError("the header is no JSON") from error
    if not isinstance(rows, list) or len(rows) > MOST_ENTRIES:
        raise PackError(f"the header is no list of at most {MOST_ENTRIES} entries")
    return [_entry(row) for row in rows]


def _entry(row: object) -> Entry:
    if not isinstance(row, list) or tuple(map(type, row)) not in _ROWS:
        raise PackError(f"a row of the header has not its six fields: {row!r:.300}")
    path, kind, executable, sha256, size, target = row
    try:
        entry = Entry(
            path=_bytes(path),
            kind=Kind(kind),
            executable=executable,
            sha256=sha256,
            size=size,
            target=None if target is None else _bytes(target),
        )
    except (ValueError, TreeError) as error:
        raise PackError(f"a row of the header is no entry: {row!r:.300}") from error
    _check(entry)
    return entry


def _check(entry: Entry) -> None:
    """Refuse what an entry may say but no file system can hold, and sizes that mean nothing."""
    path, target = entry.path, entry.target
    if len(path) > LONGEST_NAME and max(map(len, path.split(b"/"))) > LONGEST_NAME:
        raise PackError(f"{path!r:.300} has a name that is too long")
    if entry.sha256 is not None and not _SHA256.fullmatch(entry.sha256):
        raise PackError(f"{path!r:.300} has no proper digest")
    if entry.size < 0 or (entry.size and entry.kind is not Kind.FILE):
        raise PackError(f"{path!r:.300} cannot have {entry.size} bytes")
    if target is not None and (not 0 < len(target) <= LONGEST_TARGET or b"\0" in target):
        raise PackError(f"{path!r:.300} is a link that no file system can hold")


def _placed(entries: list[Entry], start: int) -> tuple[Packed, ...]:
    packed = []
    for entry in entries:
        packed.append(Packed(entry, start))
        start += entry.size
    return tuple(packed)


def _check_paths(packed: tuple[Packed, ...]) -> None:
    """Refuse a path that stands twice, and one beneath a file or link."""
    paths = {each.entry.path for each in packed}
    if len(paths) != len(packed):
        raise PackError("a path stands twice")
    ends = {each.entry.path for each in packed if each.entry.kind in {Kind.FILE, Kind.LINK}}
    sound: set[bytes] = set()
    for each in packed:
        if each.entry.kind is not Kind.GONE:
            _check_above(each.entry.path, ends, sound)


def _check_above(path: bytes, ends: set[bytes], sound: set[bytes]) -> None:
    """Walk up from a path as far as the folders that are known to be sound."""
    above = path.rpartition(b"/")[0]
    while above and above not in sound:
        if above in ends:
            raise PackError(f"{path!r:.300} lies beneath a file or link")
        sound.add(above)
        above = above.rpartition(b"/")[0]


def _write(fd: int, content: bytes) -> None:
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(fd, rest) :]


def _text(raw: bytes) -> str:
    return base64.b64encode(raw).decode("ascii")


def _bytes(text: str) -> bytes:
    return binascii.a2b_base64(text, strict_mode=True)
