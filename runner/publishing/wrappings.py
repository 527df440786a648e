"""What stands inside encodings and packed files: base64, hex, escapes, and whatever zlib, bz2 and xz unpack. Pure."""

import binascii
import bz2
import lzma
import re
import sys
import zlib
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import Protocol
from urllib.parse import unquote_to_bytes

UNPACKED_BYTES = 16 << 20
"""Of one packed stream. What is larger is not looked into, and said."""

BLOCK_LINE = 40
"""Letters of each line of base64 over several lines, but for the last."""

_STEP = 1 << 16
_HEAD = 18
"""Bytes by which a decoded run must read as text; of random ones about one in 10**7 does."""

_LOOKED_AT = 44
"""Letters of base64 that are decoded to see whether the rest is worth it: 33 bytes, as a zip member's header has 30."""

_PRINTABLE = bytes([*range(32, 127), 9, 10, 13])
_HEX = re.compile(rb"(?:[0-9a-fA-F]{2}){10,}")
_BASE64 = re.compile(rb"[A-Za-z0-9+/_-]{20,}")
_BLOCK = re.compile(rb"(?:^[ \t]*[A-Za-z0-9+/_-]{40,}[ \t]*\r?\n)+[ \t]*[A-Za-z0-9+/_-]{2,}", re.MULTILINE)
_URL_SAFE = bytes.maketrans(b"-_", b"+/")
_BLANKS = b" \t\r\n"

_ESCAPED_STRING = re.compile(rb'"[^"\\\n]*(?:\\.[^"\\\n]*)+"')
_SLASH = re.compile(rb"\\")
_ESCAPE = re.compile(rb"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|([0-3][0-7]{2})|(.))", re.DOTALL)
_ESCAPES = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"b": b"\b", b"f": b"\f"}
_PERCENT = re.compile(rb"%[0-9A-Fa-f]{2}")

_GZIP, _ZLIB, _RAW = 31, 15, -15
"""zlib's `wbits`."""
_MAGIC = re.compile(
    rb"\x1f\x8b\x08|\x78[\x01\x5e\x9c\xda]|BZh[1-9]1AY&SY|\xfd7zXZ\x00|PK\x03\x04.{4}\x08\x00.{16}(..)(..)", re.DOTALL
)
"""RFC 1952, RFC 1950, bzip2, xz, and a deflated member of a zip file (APPNOTE.TXT 4.3.7)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inside:
    """What was in a wrapping, and where that begins."""

    wrapping: str
    start: int
    content: bytes
    whole: bool = True
    """False where there is more than was unpacked."""
    parts: tuple[tuple[int, int], ...] = ()
    """Where it was put together from several places: each part's beginning in the content, and where it stood."""

    def origin(self, offset: int) -> int:
        """Give the place that a byte of the content came from, as near as is known."""
        part = bisect_right(self.parts, (offset, sys.maxsize))
        return self.parts[part - 1][1] if part else self.start


class _Stream(Protocol):
    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...
    @property
    def eof(self) -> bool: ...


def blocks(data: bytes) -> Iterator[Inside]:
    """Yield what is in base64 over several lines, if it reads as text or is packed."""
    for found in _BLOCK.finditer(data):
        yield from _of_base64(found.start(), found[0].translate(None, _BLANKS))


def decoded(run: bytes) -> Iterator[Inside]:
    """Yield what is in base64 or hex in one row of letters without blanks, if it reads as text or is packed."""
    for found in _HEX.finditer(run):
        content = binascii.unhexlify(found[0])
        if _tells(content):
            yield Inside(wrapping="hex", start=found.start(), content=content)
    # Bytes below 128 give one letter in four that is a capital or a to f: words and hex digits are passed over so.
    for found in _BASE64.finditer(run) if run != run.lower() else ():
        yield from _of_base64(found.start(), found[0])


def unescaped(data: bytes) -> Iterator[Inside]:
    """Yield all strings or lines without their backslashes, and all without the percent signs of addresses."""
    is_json = data[:1] in {b"{", b"["}
    if b"\\" in data:
        strings = ((each.start(), each[0]) for each in _ESCAPED_STRING.finditer(data))
        found = strings if is_json else _around(data, _SLASH, b"\n")
        yield from _together("", [(start, _ESCAPE.sub(_unescape, text)) for start, text in found])
    if _PERCENT.search(data):
        found = _around(data, _PERCENT, b'"' if is_json else b"\n")
        yield from _together("url", [(start, unquote_to_bytes(text)) for start, text in found])


def _around(data: bytes, mark: re.Pattern[bytes], edge: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the texts between two edges that a mark stands in, with their places."""
    found = mark.search(data)
    while found:
        start, end = data.rfind(edge, 0, found.start()) + 1, data.find(edge, found.start())
        yield start, data[start : len(data) if end < 0 else end]
        found = mark.search(data, end) if end >= 0 else None


def _together(wrapping: str, pieces: list[tuple[int, bytes]]) -> Iterator[Inside]:
    """Yield pieces as one text, a line each: looking through one long text is far quicker than through many."""
    if pieces:
        ends = accumulate((len(piece) + 1 for _, piece in pieces), initial=0)
        parts = tuple((begin, start) for begin, (start, _) in zip(ends, pieces, strict=False))
        content = b"\n".join(piece for _, piece in pieces)
        yield Inside(wrapping=wrapping, start=pieces[0][0], content=content, parts=parts)


def packed(data: bytes) -> Iterator[Inside]:
    """Yield what packed streams hold that begin anywhere in some bytes; of broken ones, as much as there is."""
    if data.isascii():
        return
    for found in _MAGIC.finditer(data):
        name, start, stream = _stream(found)
        content, whole = _unpacked(stream, data, start)
        if content:
            yield Inside(wrapping=name, start=found.start(), content=content, whole=whole)


def _of_base64(start: int, run: bytes) -> Iterator[Inside]:
    letters = run.translate(_URL_SAFE)
    for ahead in range(4):
        if _tells(_base64(letters[ahead : ahead + _LOOKED_AT])):
            yield Inside(wrapping="base64", start=start, content=_base64(letters[ahead:]))
            return


def _base64(letters: bytes) -> bytes:
    whole = letters[: len(letters) - len(letters) % 4]
    rest = letters[len(whole) :]
    return binascii.a2b_base64(whole + (rest + b"=" * (4 - len(rest)) if len(rest) > 1 else b""))


def _tells(content: bytes) -> bool:
    head = content[:_HEAD]
    if _MAGIC.match(content):
        return True
    return len(head) > _HEAD // 2 and not head.translate(None, _PRINTABLE)


def _unescape(found: re.Match[bytes]) -> bytes:
    wide, narrow, octal, letter = found.groups()
    if wide:
        return chr(int(wide, 16)).encode("utf-8", "surrogatepass")
    if narrow or octal:
        return bytes([int(narrow, 16) if narrow else int(octal, 8)])
    return _ESCAPES.get(letter, letter)


def _stream(found: re.Match[bytes]) -> tuple[str, int, _Stream]:
    start = found.start()
    match found[0][:2]:
        case b"\x1f\x8b":
            return "gzip", start, zlib.decompressobj(_GZIP)
        case b"PK":
            lengths = int.from_bytes(found[1], "little") + int.from_bytes(found[2], "little")
            return "zip", found.end() + lengths, zlib.decompressobj(_RAW)
        case b"BZ":
            return "bz2", start, bz2.BZ2Decompressor()
        case b"\xfd7":
            return "xz", start, lzma.LZMADecompressor()
        case _:
            return "zlib", start, zlib.decompressobj(_ZLIB)


def _unpacked(stream: _Stream, data: bytes, start: int) -> tuple[bytes, bool]:
    """Unpack in steps, so that what stands before a break is had too."""
    content = bytearray()
    try:
        for at in range(start, len(data), _STEP):
            content += stream.decompress(data[at : at + _STEP], UNPACKED_BYTES + 1 - len(content))
            if stream.eof or len(content) > UNPACKED_BYTES:
                break
    except (zlib.error, lzma.LZMAError, OSError, EOFError):
        return bytes(content), True
    return bytes(content[:UNPACKED_BYTES]), len(content) <= UNPACKED_BYTES
