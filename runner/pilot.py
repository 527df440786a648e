"""The pilot: every planned attempt of a frozen release, one after another, from wherever the last run ended."""

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from runner.agents.registry import AGENTS
from runner.attempt import Attempts
from runner.bundles.bundle import Bundle
from runner.bundles.held import load_runtimes
from runner.clock import now_ms
from runner.documents.keys import KeyRole
from runner.documents.runtimes import RuntimeName
from runner.errors import DocumentError, UsageError
from runner.folder import list_files
from runner.freezer import Frozen, accounts_of
from runner.gateway.serving import address, gateway_unit
from runner.host_proofs import Prover, digests, host_now, keep_copies
from runner.inputs import Inputs
from runner.journal import Scribe, sole_writer
from runner.logins import authorities, load_logins
from runner.purse import Purse
from runner.recovering import recover
from runner.reports.aggregate import planned
from runner.reports.keeping import KeptTable
from runner.roster import Candidate
from runner.running.turns import Turn
from runner.runtime import Runtime
from runner.schedule import Cell, Step, left_to_do, plan, schedule
from runner.selection import candidate_keys, select
from runner.settings import Settings
from runner.signing.keys import KEYS, KeyStore
from runner.solution import Solution, patched
from runner.staging import Staged, Stages
from runner.steps import Steps
from runner.stopping import ShouldStop, StoppableSandbox, after_current, any_of, never
from runner.store import Store, spent_of, store_for
from sandbox.client import open_sandbox

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
    """Somebody asked for the end before all was done."""

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


def kept_store(frozen: Frozen, tell: Tell) -> Store:
    """Give the store to write into; the runner's key, which signs its journal, is made where there is none."""
    keys = KeyStore(folder=frozen.inputs.places.state / KEYS, clock=now_ms)
    return store_of(frozen, Scribe(clock=now_ms, signer=keys.ensure(KeyRole.RUNNER, tell)))


def kept_table(frozen: Frozen, store: Store, tell: Tell) -> KeptTable:
    """Give the table that is kept while a release's evidence grows."""
    return KeptTable(
        store=store,
        manifest=frozen.manifest,
        folder=frozen.inputs.places.tables / frozen.manifest.release,
        clock=time.time_ns,
        monotonic=time.monotonic,
        sleep=time.sleep,
        tell=tell,
    )


def run_pilot(
    settings: Settings, frozen: Frozen, wanted: Wanted, tell: Tell, turn: Turn, should_stop: ShouldStop = never
) -> Done:
    """Run what is left to do, once it is this pilot's turn, until `should_stop` or its turn asks for the end.

    Raises:
        BegunError: something was begun already, and nobody said that it may be.
        UsageError: an agent or a credential is missing.
        WallsBrokenError: a wall of this host does not hold; nothing was run.
        HostError: the walls must be tried first, and this is not root.
        SandboxError: the host cannot hold a clean room, or lost it.
    """
    store = store_of(frozen)
    cells = selected(frozen.inputs, planned(frozen.manifest), wanted)
    steps = _steps(frozen, store, cells, wanted)
    todo = left_to_do(steps)
    if not todo:
        _tell_plan(steps, wanted, tell)
        with sole_writer(store.root / store.release, wait=False) as is_alone:
            if is_alone:
                _recover(kept_store(frozen, tell), frozen, tell)
        return Done(tries=0, gradings=0, voids=0)
    active = _active(frozen, todo)
    check_runnable(settings, frozen, active)
    bundles = load_runtimes(active, frozen.inputs.config.clean_room, settings, frozen.inputs.file)
    with turn() as is_stopped:
        if is_stopped():
            return Done(tries=0, gradings=0, voids=0, stopped=True)
        store = kept_store(frozen, tell)
        with (
            _attempts(settings, frozen, store, active, bundles, tell) as (attempts, room),
            sole_writer(store.root / store.release, wait=True),
        ):
            # Again, now that the lock is ours: until then another run may have gone on with the same attempts.
            _recover(store, frozen, tell)
            steps = _steps(frozen, store, cells, wanted)
            _tell_plan(steps, wanted, tell)
            asked = any_of(should_stop, after_current(is_stopped))
            table = kept_table(frozen, store, tell)
            run = Steps(frozen=frozen, attempts=attempts, room=room, tell=tell, should_stop=asked, table=table)
            run.all(left_to_do(steps))
            return Done(
                tries=run.tries,
                gradings=run.gradings,
                voids=run.voids,
                exhausted=run.exhausted,
                stopped=run.is_stopped,
            )


def has_work(settings: Settings, frozen: Frozen, wanted: Wanted) -> bool:
    """Whether something is left to do; all that it needs is here then.

    Raises:
        BegunError, UsageError: as `run_pilot`.
    """
    cells = selected(frozen.inputs, planned(frozen.manifest), wanted)
    todo = left_to_do(_steps(frozen, store_of(frozen), cells, wanted))
    check_runnable(settings, frozen, _active(frozen, todo))
    return bool(todo)


def _active(frozen: Frozen, todo: tuple[Step, ...]) -> tuple[Candidate, ...]:
    """Give the candidates of what is left to do."""
    candidates = {each.id: each for each in frozen.manifest.candidates}
    return tuple(candidates[name] for name in dict.fromkeys(step.cell.candidate for step in todo))


def _tell_plan(steps: tuple[Step, ...], wanted: Wanted, tell: Tell) -> None:
    """Say what is about to be done and what is not, and why, where a run goes on from an earlier one."""
    if wanted.resume or wanted.retry_unavailable:
        for line in plan(steps):
            tell(line)


def _recover(store: Store, frozen: Frozen, tell: Tell) -> None:
    """Write the lines that a killed runner owes the journal."""
    for line in recover(store, planned(frozen.manifest), frozen.manifest.retry_policy.canonical_grading):
        tell(line)


def _steps(frozen: Frozen, store: Store, cells: tuple[Cell, ...], wanted: Wanted) -> tuple[Step, ...]:
    """Say what comes next of each attempt."""
    rules = frozen.manifest.retry_policy
    states = store.states(cells, rules.canonical_grading)
    return schedule(cells, states, rules, resume=wanted.resume, retry_unavailable=wanted.retry_unavailable)


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


@contextmanager
def _attempts(
    settings: Settings,
    frozen: Frozen,
    store: Store,
    candidates: tuple[Candidate, ...],
    bundles: Mapping[RuntimeName, Bundle],
    tell: Tell,
) -> Iterator[tuple[Attempts, StoppableSandbox]]:
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
        prover = Prover(sandbox=sandbox, host=host, state=folder, clock=now_ms, may_prove=os.geteuid() == 0)
        proofs = prover.required(tell)
        keep_copies(store.root / store.release, proofs)
        urls = {name: stack.enter_context(address(settings, route)) for name, route in used.items()}
        gateway = stack.enter_context(gateway_unit(sandbox)) if asking else None
        # The gateway's unit is not among those that can be ended: it has to say what was asked last.
        room = StoppableSandbox(sandbox=sandbox)
        attempts = Attempts(
            store=store,
            manifest=frozen.manifest,
            runtime=Runtime(
                sandbox=room,
                gateway=gateway,
                routes=routes,
                base_urls=urls,
                credential=settings.credential,
                bundles=bundles,
                logins=logins,
                authorities=authorities() if logins else b"",
                purse=_purse(frozen, store),
            ),
            stages=Stages(
                sandbox=room,
                workbench=frozen.workbench,
                limits=frozen.manifest.limits,
                norms=frozen.manifest.norms is not None,
            ),
            proofs=digests(proofs),
            patches=_Patches(settings=settings, frozen=frozen),
            clock=now_ms,
        )
        yield attempts, room


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
