"""What a whole release may spend, and what is left of it. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from decimal import Decimal

from runner.documents.ledger import LedgerLine
from runner.documents.writing import decimal_text
from runner.gateway.relay.terms import Ceilings
from runner.roster import Budget, ReleaseBudget


@dataclass(slots=True, kw_only=True)
class Purse:
    """A release's budget, and what its tries took of it: voids, probes and failed requests count like all others."""

    budget: ReleaseBudget
    requests: int = 0
    tokens: int = 0
    usd: Decimal = field(default_factory=Decimal)
    """As far as providers told it."""
    wall_ms: int = 0
    """Of agents' units."""

    @property
    def is_bounded(self) -> bool:
        """Whether there is a budget at all."""
        return self.budget != ReleaseBudget()

    def take(self, line: LedgerLine) -> None:
        """Count one request."""
        counted = line.tokens
        in_input = line.operation != "messages"  # where what was cached is in the input already
        extra = 0 if in_input else (counted.cached or 0) + (counted.cache_write or 0)
        self.requests += line.asks_model
        self.tokens += (counted.input or 0) + (counted.output or 0) + extra
        self.usd += Decimal(line.cost or 0)

    def take_all(self, lines: Iterable[LedgerLine]) -> None:
        """Count what earlier runs asked."""
        for line in lines:
            self.take(line)

    def spent(self) -> str | None:
        """Name the part of the budget that is used up, with what was allowed; None where something is left of each."""
        budget = self.budget
        if budget.requests is not None and self.requests >= budget.requests:
            return f"requests ({budget.requests})"
        if budget.tokens is not None and self.tokens >= budget.tokens:
            return f"tokens ({budget.tokens})"
        if budget.usd is not None and self.usd >= Decimal(budget.usd):
            return f"usd ({budget.usd})"
        if budget.wall_ms is not None and self.wall_ms >= budget.wall_ms:
            return f"wall_ms ({budget.wall_ms})"
        return None

    def tightened(self, ceilings: Ceilings) -> Ceilings:
        """Give a try's ceilings, none above what is left of the release's."""
        budget = self.budget
        requests, tokens, usd = ceilings.requests, ceilings.tokens, ceilings.usd
        if budget.requests is not None:
            requests = min(requests, max(0, budget.requests - self.requests))
        if budget.tokens is not None:
            left = max(0, budget.tokens - self.tokens)
            tokens = left if tokens is None else min(tokens, left)
        if budget.usd is not None:
            rest = max(Decimal(0), Decimal(budget.usd) - self.usd)
            usd = decimal_text(rest if usd is None else min(Decimal(usd), rest))
        return replace(ceilings, requests=requests, tokens=tokens, usd=usd)


def what_is_left(budget: Budget, asked: Iterable[LedgerLine]) -> Purse:
    """Give a try's own budget, after what it asked already."""
    purse = Purse(budget=ReleaseBudget(usd=budget.usd, requests=budget.requests, tokens=budget.tokens))
    purse.take_all(asked)
    return purse
