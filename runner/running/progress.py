"""How far a release has come: what is done, what is left, what is at work, when it may end, what it cost. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from statistics import median

from runner.documents.journal import Entry, State
from runner.documents.ledger import LedgerLine
from runner.documents.writing import decimal_text
from runner.schedule import Cell, TryState
from runner.store import cell_of

_OVER = frozenset({State.SEALED, State.VOID})
_ANSWERED = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """What was asked of models, and what that cost as far as providers told it."""

    requests: int
    usd: str
    """The sum of the prices that are known."""
    unpriced: int
    """Answers whose price nobody told: with one of them the whole is unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AtWork:
    """The try that a runner was at last."""

    cell: Cell
    try_: int
    state: State
    since_ms: int
    """When it came so far."""
    begun_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a release has come."""

    release: str
    planned: int
    left: int
    """Attempts that `--resume` would do something about."""
    results: Mapping[str, int]
    """How many of the others ended how."""
    at_work: AtWork | None
    """None where no pilot of this release lives."""
    left_ms: int | None
    """What is left may take as long; None where nobody knows."""
    spent: Spending

    @property
    def done(self) -> int:
        """How many attempts nothing more is done about."""
        return self.planned - self.left


def spending(lines: Iterable[LedgerLine]) -> Spending:
    """Add up requests, probes and failed ones included; a tunnel's price is nobody's to tell."""
    asked = [line for line in lines if line.asks_model or line.operation == "connect"]
    known = [Decimal(line.cost) for line in asked if line.cost is not None]
    unpriced = [line for line in asked if line.cost is None and _has_price(line)]
    return Spending(requests=len(asked), usd=decimal_text(sum(known, Decimal(0))), unpriced=len(unpriced))


def _has_price(line: LedgerLine) -> bool:
    return line.operation == "connect" or line.status_upstream == _ANSWERED


def last_at_work(entries: Iterable[Entry]) -> AtWork | None:
    """Give the try of a journal's last line, unless that says that it is over."""
    whole = tuple(entries)
    if not whole or whole[-1].state in _OVER:
        return None
    last = whole[-1]
    return AtWork(
        cell=cell_of(last.trial),
        try_=last.trial.try_,
        state=last.state,
        since_ms=last.at_ms,
        begun_ms=next(each.at_ms for each in whole if each.trial == last.trial),
    )


def durations(entries: Iterable[Entry]) -> dict[Cell, int]:
    """Give how long the tries that ended with a grading took, in milliseconds, of each attempt the last one.

    One that a killed runner did not tell of itself is left out: nobody knows when it ended.
    """
    begun: dict[tuple[Cell, int], int] = {}
    took: dict[Cell, int] = {}
    for entry in entries:
        cell = cell_of(entry.trial)
        begun.setdefault((cell, entry.trial.try_), entry.at_ms)
        if entry.state is State.SEALED and not entry.recovered:
            took[cell] = entry.at_ms - begun[cell, entry.trial.try_]
    return took


def time_left(left: Iterable[Cell], took: Mapping[Cell, int], at_work: AtWork | None, now_ms: int) -> int | None:
    """Estimate how long what is left takes, in milliseconds; None where nothing like it was finished yet.

    An attempt is expected to take what the same candidate's took, the middle one of them.
    """
    whole = 0
    for cell in left:
        alike = [each for done, each in took.items() if done.candidate == cell.candidate]
        if not alike:
            return None
        passed = now_ms - at_work.begun_ms if at_work is not None and at_work.cell == cell else 0
        whole += max(0, round(median(alike)) - passed)
    return whole


def results(states: Iterable[tuple[TryState, ...]]) -> dict[str, int]:
    """Count how attempts ended, by the outcome of their last try."""
    counted: dict[str, int] = {}
    for tries in states:
        name = str(tries[-1].outcome) if tries and tries[-1].outcome is not None else "void"
        counted[name] = counted.get(name, 0) + 1
    return dict(sorted(counted.items()))
