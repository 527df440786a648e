"""Plans, packets and trees of a judging made again, from submissions, manifest and key, and held against what was kept.

This takes the frozen bases. What can be said from the files alone is in runner/verification/judging.py.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from runner.canonical import canonical, sha256
from runner.documents.judging import Unscored
from runner.documents.judging_plan import JudgingPlan
from runner.errors import RunnerError
from runner.freezer import Frozen
from runner.freezing import find_records
from runner.judging.archive import PLAN, PLANS, UNSCORED, VERDICT, Archive, all_tries
from runner.judging.exhibits import read_tasks
from runner.judging.key import judging_key
from runner.judging.opening import showroom
from runner.judging.packet import flags, packet_digest, refusal
from runner.judging.planning import Ground, Plan, Question, make_plan
from runner.judging.ruling import Said
from runner.judging.showing import Showroom, sides_of
from runner.judging.sitting import AsKnown, place_of
from runner.settings import Settings
from runner.store import Store
from runner.verification.model import Finding, differ
from sandbox.errors import SandboxError


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejudged:
    """What came of making it again."""

    findings: tuple[Finding, ...] = ()
    unchecked: tuple[str, ...] = ()


def rejudge(settings: Settings, frozen: Frozen, store: Store) -> Rejudged:
    """Make every plan of a release again, and what was shown for each answer. What cannot be read was found before."""
    archive, manifest = Archive(store=store), frozen.manifest
    if not archive.plan_numbers():
        return Rejudged()
    try:
        plans, answers = archive.plans(), tuple(archive.answers(all_tries(store, manifest)))
        ground = Ground(
            manifest=manifest,
            manifest_sha256=store.manifest_sha256,
            tasks=read_tasks(frozen, store),
            key=judging_key(store.manifest_sha256, find_records(store.root, manifest)),
            pairs=None,
        )
    except (RunnerError, SandboxError) as error:
        return Rejudged(unchecked=(f"judging: plans were not made again: {error}",))
    return hold_against(ground, showroom(settings, manifest), archive, plans, answers)


def hold_against(
    ground: Ground, show: Showroom, archive: Archive, plans: Sequence[JudgingPlan], answers: Sequence[Said]
) -> Rejudged:
    """Hold plans and answers against what follows from the submissions."""
    findings: list[Finding] = []
    unchecked: list[str] = []
    questions: dict[AsKnown, Question] = {}
    for number, plan in enumerate(plans, 1):
        made = _made(ground, show, plan)
        found = tuple(_differences(archive.top / PLANS / str(number) / PLAN, plan, made))
        if found and ground.manifest.retry_policy.canonical_grading == "latest":
            unchecked.append(f"judging: plan {number} may be of gradings that count no more, and was not made again")
        else:
            findings += found
        questions |= {(each.judge.id, each.item, each.view): each for each in made.questions}
    for said in answers:
        findings += _shown(_file(archive, said), said, questions, show)
    return Rejudged(findings=tuple(findings), unchecked=tuple(unchecked))


def _made(ground: Ground, show: Showroom, plan: JudgingPlan) -> Plan:
    """Make the plan of the submissions that were there, with the pairs that were wanted."""
    there = set(plan.cells)
    tasks = tuple(
        replace(task, entrants=tuple(each for each in task.entrants if each.cell in there)) for task in ground.tasks
    )
    return make_plan(replace(ground, tasks=tasks, pairs=plan.pairs), show.speaks)


def _differences(file: Path, plan: JudgingPlan, made: Plan) -> Iterator[Finding]:
    for name in ("cells", "askings", "skipped"):
        yield from differ(file, name, getattr(plan, name), getattr(made.document, name))


def _shown(file: Path, said: Said, questions: Mapping[AsKnown, Question], show: Showroom) -> Iterator[Finding]:
    """Hold what was shown for an answer against what its question shows; one of no plan was found before."""
    asked = said.asked
    if asked is None:
        question = next((each for each in questions.values() if each.item == said.item), None)
        is_larger = question is None or refusal(show.packet(question)) is not None
        yield from differ(file, "too large", isinstance(said, Unscored), is_larger)
        return
    question = questions.get(place_of(said))
    if question is None:
        return
    packet, tree = show.packet(question), show.tree(question)
    workspace = None if tree is None else sha256(canonical(tree.record))
    yield from differ(file, "packet_sha256", asked.packet_sha256, packet_digest(packet))
    yield from differ(file, "workspace_sha256", asked.workspace_sha256, workspace)
    yield from differ(file, "flags", said.flags, flags(packet, sides_of(said.item)))


def _file(archive: Archive, said: Said) -> Path:
    name = UNSCORED if isinstance(said, Unscored) else VERDICT
    return archive.folder(said) / sha256(canonical(said)) / name
