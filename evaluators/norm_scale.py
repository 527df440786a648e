"""Norms: how a change is made, beside what it achieves. Weights, penalties and the score of what was counted. Pure.

A norm that cannot be measured says why, and the others share its weight. Norms never enter an outcome.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import ROUND_HALF_EVEN, Decimal
from enum import StrEnum
from fractions import Fraction

VERSION = 2
"""Of weights and rules."""


class NormId(StrEnum):
    """What is looked at."""

    SCOPE = "scope"
    """Files changed besides the target files."""
    DEBUG = "debug"
    """Lines left from looking for a bug."""
    LINT = "lint"
    """Findings of the pinned ruff that the base had not."""
    SIZE = "size"
    """Lines added and removed, against the solution's."""
    TESTS = "tests"
    """Code changed, and no test added."""
    COMMENTS = "comments"
    """The share of added lines with a comment, against the file's own."""


WEIGHTS: Mapping[NormId, Fraction] = {
    NormId.SCOPE: Fraction("0.225"),
    NormId.DEBUG: Fraction("0.18"),
    NormId.LINT: Fraction("0.18"),
    NormId.SIZE: Fraction("0.18"),
    NormId.TESTS: Fraction("0.135"),
    NormId.COMMENTS: Fraction("0.1"),
}

COUNTS: Mapping[NormId, tuple[str, ...]] = {
    NormId.SCOPE: ("changed", "outside"),
    NormId.DEBUG: ("added", "left"),
    NormId.LINT: ("base", "submission", "new"),
    NormId.SIZE: ("added", "removed", "solution"),
    NormId.TESTS: ("code", "tests"),
    NormId.COMMENTS: ("comments", "added", "base_comments", "base"),
}
"""What each is counted by."""

_PLACES = Decimal("0.0001")
_FILES, _LEFT, _FINDINGS = 2, 3, 5
"""At so many the whole penalty is due."""
_FREE_SIZE, _FULL_SIZE = Fraction(3, 2), Fraction(9, 2)
_FREE_SHARE, _FULL_SHARE = Fraction(1, 10), Fraction(4, 10)


@dataclass(frozen=True, slots=True, kw_only=True)
class Norm:
    """One norm of a change: what was counted, or why nothing could be."""

    id: NormId
    counts: Mapping[str, int] = field(default_factory=dict)
    reason: str = ""
    """Why it was not measured; empty where it was."""
    found: tuple[str, ...] = ()
    """The first places, for the operator."""

    @property
    def penalty(self) -> Fraction | None:
        """What it takes off, from 0 to 1; None where it was not measured."""
        # What is written down is what counts, so that the score follows from the document.
        return None if self.reason else Fraction(as_decimal(penalty_of(self.id, self.counts)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Norms:
    """All norms of a change, or why it has none."""

    norms: tuple[Norm, ...] = ()
    reason: str = ""

    @property
    def score(self) -> Decimal | None:
        """One less the weighted penalties of what was measured; None where nothing was."""
        return score_of((each.id, each.penalty) for each in self.norms)


def score_of(penalties: Iterable[tuple[NormId, Fraction | None]]) -> Decimal | None:
    """Give the score of some penalties; those that are None count nothing, and the rest shares their weight."""
    known = [(WEIGHTS[name], penalty) for name, penalty in penalties if penalty is not None]
    if not known:
        return None
    lost = sum((weight * penalty for weight, penalty in known), Fraction(0))
    lost /= sum((weight for weight, _ in known), Fraction(0))
    return as_decimal(1 - lost, _PLACES)


def as_decimal(part: Fraction, places: Decimal = Decimal("0.000001")) -> Decimal:
    """Write a part of one down."""
    return (Decimal(part.numerator) / part.denominator).quantize(places, ROUND_HALF_EVEN).normalize()


def penalty_of(name: NormId, counts: Mapping[str, int]) -> Fraction:
    """Give what the counts of a norm take off."""
    match name:
        case NormId.SCOPE:
            return min(Fraction(1), Fraction(counts["outside"], _FILES))
        case NormId.DEBUG:
            return min(Fraction(1), Fraction(counts["left"], _LEFT))
        case NormId.LINT:
            return min(Fraction(1), Fraction(counts["new"], _FINDINGS))
        case NormId.SIZE:
            ratio = Fraction(counts["added"] + counts["removed"], counts["solution"])
            return _between(ratio, _FREE_SIZE, _FULL_SIZE)
        case NormId.TESTS:
            return Fraction(0 if counts["tests"] else 1)
        case NormId.COMMENTS:
            share = Fraction(counts["comments"], counts["added"])
            return _between(abs(share - Fraction(counts["base_comments"], counts["base"])), _FREE_SHARE, _FULL_SHARE)


def _between(value: Fraction, free: Fraction, full: Fraction) -> Fraction:
    """Give nothing up to one bound, all from the other on, and in between what the way is."""
    return min(Fraction(1), max(Fraction(0), (value - free) / (full - free)))


FULL_FINDINGS = _FINDINGS
"""Findings that a file counts for which can no longer be read."""
