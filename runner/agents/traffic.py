"""Ledger lines summed up. Pure."""

from collections.abc import Callable, Iterable
from decimal import Decimal

from runner.documents.ledger import LedgerLine, Tokens
from runner.documents.telemetry import Telemetry, Traffic

_ANSWERED = 200
"""The provider's status of a request that it answered, and so has a price for."""


def sum_traffic(lines: Iterable[LedgerLine]) -> Traffic:
    """Add up the completions that were asked for; unknown counts are left out, and null if none is known.

    The cost is null as soon as one answer's is unknown: whoever hangs up before the bill has not saved anything.
    """
    chats = [line for line in lines if line.asks_model]
    costs = [line.cost for line in chats if line.cost is not None or line.status_upstream == _ANSWERED]
    return Traffic(
        requests=len(chats),
        failed=sum(line.failure is not None for line in chats),
        tokens=Tokens(
            input=_known(chats, lambda tokens: tokens.input),
            cached=_known(chats, lambda tokens: tokens.cached),
            cache_write=_known(chats, lambda tokens: tokens.cache_write),
            output=_known(chats, lambda tokens: tokens.output),
            reasoning=_known(chats, lambda tokens: tokens.reasoning),
        ),
        cost=_sum(costs),
        retries=sum(line.retries for line in chats),
        wait_ms=sum(line.wait_ms for line in chats),
        provider_ms=sum(max(0, line.duration_ms - line.wait_ms) for line in chats),
    )


def metered(telemetry: Telemetry, lines: Iterable[LedgerLine]) -> Telemetry:
    """Put what the gateway counted beside what the agent says."""
    return telemetry.model_copy(update={"traffic": sum_traffic(lines)})


def _sum(costs: list[str | None]) -> str | None:
    known = [Decimal(cost) for cost in costs if cost is not None]
    return format(sum(known, Decimal(0)), "f") if known and len(known) == len(costs) else None


def _known(lines: Iterable[LedgerLine], part: Callable[[Tokens], int | None]) -> int | None:
    counts = [count for line in lines if (count := part(line.tokens)) is not None]
    return sum(counts) if counts else None
