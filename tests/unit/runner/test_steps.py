"""Laws of a pilot's steps: when it stops, what it has closed by then, and what it tells."""

from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from runner.attempt import Attempts
from runner.config import RetryPolicy
from runner.documents.facts import Blame, Phase, VoidFact
from runner.documents.journal import State
from runner.documents.seal import Trial
from runner.freezer import Frozen
from runner.journal import read_journal
from runner.reports.keeping import KeptTable
from runner.schedule import left_to_do, schedule
from runner.steps import Steps
from runner.stopping import ShouldStop, StoppableSandbox, StopRequestedError, When, never
from runner.store import Store
from tests.unit.runner.evidence_maker import IDLER, SOLVER, Run, a_manifest, a_store, begin, end_void, grade, submit

CELLS = (SOLVER, IDLER)
LOST = VoidFact(blame=Blame.RUNNER, phase=Phase.SOLUTION, reason="the runner was killed", interrupted=True)


@dataclass
class ToldAttempts:
    """Makes the evidence of each try at once; `cut` tries are stopped while they are at work."""

    store: Store
    spent: str | None = None
    cut: bool = False
    ran: list[Trial] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.runtime = SimpleNamespace(purse=SimpleNamespace(spent=lambda: self.spent))
        self.stages = SimpleNamespace(staged=lambda _: None)

    def run(self, trial: Trial, *_given: object) -> None:
        self.ran.append(trial)
        begin(self.store, _cell(trial), trial.try_)
        if self.cut:
            end_void(self.store, trial, LOST)
            raise StopRequestedError
        made, digest = submit(self.store, trial, Run())
        grade(self.store, made, digest, Run())

    def seal_lost(self, trial: Trial, _staged: object) -> None:
        end_void(self.store, trial, LOST)


def _cell(trial: Trial) -> object:
    return next(cell for cell in CELLS if cell.candidate == trial.candidate)


@dataclass
class Piloted:
    """A pilot of two attempts, and what it told."""

    attempts: ToldAttempts
    policy: RetryPolicy = field(default_factory=RetryPolicy)
    told: list[str] = field(default_factory=list)
    tables: list[str] = field(default_factory=list)
    """When a table was made, or could have been."""

    def _meanwhile(self) -> None:
        self.tables.append(f"after {len(self.attempts.ran)}")

    def go(self, should_stop: ShouldStop = never) -> Steps:
        manifest = a_manifest(policy=self.policy)
        nominations = (SimpleNamespace(nomination=SimpleNamespace(id="slugs")),)
        frozen = SimpleNamespace(manifest=manifest, prepared=SimpleNamespace(nominations=nominations))
        states = self.attempts.store.states(CELLS, "first")
        steps = Steps(
            frozen=cast("Frozen", frozen),
            attempts=cast("Attempts", self.attempts),
            room=cast("StoppableSandbox", SimpleNamespace(end_units=lambda: None)),
            tell=self.told.append,
            should_stop=should_stop,
            table=cast(
                "KeptTable", SimpleNamespace(meanwhile=self._meanwhile, finish=lambda: self.tables.append("end"))
            ),
        )
        steps.all(left_to_do(schedule(CELLS, states, self.policy, resume=True)))
        return steps


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return a_store(tmp_path, a_manifest())


def test_every_step_is_done_told_and_closed_in_the_journal(store: Store) -> None:
    piloted = Piloted(ToldAttempts(store))
    steps = piloted.go()
    assert (steps.tries, steps.voids, steps.is_stopped) == (2, 0, False)
    assert piloted.told == [
        "[1/2] solver/slugs/attempt-1: run try 1 (never begun)",
        "[1/2] solver/slugs/attempt-1: completed",
        "[2/2] idler/slugs/attempt-1: run try 1 (never begun)",
        "[2/2] idler/slugs/attempt-1: completed",
    ]
    assert piloted.tables == ["after 1", "after 2", "end"]
    entries = read_journal(store.journal)
    assert [each.state for each in entries] == [State.PLANNED, State.CAPTURED, State.GRADED, State.SEALED] * 2
    assert entries[3].sealed_sha256 == entries[2].sealed_sha256


@pytest.mark.parametrize("when", list(When))
def test_who_is_asked_to_end_before_a_try_begins_none(store: Store, when: When) -> None:
    piloted = Piloted(ToldAttempts(store))
    steps = piloted.go(lambda: when)
    assert (steps.tries, steps.is_stopped, piloted.told, piloted.tables) == (0, True, [], [])
    assert not store.journal.exists()


def test_who_is_asked_to_end_after_the_current_try_ends_then(store: Store) -> None:
    attempts = ToldAttempts(store)
    steps = Piloted(attempts).go(lambda: When.AFTER_CURRENT if attempts.ran else None)
    assert (steps.tries, steps.is_stopped) == (1, True)


def test_a_try_that_is_stopped_ends_the_pilot_and_counts_as_void_even_if_the_rule_allows_another(store: Store) -> None:
    piloted = Piloted(ToldAttempts(store, cut=True), RetryPolicy(void_tries=3))
    steps = piloted.go()
    assert (steps.tries, steps.voids, steps.is_stopped) == (1, 1, True)
    assert piloted.told[-1] == "[1/2] solver/slugs/attempt-1: void"


def test_a_lost_try_is_closed_also_where_the_budget_is_used_up(store: Store) -> None:
    begin(store, SOLVER)
    piloted = Piloted(ToldAttempts(store, spent="usd"))
    steps = piloted.go()
    assert (steps.tries, steps.exhausted, piloted.tables) == (0, "usd", ["end"])
    (lost,) = store.tries(SOLVER)
    assert lost.void is not None
    assert piloted.told[-1].endswith("not run: the release's budget is used up: usd")
