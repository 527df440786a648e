"""Laws of the one table from facts to outcome (contracts 5)."""

import itertools
from collections.abc import Iterator
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluators.model import Assurance, VerdictCause
from runner.agent_end import AgentRun, agent_end, agent_run
from runner.agents.traffic import metered
from runner.documents.facts import (
    AgentFailure,
    Blame,
    Facts,
    FailureCause,
    Judged,
    Phase,
    Unavailable,
    Violation,
    VoidFact,
)
from runner.documents.ledger import FailureKind, LedgerLine, Refusal, Tokens, TunnelFact
from runner.documents.telemetry import AgentError, Claims, ProbeReason, Telemetry, ToolUse
from runner.outcome import COUNTED, Outcome, outcome, score, solved, verdict
from runner.policy import Reason as Rule
from runner.preflight import SENTENCES
from runner.reason import BREACHES, FAILURES, VERDICTS, reason
from sandbox.termination import Cause, Termination, Usage

UNAVAILABLE = Unavailable(reason="wrong_answer")
VIOLATION = Violation(rule="not_allowed", path="tests/test_x.py")
VOID = VoidFact(blame=Blame.PROVIDER, phase=Phase.SOLUTION, reason="503 three times")
FAILURE = AgentFailure(cause=FailureCause.TIMEOUT)


def judged(*, passed: bool, score: str | None = "1", name: str = "hidden") -> Judged:
    cause = VerdictCause.PASSED if passed else VerdictCause.FAILED
    return Judged(id=name, passed=passed, cause=cause, assurance=Assurance.IN_PROCESS, score=score)


JUDGED = (
    ((), ()),
    (("hidden",), ()),
    (("hidden",), (judged(passed=True),)),
    (("hidden",), (judged(passed=True), judged(passed=True, name="other"))),
    (("hidden", "speed"), (judged(passed=True), judged(passed=False, score="0", name="speed"))),
)


def every() -> Iterator[Facts]:
    """All combinations of facts, sensible or not."""
    for missing, unavailable, captured, violations, void, failure, tests, (
        planned,
        evaluators,
    ) in itertools.product(
        ((), ("tree.json",)),
        (None, UNAVAILABLE),
        (False, True),
        ((), (VIOLATION,)),
        (None, VOID),
        (None, FAILURE),
        (None, False, True),
        JUDGED,
    ):
        yield Facts(
            missing=missing,
            unavailable=unavailable,
            captured=captured,
            violations=violations,
            void=void,
            failure=failure,
            tests_passed=tests,
            planned_evaluators=planned,
            evaluators=evaluators,
        )


EVERY = tuple(every())


def table(facts: Facts) -> Outcome:
    """Contracts 5 again, row by row, as an independent reading."""
    holds = {
        Outcome.MISSING_ARTIFACTS: bool(facts.missing),
        Outcome.UNAVAILABLE: facts.unavailable is not None,
        Outcome.FORBIDDEN_CHANGES: facts.captured and bool(facts.violations),
        Outcome.VOID: facts.void is not None
        or not facts.captured
        or facts.tests_passed is None
        or [each.id for each in facts.evaluators] != list(facts.planned_evaluators),
        Outcome.AGENT_FAILURE: facts.failure is not None,
        Outcome.TESTS_FAILED: facts.tests_passed is False,
        Outcome.COMPLETED: True,
    }
    return next(each for each in Outcome if holds[each])


def test_every_combination_of_facts_ends_as_the_table_says() -> None:
    assert len(EVERY) == 960
    assert [outcome(facts) for facts in EVERY] == [table(facts) for facts in EVERY]


def test_a_proven_violation_is_never_hidden_by_a_void_or_a_failure() -> None:
    for facts in EVERY:
        if facts.violations and facts.captured and not facts.missing and facts.unavailable is None:
            assert outcome(facts) is Outcome.FORBIDDEN_CHANGES


def test_a_fault_never_gives_a_score_a_verdict_or_a_place_in_a_denominator() -> None:
    for facts in EVERY:
        if facts.void is not None or facts.unavailable is not None or facts.missing:
            assert (score(facts), verdict(facts), solved(facts)) == (None, None, False)
        if outcome(facts) in {Outcome.VOID, Outcome.UNAVAILABLE, Outcome.MISSING_ARTIFACTS}:
            assert outcome(facts) not in COUNTED


def test_solved_needs_completion_and_every_evaluator() -> None:
    for facts in EVERY:
        clean = not (facts.missing or facts.violations or facts.unavailable or facts.void or facts.failure)
        ids = tuple(each.id for each in facts.evaluators)
        passed = bool(ids) and ids == facts.planned_evaluators and all(each.passed for each in facts.evaluators)
        assert solved(facts) == (clean and facts.captured and facts.tests_passed is True and passed)


def test_unknown_is_void_never_passed() -> None:
    assert outcome(Facts()) is Outcome.VOID
    assert outcome(Facts(captured=True)) is Outcome.VOID
    assert outcome(Facts(captured=True, tests_passed=True, planned_evaluators=("hidden",))) is Outcome.VOID


def test_an_attempt_that_nothing_judged_has_no_verdict() -> None:
    facts = Facts(captured=True, tests_passed=True)
    assert (outcome(facts), verdict(facts), solved(facts)) == (Outcome.COMPLETED, None, False)


def test_every_combination_has_one_plain_sentence() -> None:
    for facts in EVERY:
        text = reason(facts)
        assert text
        assert text.isprintable()
        assert "None" not in text


def test_the_words_cover_every_cause() -> None:
    assert set(FAILURES) == set(FailureCause)
    assert set(VERDICTS) == set(VerdictCause)
    words = {word for part in get_args(ProbeReason) for word in get_args(part)}
    assert set(SENTENCES) == words
    assert set(BREACHES) == set(Rule)


def test_the_score_is_the_lowest_and_unknown_where_one_is_unknown() -> None:
    known = Facts(
        captured=True,
        tests_passed=True,
        planned_evaluators=("hidden", "speed"),
        evaluators=(judged(passed=True, score="0.90"), judged(passed=True, score="0.5", name="speed")),
    )
    assert str(score(known)) == "0.5"
    unsure = (known.evaluators[0], judged(passed=True, score=None, name="speed"))
    unknown = known.model_copy(update={"evaluators": unsure})
    assert score(unknown) is None


def ended(cause: Cause, status: int | None = None) -> Termination:
    return Termination(cause=cause, status=status, usage=Usage(wall_ms=5))


@pytest.mark.parametrize(
    ("cause", "failure"),
    [
        (Cause.EXIT, FailureCause.EXIT_STATUS),
        (Cause.SIGNAL, FailureCause.SIGNAL),
        (Cause.TIMEOUT, FailureCause.TIMEOUT),
        (Cause.OOM, FailureCause.OOM),
        (Cause.OUTPUT_LIMIT, FailureCause.OUTPUT_LIMIT),
    ],
)
def test_an_agent_that_ends_badly_fails_with_that_cause(cause: Cause, failure: FailureCause) -> None:
    found = agent_end(AgentRun(termination=ended(cause, 3)))
    assert isinstance(found, AgentFailure)
    assert found.cause is failure


@given(
    cause=st.sampled_from(list(Cause)),
    status=st.sampled_from([None, 0, 1, 9]),
    budget=st.booleans(),
    outage=st.sampled_from([None, "503"]),
    refused=st.sampled_from([None, "400"]),
    blames=st.booleans(),
)
def test_a_provider_is_blamed_only_if_ledger_and_agent_agree(  # one argument a fact
    cause: Cause, status: int | None, *, budget: bool, outage: str | None, refused: str | None, blames: bool
) -> None:
    run = AgentRun(
        termination=ended(cause, status),
        budget_spent=budget,
        provider_outage=outage,
        request_refused=refused,
        agent_agrees=blames,
    )
    found = agent_end(run)
    if isinstance(found, VoidFact) and found.blame is Blame.PROVIDER:
        assert outage is not None
        assert blames
        assert cause is Cause.EXIT
        assert not run.termination.succeeded
    if cause is Cause.MANAGER:
        assert isinstance(found, VoidFact)
        assert found.blame is Blame.HOST
    if found is None:
        assert run.termination.succeeded


def test_a_run_stopped_from_outside_is_no_failure_of_the_candidate() -> None:
    assert isinstance(agent_end(AgentRun(termination=ended(Cause.KILLED))), VoidFact)
    spent = agent_end(AgentRun(termination=ended(Cause.KILLED), budget_spent=True))
    assert spent == AgentFailure(cause=FailureCause.BUDGET)


def test_a_refused_request_is_the_candidates_failure() -> None:
    found = agent_end(AgentRun(termination=ended(Cause.EXIT, 1), request_refused="400: too many tokens"))
    assert found == AgentFailure(cause=FailureCause.REQUEST_REFUSED, status=1, detail="400: too many tokens")


def line(failure: FailureKind | None, *, upstream: int | None = 200, refusal: Refusal | None = None) -> LedgerLine:
    return LedgerLine(
        sequence=1,
        operation="chat",
        started_ms=0,
        first_byte_ms=None,
        duration_ms=5,
        model_asked="m",
        model_answered=None,
        provider_answered=None,
        stream=True,
        status_upstream=upstream,
        status_given=400 if failure else 200,
        complete=failure is None,
        finish_reason=None,
        failure=failure,
        refusal=refusal,
        tokens=Tokens(),
        cost=None,
        retries=3,
        wait_ms=0,
        amended=(),
        request_bytes=1,
        request_sha256="0" * 64,
        response_bytes=0,
        response_sha256=None,
    )


def story(kind: str | None = None) -> Telemetry:
    error = None if kind is None else AgentError(kind=kind, status=None, message="gave up")
    return Telemetry(agent="native", turns=1, final_error=error)


@pytest.mark.parametrize(
    ("ledger", "claim", "expected"),
    [
        pytest.param(line("overloaded", upstream=503), "overloaded", Blame.PROVIDER, id="outage, agreed"),
        pytest.param(line("network", upstream=None), "network", Blame.PROVIDER, id="no connection, agreed"),
        pytest.param(line("overloaded", upstream=503), None, FailureCause.EXIT_STATUS, id="agent says nothing"),
        pytest.param(line("overloaded", upstream=503), "refused", FailureCause.EXIT_STATUS, id="disagreed"),
        pytest.param(line("network", upstream=None), "malformed", Blame.PROVIDER, id="a stream cut midway"),
        pytest.param(line("auth", upstream=401), "auth", Blame.PROVIDER, id="our own account"),
        pytest.param(line(None), "overloaded", FailureCause.EXIT_STATUS, id="the agent's word alone"),
        pytest.param(line("refused", upstream=400), "refused", FailureCause.REQUEST_REFUSED, id="its own request"),
        pytest.param(line("context_length", upstream=400), None, FailureCause.REQUEST_REFUSED, id="too long"),
        pytest.param(line("refused", refusal="budget"), "refused", FailureCause.BUDGET, id="budget"),
        pytest.param(line("refused", refusal="model"), "refused", FailureCause.REQUEST_REFUSED, id="other model"),
    ],
)
def test_the_ledger_and_the_agents_own_error_decide_together(
    ledger: LedgerLine, claim: str | None, expected: Blame | FailureCause
) -> None:
    found = agent_end(agent_run(ended(Cause.EXIT, 1), (line(None), ledger), story(claim)))
    assert found is not None
    assert (found.blame if isinstance(found, VoidFact) else found.cause) is expected


@pytest.mark.parametrize(
    ("ledger", "told", "expected"),
    [
        pytest.param((line(None),), None, None, id="answered"),
        pytest.param((line(None),), "unknown", FailureCause.AGENT_ERROR, id="its own error"),
        pytest.param((), None, FailureCause.NO_ANSWER, id="nothing was asked"),
        pytest.param((line("malformed"),), None, FailureCause.NO_ANSWER, id="no answer came"),
        pytest.param((line("overloaded", upstream=503),), "overloaded", Blame.PROVIDER, id="outage, agreed"),
        pytest.param((line(None), line("refused", refusal="budget")), "budget", FailureCause.BUDGET, id="budget"),
        pytest.param((line(None), line("overloaded", upstream=503)), None, None, id="went on without the last answer"),
    ],
)
def test_a_status_of_zero_is_no_proof_of_work(
    ledger: tuple[LedgerLine, ...], told: str | None, expected: Blame | FailureCause | None
) -> None:
    telemetry = metered(story(told), ledger)
    found = agent_end(agent_run(ended(Cause.EXIT, 0), ledger, telemetry))
    assert (found.blame if isinstance(found, VoidFact) else None if found is None else found.cause) is expected


def test_a_run_without_requests_ends_as_its_unit_ended() -> None:
    assert agent_end(agent_run(ended(Cause.EXIT, 0), (), story())) is None


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        pytest.param({"final_message": "Done."}, None, id="said something"),
        pytest.param({"tool_calls": (ToolUse(name="edit", calls=1, errors=0),)}, None, id="did something"),
        pytest.param({}, FailureCause.NO_ANSWER, id="neither"),
        pytest.param(
            {"final_message": "x", "final_error": AgentError(kind="unknown", status=None, message="gave up")},
            FailureCause.AGENT_ERROR,
            id="told an error",
        ),
    ],
)
def test_where_nothing_was_metered_the_agents_own_story_tells(
    told: dict[str, Any], expected: FailureCause | None
) -> None:
    telemetry = Telemetry(agent="codex", turns=1, claims=Claims(), **told)
    found = agent_end(agent_run(ended(Cause.EXIT, 0), (), telemetry))
    assert (found.cause if isinstance(found, AgentFailure) else found) is expected


@pytest.mark.parametrize(
    ("failures", "told", "blamed"),
    [
        pytest.param(("network", "network"), True, True, id="no host is reached"),
        pytest.param(("network",), False, False, id="it does not say so"),
        pytest.param(("network", None), True, False, id="one is"),
        pytest.param(("network", "refused"), True, False, id="it asked for another"),
        pytest.param((), True, False, id="it asked for none"),
    ],
)
def test_whoever_reaches_no_host_by_itself_was_not_given_a_chance(
    failures: tuple[FailureKind | None, ...],
    *,
    told: bool,
    blamed: bool,
) -> None:
    fact = TunnelFact(host="api.example.com:443", sent_bytes=0, received_bytes=0)
    lines = [line(each).model_copy(update={"operation": "connect", "tunnel": fact}) for each in failures]
    error = AgentError(kind="unknown", status=None, message="cannot connect") if told else None
    telemetry = Telemetry(agent="codex", turns=0, claims=Claims(), final_error=error)
    found = agent_end(agent_run(ended(Cause.EXIT, 1), lines, telemetry))
    assert isinstance(found, VoidFact) is blamed
