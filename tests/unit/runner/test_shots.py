"""Two shots of one attempt: what is run, kept, spent and graded, and what verification derives again."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from decimal import Decimal
from itertools import count
from pathlib import Path
from typing import cast

import pytest

from evaluators.model import Assurance, Bench, Case, Verdict, VerdictCause
from evaluators.model import Submission as Judgeable
from runner.agents.model import AgentTask
from runner.agents.native_loop.once import question
from runner.agents.single_shot import conversation
from runner.attempt import Attempts
from runner.canonical import canonical, sha256
from runner.documents.evidence import Grading, ShotResult, Submission, Void
from runner.documents.facts import AgentFailure, Blame, FailureCause, Phase
from runner.documents.ledger import LedgerLine
from runner.documents.manifest import Manifest
from runner.documents.seal import SealKind
from runner.documents.telemetry import AgentError, Telemetry
from runner.gateway.errors import GatewayError
from runner.gateway.relay.terms import Ceilings
from runner.outcome import Outcome
from runner.purse import what_is_left
from runner.reports.aggregate import aggregate
from runner.reports.markdown import markdown
from runner.roster import Agent, Budget
from runner.runtime import Ran, Room, Runtime
from runner.showing.lines import written
from runner.showing.page import page
from runner.showing.reading import read_story
from runner.single_shot import told
from runner.staging import Staged, Stages
from runner.store import Store, Try, spent_of
from runner.verification.folders import Reader, open_folder
from runner.verification.model import Finding, Scope
from runner.verification.shots import check_shot_results, check_shots
from sandbox.api import LauncherReport
from sandbox.capture import Capture
from sandbox.contents import MemoryContents
from sandbox.patch import Repository
from sandbox.termination import Cause, Termination, Usage
from sandbox.tree import Entry, Kind, apply_change
from sandbox.unit import UnitResult
from tests.fakes import PlainSandbox
from tests.unit.runner.evidence_maker import BADLY, HOST, SOLVER, WELL, a_manifest, a_store
from tests.unit.runner.test_attempt import HI, FaultySandbox
from tests.unit.runner.test_evaluation import set_up
from tests.unit.runner.test_outcome import line
from tests.unit.runner.test_verify import SCHEMAS, reseal

RIGHT, WRONG, SEEMING = "return len(text.split())\n", "return 0\n", "text.split\n"
TESTS = ("/bin/sh", "-c", "grep -q split wordcount.py || { echo there is no split; exit 1; }")
DIGEST = "1" * 64


@dataclass(frozen=True)
class Said:
    """What the model answers: the file, or an error of our program about it, or of the agent's run."""

    content: str | None = None
    malformed: str | None = None
    refusal: bool = False


@dataclass
class ContentEvaluator:
    """Passes whatever counts words."""

    id: str = "hidden"

    def digest(self) -> str:
        return DIGEST

    def expected_cases(self) -> tuple[str, ...]:
        return ("a",)

    def judge(self, submission: Judgeable, bench: Bench) -> Verdict:
        del bench
        change = submission.change
        passed = any(change.blobs(each.sha256 or "").decode() == RIGHT for each in change.entries)
        return Verdict(
            cause=VerdictCause.PASSED if passed else VerdictCause.FAILED,
            assurance=Assurance.IN_PROCESS,
            cases=(Case(id="a", passed=passed),),
            score=Decimal(int(passed)),
            private_log=b"judged",
        )


@dataclass
class ShotRuntime:
    """Answers as a test wants it, shot by shot; `capture` finds what was answered."""

    says: list[Said | Exception]
    tasks: list[AgentTask] = field(default_factory=list)
    rooms: list[Room] = field(default_factory=list)
    left: str | None = None
    gateway: None = None

    def preflight(self, *_given: object) -> object:
        return HI

    def home_of(self, *_given: object) -> None:
        return None

    def run(self, _candidate: object, task: AgentTask, room: Room, on_line: Callable[[LedgerLine], None]) -> Ran:
        self.tasks.append(task)
        self.rooms.append(room)
        said = self.says[len(self.tasks) - 1]
        if isinstance(said, Exception):
            raise said
        self.left = said.content
        asked = line("refused" if said.refusal else None, refusal="budget" if said.refusal else None)
        asked = asked.model_copy(update={"request_sha256": sha256(body(task)), "cost": "0.01"})
        on_line(asked)
        error = None if said.malformed is None else AgentError(kind="malformed_answer", status=None, message="no")
        told_text = json.dumps({"event": "turn", "text": said.malformed or f"answer {said.content}"})
        well = said.malformed is None and not said.refusal
        return Ran(
            result=UnitResult(
                termination=WELL if well else replace(BADLY, status=4),
                report=LauncherReport(seen={"uid": 1}),
                stdout=told_text.encode(),
                stderr=b"",
            ),
            telemetry=Telemetry(agent="single-shot", turns=1, final_error=error),
            lines=(asked,),
        )

    def captured(self, base: str, commit: str, repository: Repository, below: MemoryContents) -> Capture:
        contents = MemoryContents(below=below)
        data = (self.left or "").encode()
        entry = Entry(path=b"wordcount.py", kind=Kind.FILE, sha256=contents.put(data), size=len(data))
        changes = () if self.left is None else (entry,)
        return Capture(
            base_digest=base,
            tree_digest=apply_change(base, changes, contents),
            changes=changes,
            patch=repository.patch(commit, changes, contents.get),
            findings=(),
            contents=contents,
        )


def body(task: AgentTask) -> bytes:
    asked = {"model": "solver", "messages": conversation(task.prompt, task.before), "more": {}}
    return json.dumps(question(asked)).encode()


@dataclass(frozen=True)
class Shooting:
    """One attempt of two shots at most, as it was sealed."""

    store: Store
    manifest: Manifest
    staged: Staged
    runtime: ShotRuntime

    @property
    def found(self) -> Try:
        (found,) = self.store.tries(SOLVER)
        return found

    @property
    def grading(self) -> Grading:
        return self.found.gradings[-1].grading

    def read(self, name: str) -> Submission:
        assert self.found.submission is not None
        return self.found.submission.document(Submission, name)

    def findings(self) -> list[Finding]:
        folder, trial = self.store.folder(self.store.trial(SOLVER, 1)), self.store.trial(SOLVER, 1)
        scope = Scope(manifest=self.manifest, schemas=SCHEMAS)
        submitted, found = open_folder(folder / "submission", SealKind.SUBMISSION, trial, Reader(SCHEMAS))
        graded, more = open_folder(folder / "gradings/grading-1", SealKind.GRADING, trial, Reader(SCHEMAS))
        assert submitted is not None
        assert graded is not None
        shots = (*check_shots(submitted, scope), *check_shot_results(graded, submitted, scope))
        return [*found, *more, *shots]


class ShotStages:
    """As much of the stages as a try needs."""

    def __init__(self, sandbox: PlainSandbox, repository: Repository) -> None:
        self.sandbox, self.repository, self.workbench = sandbox, repository, self

    def inspection(self) -> None:
        return None


def shooting(
    folder: Path, monkeypatch: pytest.MonkeyPatch, *says: Said | Exception, **told_end: Termination
) -> Shooting:
    """Run one attempt."""
    staged = set_up(folder, TESTS, (ContentEvaluator(),))
    if told_end:
        cast("PlainSandbox", staged.tests_bench.sandbox).ends.extend(told_end.values())
    manifest, runtime = a_shot_manifest(staged), ShotRuntime(list(says))
    repository = Repository(folder / "bases.git")
    below = cast("MemoryContents", staged.base.listings)
    base = staged.base
    monkeypatch.setattr(
        "runner.attempt.capture", lambda *_given: runtime.captured(base.digest, base.commit, repository, below)
    )
    room = ShotSandbox(folder / "room")
    room.folder.mkdir()
    ticks = count(1_000)
    store = a_store(folder / "store", manifest)
    attempts = Attempts(
        store=store,
        manifest=manifest,
        runtime=cast("Runtime", runtime),
        stages=cast("Stages", ShotStages(room, repository)),
        proofs=HOST.proofs,
        patches=lambda _candidate, _staged: pytest.fail("nobody applies a patch"),
        clock=lambda: next(ticks),
    )
    attempts.run(store.trial(SOLVER, 1), manifest.candidate("solver"), staged)
    return Shooting(store, manifest, staged, runtime)


class ShotSandbox(FaultySandbox):
    """A sandbox whose workspaces nobody looks into."""


def a_shot_manifest(staged: Staged) -> Manifest:
    manifest = a_manifest("solver")
    (candidate,), (nomination,) = manifest.candidates, manifest.nominations
    (evaluator,) = nomination.evaluators
    first = told(staged.prepared.nomination, staged.prepared.fixture)
    frozen = nomination.model_copy(
        update={
            "spec": nomination.spec.model_copy(update={"allowed_changes": ("wordcount.py",)}),
            "fixture_sha256": staged.base.digest,
            "told_sha256": sha256(first.encode()),
            "evaluators": (evaluator.model_copy(update={"sha256": DIGEST, "cases": None, "cases_sha256": None}),),
        }
    )
    shooter = candidate.model_copy(update={"agent": Agent.SINGLE_SHOT})
    return manifest.model_copy(update={"candidates": (shooter,), "nominations": (frozen,)})


def test_an_answer_whose_tests_pass_is_the_only_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shot = shooting(tmp_path, monkeypatch, Said(RIGHT))
    assert [each.solved for each in shot.grading.shots] == [True]
    assert len(shot.runtime.tasks) == 1
    submission = shot.found.submission
    assert submission is not None
    assert submission.holds("shots/1/public-tests.json")
    assert not submission.holds("shots/1/submission.json")
    assert shot.findings() == []


def test_the_second_is_told_the_tests_words_and_pays_with_what_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shot = shooting(tmp_path, monkeypatch, Said(WRONG), Said(RIGHT))
    assert [each.solved for each in shot.grading.shots] == [False, True]
    assert shot.grading.solved
    first, second = shot.runtime.tasks
    assert second.before is not None
    assert "there is no split" in second.before.news
    assert second.before.answer == f"answer {WRONG}"
    assert replace(second, before=None) == first
    assert [len(room.asked) for room in shot.runtime.rooms] == [0, 1]
    assert shot.read("submission.json").tree_sha256 != shot.read("shots/1/submission.json").tree_sha256
    lines, wall_ms = spent_of(shot.found)
    assert (len(lines), wall_ms) == (2, 2 * WELL.usage.wall_ms)
    solution = shot.read("submission.json").phases.solution
    assert solution is not None
    assert solution.cost_usd == "0.02"
    assert shot.findings() == []


def test_both_shots_are_shown_with_what_each_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shot = shooting(tmp_path, monkeypatch, Said(WRONG), Said(RIGHT))
    story = read_story(shot.store, shot.manifest, shot.store.trial(SOLVER, 1), SCHEMAS)
    first, second = story.runs
    assert (first.name, second.name) == ("shot 1", "shot 2")
    assert [len(run.ledger) for run in story.runs] == [1, 1]
    assert first.diff is not None
    assert first.diff != story.diff
    shown = "\n".join(each.text for each in written(page(story, ("diff", "cases"), None), None))
    assert shown.index("shot 1, which another followed") < shown.index("what counts")
    assert "shot 1 by itself: tests_failed" in shown
    assert "shot 2 by itself: completed" in shown


@pytest.mark.parametrize(
    ("says", "outcome", "scores"),
    [
        pytest.param((Said(WRONG), Said(WRONG)), Outcome.TESTS_FAILED, ["0", "0"], id="wrong-twice"),
        pytest.param((Said(SEEMING),), Outcome.COMPLETED, ["0"], id="hidden-checks-are-no-news"),
        pytest.param((Said(malformed="hm"), Said(RIGHT)), Outcome.COMPLETED, ["0", "1"], id="malformed-then-right"),
        pytest.param((Said(WRONG), Said(malformed="hm")), Outcome.AGENT_FAILURE, ["0", "0"], id="malformed-at-last"),
        pytest.param((Said(WRONG), Said(refusal=True)), Outcome.AGENT_FAILURE, ["0", "0"], id="budget-at-last"),
    ],
)
def test_each_shot_is_graded_by_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, says: tuple[Said, ...], outcome: Outcome, scores: list[str]
) -> None:
    shot = shooting(tmp_path, monkeypatch, *says)
    assert len(shot.runtime.tasks) == len(says)
    assert shot.grading.outcome is outcome
    assert [each.score for each in shot.grading.shots] == scores
    assert shot.findings() == []


def test_a_malformed_first_answer_is_told_with_its_shot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shot = shooting(tmp_path, monkeypatch, Said(malformed="hm"), Said(RIGHT))
    failure = AgentFailure(cause=FailureCause.MALFORMED_ANSWER, status=4, detail="no")
    assert shot.read("shots/1/submission.json").failure == failure
    assert shot.grading.shots[0].outcome is Outcome.AGENT_FAILURE
    assert shot.read("submission.json").failure is None


def test_who_is_ended_by_his_budget_has_no_second_shot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shot = shooting(tmp_path, monkeypatch, Said(refusal=True))
    assert len(shot.runtime.tasks) == 1
    assert shot.grading.facts.failure is not None
    assert shot.grading.facts.failure.cause is FailureCause.BUDGET
    submission = shot.found.submission
    assert submission is not None
    assert not submission.holds("shots/1/public-tests.json")
    assert shot.findings() == []


def test_a_fault_in_the_second_keeps_the_first_as_evidence_and_what_it_cost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shot = shooting(tmp_path, monkeypatch, Said(WRONG), GatewayError("gone"))
    void = shot.found.void
    assert void is not None
    assert void.holds("shots/1/submission.json")
    document = void.document(Void, "void.json")
    assert document.facts.void is not None
    assert (document.facts.void.blame, document.facts.void.phase) == (Blame.RUNNER, Phase.SOLUTION)
    assert document.phases.solution is not None
    assert document.phases.solution.cost_usd == "0.01"
    assert len(spent_of(shot.found)[0]) == 1


def test_tests_that_we_cannot_run_are_our_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lost = Termination(cause=Cause.MANAGER, status=226, usage=Usage(wall_ms=1), detail="no namespace")
    shot = shooting(tmp_path, monkeypatch, Said(WRONG), tests=lost)
    void = shot.found.void
    assert void is not None
    fact = void.document(Void, "void.json").facts.void
    assert fact is not None
    assert (fact.blame, fact.phase) == (Blame.EVALUATOR, Phase.PUBLIC_TESTS)


def member(value: object, *path: str | int) -> dict[str, object]:
    for name in path:
        value = value[name]  # type: ignore[index]
    return cast("dict[str, object]", value)


@pytest.mark.parametrize(
    ("folder", "name", "spoil", "told_of"),
    [
        pytest.param("submission", "told.txt", None, "told.txt: found sha256", id="told"),
        pytest.param("submission", "shots/1/streams/stdout", None, "request_sha256", id="answer"),
        pytest.param(
            "submission",
            "shots/1/public-tests.json",
            lambda tests: tests.update(passed=True),
            "found passed True",
            id="passed",
        ),
        pytest.param(
            "submission",
            "shots/1/public-tests.json",
            lambda tests: tests.update(tree_sha256="0" * 64),
            "found tree_sha256 0000",
            id="tree",
        ),
        pytest.param(
            "submission",
            "shots/1/submission.json",
            lambda made: made.update(failure={"cause": "budget", "status": None, "detail": ""}),
            "found failure",
            id="failure",
        ),
        pytest.param(
            "gradings/grading-1",
            "grading.json",
            lambda found: member(found, "shots", 0).update(solved=True),
            "found solved True",
            id="solved",
        ),
        pytest.param(
            "gradings/grading-1",
            "grading.json",
            lambda found: member(found, "shots", 1).update(score="0"),
            "found last shot",
            id="last",
        ),
        pytest.param(
            "gradings/grading-1",
            "grading.json",
            lambda found: found.update(shots=[member(found, "shots", 1)]),
            "found shots [2]",
            id="first-left-out",
        ),
        pytest.param(
            "gradings/grading-1", "grading.json", lambda found: found.update(shots=[]), "results of shots", id="none"
        ),
        pytest.param(
            "gradings/grading-1",
            "shots/1/evaluators/hidden.json",
            lambda ruling: ruling.update(passed=True),
            "found passed True",
            id="ruling",
        ),
    ],
)
def test_what_does_not_follow_among_shots_is_found(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    folder: str,
    name: str,
    spoil: Callable[[dict[str, object]], object] | None,
    told_of: str,
) -> None:
    shot = shooting(tmp_path, monkeypatch, Said(WRONG), Said(RIGHT))
    place = shot.store.folder(shot.store.trial(SOLVER, 1)) / folder
    data = (place / name).read_bytes()
    if spoil is None:
        changed = data.replace(b"w", b"v")
    else:
        value = json.loads(data)
        spoil(value)
        changed = canonical(value)
    assert changed != data
    reseal(place, {name: changed})
    assert told_of in "\n".join(str(each) for each in shot.findings())


@pytest.mark.parametrize("name", ["shots/1/submission.json", "shots/1/public-tests.json", "told.txt"])
def test_a_shot_that_is_gone_is_missed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    shot = shooting(tmp_path, monkeypatch, Said(WRONG), Said(RIGHT))
    reseal(shot.store.folder(shot.store.trial(SOLVER, 1)) / "submission", {name: None})
    assert shot.findings() != []


def test_who_shoots_not_has_no_shots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shot = shooting(tmp_path, monkeypatch, Said(WRONG), Said(RIGHT))
    (candidate,) = shot.manifest.candidates
    other = shot.manifest.model_copy(update={"candidates": (candidate.model_copy(update={"agent": Agent.NATIVE}),)})
    assert "found shots" in "\n".join(str(each) for each in replace(shot, manifest=other).findings())


@pytest.mark.parametrize(
    ("says", "rates"),
    [
        pytest.param((Said(RIGHT),), ("1", "1"), id="first"),
        pytest.param((Said(WRONG), Said(RIGHT)), ("0", "1"), id="second"),
        pytest.param((Said(WRONG), GatewayError("gone")), (None, None), id="void"),
    ],
)
def test_pass_at_one_and_two_are_of_attempts_that_count(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    says: tuple[Said | Exception, ...],
    rates: tuple[str | None, str | None],
) -> None:
    shot = shooting(tmp_path, monkeypatch, *says)
    table = aggregate(shot.store, shot.manifest)
    (standing,) = table.candidates
    assert (standing.pass_at_1, standing.pass_at_2) == rates
    (row,) = table.attempts
    assert [row.pass_at_1, row.pass_at_2] == [None if rate is None else rate == "1" for rate in rates]
    told_rates = " | ".join(rate or "N/A" for rate in rates)
    assert f"| Candidate | pass@1 | pass@2 |\n| --- | --- | --- |\n| solver | {told_rates} |" in markdown(table)


def test_the_last_result_is_the_gradings_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    grading = shooting(tmp_path, monkeypatch, Said(WRONG), Said(RIGHT)).grading
    last = grading.shots[-1]
    assert all(getattr(last, name) == getattr(grading, name) for name in ShotResult.model_fields if name != "number")


def test_the_second_shot_has_what_the_first_left_of_the_budget() -> None:
    budget = Budget(usd="0.05", requests=3, tokens=1_000)
    asked = line(None).model_copy(update={"cost": "0.02"})
    tokens = asked.tokens.model_copy(update={"input": 100, "output": 50})
    left = what_is_left(budget, [asked.model_copy(update={"tokens": tokens})])
    ceilings = left.tightened(Ceilings(requests=3, tokens=1_000, usd="0.05"))
    assert (ceilings.requests, ceilings.tokens, ceilings.usd) == (2, 850, "0.03")
    assert what_is_left(Budget(), [asked]).tightened(Ceilings()) == Ceilings()
