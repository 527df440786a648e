"""Controls: a nomination that cannot be solved, or is solved already, is never frozen."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

import pytest

from evaluators.model import Assurance, Bench, Case, Evaluator, Submission, Verdict, VerdictCause
from runner.canonical import canonical, sha256
from runner.controls import Calibrated, Graded, Trial, read_record, run_controls, trials
from runner.documents.controls import CalibratedEvaluator
from runner.errors import ControlError, DocumentErrors, FixtureError
from runner.fixture import build_fixture
from runner.nomination import Nomination, load_nomination
from runner.sdist import Downloads
from runner.solution import build_solution
from sandbox.patch import Repository
from sandbox.spec import ObjectId
from tests.unit.runner.written import NOMINATION, PATCH, nomination_files, written

NOTHING = Downloads(folder=Path("/nonexistent"), index=None)
BASE = (ObjectId("0" * 64),)
WRONG = PATCH.replace("len(text.split())", "1 + text.count(' ')")
LEARNED = CalibratedEvaluator(id="hidden", kind="pytest", sha256="1" * 64, cases=("a", "b"), calibration=None)


def verdict(*, passed: bool, cases: tuple[Case, ...] = ()) -> Verdict:
    return Verdict(
        cause=VerdictCause.PASSED if passed else VerdictCause.FAILED,
        assurance=Assurance.IN_PROCESS,
        cases=cases,
        score=Decimal(int(passed)),
        duration_ms=17,
    )


@dataclass
class StillEvaluator:
    """An evaluator that is never asked: the grading is a fake as well."""

    id: str

    def digest(self) -> str:
        return "1" * 64

    def expected_cases(self) -> tuple[str, ...]:
        return ("a", "b")

    def judge(self, submission: Submission, bench: Bench) -> Verdict:
        raise NotImplementedError


@dataclass
class FakeGrading:
    """Grades by tree digest: (public tests, hidden evaluator)."""

    ends: Mapping[str, tuple[bool, bool]]
    seen: list[Submission] = field(default_factory=list)

    def __call__(self, submission: Submission, evaluators: tuple[Evaluator, ...]) -> Graded:
        self.seen.append(submission)
        public, hidden = self.ends[submission.tree_digest]
        return Graded(public_tests=public, verdicts={each.id: verdict(passed=hidden) for each in evaluators})


def set_up(
    folder: Path, extra: Mapping[str, str] | None = None
) -> tuple[Nomination, dict[str, Trial], tuple[Trial, ...]]:
    files = nomination_files() | {"wrong/one.patch": WRONG} | dict(extra or {})
    nomination = load_nomination(written(folder / "wordcount", files))
    fixture = build_fixture(nomination, NOTHING)
    repository = Repository(folder / "bases.git")
    solution = build_solution(nomination, fixture, NOTHING, repository)
    known = trials(nomination, fixture, solution, repository)
    return nomination, {trial.name: trial for trial in known}, known


def calibrated() -> Calibrated:
    return Calibrated(evaluators=(StillEvaluator("hidden"),), learned=(LEARNED,))


def ends_of(named: Mapping[str, Trial], **ends: tuple[bool, bool]) -> dict[str, tuple[bool, bool]]:
    usual = {"base": (False, False), "solution": (True, True), "wrong/one.patch": (True, False)}
    names = {"wrong": "wrong/one.patch", "alternative": "alternative/two.patch"}
    told = usual | {names.get(name, name): end for name, end in ends.items()}
    return {named[name].tree_sha256: end for name, end in told.items()}


def test_controls_that_end_as_they_must_are_recorded_without_times(tmp_path: Path) -> None:
    nomination, named, known = set_up(tmp_path)
    grading = FakeGrading(ends_of(named))
    record = run_controls(nomination, known, BASE, calibrated(), grading)
    assert [(each.name, each.kind, each.public_tests) for each in record.controls] == [
        ("base", "base", False),
        ("solution", "solution", True),
        ("wrong/one.patch", "wrong", True),
    ]
    assert record.evaluators == (LEARNED,)
    assert [each.base for each in grading.seen] == [BASE] * 3
    again = run_controls(nomination, known, BASE, calibrated(), FakeGrading(ends_of(named)))
    assert canonical(again) == canonical(record)


@pytest.mark.parametrize(
    ("ends", "field_", "found"),
    [
        pytest.param({"base": (True, True)}, "controls", "base passes every evaluator", id="solved-already"),
        pytest.param({"solution": (False, True)}, "controls", "solution fails the public tests", id="public"),
        pytest.param({"solution": (True, False)}, "evaluators[hidden]", "solution ends as failed", id="unsolvable"),
        pytest.param({"wrong": (True, True)}, "controls", "wrong/one.patch passes every", id="wrong-passes"),
    ],
)
def test_a_control_that_ends_otherwise_is_refused(
    tmp_path: Path, ends: Mapping[str, tuple[bool, bool]], field_: str, found: str
) -> None:
    nomination, named, known = set_up(tmp_path)
    with pytest.raises(DocumentErrors) as caught:
        run_controls(nomination, known, BASE, calibrated(), FakeGrading(ends_of(named, **ends)))
    (error,) = caught.value.errors
    assert (error.file, error.field) == (nomination.file, field_)
    assert found in error.found


def test_an_alternative_must_pass_as_the_solution_does(tmp_path: Path) -> None:
    other = PATCH.replace("len(text.split())", "sum(1 for _ in text.split())")
    nomination, named, known = set_up(tmp_path, {"alternative/two.patch": other})
    record = run_controls(nomination, known, BASE, calibrated(), FakeGrading(ends_of(named, alternative=(True, True))))
    assert record.controls[-1].kind == "alternative"
    with pytest.raises(DocumentErrors, match=r"alternative/two\.patch ends as failed"):
        run_controls(nomination, known, BASE, calibrated(), FakeGrading(ends_of(named, alternative=(True, False))))


def test_everything_that_is_wrong_is_told_at_once(tmp_path: Path) -> None:
    nomination, named, known = set_up(tmp_path)
    ends = ends_of(named, base=(True, True), solution=(False, False))
    with pytest.raises(DocumentErrors) as caught:
        run_controls(nomination, known, BASE, calibrated(), FakeGrading(ends))
    assert len(caught.value.errors) == 3


def test_without_evaluators_the_base_cannot_fail(tmp_path: Path) -> None:
    nomination, named, known = set_up(tmp_path)
    nobody = Calibrated(evaluators=(), learned=())
    with pytest.raises(DocumentErrors, match="no evaluator"):
        run_controls(nomination, known, BASE, nobody, FakeGrading(ends_of(named)))


def test_of_an_answer_that_judges_grade_the_base_must_fail_the_public_tests(tmp_path: Path) -> None:
    free = NOMINATION.replace('class = "code-fix"', 'class = "free-text"')
    nomination, named, known = set_up(tmp_path, {"nomination.toml": free})
    nobody = Calibrated(evaluators=(), learned=())
    run_controls(nomination, known, BASE, nobody, FakeGrading(ends_of(named)))
    with pytest.raises(DocumentErrors, match="base passes the public tests"):
        run_controls(nomination, known, BASE, nobody, FakeGrading(ends_of(named, base=(True, True))))


def test_a_probe_that_does_not_fit_the_fixture_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FixtureError, match=r"wrong/two\.patch"):
        set_up(tmp_path, {"wrong/two.patch": PATCH.replace("def count", "def other")})


def test_a_record_is_read_back_only_if_it_is_the_frozen_one(tmp_path: Path) -> None:
    nomination, named, known = set_up(tmp_path)
    record = run_controls(nomination, known, BASE, calibrated(), FakeGrading(ends_of(named)))
    data = canonical(record)
    assert read_record(data, "record.json", sha256(data)) == record
    with pytest.raises(ControlError, match="restore it"):
        read_record(data.replace(b'"public_tests":true', b'"public_tests":false', 1), "record.json", sha256(data))


@dataclass
class CaseGrading(FakeGrading):
    """The same, with two hidden cases: of the base `a` fails and `b` passes."""

    def __call__(self, submission: Submission, evaluators: tuple[Evaluator, ...]) -> Graded:
        public, passed = self.ends[submission.tree_digest]
        said = verdict(passed=passed, cases=(Case(id="a", passed=passed), Case(id="b", passed=True)))
        return Graded(public_tests=public, verdicts={each.id: said for each in evaluators})


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ('fail_to_pass = ["a"]\npass_to_pass = ["b"]', None),
        ('fail_to_pass = ["b"]', "fail_to_pass: b: passes the base"),
        ('pass_to_pass = ["a"]', "pass_to_pass: a: fails the base"),
        ('fail_to_pass = ["c"]', "fail_to_pass: c: no such case"),
    ],
)
def test_cases_of_the_base_end_as_the_nomination_says(tmp_path: Path, options: str, told: str | None) -> None:
    text = NOMINATION.replace('kind = "pytest"', f'kind = "pytest"\n{options}')
    nomination, named, known = set_up(tmp_path, {"nomination.toml": text})
    grading = CaseGrading(ends_of(named))
    if told is None:
        assert run_controls(nomination, known, BASE, calibrated(), grading).nomination == "wordcount"
        return
    with pytest.raises(DocumentErrors, match=told):
        run_controls(nomination, known, BASE, calibrated(), grading)
