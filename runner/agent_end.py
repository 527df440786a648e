"""How an agent's run ended: by its own failure, by somebody else's fault, or well (contracts 5). Pure."""

from collections.abc import Iterable
from dataclasses import dataclass

from runner.documents.facts import AgentFailure, Blame, FailureCause, Phase, VoidFact
from runner.documents.ledger import FailureKind, LedgerLine
from runner.documents.telemetry import Telemetry
from runner.documents.writing import printable
from sandbox.termination import Cause, Termination

PROVIDERS_OWN: frozenset[FailureKind] = frozenset(
    {"network", "overloaded", "malformed", "auth", "quota", "unknown_model"}
)
"""What no request can bring about: the gateway fixes model, path and credential.

`refused` and `context_length` are answers to the request, so they are the candidate's.
"""

MALFORMED = "malformed_answer"
"""What the single-shot program calls an answer that it could not read."""

_ALIKE = frozenset({"network", "malformed"})
"""A stream that breaks midway may reach the agent as bytes that are no answer."""

_CAUSES = {
    Cause.EXIT: FailureCause.EXIT_STATUS,
    Cause.SIGNAL: FailureCause.SIGNAL,
    Cause.TIMEOUT: FailureCause.TIMEOUT,
    Cause.OOM: FailureCause.OOM,
    Cause.OUTPUT_LIMIT: FailureCause.OUTPUT_LIMIT,
    Cause.KILLED: FailureCause.BUDGET,
}
"""MANAGER is missing: a fault is never the agent's failure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentRun:
    """How an agent's unit ended, beside what the ledger and the agent itself say about the provider."""

    termination: Termination
    budget_spent: bool = False
    """The gateway refused the last request because the budget was used up."""
    provider_outage: str | None = None
    """The ledger's last request failed by the provider's fault, after the last retry."""
    request_refused: str | None = None
    """The ledger's last request failed by what was in it."""
    agent_agrees: bool = False
    """The agent's own final error is the ledger's last failure."""
    told_error: str | None = None
    """The agent's own last words are an error, whatever its program's status."""
    malformed_answer: str | None = None
    """What our own program found wrong with the form of the answer that it was given."""
    answered: bool = True
    """A model answered at least once, or there is none."""


def agent_run(termination: Termination, ledger: Iterable[LedgerLine], telemetry: Telemetry) -> AgentRun:
    """Read off the ledger and the agent's own story what bears on how its run ended."""
    lines = tuple(ledger)
    chats = sorted((line for line in lines if line.asks_model), key=lambda line: line.sequence)
    error = telemetry.final_error
    told = None if error is None else f"{error.kind}: {error.message}"
    answered = _answered(telemetry, chats)
    if not chats or chats[-1].failure is None:
        malformed = error.message if error is not None and error.kind == MALFORMED else None
        return AgentRun(
            termination=termination,
            provider_outage=_unreached(lines),
            agent_agrees=error is not None,
            told_error=told,
            answered=answered,
            malformed_answer=malformed,
        )
    last = chats[-1]
    said = f"request {last.sequence} failed: {last.failure}, status {last.status_upstream or 'none'}"
    theirs = last.refusal is None and last.failure in PROVIDERS_OWN
    return AgentRun(
        termination=termination,
        budget_spent=last.refusal == "budget",
        provider_outage=said if theirs else None,
        request_refused=None if theirs else f"request {last.sequence}: {last.refusal or last.failure}",
        agent_agrees=_agrees(telemetry, last),
        told_error=told,
        answered=answered,
    )


def _unreached(lines: Iterable[LedgerLine]) -> str | None:
    """Say so where an agent with a login reached none of its hosts: no tunnel came about, and none was refused."""
    failures = [line.failure for line in lines if line.tunnel is not None]
    return "none of its hosts could be reached" if failures and set(failures) == {"network"} else None


def _answered(telemetry: Telemetry, chats: Iterable[LedgerLine]) -> bool:
    if telemetry.traffic is not None:
        return any(line.complete and line.failure is None for line in chats)
    # Nothing was metered: there is no model, or only the agent's own story tells.
    return telemetry.claims is None or bool(telemetry.final_message or telemetry.tool_calls)


def agent_end(run: AgentRun) -> AgentFailure | VoidFact | None:
    """Decide whether a run failed, says nothing, or came to its end (None).

    An agent that was killed, timed out or ended well was not ended by its provider, whatever happened. A program
    that ends well while it tells an error, or that no model ever answered, did not end well.
    """
    end = run.termination
    if end.is_fault:
        why = printable(end.detail or "the unit was lost")
        return VoidFact(blame=Blame.HOST, phase=Phase.SOLUTION, reason=why)
    if end.cause is Cause.KILLED and not run.budget_spent:
        why = "the run was stopped from outside"
        return VoidFact(blame=Blame.RUNNER, phase=Phase.SOLUTION, reason=why, interrupted=True)
    ended_well = end.succeeded and run.told_error is None and run.answered
    if ended_well:
        return None
    if end.cause is Cause.EXIT and run.provider_outage is not None and run.agent_agrees:
        return VoidFact(blame=Blame.PROVIDER, phase=Phase.SOLUTION, reason=printable(run.provider_outage))
    return _agent_failure(run)


def _agent_failure(run: AgentRun) -> AgentFailure:
    end = run.termination
    by_itself = end.cause in {Cause.EXIT, Cause.KILLED}
    if run.budget_spent and by_itself:
        return AgentFailure(cause=FailureCause.BUDGET, status=end.status)
    if run.request_refused is not None and by_itself:
        detail = printable(run.request_refused)
        return AgentFailure(cause=FailureCause.REQUEST_REFUSED, status=end.status, detail=detail)
    if run.malformed_answer is not None and by_itself:
        detail = printable(run.malformed_answer)
        return AgentFailure(cause=FailureCause.MALFORMED_ANSWER, status=end.status, detail=detail)
    if end.succeeded:
        # Exit 0 is no proof of work.
        cause = FailureCause.NO_ANSWER if run.told_error is None else FailureCause.AGENT_ERROR
        return AgentFailure(cause=cause, status=end.status, detail=printable((run.told_error or "")[:500]))
    return AgentFailure(cause=_CAUSES[end.cause], status=end.status, detail=printable(end.detail))


def _agrees(telemetry: Telemetry, last: LedgerLine) -> bool:
    if telemetry.final_error is None:
        return False
    told = telemetry.final_error.kind
    return told == last.failure or (told in _ALIKE and last.failure in _ALIKE)
