"""A judging before anybody is asked: what was sealed, the plan of it, and how it is shown; only read."""

from dataclasses import dataclass

from runner.documents.manifest import Manifest
from runner.errors import UsageError
from runner.freezer import Frozen
from runner.freezing import find_records
from runner.judges import IN_DEPTH, PAIRWISE, RUBRIC
from runner.judging.archive import Archive
from runner.judging.exhibits import read_tasks
from runner.judging.identity import identities, roster_names
from runner.judging.key import judging_key
from runner.judging.planning import Ground, Plan, Question, chosen, make_plan
from runner.judging.showing import Showroom, Template
from runner.pilot import store_of
from runner.preparing import JUDGE_PROMPTS
from runner.selection import candidate_keys, select
from runner.settings import Settings
from runner.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a call asks for; nothing of a kind: all of it."""

    judges: tuple[str, ...] = ()
    candidates: tuple[str, ...] = ()
    nominations: tuple[str, ...] = ()
    pairs: int | None = None
    resume: bool = False


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
    show = showroom(settings, manifest)
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


def showroom(settings: Settings, manifest: Manifest) -> Showroom:
    """Give what makes packets of a release, with its frozen prompts."""
    return Showroom(
        judging=manifest.judging,
        known=identities(roster_names((*manifest.candidates, *manifest.judges))),
        templates=_templates(settings, manifest),
    )


def _pairs(store: Store, wanted: Wanted) -> int | None:
    """Give the pairs that are asked for; whoever goes on means those of the last plan."""
    plans = Archive(store=store).plans() if wanted.pairs is None and wanted.resume else ()
    return plans[-1].pairs if plans else wanted.pairs


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
