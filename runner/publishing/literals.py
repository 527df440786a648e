"""Fixed private texts: paths and names of the host, content of evaluators and solutions, instructions of agents. Pure.

In a document of ours each of them counts by itself. A candidate's change is another matter: who mends the same
function for the same task may well write the same short line, or call a test the same. So there a hidden line counts by
itself if it is long, and else if several of them stand in one change; a solution's lines never do, for they are what
was asked for.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import quote

from runner.publishing.model import Rule, ScanContext
from runner.publishing.needles import SHORTEST, Hit, Needles
from runner.publishing.views import View

LONG_LINE, LONG_NAME, LONG_VALUE = 48, 28, 16
"""Bytes from which a hidden line, name or value counts by itself in a candidate's change."""

SEVERAL = 3
"""So many different short ones count together."""

_WORD = re.compile(rb"[A-Za-z0-9_]")
_IN_PATH = re.compile(rb"[A-Za-z0-9_-]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """One text in a view that may not be published."""

    rule: Rule
    kind: str
    start: int
    text: bytes
    form: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Meaning:
    """What a fixed text is, and what it takes to count."""

    rule: Rule
    kind: str
    bounded: re.Pattern[bytes] | None = None
    """Letters that may not stand right before or after it."""
    alone: int = 0
    """Bytes from which it counts by itself in a candidate's change."""
    in_changes: bool = True
    """Whether it counts there at all."""


class Literals:
    """Fixed texts of a context, ready to be looked for."""

    def __init__(self, exact: Mapping[bytes, Meaning], folded: Mapping[bytes, Meaning] | None = None) -> None:
        """Take texts whose case counts, and texts in small letters whose case does not."""
        folded = folded or {}
        self._exact = Needles({text: means for text, means in exact.items() if len(text) >= SHORTEST})
        self._folded = Needles({text: means for text, means in folded.items() if len(text) >= SHORTEST})
        self._short = {text: means for text, means in folded.items() if len(text) < SHORTEST}

    def find(self, view: View) -> tuple[Spot, ...]:
        """Give every fixed text that counts in a view."""
        hits = list(self._exact.find(view.text))
        if self._folded or self._short:
            folded = view.text.lower()
            hits += [*self._folded.find(folded), *_shortly(self._short, folded)]
        whole = [
            hit for hit in hits if _stands_alone(view.text, hit) and (hit.means.in_changes or not view.of_candidate)
        ]
        return tuple(
            Spot(rule=hit.means.rule, kind=hit.means.kind, start=hit.start, text=hit.needle)
            for hit in (_weighty(whole) if view.of_candidate else whole)
        )


def host_texts(context: ScanContext) -> Literals:
    """Give paths and names of the host."""
    exact: dict[bytes, Meaning] = {}
    for path in context.paths:
        means = Meaning(rule=Rule.PATH, kind=path.kind, bounded=_IN_PATH)
        for text in (path.text, quote(path.text), quote(path.text, safe=""), path.text.replace("/", "-")):
            exact.setdefault(text.encode(), means)
    folded = {
        each.text.lower().encode(): Meaning(rule=Rule.HOST, kind=each.kind, bounded=_WORD) for each in context.host
    }
    return Literals(exact, folded)


def hidden_texts(context: ScanContext) -> Literals:
    """Give content of evaluators and solutions, and instructions of agents."""
    content = context.evaluators
    exact: dict[bytes, Meaning] = {}
    for line, where in content.solutions.items():
        exact[line.encode()] = Meaning(rule=Rule.EVALUATOR, kind=f"a line of {where}", in_changes=False)
    for line, whose in context.instructions.items():
        exact[line.encode()] = Meaning(rule=Rule.RAW, kind=f"a line of {whose}", alone=LONG_LINE)
    tables: Iterable[tuple[Mapping[str, str], int, re.Pattern[bytes] | None]] = (
        (content.lines, LONG_LINE, None),
        (content.names, LONG_NAME, _WORD),
        (content.values, LONG_VALUE, _WORD),
    )
    for table, alone, bounded in tables:
        for text, what in table.items():
            exact[text.encode()] = Meaning(rule=Rule.EVALUATOR, kind=what, alone=alone, bounded=bounded)
    return Literals(exact)


def _shortly(short: Mapping[bytes, Meaning], data: bytes) -> Iterator[Hit[Meaning]]:
    for needle, means in short.items():
        start = data.find(needle)
        while start >= 0:
            yield Hit(start=start, needle=needle, means=means)
            start = data.find(needle, start + 1)


def _stands_alone(data: bytes, hit: Hit[Meaning]) -> bool:
    if hit.means.bounded is None:
        return True
    end = hit.start + len(hit.needle)
    return not any(hit.means.bounded.match(data[at : at + 1]) for at in _neighbours(hit, end) if 0 <= at < len(data))


def _neighbours(hit: Hit[Meaning], end: int) -> tuple[int, ...]:
    # A path may stand right behind anything: -I/home, file:///home.
    return (end,) if hit.means.rule is Rule.PATH else (hit.start - 1, end)


def _weighty(hits: list[Hit[Meaning]]) -> Iterator[Hit[Meaning]]:
    """Yield what counts in a candidate's change: long texts, and short ones of which there are several."""
    light: dict[Rule, set[bytes]] = {}
    for hit in hits:
        if len(hit.needle) < hit.means.alone:
            light.setdefault(hit.means.rule, set()).add(hit.needle)
    several = {rule for rule, texts in light.items() if len(texts) >= SEVERAL}
    yield from (hit for hit in hits if len(hit.needle) >= hit.means.alone or hit.means.rule in several)
