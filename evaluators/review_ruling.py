"""From the findings of a review to a score: which planted bugs were found, and at what cost. Pure.

A finding counts by its place alone; what it says is not read. It goes to the nearest planted place of its file within
the tolerance; of two that are as near, to a bug before a decoy, and to one that nobody has claimed before one that
somebody has. A bug that is found again costs and earns nothing. Whatever lies near no bug is a false alarm, and so is
every finding near a decoy. More findings than `most` are no review, and earn nothing.

Scores: `penalty` gives (found - fp_penalty * alarms - decoy_penalty * decoys) / bugs, not below 0. `f2` gives
F2 = 5PR / (4P + R) with recall R = found / bugs and precision P = found / (found + alarms + decoy_weight * decoys)
(van Rijsbergen, Information Retrieval, 1979, chapter 7, with beta = 2).
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal

_LINE = re.compile(r"[Ll]?([0-9]{1,7})(?:\s*[-:\u2013].*)?")
_PREFIXES = ("./", "a/", "b/", "/work/")


@dataclass(frozen=True, slots=True, kw_only=True)
class Planted:
    """A bug, or a decoy that only looks like one: a file and the ranges of lines (first, last) it spans."""

    id: str
    file: str
    lines: tuple[tuple[int, int], ...]
    decoy: bool = False

    def distance(self, line: int) -> int:
        """Give how many lines away a line is; 0 inside."""
        return min(max(first - line, line - last, 0) for first, last in self.lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Where a reviewer says something is wrong."""

    file: str
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """How findings are turned into a score."""

    scoring: str = "penalty"
    tolerance: int = 3
    fp_penalty: Decimal = Decimal("0.25")
    decoy_penalty: Decimal = Decimal("0.25")
    decoy_weight: Decimal = Decimal(2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Matched:
    """What the findings came to."""

    found: frozenset[str]
    """Ids of the bugs."""
    alarms: int
    decoys: int
    """Findings that went to a decoy."""


def read_findings(value: object) -> tuple[Finding, ...] | None:
    """Give the findings of a parsed answer: a list, or an object with `findings`; None where it is neither.

    Items without a file and a line are no findings.
    """
    if isinstance(value, dict):
        value = value.get("findings")
    if not isinstance(value, list):
        return None
    return tuple(found for each in value if isinstance(each, dict) and (found := _finding(each)) is not None)


def _finding(item: Mapping[str, object]) -> Finding | None:
    file, line = item.get("file"), item.get("line")
    if isinstance(line, str) and (told := _LINE.fullmatch(line.strip())):
        line = int(told[1])
    if not isinstance(file, str) or not isinstance(line, int) or isinstance(line, bool):
        return None
    return Finding(file=plain_path(file), line=line)


def plain_path(path: str) -> str:
    """Take off what tools put before a path."""
    for prefix in _PREFIXES:
        path = path.removeprefix(prefix)
    return path


def match(findings: Iterable[Finding], planted: tuple[Planted, ...], tolerance: int) -> Matched:
    """Give each finding to what it lies nearest to."""
    found: set[str] = set()
    alarms = decoys = 0
    for finding in dict.fromkeys(findings):
        target = _nearest(finding, planted, tolerance, found)
        if target is None:
            alarms += 1
        elif target.decoy:
            decoys += 1
        else:
            found.add(target.id)
    return Matched(found=frozenset(found), alarms=alarms, decoys=decoys)


def _nearest(finding: Finding, planted: tuple[Planted, ...], tolerance: int, found: set[str]) -> Planted | None:
    near = [
        (each.distance(finding.line), each.decoy, each.id in found, place, each)
        for place, each in enumerate(planted)
        if is_same_file(finding.file, each.file) and each.distance(finding.line) <= tolerance
    ]
    return min(near, key=lambda each: each[:4])[4] if near else None


def is_same_file(one: str, other: str) -> bool:
    """Whether two paths name the same file, one of them perhaps from further down."""
    shorter, longer = sorted((one, other), key=len)
    return longer == shorter or longer.endswith(f"/{shorter}")


def score(matched: Matched, bugs: int, weights: Weights) -> Decimal:
    """Give the score, from 0 to 1, rounded to six places."""
    found, worth = Decimal(len(matched.found)), Decimal(0)
    if weights.scoring == "penalty":
        cost = weights.fp_penalty * matched.alarms + weights.decoy_penalty * matched.decoys
        worth = max(Decimal(0), (found - cost) / bugs)
    elif found:
        recall = found / bugs
        precision = found / (found + matched.alarms + weights.decoy_weight * matched.decoys)
        worth = 5 * precision * recall / (4 * precision + recall)
    return worth.quantize(Decimal("0.000001")).normalize()
