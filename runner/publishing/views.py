"""A published file, as a scan reads it: which bytes, who wrote them, and what a place in them is called. Pure."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial

from runner.publishing.binary_patch import binaries
from runner.publishing.model import Rule
from runner.publishing.places import field_at, field_of_lines, line_at
from runner.publishing.wrappings import Inside

_HUNK_LINE = re.compile(rb"^[+\- ]", re.MULTILINE)
_NOT_ADDED = re.compile(rb"^(?:[^+\n][^\n]*)", re.MULTILINE)
_ADDED = re.compile(rb"^\+", re.MULTILINE)

_ALL = frozenset(Rule)
_HOSTS = frozenset({Rule.SECRET, Rule.PATH, Rule.HOST})
"""What may not stand anywhere, whoever wrote it."""

_IN_TEXTS = frozenset({Rule.ENTROPY})
"""What is looked for in texts alone: programs are full of names that compilers made."""

SIGNED = frozenset(
    {"SHA256SUMS", "SHA256SUMS.sig", "SHA256SUMS.sshsig", "checkpoint", "release.dsse.json", "release.sigstore.json"}
)
"""Files of signatures, which look drawn by lot because they are (runner/signing/bundle.py)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """Some bytes to look through."""

    text: bytes = field(repr=False)
    place: Callable[[int], str]
    """Names the place of an offset."""
    of_candidate: bool = False
    """Whether it is a candidate's change, and no document of ours."""
    rules: frozenset[Rule] = frozenset(Rule)
    """What is looked for. `UNREADABLE` stands for what is wrapped up."""
    wrapped: tuple[str, ...] = ()
    """What it was taken out of, outermost first."""
    escapes: int = 0
    """How often backslashes were taken out of it."""

    def inner(self, inside: Inside) -> "View":
        """Give what was wrapped up in it."""
        wrapped = (*self.wrapped, inside.wrapping) if inside.wrapping else self.wrapped
        place = partial(_origin, self.place, inside)
        escapes = self.escapes + (not inside.wrapping)
        rules = (self.rules | _HOSTS) - (_IN_TEXTS if b"\0" in inside.content else frozenset())
        return replace(self, text=inside.content, place=place, wrapped=wrapped, escapes=escapes, rules=rules)


def is_change(file: str) -> bool:
    """Whether a published file is a candidate's own change."""
    return file.endswith((".diff", ".patch"))


def views_of(file: str, data: bytes) -> Iterator[View]:
    """Give everything of a file that there is to look through, but for what is wrapped up."""
    name = file.rpartition("/")[2]
    if is_change(file):
        yield from _change(data)
    elif name.endswith((".jsonl", ".ndjson")):
        yield View(text=data, place=partial(field_of_lines, data))
    else:
        names = partial(field_at if name.endswith(".json") else line_at, data)
        yield View(text=data, place=names, rules=_ALL - {Rule.ENTROPY} if name in SIGNED else _ALL)


def unreadable_binaries(file: str, data: bytes) -> Iterator[tuple[str, bytes]]:
    """Give places and texts of binary patches that cannot be read."""
    if is_change(file):
        yield from ((line_at(data, each.start), each.block) for each in binaries(data) if each.content is None)


def _change(patch: bytes) -> Iterator[View]:
    """Give all lines without their marks for secrets and names of the host, added ones for all else; binary content.

    Lines that a change leaves or removes are the fixture's, which everybody has: what is in them was not written here.
    """
    whole = _HUNK_LINE.sub(b"", patch)
    added = _ADDED.sub(b"", _NOT_ADDED.sub(b"", patch))
    yield View(text=whole, place=partial(line_at, whole), of_candidate=True, rules=_HOSTS)
    yield View(text=added, place=partial(line_at, added), of_candidate=True, rules=_ALL - _HOSTS)
    for binary in binaries(patch):
        if binary.content:
            inside = Inside(wrapping="a binary patch", start=binary.start, content=binary.content)
            yield View(text=patch, place=partial(line_at, patch), of_candidate=True).inner(inside)


def _origin(place: Callable[[int], str], inside: Inside, offset: int) -> str:
    return place(inside.origin(offset))
