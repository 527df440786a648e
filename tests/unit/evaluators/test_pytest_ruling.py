import pytest

from evaluators.calibration import Calibration, ProvenTwin, TwinCase
from evaluators.channel import Phase, Transcript
from evaluators.errors import EvaluatorError
from evaluators.model import VerdictCause
from evaluators.pytest_ruling import Run, rule
from evaluators.pytest_unit import SuiteRun, check_it_started
from evaluators.twins import Disguise, Twin
from sandbox.termination import Cause, Termination, Usage

A, B, C, T = "t.py::test_a", "t.py::test_b", "t.py::test_c", "t.py::test_x"
TWIN = Twin(file="t.py", scope=(), test="test_a", site=0, variant=0)
PROVEN = ProvenTwin(twin=TWIN, cases=(TwinCase(id=A, of=A),))
DISGUISE = Disguise(modules={}, tests={name: name for name in ("test_a", "test_b", "test_c")}, twins={"test_x": TWIN})
CALIBRATION = Calibration(cases=(A, B, C), twins=(PROVEN,))
GOOD = Termination(cause=Cause.EXIT, status=0, usage=Usage(wall_ms=5))


def phase(case: str, when: str, outcome: str = "passed", **changes: bool) -> Phase:
    facts = {"part": False, "expected_failure": False, "raised": outcome != "passed"} | changes
    return Phase(id=case, when=when, outcome=outcome, ms=1, detail="", **facts)


def ran(case: str, outcome: str = "passed", **changes: bool) -> list[Phase]:
    return [phase(case, "setup"), phase(case, "call", outcome, **changes), phase(case, "teardown")]


def transcript(phases: list[Phase], **changes: object) -> Transcript:
    facts: dict[str, object] = {
        "started": True,
        "collected": (A, T, B, C),
        "phases": tuple(phases),
        "status": 1,
    }
    return Transcript(**(facts | changes))  # type: ignore[arg-type]  # a test's shorthand


def run(phases: list[Phase], termination: Termination = GOOD, **changes: object) -> Run:
    return Run(disguise=DISGUISE, chosen=(PROVEN,), transcript=transcript(phases, **changes), termination=termination)


RIGHT = [*ran(A), *ran(T, "failed"), *ran(B), *ran(C)]


def ended(cause: Cause, status: int | None = None) -> Termination:
    return Termination(cause=cause, status=status, usage=Usage(wall_ms=5))


def test_all_expected_cases_passing_beside_a_failing_twin_is_a_pass() -> None:
    verdict = rule(CALIBRATION, run(RIGHT))
    assert (verdict.cause, verdict.score, verdict.passed) == (VerdictCause.PASSED, 1, True)


def test_there_is_no_score_for_a_part() -> None:
    verdict = rule(CALIBRATION, run([*ran(A), *ran(T, "failed"), *ran(B), *ran(C, "failed")]))
    assert (verdict.cause, verdict.score) == (VerdictCause.FAILED, 0)


@pytest.mark.parametrize(
    ("made", "cause"),
    [
        pytest.param(run([*ran(A), *ran(T), *ran(B), *ran(C)]), VerdictCause.TAMPERED, id="twin passed too"),
        pytest.param(run(RIGHT, forged="no key"), VerdictCause.TAMPERED, id="forged record"),
        pytest.param(run([*RIGHT, phase(A, "call")]), VerdictCause.TAMPERED, id="reported twice"),
        pytest.param(run([*RIGHT, phase("t.py::other", "call")]), VerdictCause.TAMPERED, id="unknown test"),
        pytest.param(run([*RIGHT[:-1], phase(C, "later")]), VerdictCause.TAMPERED, id="unknown phase"),
        pytest.param(run([*ran(A, raised=True), *RIGHT[3:]]), VerdictCause.TAMPERED, id="raised, reported as passed"),
        pytest.param(run(RIGHT, status=0), VerdictCause.TAMPERED, id="pytest counted no failure"),
        pytest.param(run(RIGHT, ended(Cause.TIMEOUT)), VerdictCause.TIMEOUT, id="timeout"),
        pytest.param(run(RIGHT, ended(Cause.OOM)), VerdictCause.CRASHED, id="out of memory"),
        pytest.param(run(RIGHT, ended(Cause.SIGNAL, 11)), VerdictCause.CRASHED, id="signal"),
        pytest.param(run(RIGHT, ended(Cause.OUTPUT_LIMIT)), VerdictCause.CRASHED, id="output limit"),
        pytest.param(run(RIGHT, ended(Cause.EXIT, 1)), VerdictCause.CRASHED, id="another status"),
        pytest.param(run(RIGHT, status=None), VerdictCause.CRASHED, id="never finished"),
        pytest.param(run(RIGHT, status=3), VerdictCause.REJECTED, id="pytest gave up"),
        pytest.param(run(RIGHT, troubles=("boom",)), VerdictCause.REJECTED, id="import failed"),
        pytest.param(run(RIGHT[:-3], collected=(A, T, B)), VerdictCause.REJECTED, id="case missing"),
        pytest.param(run(RIGHT, collected=(A, T, B, C, "t.py::more")), VerdictCause.REJECTED, id="case extra"),
        pytest.param(run(RIGHT, collected=(A, T, B, C, C)), VerdictCause.REJECTED, id="collected twice"),
        pytest.param(run([*ran(A), *ran(B), *ran(C)], collected=(A, B, C)), VerdictCause.REJECTED, id="no twin"),
        pytest.param(run([], collected=None), VerdictCause.REJECTED, id="nothing collected"),
        pytest.param(run(RIGHT[:-1]), VerdictCause.FAILED, id="no teardown"),
        pytest.param(run(RIGHT[:-3]), VerdictCause.FAILED, id="never ran"),
        pytest.param(run([*RIGHT[:-3], *ran(C, "skipped")]), VerdictCause.FAILED, id="skipped"),
        pytest.param(
            run([*RIGHT[:-3], *ran(C, expected_failure=True)]),
            VerdictCause.FAILED,
            id="expected failure passed",
        ),
        pytest.param(
            run([*RIGHT[:-2], phase(C, "call", "failed", part=True), *RIGHT[-2:]]),
            VerdictCause.FAILED,
            id="a subtest failed",
        ),
    ],
)
def test_whatever_is_not_wholly_right_never_passes(made: Run, cause: VerdictCause) -> None:
    verdict = rule(CALIBRATION, made)
    assert verdict.cause is cause
    assert not verdict.passed
    assert verdict.score == 0
    assert [case.id for case in verdict.cases] == [A, B, C]


def test_a_twin_that_passes_where_its_test_fails_is_only_a_failure() -> None:
    verdict = rule(CALIBRATION, run([*ran(A, "failed"), *ran(T), *ran(B), *ran(C)]))
    assert verdict.cause is VerdictCause.FAILED


def test_a_forged_run_shows_no_case_as_passed() -> None:
    verdict = rule(CALIBRATION, run(RIGHT, forged="no key"))
    assert not any(case.passed for case in verdict.cases)


@pytest.mark.parametrize(
    ("made", "end"),
    [
        (transcript(RIGHT), ended(Cause.MANAGER)),
        (transcript(RIGHT), ended(Cause.KILLED)),
        (Transcript(), GOOD),
        (Transcript(), ended(Cause.TIMEOUT)),
    ],
)
def test_what_ended_before_submitted_code_had_its_turn_is_a_fault(made: Transcript, end: Termination) -> None:
    with pytest.raises(EvaluatorError):
        check_it_started(SuiteRun(transcript=made, termination=end, printed=b"no module named pytest"))


def test_a_run_that_started_is_no_fault() -> None:
    check_it_started(SuiteRun(transcript=transcript(RIGHT), termination=ended(Cause.TIMEOUT)))
