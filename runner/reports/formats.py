"""The formats of result tables, A to D: which headings in which order, and what may stand below. Data and rules."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from fractions import Fraction

from runner.reports.marks import UNKNOWN
from runner.reports.report import Status

STATUSES = frozenset({*(each.value for each in Status), "not available"})
"""Words for how a row ended."""
FIRST = "Rank / status"
"""The heading that tells a table of results from others."""

_RANK = re.compile(
    r"(?:(?P<rank>[1-9][0-9]*)[.,]?|unranked[.,]?|n/a|[-\u2013\u2014])?\s*(?P<status>[a-z_ ]*)", re.IGNORECASE
)
_COUNT = re.compile(r"(?P<hits>[0-9]+)\s*(?:/|of)\s*(?P<of>[0-9]+)(?: passed)?", re.IGNORECASE)
_SECONDS = re.compile(r"[0-9]+\.[0-9]{3}")
_MONEY = re.compile(r"\$?[0-9]+(?:\.[0-9]+)?(?: USD)?")
_POINTS = re.compile(r"[0-9]|10")
_MEAN = re.compile(r"[0-9]+(?:\.(?P<digits>[0-9]+))?")

Rule = Callable[[str], str | None]
"""Gives what is expected instead; None where a text may stand there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """One column of a format."""

    names: tuple[str, ...]
    """Its heading, or one of these."""
    rule: Rule
    optional: bool = False
    is_points: bool = False
    """Whether it is one of those that Overall is the mean of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A format."""

    letter: str
    slots: tuple[Slot, ...]

    def headings(self) -> str:
        """Name its headings in their order; those that may be left out in brackets."""
        return " | ".join(f"[{each.names[0]}]" if each.optional else each.names[0] for each in self.slots)

    def fit(self, heads: Sequence[str]) -> tuple[Slot, ...] | None:
        """Give the column that each heading stands for; None where they are not those of this format."""
        found: list[Slot] = []
        left = list(self.slots)
        for head in heads:
            while left and head not in left[0].names and left[0].optional:
                left.pop(0)
            if not left or head not in left[0].names:
                return None
            found.append(left.pop(0))
        return tuple(found) if all(each.optional for each in left) else None


def rank_and_status(text: str) -> tuple[int | None, str] | None:
    """Take a first cell apart; None where it is none."""
    found = _RANK.fullmatch(text.strip())
    if found is None:
        return None
    rank, status = found["rank"], found["status"].strip().casefold().replace("_", " ")
    return None if rank is None else int(rank), status


def _rank(text: str) -> str | None:
    found = rank_and_status(text)
    if found is not None and found[1] in STATUSES:
        return None
    return f"a rank or 'unranked', and below it one of {', '.join(sorted(STATUSES))}"


def _words(text: str) -> str | None:
    return None if re.search(r"[^\W\d_]", text) else "words"


def _check(text: str) -> str | None:
    found = _COUNT.fullmatch(text)
    if text in {"passed", "failed", "not run", UNKNOWN} or (found and int(found["hits"]) <= int(found["of"])):
        return None
    return f"'passed', 'failed', 'N of M passed' or '{UNKNOWN}'"


def _count(text: str) -> str | None:
    found = _COUNT.fullmatch(text)
    return None if text == UNKNOWN or (found and int(found["hits"]) <= int(found["of"])) else f"'N/M' or '{UNKNOWN}'"


def _matching(form: re.Pattern[str], expected: str) -> Rule:
    def rule(text: str) -> str | None:
        return None if text == UNKNOWN or form.fullmatch(text) else f"{expected}, or '{UNKNOWN}'"

    return rule


_WHOLE = _matching(_POINTS, "a whole number from 0 to 10")
_AVERAGE = _matching(_MEAN, "a number from 0 to 10")
_TIME = _matching(_SECONDS, "seconds with three decimals")
_COST = _matching(_MONEY, "US dollars, as $0.25")


def mean_is(text: str, points: Sequence[str]) -> str | None:
    """Hold an Overall against the points that it is the mean of; gives what is expected instead."""
    if UNKNOWN in points:
        return None if text == UNKNOWN else f"'{UNKNOWN}', since a review point is"
    if any(_WHOLE(each) for each in points) or not points:
        return None  # that is said of the points already
    mean = Fraction(sum(map(int, points)), len(points))
    found = _MEAN.fullmatch(text)
    digits = len(found["digits"] or "") if found else 2
    exact = Decimal(mean.numerator) / mean.denominator
    step = Decimal(1).scaleb(-digits)
    right = {exact.quantize(step, way) for way in (ROUND_HALF_EVEN, ROUND_HALF_UP)}
    return None if found and Decimal(text) in right else f"{min(right)}, the mean of {', '.join(points)}"


def _slot(*names: str, rule: Rule = _words, optional: bool = False, points: bool = False) -> Slot:
    return Slot(names=names, rule=rule, optional=optional, is_points=points)


def _points(*names: str) -> tuple[Slot, ...]:
    return tuple(_slot(each, rule=_WHOLE, points=True) for each in names)


_CRITERIA = _points("Functional", "Reliability", "Maintainability", "Scope")
_START = (_slot(FIRST, rule=_rank), _slot("Model"))
_OVERALL = _slot("Overall", rule=_AVERAGE)
_HOW_LONG = _slot("Time (s)", rule=_TIME)
_EVIDENCE = _slot("Evidence", optional=True)
_REST = (_slot("Cost", rule=_COST, optional=True), _slot("Channel", optional=True), _EVIDENCE)

FORMATS = {
    "A": Format(
        letter="A",
        slots=(
            *_START, _slot("Public", rule=_check), _slot("Objective", rule=_check), *_CRITERIA, _OVERALL, _HOW_LONG,
            _slot("Cost", rule=_COST), _slot("Channel"),
        ),
    ),
    "B": Format(
        letter="B",
        slots=(
            *_START, _slot("Public", rule=_check), _slot("Hidden", rule=_check), *_CRITERIA, _OVERALL, _HOW_LONG,
            _EVIDENCE,
        ),
    ),
    "C": Format(
        letter="C",
        slots=(
            *_START, _slot("Reviewed", "Reviewed (x/total)", rule=_count, optional=True),
            _slot("Harnesses passed", rule=_count, optional=True),
            _slot("Public count", "Public", rule=_check, optional=True),
            _slot("Objective count", "Hidden count", "Objective", "Hidden", rule=_check, optional=True),
            *_CRITERIA, _OVERALL, _slot("Avg time (s)", rule=_TIME), *_REST,
        ),
    ),
    "D": Format(
        letter="D",
        slots=(
            *_START, _slot("Public", rule=_check, optional=True),
            _slot("Hidden", "Objective", rule=_check, optional=True),
            *_points("Simplicity", "Readability", "No extra code", "Reliability", "Edge cases"), _OVERALL, _HOW_LONG,
            *_REST,
        ),
    ),
}  # fmt: skip
"""By letter. A is what `runner report` writes; B to D are older ones of the reference system."""


def likely(heads: Sequence[str]) -> Format:
    """Give the format that a table's headings speak for."""
    if "Simplicity" in heads:
        return FORMATS["D"]
    if {"Avg time (s)", "Harnesses passed", "Reviewed", "Reviewed (x/total)"} & set(heads):
        return FORMATS["C"]
    return FORMATS["B" if "Hidden" in heads else "A"]
