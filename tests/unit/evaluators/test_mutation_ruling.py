"""The right numbers of a judgement, from runs that are plain values."""

from decimal import Decimal

import pytest

from evaluators.channel import Phase, Transcript
from evaluators.model import Verdict, VerdictCause
from evaluators.module_versions import Behaviour, Version
from evaluators.mutation_ruling import BASELINE, Ran, Result, baseline, refusal, results, rule
from evaluators.pytest_unit import SuiteRun
from sandbox.termination import Cause, Termination, Usage

PASS, FAIL, SKIP = "passed", "failed", "skipped"
A, B, C, D = ("test_a", "test_b", "test_c", "test_d")


def phases(name: str, outcome: str, when: str = "call", **changes: bool) -> list[Phase]:
    told = [("setup", PASS), ("call", PASS), ("teardown", PASS)]
    facts = {"part": False, "expected_failure": False, "raised": outcome == FAIL} | changes
    return [
        Phase(id=name, when=each, outcome=outcome if each == when else usual, ms=1, detail="", **facts)
        for each, usual in told
    ]


def run(*tests: tuple[str, str], cause: Cause = Cause.EXIT, status: int | None = 0, **changes: object) -> SuiteRun:
    facts: dict[str, object] = {
        "started": True,
        "collected": tuple(name for name, _ in tests),
        "phases": tuple(phase for name, outcome in tests for phase in phases(name, outcome)),
        "status": 1 if status == 0 else None,
    }
    return SuiteRun(
        transcript=Transcript(**(facts | changes)),  # type: ignore[arg-type]  # a test's shorthand
        termination=Termination(cause=cause, status=status, usage=Usage(wall_ms=5)),
    )


def on(behaviour: Behaviour, number: int, made: SuiteRun) -> Ran:
    return Ran(version=Version(id=str(number), behaviour=behaviour, source=b""), run=made)


def judged(modules: list[SuiteRun], mutants: list[SuiteRun], equivalents: list[SuiteRun], least: str = "1") -> Verdict:
    sides = ((Behaviour.CORRECT, modules), (Behaviour.MUTANT, mutants), (Behaviour.EQUIVALENT, equivalents))
    ran = [on(behaviour, number, each) for behaviour, made in sides for number, each in enumerate(made)]
    cases = [BASELINE, *(each.version.case for each in ran if each.version.behaviour is not Behaviour.CORRECT)]
    return rule(ran, cases, Decimal(least))


RIGHT = run((A, PASS), (B, PASS))
KILLED = run((A, PASS), (B, FAIL))
SURVIVED = run((A, PASS), (B, PASS))


@pytest.mark.parametrize(
    ("killed", "mutants", "wrong", "right", "score"),
    [
        pytest.param(2, 2, 0, 2, "1", id="all killed, all right"),
        pytest.param(1, 2, 0, 2, "0.5", id="half killed"),
        pytest.param(0, 2, 0, 2, "0", id="none killed"),
        pytest.param(2, 2, 1, 3, "0.75", id="one test of four wrong"),
        pytest.param(1, 2, 1, 3, "0.375", id="half killed, one test of four wrong"),
        pytest.param(20, 24, 0, 2, "0.833333", id="twenty of 24: below 0.85"),
        pytest.param(21, 24, 0, 2, "0.875", id="21 of 24: above 0.85"),
        pytest.param(24, 24, 15, 52, "0.776119", id="all killed, 52 of 67 tests right"),
    ],
)
def test_the_score_is_the_part_killed_times_the_part_of_tests_that_are_right(
    killed: int, mutants: int, wrong: int, right: int, score: str
) -> None:
    names = [(f"right_{number}", PASS) for number in range(right)]
    module = run(*names, *((f"wrong_{number}", FAIL) for number in range(wrong)))
    dead = run(("right_0", FAIL), *names[1:])
    verdict = judged([module] * 3, [dead] * killed + [module] * (mutants - killed), [module])
    assert verdict.score == Decimal(score)
    assert verdict.cause is (VerdictCause.PASSED if score == "1" else VerdictCause.FAILED)


@pytest.mark.parametrize(("least", "passed"), [("0.5", True), ("0.500001", False), ("0.499999", True)])
def test_the_threshold_is_inclusive_and_exact(least: str, *, passed: bool) -> None:
    verdict = judged([RIGHT] * 3, [KILLED, SURVIVED], [RIGHT], least)
    assert (verdict.score, verdict.passed) == (Decimal("0.5"), passed)


def test_an_equivalent_that_is_killed_makes_all_of_it_worth_nothing() -> None:
    verdict = judged([RIGHT] * 3, [KILLED] * 3, [RIGHT, KILLED], "0.1")
    assert (verdict.cause, verdict.score) == (VerdictCause.FAILED, 0)
    assert [case.id for case in verdict.cases if not case.passed] == ["equivalent: 1"]


@pytest.mark.parametrize(
    "made",
    [
        pytest.param(run((A, PASS), (B, PASS), cause=Cause.TIMEOUT, status=None), id="timeout"),
        pytest.param(run((A, PASS), (B, PASS), cause=Cause.SIGNAL, status=9), id="signal"),
        pytest.param(run((A, PASS), (B, PASS), cause=Cause.OOM, status=None), id="memory"),
        pytest.param(run((A, PASS), cause=Cause.EXIT, status=3), id="ended early"),
        pytest.param(run(collected=None, troubles=("ImportError",)), id="not imported"),
        pytest.param(run((C, FAIL)), id="another test failed"),
        pytest.param(run((A, SKIP), (B, SKIP)), id="skipped"),
        pytest.param(run(), id="nothing collected"),
    ],
)
def test_a_mutant_is_killed_by_nothing_but_a_failing_test_that_passes_on_the_module(made: SuiteRun) -> None:
    verdict = judged([RIGHT] * 3, [made, KILLED], [RIGHT])
    assert verdict.score == Decimal("0.5")
    assert [case.id for case in verdict.cases if not case.passed] == ["mutant: 0"]


def test_a_test_that_failed_before_the_process_ended_has_killed() -> None:
    failed_first = run((A, FAIL), (B, PASS), cause=Cause.TIMEOUT, status=None)
    assert judged([RIGHT] * 3, [failed_first], [RIGHT]).score == 1


def test_a_test_that_passes_now_and_then_is_wrong_and_kills_nothing() -> None:
    verdict = judged([RIGHT, RIGHT, run((A, PASS), (B, FAIL))], [KILLED], [KILLED])
    assert (verdict.score, verdict.detail) == (0, "0 of 1 mutants killed, 1 of 2 tests right")
    steady = judged([RIGHT, run((A, PASS), (B, FAIL)), RIGHT], [run((A, FAIL), (B, FAIL))], [KILLED])
    assert steady.score == Decimal("0.5")


def test_skipped_tests_and_expected_failures_are_neither_right_nor_wrong() -> None:
    expected = Transcript(started=True, collected=(A,), phases=tuple(phases(A, SKIP, expected_failure=True)), status=0)
    assert results(expected) == {A: Result.NEITHER}
    found = baseline([{A: Result.NEITHER, B: Result.PASSED}] * 3)
    assert (found.right, found.wrong, found.share) == (frozenset({B}), frozenset(), 1)


@pytest.mark.parametrize("when", ["setup", "call", "teardown"])
def test_a_test_fails_in_whichever_phase(when: str) -> None:
    made = Transcript(started=True, collected=(A,), phases=tuple(phases(A, FAIL, when)), status=1)
    assert results(made) == {A: Result.FAILED}


def test_what_was_never_collected_has_no_result() -> None:
    assert results(Transcript(started=True, collected=(A,), phases=tuple(phases(B, FAIL)), status=1)) == {
        A: Result.NEITHER
    }


@pytest.mark.parametrize(
    ("made", "cause"),
    [
        pytest.param(run((A, FAIL)), VerdictCause.FAILED, id="no test passes"),
        pytest.param(run(status=0), VerdictCause.FAILED, id="no test at all"),
        pytest.param(run(cause=Cause.TIMEOUT, status=None), VerdictCause.TIMEOUT, id="timeout"),
        pytest.param(run((A, PASS), cause=Cause.EXIT, status=1), VerdictCause.CRASHED, id="ended early"),
        pytest.param(run(cause=Cause.OOM, status=None), VerdictCause.CRASHED, id="memory"),
        pytest.param(run(collected=None, troubles=("SyntaxError",)), VerdictCause.REJECTED, id="not imported"),
        pytest.param(run((A, PASS)), None, id="a suite"),
        pytest.param(run((A, PASS), forged="no key"), VerdictCause.TAMPERED, id="forged"),
    ],
)
def test_what_comes_of_a_suite_is_known_from_its_first_run_where_it_is_nothing(
    made: SuiteRun, cause: VerdictCause | None
) -> None:
    why = refusal(made)
    assert (None if why is None else why[0]) is cause


def test_a_channel_that_was_forged_in_any_run_is_tampered() -> None:
    verdict = judged([RIGHT] * 3, [KILLED, run((A, FAIL), forged="a record after the last one")], [RIGHT])
    assert (verdict.cause, verdict.score) == (VerdictCause.TAMPERED, 0)
    assert not any(case.passed for case in verdict.cases)


def test_survivors_stand_in_the_cases_and_not_in_the_sentence() -> None:
    verdict = judged([RIGHT] * 3, [KILLED, SURVIVED], [RIGHT])
    assert [case.id for case in verdict.cases if not case.passed] == ["mutant: 1"]
    assert verdict.detail == "1 of 2 mutants killed, 2 of 2 tests right"
