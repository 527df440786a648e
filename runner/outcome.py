"""From the facts of an attempt to its outcome, verdict and score, by one table (contracts 5). Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

from runner.documents.facts import AgentFailure, Blame, Facts, FailureCause, Phase, VoidFact
from runner.documents.ledger import LedgerLine
from runner.documents.telemetry import Telemetry
from runner.documents.writing import printable
from sandbox.termination import Cause, Termination


class Outcome(StrEnum):
    """The typed end of an attempt, in the order in which the first that holds is taken."""

    MISSING_ARTIFACTS = "missing_artifacts"
    UNAVAILABLE = "unavailable"
    FORBIDDEN_CHANGES = "forbidden_changes"
    VOID = "void"
    AGENT_FAILURE = "agent_failure"
    TESTS_FAILED = "tests_failed"
    COMPLETED = "completed"


COUNTED = frozenset(
    {Outcome.FORBIDDEN_CHANGES, Outcome.AGENT_FAILURE, Outcome.TESTS_FAILED, Outcome.COMPLETED}
)
"""What stands in a denominator: the candidate had its chance, and we know how it ended."""


def outcome(facts: Facts) -> Outcome:
    """Give the first outcome that holds."""
    if facts.missing:
        return Outcome.MISSING_ARTIFACTS
    if facts.unavailable is not None:
        return Outcome.UNAVAILABLE
    if facts.captured and facts.violations:
        return Outcome.FORBIDDEN_CHANGES
    if is_void(facts):
        return Outcome.VOID
    if facts.failure is not None:
        return Outcome.AGENT_FAILURE
    return Outcome.COMPLETED if facts.tests_passed else Outcome.TESTS_FAILED


def is_void(facts: Facts) -> bool:
    """Whether somebody else's fault, or a gap in what is known, keeps the try from saying anything."""
    judged = tuple(each.id for each in facts.evaluators)
    complete = facts.captured and facts.tests_passed is not None and judged == facts.planned_evaluators
    return facts.void is not None or not complete


def verdict(facts: Facts) -> bool | None:
    """Whether every evaluator passed; None where nothing may be said about it, or nothing judged it."""
    if facts.missing or facts.unavailable is not None or is_void(facts) or not facts.evaluators:
        return None
    return all(each.passed for each in facts.evaluators)


def solved(facts: Facts) -> bool:
    """Whether the attempt completed and every evaluator passed."""
    return outcome(facts) is Outcome.COMPLETED and verdict(facts) is True


def score(facts: Facts) -> Decimal | None:
    """Give the lowest score of the evaluators; None where there is no verdict or one gave none."""
    if verdict(facts) is None:
        return None
    scores = [Decimal(each.score) for each in facts.evaluators if each.score is not None]
    return min(scores) if len(scores) == len(facts.evaluators) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentRun:
    """How an agent's unit ended, beside what the ledger and the agent itself say about the provider."""

    termination: Termination
    budget_spent: bool = False
    """The gateway refused a request because the budget was used up."""
    provider_outage: str | None = None
    """The ledger's final failure that is the provider's: connection, 5xx or 429 after the last retry."""
    request_refused: str | None = None
    """The ledger's final failure that the request itself caused: another 4xx."""
    agent_blames_provider: bool = False
    """The agent's own final error is about its provider."""


def agent_run(termination: Termination, ledger: Sequence[LedgerLine], telemetry: Telemetry) -> AgentRun:
    """Read off the ledger and the agent's own story what bears on how its run ended."""
    last = ledger[-1] if ledger else None
    if last is None or last.failure is None:
        return AgentRun(termination=termination)
    said = f"{last.failure}, status {last.status_upstream or 'none'} after {last.retries} retries"
    ours = last.refusal is not None or last.failure in _BY_THE_REQUEST
    claim = telemetry.final_error
    return AgentRun(
        termination=termination,
        budget_spent=last.refusal == "budget",
        provider_outage=None if ours else f"its last request failed ({said})",
        request_refused=(last.refusal or said) if ours else None,
        agent_blames_provider=claim is not None
        and (claim.kind == last.failure or (claim.status is not None and claim.status == last.status_given)),
    )


def agent_end(run: AgentRun) -> AgentFailure | VoidFact | None:
    """Decide whether an agent's run failed, says nothing, or came to its end (None)."""
    end = run.termination
    if end.is_fault:
        return VoidFact(
            blame=Blame.HOST, phase=Phase.SOLUTION, reason=printable(end.detail or "the unit was lost")
        )
    if end.cause is Cause.KILLED and not run.budget_spent:
        why = "the run was stopped from outside"
        return VoidFact(blame=Blame.RUNNER, phase=Phase.SOLUTION, reason=why, interrupted=True)
    if run.provider_outage is not None and run.agent_blames_provider:
        return VoidFact(blame=Blame.PROVIDER, phase=Phase.SOLUTION, reason=printable(run.provider_outage))
    if end.succeeded:
        return None
    return _agent_failure(run)


def _agent_failure(run: AgentRun) -> AgentFailure:
    end = run.termination
    by_itself = end.cause in {Cause.EXIT, Cause.KILLED}
    if run.budget_spent and by_itself:
        return AgentFailure(cause=FailureCause.BUDGET, status=end.status)
    if run.request_refused is not None and by_itself:
        detail = printable(run.request_refused)
        return AgentFailure(cause=FailureCause.REQUEST_REFUSED, status=end.status, detail=detail)
    return AgentFailure(cause=_CAUSES[end.cause], status=end.status, detail=printable(end.detail))


_BY_THE_REQUEST = frozenset({"refused", "context_length"})
"""Failures of the ledger that the request itself caused; all others are the provider's, or its account's."""

_CAUSES = {
    Cause.EXIT: FailureCause.EXIT_STATUS,
    Cause.SIGNAL: FailureCause.SIGNAL,
    Cause.TIMEOUT: FailureCause.TIMEOUT,
    Cause.OOM: FailureCause.OOM,
    Cause.OUTPUT_LIMIT: FailureCause.OUTPUT_LIMIT,
    Cause.KILLED: FailureCause.BUDGET,
}
"""MANAGER is missing: a fault is never the agent's failure."""
