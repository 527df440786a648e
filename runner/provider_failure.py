"""Whether an attempt came to nothing because of its provider (contracts 5). Pure."""

from collections.abc import Iterable
from dataclasses import dataclass

from runner.documents.ledger import FailureKind, LedgerLine
from runner.documents.telemetry import Telemetry
from sandbox.termination import Cause, Termination

PROVIDERS_OWN: frozenset[FailureKind] = frozenset(
    {"network", "overloaded", "malformed", "auth", "quota", "unknown_model"}
)
"""What no request can bring about: the gateway fixes model, path and credential.

`refused` and `context_length` are answers to the request, so they are the candidate's.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderFailure:
    """A failure that voids an attempt: the provider is to blame."""

    kind: FailureKind
    status: int | None
    sequence: int
    """Of the ledger line that says so."""

    @property
    def reason(self) -> str:
        """One sentence for people."""
        said = "nothing" if self.status is None else f"status {self.status}"
        return f"the provider failed ({self.kind}, {said}) in request {self.sequence}, which ended the agent"


def provider_failure(
    lines: Iterable[LedgerLine],
    telemetry: Telemetry,
    termination: Termination,
) -> ProviderFailure | None:
    """Give the failure to blame, if the ledger's last completion and the agent's own last words agree.

    An agent that was killed, timed out or ended well was not ended by its provider, whatever the ledger holds.
    """
    chats = sorted((line for line in lines if line.operation == "chat"), key=lambda line: line.sequence)
    told = telemetry.final_error
    if told is None or not chats or termination.cause is not Cause.EXIT or termination.status == 0:
        return None
    last = chats[-1]
    if last.failure not in PROVIDERS_OWN or last.refusal is not None or not agrees(told.kind, last):
        return None
    return ProviderFailure(kind=last.failure, status=last.status_upstream, sequence=last.sequence)


def agrees(told: str, line: LedgerLine) -> bool:
    """Say whether an agent's last words name the ledger's failure.

    A stream that breaks midway may reach the agent as bytes that are no answer: from inside the two are alike.
    """
    alike = {"network", "malformed"}
    return told == line.failure or (told in alike and line.failure in alike)
