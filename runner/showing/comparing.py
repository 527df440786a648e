"""What two attempts differ in: their ends, the first call at which they part, their cases, their patches. Pure."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest

from runner.gateway.divergence import first_difference
from runner.outcome import verdict
from runner.reason import reason
from runner.reports.marks import UNKNOWN
from runner.showing.sections import seconds
from runner.showing.steps import Kind, Step
from runner.showing.story import Story

_HEADER = re.compile(r"diff --git (.*)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One thing, of both attempts."""

    what: str
    left: str
    right: str

    @property
    def differs(self) -> bool:
        """Whether it is not the same of both."""
        return self.left != self.right


@dataclass(frozen=True, slots=True, kw_only=True)
class Parting:
    """Where two runs part: the calls of tools before it were the same."""

    same: int
    """How many calls both made alike, from the first on."""
    left: Step | None
    """Null: it made no more."""
    right: Step | None
    says: str
    """In a line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two attempts beside each other."""

    rows: tuple[Row, ...]
    parting: Parting | None
    """Null: the same calls were made; or one of the two has none that is known."""
    calls: tuple[int, int]
    cases: tuple[Row, ...]
    """Cases, public tests and evaluators that ended in another way."""
    same_cases: int
    files: tuple[tuple[str, str | None, str | None], ...]
    """Each path that one of them changed, with both patches of it."""


def compare_stories(left: Story, right: Story) -> Comparison:
    """Hold two attempts against each other."""
    cases = tuple(_cases(left, right))
    return Comparison(
        rows=tuple(_rows(left, right)),
        parting=parting(left.steps, right.steps),
        calls=(len(_calls(left.steps)), len(_calls(right.steps))),
        cases=tuple(each for each in cases if each.differs),
        same_cases=sum(not each.differs for each in cases),
        files=tuple(_files(left.diff, right.diff)),
    )


def parting(left: tuple[Step, ...], right: tuple[Step, ...]) -> Parting | None:
    """Find the first call of a tool that is not the same; what varies from run to run is left out."""
    for same, (one, other) in enumerate(zip_longest(_calls(left), _calls(right))):
        says = _difference(one, other)
        if says is not None:
            return Parting(same=same, left=one, right=other, says=says)
    return None


def _calls(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    return tuple(step for step in steps if step.kind is Kind.CALL)


def _difference(one: Step | None, other: Step | None) -> str | None:
    if one is None or other is None:
        left, right = (f"calls {each.name}" if each is not None else "makes no further call" for each in (one, other))
        return f"the first {left}, the second {right}"
    if one.name != other.name:
        return f"the first calls {one.name}, the second {other.name}"
    if one.text == other.text:
        return None
    found = first_difference(one.text.encode("utf-8", "surrogatepass"), other.text.encode("utf-8", "surrogatepass"))
    if found == "nothing but its place":
        return None
    told = found.replace(": recorded ", ": the first has ", 1).replace(", asked ", ", the second ", 1)
    return f"both call {one.name}: {told}"


def _rows(left: Story, right: Story) -> Iterator[Row]:
    for what, told in _ROWS.items():
        yield Row(what=what, left=told(left), right=told(right))


def _verdict(story: Story) -> str:
    return {True: "passed", False: "failed", None: "none"}[verdict(story.facts)]


def _wall(story: Story) -> str:
    spent = story.look.phases.solution
    return UNKNOWN if spent is None or spent.wall_ms is None else seconds(spent.wall_ms)


def _cost(story: Story) -> str:
    spent = story.look.phases.solution
    return UNKNOWN if spent is None or spent.cost_usd is None else spent.cost_usd


def _size(diff: str | None) -> str:
    if diff is None:
        return UNKNOWN
    lines = diff.split("\n")
    came = sum(line.startswith("+") and not line.startswith("+++") for line in lines)
    went = sum(line.startswith("-") and not line.startswith("---") for line in lines)
    return f"+{came} -{went}"


_ROWS: Mapping[str, Callable[[Story], str]] = {
    "candidate": lambda story: story.candidate.label or story.candidate.id,
    "agent": lambda story: story.candidate.agent.value,
    "model": lambda story: story.candidate.model or UNKNOWN,
    "outcome": lambda story: story.outcome.value,
    "verdict": _verdict,
    "reason": lambda story: reason(story.facts),
    "verifies": lambda story: "NO" if story.findings else "yes",
    "solution (s)": _wall,
    "cost (USD)": _cost,
    "requests": lambda story: UNKNOWN if story.look.traffic is None else str(story.look.traffic.requests),
    "calls": lambda story: str(len(_calls(story.steps))),
    "patch": lambda story: _size(story.diff),
}
"""What is told of both."""


def _cases(left: Story, right: Story) -> Iterator[Row]:
    one, other = _results(left), _results(right)
    for name in dict.fromkeys((*one, *other)):
        yield Row(what=name, left=one.get(name, "not known"), right=other.get(name, "not known"))


def _results(story: Story) -> Mapping[str, str]:
    """Give how everything ended that judged a submission, by its name."""
    counted = story.counted
    if counted is None:
        return {}
    words = {True: "passed", False: "failed"}
    found = {} if counted.tests is None else {"public tests": words[counted.tests.passed]}
    for ruling in counted.rulings:
        found[f"hidden check {ruling.id}"] = words[ruling.passed]
        found |= {f"{ruling.id}: {case.id}": words[case.passed] for case in ruling.cases}
    return found


def _files(left: str | None, right: str | None) -> Iterator[tuple[str, str | None, str | None]]:
    one, other = _by_file(left), _by_file(right)
    for name in sorted({*one, *other}):
        yield name, one.get(name), other.get(name)


def _by_file(diff: str | None) -> Mapping[str, str]:
    """Part a patch into those of single files, by their header."""
    found: dict[str, list[str]] = {}
    name = ""
    for line in (diff or "").removesuffix("\n").split("\n"):
        if header := _HEADER.fullmatch(line):
            name = header[1]
        if name:
            found.setdefault(name, []).append(line)
    return {_path(each): "\n".join(lines) for each, lines in found.items()}


def _path(header: str) -> str:
    """Give the path in a header of git's: `a/x b/x`, where both are the same without renames."""
    half = header[: len(header) // 2]
    return half.removeprefix("a/") if header == f"{half} b/{half.removeprefix('a/')}" else header
