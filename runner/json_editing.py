"""Changing single members of a JSON file; every other byte of it stays as somebody wrote it. Pure.

The text must be JSON already: it was parsed, strictly, before anything here looks at it.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

_DECODER = json.JSONDecoder()
_BLANK = re.compile(r"[ \t\r\n]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One member of an object: where its name begins, and where its value stands."""

    name: str
    begins: int
    start: int
    end: int


def members(text: str, start: int) -> Iterator[Member]:
    """Give the members of the object that begins at a place."""
    at = _beyond(text, start + 1)
    while text[at] != "}":
        begins = at
        name, at = _DECODER.raw_decode(text, at)
        value = _beyond(text, _beyond(text, at) + 1)
        _, end = _DECODER.raw_decode(text, value)
        yield Member(name=name, begins=begins, start=value, end=end)
        at = _beyond(text, end)
        at = _beyond(text, at + 1) if text[at] == "," else at


def items(text: str, start: int) -> Iterator[int]:
    """Give the places at which the values of a list begin."""
    at = _beyond(text, start + 1)
    while text[at] != "]":
        yield at
        _, end = _DECODER.raw_decode(text, at)
        at = _beyond(text, end)
        at = _beyond(text, at + 1) if text[at] == "," else at


def top(text: str) -> int:
    """Give the place at which the whole begins."""
    return _beyond(text, 0)


def put(text: str, start: int, name: str, value: object) -> str:
    """Give a text in which the object at a place has a member with a value: instead of its own, or behind its last."""
    written = json.dumps(value, ensure_ascii=False)
    found = tuple(members(text, start))
    for each in found:
        if each.name == name:
            return f"{text[: each.start]}{written}{text[each.end :]}"
    told = f"{json.dumps(name)}: {written}"
    if not found:
        return f"{text[: start + 1]}{told}{text[start + 1 :]}"
    between = text[start + 1 : found[0].begins] or " "
    return f"{text[: found[-1].end]},{between}{told}{text[found[-1].end :]}"


def _beyond(text: str, at: int) -> int:
    """Give the first place from there on that is no blank."""
    found = _BLANK.match(text, at)
    return at if found is None else found.end()
