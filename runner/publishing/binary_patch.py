"""The content of git's binary patches: base85 lines, deflated, whole or as a delta. Pure.

The form is that of git's `diff.c` (`emit_binary_diff_body`) and of `delta.h`: each line begins with a letter for its
length in bytes (A to Z: 1 to 26, a to z: 27 to 52), and the rest is base85 in git's alphabet, four bytes by five
letters. A delta is a row of copies out of the old file, and of new bytes; the new bytes are what is of interest here.
"""

import base64
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from runner.publishing.wrappings import UNPACKED_BYTES

_BLOCK = re.compile(rb"^(literal|delta) [0-9]{1,15}\n((?:[A-Za-z][^\n]*\n)+)", re.MULTILINE)
_WIDTH = 52
_LOWER = 27 - ord("a")
_UPPER = 1 - ord("A")


@dataclass(frozen=True, slots=True, kw_only=True)
class Binary:
    """One side of a binary file's change, and where it begins in the patch; None where it cannot be read."""

    start: int
    block: bytes
    """As it stands in the patch."""
    content: bytes | None


def binaries(patch: bytes) -> Iterator[Binary]:
    """Yield the content of every binary file in a patch; of deltas, what they add."""
    if b"\nGIT binary patch\n" not in patch:
        return
    for found in _BLOCK.finditer(patch):
        yield Binary(start=found.start(), block=found[0], content=_content(found[1] == b"delta", found[2]))


def _content(is_delta: bool, lines: bytes) -> bytes | None:  # noqa: FBT001 - the two kinds of a block
    try:
        stream = zlib.decompressobj()
        content = stream.decompress(_deflated(lines), UNPACKED_BYTES + 1)
    except (ValueError, zlib.error):
        return None
    if len(content) > UNPACKED_BYTES or not stream.eof:
        return None
    return _added(content) if is_delta else content


def _deflated(lines: bytes) -> bytes:
    """Decode the lines; those of full length in one go, for the interpreter's base85 is slow to begin."""
    rows = lines.split(b"\n")[:-1]
    sizes = [row[0] + (_LOWER if row[0] >= ord("a") else _UPPER) for row in rows]
    if any(size != _WIDTH for size in sizes[:-1]):
        return b"".join(base64.b85decode(row[1:])[:size] for row, size in zip(rows, sizes, strict=True))
    return base64.b85decode(b"".join(row[1:] for row in rows))[: sum(sizes)]


def _added(delta: bytes) -> bytes | None:
    """Give the new bytes of a delta, a line feed between any two of its parts; None where it breaks off."""
    added: list[bytes] = []
    try:
        at = _after_size(delta, _after_size(delta, 0))
        while at < len(delta):
            command = delta[at]
            at += 1
            if command & 0x80:
                at += (command & 0x7F).bit_count()
            else:
                added.append(delta[at : at + command])
                at += command
    except IndexError:
        return None
    return b"\n".join(added)


def _after_size(delta: bytes, at: int) -> int:
    while delta[at] & 0x80:
        at += 1
    return at + 1
