"""What is left to do: planned attempts x what is sealed already -> the next step of each attempt. Pure."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Protocol, assert_never

from runner.documents.facts import Blame
from runner.errors import BegunError
from runner.outcome import Outcome

INTERRUPTIONS = 5
"""How many tries of an attempt may be lost before a model worked in them: more is a cause, not an accident."""

GRADINGS = 3
"""How often a submission is graded, at most, before somebody has to look at it."""


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Cell:
    """One planned attempt."""

    candidate: str
    nomination: str
    attempt: int

    def __str__(self) -> str:
        return f"{self.candidate}/{self.nomination}/attempt-{self.attempt}"


class Rules(Protocol):
    """When a try without a result is repeated: `runner.config.RetryPolicy` is one."""

    @property
    def void_tries(self) -> int:
        """All tries of an attempt that may end void, the first included."""

    @property
    def void_blames(self) -> tuple[str, ...]:
        """The blames whose voids are repeated."""

    @property
    def unavailable_tries(self) -> int:
        """All tries of an attempt that may end unavailable, the first included."""


class Standing(StrEnum):
    """How a try stands, from what is sealed of it."""

    OPEN = "open"
    """Begun, and nothing is sealed: its runner was killed."""
    CAPTURED = "captured"
    """The submission is sealed and was never graded."""
    UNGRADED = "ungraded"
    """The submission is sealed; every grading ended in a fault of its own."""
    VOID = "void"
    UNAVAILABLE = "unavailable"
    DONE = "done"


@dataclass(frozen=True, slots=True, kw_only=True)
class TryState:
    """One try, as the rules see it."""

    number: int
    standing: Standing
    outcome: Outcome | None = None
    """None as long as it has none."""
    blame: Blame | None = None
    interrupted: bool = False
    """It was cut: its runner or keeper was killed, or somebody stopped it."""
    worked: bool = False
    """A model may have been at work in it."""
    gradings: int = 0

    @property
    def is_free(self) -> bool:
        """Whether it was cut before a model worked: what it would have been is simply tried next."""
        return self.interrupted and not self.worked


class Action(StrEnum):
    """What is done next about an attempt."""

    RUN = "run"
    GRADE = "grade"
    SKIP = "skip"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """The next step of one attempt, and why it is this one."""

    cell: Cell
    action: Action
    number: int
    """The try to run or to grade; of a skip, the last one."""
    why: str
    lost: int | None = None
    """A try whose runner was killed; it is sealed as void before anything else is done."""

    @property
    def is_left(self) -> bool:
        """Whether there is something to do."""
        return self.action is not Action.SKIP or self.lost is not None

    def __str__(self) -> str:
        closing = () if self.lost is None else (f"close try {self.lost} as void",)
        doing = () if closing and self.action is Action.SKIP else (f"{self.action} try {self.number}",)
        return f"{self.cell}: {', '.join((*closing, *doing))} ({self.why})"


def schedule(
    cells: Iterable[Cell],
    tries: Mapping[Cell, tuple[TryState, ...]],
    rules: Rules,
    *,
    resume: bool = False,
    retry_unavailable: bool = False,
) -> tuple[Step, ...]:
    """Give the next step of every attempt, in the order given.

    Raises:
        BegunError: something is there already and nobody said that it may be.
    """
    wanted = tuple(cells)
    begun = tuple(str(cell) for cell in wanted if tries.get(cell))
    if begun and not (resume or retry_unavailable):
        raise BegunError(names=begun)
    return tuple(next_step(cell, tries.get(cell, ()), rules, retry_unavailable=retry_unavailable) for cell in wanted)


def left_to_do(steps: Iterable[Step]) -> tuple[Step, ...]:
    """Leave out the attempts of which nothing is to be done."""
    return tuple(step for step in steps if step.is_left)


def plan(steps: Iterable[Step]) -> Iterator[str]:
    """Say what will be done, a line a step, and of how many attempts nothing, a line a reason."""
    skipped: Counter[str] = Counter()
    for step in steps:
        if step.is_left:
            yield f"to do: {step}"
        else:
            skipped[step.why] += 1
    for why, times in skipped.items():
        yield f"nothing to do for {times} attempt{'' if times == 1 else 's'}: {why}"


def next_step(cell: Cell, tries: tuple[TryState, ...], rules: Rules, *, retry_unavailable: bool = False) -> Step:
    """Give the next step of one attempt; asked again after each try, it also says when to stop."""
    if not tries:
        return Step(cell=cell, action=Action.RUN, number=1, why="never begun")
    last = tries[-1]
    match last.standing:
        case Standing.OPEN:
            void = replace(last, standing=Standing.VOID, blame=Blame.RUNNER, interrupted=True)
            return replace(_repeat_void(cell, (*tries[:-1], void), rules), lost=last.number)
        case Standing.CAPTURED | Standing.UNGRADED:
            return _grade(cell, last, rules)
        case Standing.VOID:
            return _repeat_void(cell, tries, rules)
        case Standing.UNAVAILABLE:
            return _repeat_unavailable(cell, tries, rules, wanted=retry_unavailable)
        case Standing.DONE:
            return _skip(cell, last, f"{last.outcome} in try {last.number}")
        case never:
            assert_never(never)


def _skip(cell: Cell, last: TryState, why: str) -> Step:
    return Step(cell=cell, action=Action.SKIP, number=last.number, why=why)


def _again(cell: Cell, last: TryState, why: str) -> Step:
    return Step(cell=cell, action=Action.RUN, number=last.number + 1, why=why)


def _grade(cell: Cell, last: TryState, rules: Rules) -> Step:
    if last.standing is Standing.CAPTURED:
        return Step(cell=cell, action=Action.GRADE, number=last.number, why="captured, not yet graded")
    if last.blame not in rules.void_blames:
        return _skip(cell, last, f"grading is void by the {last.blame}, which another grading would not mend")
    if last.gradings >= GRADINGS:
        return _skip(cell, last, f"graded {last.gradings} times, each void; somebody has to look at the host")
    return Step(cell=cell, action=Action.GRADE, number=last.number, why="every grading so far ended in a fault")


def _repeat_void(cell: Cell, tries: tuple[TryState, ...], rules: Rules) -> Step:
    last = tries[-1]
    if last.is_free:
        lost = sum(each.is_free for each in tries)
        if lost >= INTERRUPTIONS:
            return _skip(cell, last, f"{lost} tries were cut before a model worked; look at the host first")
        return _again(cell, last, f"try {last.number} was cut before a model worked")
    spent = sum(each.standing is Standing.VOID and not each.is_free for each in tries)
    said = f"try {last.number} was cut while its model worked" if last.interrupted else f"void in try {last.number}"
    if last.blame not in rules.void_blames:
        return _skip(cell, last, f"{said}; the release repeats no void by the {last.blame}")
    if spent >= rules.void_tries:
        return _skip(cell, last, f"{said}; the release allows {_times(rules.void_tries)}")
    return _again(cell, last, f"{said}, by the {last.blame}; the release allows {_times(rules.void_tries)}")


def _repeat_unavailable(cell: Cell, tries: tuple[TryState, ...], rules: Rules, *, wanted: bool) -> Step:
    last = tries[-1]
    spent = sum(each.standing is Standing.UNAVAILABLE for each in tries)
    if spent >= rules.unavailable_tries:
        allowed = _times(rules.unavailable_tries)
        return _skip(cell, last, f"unavailable in try {last.number}; the release allows {allowed}")
    if not wanted:
        return _skip(cell, last, f"unavailable in try {last.number}; --retry-unavailable tries again")
    return _again(cell, last, f"try {last.number} was unavailable")


def _times(tries: int) -> str:
    return "one try" if tries == 1 else f"{tries} tries"
