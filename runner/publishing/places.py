"""Where in a document something stands, in words: a line of a text, a field of JSON. Pure."""

import json
import re
from dataclasses import dataclass, field

HIDDEN = "\N{HORIZONTAL ELLIPSIS}"
"""Stands in a place's name for what is not told."""

_PLAIN = re.compile(r"[A-Za-z0-9_./:-]{1,80}")
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[\]{},:]|[^\s\[\]{},:"]+')


def line_at(text: bytes, offset: int) -> str:
    """Name the line that an offset lies in."""
    return f"line {text.count(10, 0, offset) + 1}"


def field_at(document: bytes, offset: int) -> str:
    """Name the field of a JSON text that an offset lies in; its line where it is no JSON so far."""
    trail = _Trail()
    for token in _TOKEN.finditer(document):
        if token.end() > offset:
            trail.take(token[0])
            return trail.name or line_at(document, offset)
        trail.take(token[0])
    return line_at(document, offset)


def field_of_lines(documents: bytes, offset: int) -> str:
    """Name line and field of an offset in a file with one JSON text a line."""
    start = documents.rfind(b"\n", 0, offset) + 1
    end = documents.find(b"\n", start)
    line = documents[start : len(documents) if end < 0 else end]
    return f"{line_at(documents, offset)}: {field_at(line, offset - start)}"


@dataclass(slots=True)
class _Trail:
    """Keys and indices from the top of a document to where the reading stands."""

    parts: list[str | int] = field(default_factory=list)
    _awaits_key: bool = False

    @property
    def name(self) -> str:
        text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in self.parts)
        return text.removeprefix(".")

    def take(self, token: bytes) -> None:
        """Go on by one token."""
        match token:
            case b"{":
                self.parts.append("")
                self._awaits_key = True
            case b"[":
                self.parts.append(0)
                self._awaits_key = False
            case b"}" | b"]":
                self.parts = self.parts[:-1]
                self._awaits_key = False
            case b",":
                self._next()
            case _ if self._awaits_key and token != b":" and self.parts:
                self.parts[-1] = _key(token)
                self._awaits_key = False
            case _:
                return

    def _next(self) -> None:
        if self.parts and isinstance(self.parts[-1], int):
            self.parts[-1] += 1
        self._awaits_key = bool(self.parts) and isinstance(self.parts[-1], str)


def _key(token: bytes) -> str:
    try:
        key = str(json.loads(token))
    except ValueError:
        key = token.decode("utf-8", "replace")
    return key if _PLAIN.fullmatch(key) else HIDDEN
