"""The steps of a pilot, one after another, until none is left or somebody asks for the end."""

from collections.abc import Callable
from dataclasses import dataclass, field

from runner.attempt import Attempts
from runner.documents.journal import State
from runner.freezer import Frozen
from runner.outcome import Outcome
from runner.recovering import counted
from runner.release import PreparedNomination
from runner.reports.keeping import KeptTable
from runner.schedule import Action, Cell, Standing, Step, TryState, next_step
from runner.stopping import ShouldStop, StoppableSandbox, StopRequestedError, looking
from runner.store import state
from sandbox.errors import KeeperError, SandboxError


@dataclass(slots=True, kw_only=True)
class Steps:
    """A pilot on its way."""

    frozen: Frozen
    attempts: Attempts
    room: StoppableSandbox
    """What its units are started in."""
    tell: Callable[[str], None]
    should_stop: ShouldStop
    table: KeptTable
    tries: int = 0
    gradings: int = 0
    voids: int = 0
    exhausted: str | None = None
    is_stopped: bool = False
    """Somebody asked for the end before all was done."""
    _nominations: dict[str, PreparedNomination] = field(default_factory=dict)

    def all(self, steps: tuple[Step, ...]) -> None:
        """Do what is left about each attempt, one after another."""
        for place, step in enumerate(steps, 1):
            self.cell(step, f"[{place}/{len(steps)}]")
            if self.is_stopped or self.exhausted is not None:
                break
            self.table.meanwhile()
        if not self.is_stopped:
            self.table.finish()

    def cell(self, step: Step, place: str) -> None:
        """Do one attempt's steps until there is none left, or somebody asks for the end."""
        rules = self.frozen.manifest.retry_policy
        while step.is_left:
            if self.should_stop() is not None:
                self.is_stopped = True
                return
            if step.action is Action.RUN and (spent := self.attempts.runtime.purse.spent()) is not None:
                self.exhausted = spent
                self._close_lost(step)
                self.tell(f"{place} {step.cell}: not run: the release's budget is used up: {spent}")
                return
            self.tell(f"{place} {step}")
            try:
                with looking(self.should_stop, self.room.end_units):
                    self._do(step)
            except StopRequestedError:
                self.is_stopped = True
            except KeeperError:
                raise
            except SandboxError as error:
                # What is sealed stays; this attempt is met again by the next run, the others are not held up.
                self.tell(f"{place} {step.cell}: a fault: {error}")
                self.voids += 1
                return
            states = self._ended(step.cell, place)
            if self.is_stopped:
                return
            step = next_step(step.cell, states, rules)

    def _ended(self, cell: Cell, place: str) -> tuple[TryState, ...]:
        """Tell how an attempt stands after a step, and close its last try where nothing more is to come."""
        store, rule = self.attempts.store, self.frozen.manifest.retry_policy.canonical_grading
        tries = store.tries(cell)
        states = tuple(state(each, rule) for each in tries)
        if not states:
            return states
        last = states[-1]
        if (digest := counted(tries[-1], rule)) is not None:
            store.note(tries[-1].trial, State.SEALED, digest)
        if last.standing is Standing.CAPTURED:
            self.tell(f"{place} {cell}: captured, not yet graded")
            return states
        self.voids += last.standing in {Standing.VOID, Standing.UNGRADED}
        self.tell(f"{place} {cell}: {last.outcome or Outcome.VOID}")
        return states

    def _do(self, step: Step) -> None:
        cell, attempts = step.cell, self.attempts
        candidate = self.frozen.manifest.candidate(cell.candidate)
        staged = attempts.stages.staged(self._prepared(cell.nomination))
        self._close_lost(step)
        trial = attempts.store.trial(cell, step.number)
        if step.action is Action.GRADE:
            attempts.grade(trial, candidate, staged)
            self.gradings += 1
        elif step.action is Action.RUN:
            self.tries += 1
            attempts.run(trial, candidate, staged)

    def _close_lost(self, step: Step) -> None:
        """Seal a try whose runner was killed."""
        if step.lost is not None:
            staged = self.attempts.stages.staged(self._prepared(step.cell.nomination))
            self.attempts.seal_lost(self.attempts.store.trial(step.cell, step.lost), staged)

    def _prepared(self, name: str) -> PreparedNomination:
        if not self._nominations:
            self._nominations |= {each.nomination.id: each for each in self.frozen.prepared.nominations}
        return self._nominations[name]
