"""The judging of a release: what was sealed is shown to judges, and what they say is kept beside it. Nothing else."""

import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from runner.bundles.bundle import Bundle
from runner.bundles.held import load_runtimes
from runner.clock import now_ms
from runner.documents.judging import UnscoredWhy
from runner.documents.manifest import Manifest
from runner.documents.runtimes import RuntimeName
from runner.errors import DocumentError, UsageError
from runner.freezer import Frozen, accounts_of
from runner.freezing import find_records
from runner.gateway.serving import address, gateway_unit
from runner.host_proofs import Prover, host_now, keep_copies
from runner.journal import sole_writer
from runner.judges import IN_DEPTH, PAIRWISE, RUBRIC
from runner.judging.archive import Archive, all_tries
from runner.judging.caching import judge_settings
from runner.judging.calling import Booth
from runner.judging.exhibits import read_tasks
from runner.judging.identity import identities, roster_names
from runner.judging.key import judging_key
from runner.judging.planning import Ground, Plan, Question, chosen, make_plan
from runner.judging.ruling import Binding
from runner.judging.showing import Showroom, Template
from runner.judging.sitting import Sitting, Tally, Tell, by_asking
from runner.pilot import store_of
from runner.preparing import JUDGE_PROMPTS
from runner.roster import Judge
from runner.selection import candidate_keys, select
from runner.settings import Settings
from runner.store import Store
from sandbox.client import open_sandbox


class JudgedError(UsageError):
    """Judges were asked before, and nobody said that the rest is wanted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a call asks for; nothing of a kind: all of it."""

    judges: tuple[str, ...] = ()
    candidates: tuple[str, ...] = ()
    nominations: tuple[str, ...] = ()
    pairs: int | None = None
    resume: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What a judging did."""

    calls: int
    verdicts: int
    unscored: Mapping[UnscoredWhy, int]
    left: int
    """Askings that have not come to an end: their judge fell silent."""
    skipped: int
    """Askings of the plan that no judge may answer."""
    askings: int
    """Of the plan that were asked for here, those with an end included."""

    @property
    def is_whole(self) -> bool:
        """Whether everything that was asked for has an end, and each judge gave some answer."""
        return self.left == 0 and UnscoredWhy.PROVIDER not in self.unscored

    @property
    def is_idle(self) -> bool:
        """Whether nothing was left to ask."""
        return self.calls == 0 and self.left == 0 and not self.unscored


@dataclass(frozen=True, slots=True, kw_only=True)
class Hearing:
    """A release's judging, ready to be held: the plan, and what is shown."""

    frozen: Frozen
    store: Store
    plan: Plan
    show: Showroom
    key: bytes
    questions: tuple[Question, ...]
    """Those that were asked for."""


def open_hearing(settings: Settings, frozen: Frozen, wanted: Wanted) -> Hearing:
    """Plan a release's judging from its sealed submissions. Nothing is written and nobody is asked.

    Raises:
        UsageError: the release has no judges, or nothing to judge; a selector names nothing.
        VerificationError: the evidence is not what was sealed.
    """
    manifest, store = frozen.manifest, store_of(frozen)
    if not manifest.judges:
        raise UsageError(f"release {manifest.release} has no judges; freeze one whose configuration names some")
    key = judging_key(store.manifest_sha256, find_records(frozen.inputs.places.store, manifest))
    tasks = read_tasks(frozen, store)
    if not any(task.entrants for task in tasks):
        raise UsageError("no submission of this release has come far enough to be judged; run: runner pilot")
    show = Showroom(
        judging=manifest.judging,
        known=identities(roster_names((*manifest.candidates, *manifest.judges))),
        templates=_templates(settings, manifest),
    )
    ground = Ground(
        manifest=manifest, manifest_sha256=store.manifest_sha256, tasks=tasks, key=key, pairs=_pairs(store, wanted)
    )
    plan = make_plan(ground, show.speaks)
    return Hearing(
        frozen=frozen,
        store=store,
        plan=plan,
        show=show,
        key=key,
        questions=_selected(manifest, plan, wanted),
    )


def hold(settings: Settings, hearing: Hearing, wanted: Wanted, tell: Tell) -> Done:
    """Ask what was not asked yet, and keep what is answered.

    Raises:
        JudgedError: judges were asked before, without --resume.
        DocumentError: a key is not set.
        WallsBrokenError: a wall of this host does not hold; nobody was asked.
        SandboxError, GatewayError: a fault; what was kept stays.
        StorageError: the disk failed or is full.
    """
    archive = Archive(store=hearing.store)
    tries = all_tries(hearing.store, hearing.frozen.manifest)
    sitting = _sitting(hearing, archive, tell)
    sitting.known = by_asking(archive.answers(tries))
    if sitting.known and not wanted.resume:
        raise JudgedError("judges of this release were asked before; run again with --resume, which asks nothing twice")
    todo = [question for question in hearing.questions if not sitting.is_over(question)]
    if todo:
        judges = {question.judge.id: question.judge for question in todo}
        _check_keys(settings, hearing.frozen.manifest, judges)
        inputs = hearing.frozen.inputs
        bundles = load_runtimes(judges.values(), inputs.config.clean_room, settings, inputs.file)
        top = hearing.store.root / hearing.store.release
        with _booth(settings, hearing, judges, bundles, tell) as booth, sole_writer(top, wait=True):
            # Again, now that the lock is ours: until then another run may have asked the same.
            sitting.known = by_asking(archive.answers(tries))
            archive.keep_plan(hearing.plan.document)
            sitting.asks = booth
            sitting.sit(todo)
    return _done(hearing, sitting.tally)


def _pairs(store: Store, wanted: Wanted) -> int | None:
    """Give the pairs that are asked for; whoever goes on means those of the last plan."""
    plans = Archive(store=store).plans() if wanted.pairs is None and wanted.resume else ()
    return plans[-1].pairs if plans else wanted.pairs


def _sitting(hearing: Hearing, archive: Archive, tell: Tell) -> Sitting:
    manifest = hearing.frozen.manifest
    return Sitting(
        archive=archive,
        show=hearing.show,
        key=hearing.key,
        binding=Binding(release=manifest.release, manifest_sha256=hearing.store.manifest_sha256),
        settings=judge_settings(manifest),
        tell=tell,
    )


def _selected(manifest: Manifest, plan: Plan, wanted: Wanted) -> tuple[Question, ...]:
    judges = select(manifest.judges, wanted.judges, lambda judge: (judge.id, judge.model), "judge")
    candidates = select(manifest.candidates, wanted.candidates, candidate_keys, "candidate")
    names = tuple(each.id for each in manifest.nominations)
    nominations = select(names, wanted.nominations, lambda name: (name,), "nomination")
    return chosen(plan.questions, {each.id for each in judges}, {each.id for each in candidates}, nominations)


def _templates(settings: Settings, manifest: Manifest) -> dict[str, Template]:
    """Read the frozen prompt texts; that they are the frozen ones was seen when the release was loaded."""
    frozen = {each.path: each.sha256 for each in manifest.judge_prompts}
    folder = settings.checkout / JUDGE_PROMPTS
    return {
        name: Template(text=(folder / name).read_text(encoding="utf-8"), sha256=frozen[name])
        for name in (RUBRIC, PAIRWISE, IN_DEPTH)
        if name != IN_DEPTH or any(judge.in_depth for judge in manifest.judges)
    }


def _check_keys(settings: Settings, manifest: Manifest, judges: Mapping[str, Judge]) -> None:
    routes = {route.id: route for route in manifest.routes}
    for judge in judges.values():
        name = None if judge.route is None else routes[judge.route].credential
        if name is not None and settings.credential(name) is None:
            raise DocumentError(
                file="the environment",
                field=name,
                found="nothing",
                expected=f"the key of route {judge.route}",
                mend=f"set {name}, or select other judges with --judge",
            )


@contextmanager
def _booth(
    settings: Settings,
    hearing: Hearing,
    judges: Mapping[str, Judge],
    bundles: Mapping[RuntimeName, Bundle],
    tell: Tell,
) -> Iterator[Booth]:
    """Open the clean room, see that its walls hold, and open the gateway and the providers that are needed."""
    frozen, store = hearing.frozen, hearing.store
    routes = {route.id: route for route in frozen.manifest.routes}
    used = {judge.route: routes[judge.route] for judge in judges.values() if judge.route is not None}
    with ExitStack() as stack:
        folder = frozen.inputs.places.state
        sandbox = stack.enter_context(open_sandbox(folder, accounts_of(frozen.inputs.config)))
        host = host_now(sandbox.facts())
        prover = Prover(sandbox=sandbox, host=host, state=folder, clock=now_ms, may_prove=os.geteuid() == 0)
        keep_copies(store.root / store.release, prover.required(tell))
        yield Booth(
            sandbox=sandbox,
            gateway=stack.enter_context(gateway_unit(sandbox)),
            routes=routes,
            base_urls={name: stack.enter_context(address(settings, route)) for name, route in used.items()},
            credential=settings.credential,
            limits=frozen.manifest.limits.judges.limits(),
            bundles=bundles,
        )


def _done(hearing: Hearing, tally: Tally) -> Done:
    return Done(
        calls=tally.calls,
        verdicts=tally.verdicts,
        unscored=dict(tally.unscored),
        left=tally.left,
        skipped=len(hearing.plan.document.skipped),
        askings=len(hearing.questions),
    )
