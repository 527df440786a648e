"""The pilot: every planned attempt of a frozen release, one after another, from wherever the last run ended."""

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

from runner.agents.registry import AGENTS
from runner.attempt import Attempts
from runner.bundles.bundle import Bundle
from runner.bundles.held import load_runtimes
from runner.documents.journal import State
from runner.documents.runtimes import RuntimeName
from runner.errors import DocumentError, UsageError
from runner.folder import list_files
from runner.freezer import Frozen, accounts_of
from runner.gateway.serving import address, gateway_unit
from runner.host_proofs import Prover, digests, host_now, keep_copies
from runner.inputs import Inputs
from runner.journal import Scribe, sole_writer
from runner.logins import authorities, load_logins
from runner.outcome import Outcome
from runner.purse import Purse
from runner.recovering import counted, recover
from runner.release import PreparedNomination
from runner.reports.aggregate import planned
from runner.roster import Candidate
from runner.running.turns import IsStopped, Turn
from runner.runtime import Runtime
from runner.schedule import Action, Cell, Standing, Step, TryState, next_step, schedule
from runner.selection import candidate_keys, select
from runner.settings import Settings
from runner.solution import Solution, patched
from runner.staging import Staged, Stages
from runner.store import Store, spent_of, state, store_for
from sandbox.client import open_sandbox
from sandbox.errors import KeeperError, SandboxError

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a call asks for."""

    candidates: tuple[str, ...] = ()
    """Ids or models; none: all."""
    nominations: tuple[str, ...] = ()
    attempt: int | None = None
    resume: bool = False
    retry_unavailable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What a pilot did."""

    tries: int
    gradings: int
    voids: int
    """Tries of this run that ended void."""
    exhausted: str | None = None
    """The part of the release's budget that is used up, if the pilot stopped for that."""

    stopped: bool = False
    """Whether somebody had it end before it was through."""

    @property
    def is_idle(self) -> bool:
        """Whether nothing was left to do."""
        return self.tries == 0 and self.gradings == 0 and self.voids == 0 and not self.stopped


def selected(inputs: Inputs, cells: tuple[Cell, ...], wanted: Wanted) -> tuple[Cell, ...]:
    """Pick planned attempts.

    Raises:
        UsageError: a selector names nothing, or the release wants a nomination to be named.
    """
    config = inputs.config
    if config.require_nomination_selection and not wanted.nominations:
        raise DocumentError(
            file=inputs.file,
            field="require_nomination_selection",
            found="no --nomination",
            expected="at least one",
            mend="name the nominations to run with --nomination",
        )
    candidates = select(config.candidates, wanted.candidates, candidate_keys, "candidate")
    nominations = select(config.nomination_ids, wanted.nominations, lambda name: (name,), "nomination")
    order = {each.id: place for place, each in enumerate(candidates)}
    ranks = {name: place for place, name in enumerate(nominations)}
    chosen = [
        cell
        for cell in cells
        if cell.candidate in order and cell.nomination in ranks and wanted.attempt in {None, cell.attempt}
    ]
    if not chosen:
        raise UsageError("nothing of this selection is planned; run: runner pilot --dry-run")
    return tuple(sorted(chosen, key=lambda cell: (order[cell.candidate], ranks[cell.nomination], cell.attempt)))


def store_of(frozen: Frozen, scribe: Scribe | None = None) -> Store:
    """Give the store of a release's evidence; without a scribe it is only read."""
    return store_for(frozen.inputs.places.store, frozen.manifest, scribe)


def run_pilot(settings: Settings, frozen: Frozen, wanted: Wanted, tell: Tell, turn: Turn) -> Done:
    """Run what is left to do, once it is this pilot's turn.

    Raises:
        BegunError: something was begun already, and nobody said that it may be.
        UsageError: an agent or a credential is missing.
        WallsBrokenError: a wall of this host does not hold; nothing was run.
        HostError: the walls must be tried first, and this is not root.
        SandboxError: the host cannot hold a clean room, or lost it.
    """
    store = store_of(frozen, Scribe(clock=_now))
    cells = selected(frozen.inputs, planned(frozen.manifest), wanted)
    todo = _todo(frozen, store, cells, wanted)
    if not todo:
        with sole_writer(store.root / store.release, wait=False) as is_alone:
            if is_alone:
                _recover(store, frozen, tell)
        return Done(tries=0, gradings=0, voids=0)
    active = _active(frozen, todo)
    check_runnable(settings, frozen, active)
    bundles = load_runtimes(active, frozen.inputs.config.clean_room, settings, frozen.inputs.file)
    with turn() as is_stopped:
        if is_stopped():
            return Done(tries=0, gradings=0, voids=0, stopped=True)
        with (
            _attempts(settings, frozen, store, active, bundles, tell) as attempts,
            sole_writer(store.root / store.release, wait=True),
        ):
            # Again, now that the lock is ours: until then another run may have gone on with the same attempts.
            _recover(store, frozen, tell)
            candidates = {each.id: each for each in frozen.manifest.candidates}
            run = _Run(frozen=frozen, attempts=attempts, candidates=candidates, wanted=wanted, tell=tell)
            return run.all(_todo(frozen, store, cells, wanted), is_stopped)


def has_work(settings: Settings, frozen: Frozen, wanted: Wanted) -> bool:
    """Whether something is left to do; all that it needs is here then.

    Raises:
        BegunError, UsageError: as `run_pilot`.
    """
    todo = _todo(frozen, store_of(frozen), selected(frozen.inputs, planned(frozen.manifest), wanted), wanted)
    check_runnable(settings, frozen, _active(frozen, todo))
    return bool(todo)


def _active(frozen: Frozen, todo: list[Step]) -> tuple[Candidate, ...]:
    """Give the candidates of what is left to do."""
    candidates = {each.id: each for each in frozen.manifest.candidates}
    return tuple(candidates[name] for name in dict.fromkeys(step.cell.candidate for step in todo))


def _recover(store: Store, frozen: Frozen, tell: Tell) -> None:
    """Write the lines that a killed runner owes the journal."""
    for line in recover(store, planned(frozen.manifest), frozen.manifest.retry_policy.canonical_grading):
        tell(line)


def _todo(frozen: Frozen, store: Store, cells: tuple[Cell, ...], wanted: Wanted) -> list[Step]:
    """Say what is left to do; a try whose runner was killed is something too."""
    rules = frozen.manifest.retry_policy
    states = {cell: _states(store, cell, rules.canonical_grading) for cell in cells}
    steps = schedule(cells, states, rules, resume=wanted.resume, retry_unavailable=wanted.retry_unavailable)
    return [step for step in steps if step.action is not Action.SKIP or step.lost is not None]


def check_runnable(settings: Settings, frozen: Frozen, candidates: tuple[Candidate, ...]) -> None:
    """Say nothing if all that the candidates need is here.

    Raises:
        DocumentError: a credential is not set.
    """
    routes = {route.id: route for route in frozen.manifest.routes}
    for candidate in candidates:
        name = None if candidate.route is None else routes[candidate.route].credential
        if name is not None and settings.credential(name) is None:
            raise DocumentError(
                file="the environment",
                field=name,
                found="nothing",
                expected=f"the key of route {candidate.route}",
                mend=f"set {name}, or select other candidates with --candidate",
            )


def _states(store: Store, cell: Cell, rule: str) -> tuple[TryState, ...]:
    return tuple(state(each, rule) for each in store.tries(cell))


@contextmanager
def _attempts(
    settings: Settings,
    frozen: Frozen,
    store: Store,
    candidates: tuple[Candidate, ...],
    bundles: Mapping[RuntimeName, Bundle],
    tell: Tell,
) -> Iterator[Attempts]:
    """Open the clean room, see that its walls hold, and open the gateway and scripted providers that are needed."""
    routes = {route.id: route for route in frozen.manifest.routes}
    asking = [each for each in candidates if AGENTS[each.agent].needs_gateway]
    used = {each.route: routes[each.route] for each in asking if each.route is not None}
    config = frozen.inputs.config
    logins = load_logins(candidates, config.clean_room, settings, frozen.inputs.file)
    with ExitStack() as stack:
        folder = frozen.inputs.places.state
        sandbox = stack.enter_context(open_sandbox(folder, accounts_of(config)))
        host = host_now(sandbox.facts())
        prover = Prover(sandbox=sandbox, host=host, state=folder, clock=_now, may_prove=os.geteuid() == 0)
        proofs = prover.required(tell)
        keep_copies(store.root / store.release, proofs)
        urls = {name: stack.enter_context(address(settings, route)) for name, route in used.items()}
        gateway = stack.enter_context(gateway_unit(sandbox)) if asking else None
        yield Attempts(
            store=store,
            manifest=frozen.manifest,
            runtime=Runtime(
                sandbox=sandbox,
                gateway=gateway,
                routes=routes,
                base_urls=urls,
                credential=settings.credential,
                bundles=bundles,
                logins=logins,
                authorities=authorities() if logins else b"",
                purse=_purse(frozen, store),
            ),
            stages=Stages(sandbox=sandbox, workbench=frozen.workbench, limits=frozen.manifest.limits),
            proofs=digests(proofs),
            patches=_Patches(settings=settings, frozen=frozen),
            clock=_now,
        )


def _now() -> int:
    return time.time_ns() // 1_000_000


def _purse(frozen: Frozen, store: Store) -> Purse:
    """Give what is left of the release's budget, after every try there is evidence of."""
    purse = Purse(budget=frozen.manifest.budget)
    if purse.is_bounded:
        for cell in planned(frozen.manifest):
            for each in store.tries(cell):
                lines, wall_ms = spent_of(each)
                purse.take_all(lines)
                purse.wall_ms += wall_ms
    return purse


@dataclass(frozen=True, slots=True, kw_only=True)
class _Patches:
    """Reads what the agent `patch` applies."""

    settings: Settings
    frozen: Frozen

    def __call__(self, candidate: Candidate, staged: Staged) -> Solution:
        name = f"{staged.prepared.nomination.id}.patch"
        folder = self.settings.path(candidate.patches or ".")
        for file in list_files(folder):
            if file.path == name:
                return patched(staged.prepared.fixture, file, self.frozen.workbench.repository)
        raise DocumentError(
            file=str(folder), field=name, found="no such file", expected="a patch in git's form", mend="add it"
        )


@dataclass(slots=True, kw_only=True)
class _Run:
    """A pilot on its way."""

    frozen: Frozen
    attempts: Attempts
    candidates: dict[str, Candidate]
    wanted: Wanted
    tell: Tell
    tries: int = 0
    gradings: int = 0
    voids: int = 0
    exhausted: str | None = None
    stopped: bool = False
    _nominations: dict[str, PreparedNomination] = field(default_factory=dict)

    def all(self, steps: list[Step], is_stopped: IsStopped) -> Done:
        """Do what is left about each attempt, one after another."""
        for place, step in enumerate(steps, 1):
            self.stopped = is_stopped()
            if self.stopped or self.exhausted is not None:
                break
            self.cell(step, f"[{place}/{len(steps)}]")
        return Done(
            tries=self.tries,
            gradings=self.gradings,
            voids=self.voids,
            exhausted=self.exhausted,
            stopped=self.stopped,
        )

    def cell(self, step: Step, place: str) -> None:
        """Do one attempt's steps until there is none left."""
        rules = self.frozen.manifest.retry_policy
        store = self.attempts.store
        while step.action is not Action.SKIP or step.lost is not None:
            if step.action is Action.RUN and (spent := self.attempts.runtime.purse.spent()) is not None:
                self.exhausted = spent
                self.tell(f"{place} {step.cell}: not run: the release's budget is used up: {spent}")
                return
            self.tell(f"{place} {step}")
            try:
                self._do(step)
            except KeeperError:
                raise
            except SandboxError as error:
                # What is sealed stays; this attempt is met again by the next run, the others are not held up.
                self.tell(f"{place} {step.cell}: a fault: {error}")
                self.voids += 1
                return
            tries = store.tries(step.cell)
            states = tuple(state(each, rules.canonical_grading) for each in tries)
            last = states[-1]
            if (digest := counted(tries[-1], rules.canonical_grading)) is not None:
                store.note(tries[-1].trial, State.SEALED, digest)
            self.voids += last.standing in {Standing.VOID, Standing.UNGRADED}
            self.tell(f"{place} {step.cell}: {last.outcome or Outcome.VOID}")
            step = next_step(step.cell, states, rules)

    def _do(self, step: Step) -> None:
        cell, attempts = step.cell, self.attempts
        candidate = self.candidates[cell.candidate]
        staged = attempts.stages.staged(self._prepared(cell.nomination))
        if step.lost is not None:
            attempts.seal_lost(attempts.store.trial(cell, step.lost), candidate, staged)
        trial = attempts.store.trial(cell, step.number)
        if step.action is Action.GRADE:
            attempts.grade(trial, candidate, staged)
            self.gradings += 1
        elif step.action is Action.RUN:
            attempts.run(trial, candidate, staged)
            self.tries += 1

    def _prepared(self, name: str) -> PreparedNomination:
        if not self._nominations:
            self._nominations |= {each.nomination.id: each for each in self.frozen.prepared.nominations}
        return self._nominations[name]
