"""Text in a change that speaks to a judge: found and labelled, never dropped. Pure.

The list is of what is known; an attack that is not on it is met by the packet's form, both orders and the view without
comments. A label costs its author nothing but the label.
"""

import base64
import binascii
import bisect
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from runner.judging.letters import folded
from runner.judging.phrases import RULES, Label


@dataclass(frozen=True, slots=True, kw_only=True)
class Injection:
    """One finding; `line` is the index of the line it begins in."""

    label: Label
    line: int


_COMPILED = tuple((rule.label, rule.stems, re.compile("|".join(rule.patterns), re.DOTALL)) for rule in RULES)

_LEADER = re.compile(r"""(?<![^\n])[ \t]*(?:(?:\#+|//+|/\*+|\*+/?|--+|;+|<!--|>+|\"{3}|'{3})[ \t]*)+""")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_ENCODED = re.compile(r"[A-Za-z0-9+/]{40,}={0,2}")
_MOST = 200
"""Findings of one change; an author of more gains nothing by it."""


def scan(lines: Sequence[str]) -> tuple[Injection, ...]:
    """Find what speaks to a judge, also over the ends of lines; each label once a place.

    Words are read as they look (`letters.folded`), in names with `_` or capitals too, and in base64.
    """
    if not lines:
        return ()
    text = "\n".join(folded(line).text for line in lines)
    starts = [0]
    plain = _plain(text)
    starts += (match.end() for match in re.finditer("\n", plain))
    found = [(label, bisect.bisect_right(starts, place) - 1) for label, place in _labelled(plain)]
    found += ((Label.ENCODED, text.count("\n", 0, place)) for place in _encoded(text))
    return tuple(Injection(label=label, line=line) for label, line in sorted(set(found), key=_place)[:_MOST])


def _place(found: tuple[Label, int]) -> tuple[int, str]:
    return found[1], found[0].value


def _plain(text: str) -> str:
    """Take comment marks off each line's begin, and names apart into words."""
    return _CAMEL.sub(" ", _LEADER.sub("", text)).replace("_", " ").lower()


def _labelled(plain: str) -> Iterator[tuple[Label, int]]:
    for label, stems, pattern in _COMPILED:
        if not any(stem in plain for stem in stems):
            continue
        for count, match in enumerate(pattern.finditer(plain)):
            if count == _MOST:
                break
            lead = len(match[0]) - len(match[0].lstrip("\n"))
            yield label, match.start() + lead


def _encoded(text: str) -> Iterator[int]:
    for match in _ENCODED.finditer(text):
        padded = match[0][: len(match[0]) // 4 * 4]
        try:
            inside = base64.b64decode(padded, validate=True).decode("ascii")
        except (binascii.Error, UnicodeDecodeError):
            continue
        if next(_labelled(_plain(inside)), None) is not None:
            yield match.start()
