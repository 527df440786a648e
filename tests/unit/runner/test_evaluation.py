"""Gradings: whose fault an end without a result is, and that no fault is ever a verdict (contracts 5)."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from evaluators.errors import BaselineError, EvaluatorError, NoisyHostError
from evaluators.model import Assurance, Bench, Evaluator, Verdict, VerdictCause
from evaluators.model import Submission as Judgeable
from evaluators.public_tests import PublicTests
from runner.documents.evidence import Submission
from runner.documents.facts import Blame, Phase, Phases
from runner.evaluation import Evaluation, Reopened, evaluate
from runner.fixture import build_fixture
from runner.grading import facts_of
from runner.nomination import load_nomination
from runner.outcome import Outcome, outcome, solved
from runner.policy import Change
from runner.release import PreparedNomination
from runner.sdist import Downloads
from runner.solution import build_solution
from runner.staging import Staged, roomy
from sandbox.api import Pack
from sandbox.capture import Base
from sandbox.errors import KeeperError, WorkspaceError
from sandbox.patch import Repository
from sandbox.spec import MIB, Limits, ObjectId
from sandbox.tree import Entry, Kind
from tests.fakes import PlainSandbox
from tests.unit.runner.evidence_maker import ORIGIN
from tests.unit.runner.sealing import TRIAL
from tests.unit.runner.test_controls import WRONG
from tests.unit.runner.written import nomination_files, written

NOTHING = Downloads(folder=Path("/nonexistent"), index=None)
TREE = "7" * 64
DOCUMENT = Submission(
    trial=TRIAL,
    origin=ORIGIN,
    base_sha256=TREE,
    tree_sha256=TREE,
    patch_sha256=TREE,
    started_ms=1,
    ended_ms=2,
    phases=Phases(),
)
PASSES = ("/bin/sh", "-c", "exit 0")


@dataclass
class ToldEvaluator:
    """Says of each submission what a test wants, by its tree digest."""

    says: Mapping[str, VerdictCause | Exception]
    id: str = "hidden"
    benches: list[Bench] = field(default_factory=list)

    def digest(self) -> str:
        return "1" * 64

    def expected_cases(self) -> tuple[str, ...]:
        return ("a",)

    def judge(self, submission: Judgeable, bench: Bench) -> Verdict:
        self.benches.append(bench)
        said = self.says[submission.tree_digest]
        if isinstance(said, Exception):
            raise said
        passed = said is VerdictCause.PASSED
        return Verdict(
            cause=said, assurance=Assurance.IN_PROCESS, cases=(), score=Decimal(int(passed)), private_log=b"x"
        )


def set_up(folder: Path, command: tuple[str, ...], evaluators: tuple[Evaluator, ...]) -> Staged:
    files = nomination_files() | {"wrong/one.patch": WRONG}
    nomination = load_nomination(written(folder / "wordcount", files))
    fixture = build_fixture(nomination, NOTHING)
    repository = Repository(folder / "bases.git")
    sandbox = PlainSandbox(folder / "sandbox")
    sandbox.folder.mkdir()
    limits = Limits(wall=timedelta(seconds=2), disk_bytes=64 * MIB, disk_inodes=8192)
    bench = Bench(sandbox=sandbox, toolchain=(), python_path=(), root=".", limits=limits)
    prepared = PreparedNomination(
        nomination=nomination,
        fixture=fixture,
        solution=build_solution(nomination, fixture, NOTHING, repository),
        lock=None,
        evaluators=evaluators,
        controls=None,
    )
    return Staged(
        prepared=prepared,
        base=Base(
            digest=fixture.digest,
            commit=repository.ingest(fixture.entries, fixture.contents.get),
            listings=fixture.contents,
        ),
        fixture=sandbox.store(fixture.pack),
        git=ObjectId("0" * 64),
        toolchain=(),
        tests=PublicTests(command=command, files=fixture.public_pack),
        bench=bench,
        tests_bench=bench,
    )


def evaluated(
    folder: Path,
    *says: VerdictCause | Exception,
    command: tuple[str, ...] = PASSES,
    solution: VerdictCause = VerdictCause.PASSED,
) -> Evaluation:
    """Grade one change; each evaluator says one thing of it and another of the solution."""
    evaluators = tuple(ToldEvaluator({TREE: said}, id=f"e{place}") for place, said in enumerate(says))
    staged = set_up(folder, command, evaluators)
    for each in evaluators:
        each.says = {**each.says, staged.prepared.solution.digest: solution}
    entry = Entry(path=b"wordcount.py", kind=Kind.FILE, sha256="0" * 64, size=1)
    pack = Pack(entries=(entry,), blobs=lambda _: b"x")
    change = Change(entries=(entry,), findings=(), patch_bytes=10)
    return evaluate(staged, Reopened(document=DOCUMENT, change=change, judged=staged.submission(pack, TREE)))


def ended(evaluation: Evaluation) -> Outcome:
    return outcome(facts_of(evaluation.reopened.document, evaluation.parts()))


def test_every_evaluator_is_asked_and_its_word_kept(tmp_path: Path) -> None:
    found = evaluated(tmp_path, VerdictCause.PASSED, VerdictCause.FAILED)
    assert [(each.id, each.passed) for each in found.rulings] == [("e0", True), ("e1", False)]
    assert found.fault is None
    assert ended(found) is Outcome.COMPLETED
    assert not solved(facts_of(found.reopened.document, found.parts()))
    assert {"policy.json", "public-tests.json", "evaluators/e0.json", "evaluators/e1.json"} <= found.files().keys()


@pytest.mark.parametrize("cause", [VerdictCause.TIMEOUT, VerdictCause.CRASHED])
def test_no_result_is_the_submissions_own_unless_the_solution_gives_none_either(
    tmp_path: Path, cause: VerdictCause
) -> None:
    own = evaluated(tmp_path / "own", cause)
    assert own.fault is None
    assert own.rulings[0].cause is cause
    shared = evaluated(tmp_path / "shared", cause, VerdictCause.PASSED, solution=cause)
    assert shared.fault is not None
    assert (shared.fault.blame, shared.fault.phase) == (Blame.NOMINATION, Phase.EVALUATORS)
    assert shared.rulings == []
    assert ended(shared) is Outcome.VOID


def test_a_bad_verdict_is_never_held_against_the_solution(tmp_path: Path) -> None:
    found = evaluated(tmp_path, VerdictCause.TAMPERED, solution=VerdictCause.TAMPERED)
    assert found.fault is None
    assert found.rulings[0].cause is VerdictCause.TAMPERED


@pytest.mark.parametrize(
    ("error", "blame"),
    [
        pytest.param(EvaluatorError("no suite"), Blame.EVALUATOR, id="evaluator"),
        pytest.param(WorkspaceError("no room"), Blame.HOST, id="host"),
        pytest.param(NoisyHostError("too noisy"), Blame.HOST, id="noise"),
        pytest.param(BaselineError("the base is wrong"), Blame.NOMINATION, id="baseline"),
    ],
)
def test_a_fault_has_a_blame_and_what_was_found_before_stays(tmp_path: Path, error: Exception, blame: Blame) -> None:
    found = evaluated(tmp_path, VerdictCause.PASSED, error, VerdictCause.PASSED)
    assert found.fault is not None
    assert (found.fault.blame, found.fault.phase) == (blame, Phase.EVALUATORS)
    assert [each.id for each in found.rulings] == ["e0"]
    assert found.tests is not None
    assert found.tests.passed
    assert ended(found) is Outcome.VOID


def test_without_a_keeper_nothing_is_said(tmp_path: Path) -> None:
    with pytest.raises(KeeperError):
        evaluated(tmp_path, KeeperError("gone"))


def test_public_tests_that_hang_are_the_submissions_own_unless_the_solution_hangs_too(tmp_path: Path) -> None:
    hangs = ("/bin/sh", "-c", "grep -q x wordcount.py && ! grep -q split wordcount.py && sleep 20; exit 1")
    own = evaluated(tmp_path / "own", VerdictCause.FAILED, command=hangs)
    assert own.fault is None
    assert own.tests is not None
    assert (own.tests.passed, own.tests.end.cause.value) == (False, "timeout")
    assert ended(own) is Outcome.TESTS_FAILED
    shared = evaluated(tmp_path / "shared", VerdictCause.PASSED, command=("/bin/sleep", "20"))
    assert shared.fault is not None
    assert (shared.fault.blame, shared.fault.phase) == (Blame.NOMINATION, Phase.PUBLIC_TESTS)
    assert shared.rulings == []


def change_of(*sizes: int, folder: bytes = b"") -> Pack:
    entries = (
        Entry(path=folder + b"%d" % place, kind=Kind.FILE, sha256="0" * 64, size=size)
        for place, size in enumerate(sizes)
    )
    return Pack(entries=tuple(entries), blobs=lambda _: b"")


@pytest.mark.parametrize(
    ("change", "bytes_", "inodes"),
    [
        pytest.param(change_of(), 0, 0, id="nothing"),
        pytest.param(change_of(100, 4 * MIB), 0, 0, id="small"),
        pytest.param(change_of(*[32 * MIB] * 3), 96 * MIB, 3, id="sparse-files-from-a-small-disk"),
        pytest.param(change_of(*[1] * 20_000), 80 * MIB, 20_000, id="many-files"),
        pytest.param(change_of(*[1] * 5_000, folder=b"d/" * 90), 20 * MIB, 5_090, id="deep"),
    ],
)
def test_a_room_holds_what_is_laid_beside_what_programs_may_write(
    tmp_path: Path, change: Pack, bytes_: int, inodes: int
) -> None:
    staged = set_up(tmp_path, PASSES, ())
    plain = staged.bench
    room = roomy(plain, staged.submission(change, TREE)).limits
    assert room.disk_bytes >= plain.limits.disk_bytes + bytes_
    assert room.disk_inodes >= plain.limits.disk_inodes + inodes
    assert replace(room, disk_bytes=1, disk_inodes=1) == replace(plain.limits, disk_bytes=1, disk_inodes=1)
    if not bytes_:
        assert room == plain.limits


def test_evaluators_and_tests_get_that_room(tmp_path: Path) -> None:
    evaluator = ToldEvaluator({TREE: VerdictCause.FAILED})
    staged = set_up(tmp_path, PASSES, (evaluator,))
    big = change_of(*[32 * MIB] * 3)
    change = Change(entries=big.entries, findings=(), patch_bytes=10)
    evaluate(staged, Reopened(document=DOCUMENT, change=change, judged=staged.submission(big, TREE)))
    assert evaluator.benches[0].limits.disk_bytes >= (64 + 96) * MIB
    sandbox = staged.bench.sandbox
    assert isinstance(sandbox, PlainSandbox)
    assert sandbox.started[0].limits.disk_bytes >= (64 + 96) * MIB
