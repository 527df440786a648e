"""A release's budget: whatever was asked counts, and no try gets more than what is left."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.documents.ledger import LedgerLine, Tokens
from runner.gateway.relay.terms import Ceilings
from runner.purse import Purse
from runner.roster import ReleaseBudget
from tests.unit.agents.test_preflight import line

COUNTED = Tokens(input=100, cached=40, cache_write=5, output=10)


def spent(operation: str, cost: str | None = "0.5") -> LedgerLine:
    return line(operation=operation, tokens=COUNTED, cost=cost)


@pytest.mark.parametrize(
    ("budget", "part"),
    [
        (ReleaseBudget(requests=2), "requests (2)"),
        (ReleaseBudget(tokens=220), "tokens (220)"),
        (ReleaseBudget(usd="1"), "usd (1)"),
        (ReleaseBudget(wall_ms=7), "wall_ms (7)"),
    ],
)
def test_a_budget_is_used_up_when_its_sum_is_reached(budget: ReleaseBudget, part: str) -> None:
    purse = Purse(budget=budget)
    assert purse.spent() is None
    purse.take(spent("chat"))
    purse.wall_ms += 6
    assert purse.spent() is None
    purse.take(spent("chat"))
    purse.wall_ms += 1
    assert purse.spent() == part


def test_where_the_input_leaves_out_what_was_cached_that_is_added() -> None:
    chat, messages = Purse(budget=ReleaseBudget()), Purse(budget=ReleaseBudget())
    chat.take(spent("responses"))
    messages.take(spent("messages"))
    assert (chat.tokens, messages.tokens) == (110, 155)


def test_a_list_of_models_is_no_request_and_an_unknown_price_adds_nothing() -> None:
    purse = Purse(budget=ReleaseBudget(usd="1"))
    purse.take_all((line(operation="models"), spent("chat", cost=None)))
    assert (purse.requests, purse.usd) == (1, Decimal(0))


def test_without_a_budget_nothing_is_tightened() -> None:
    purse = Purse(budget=ReleaseBudget())
    purse.take_all(spent("chat") for _ in range(9))
    ceilings = Ceilings(requests=5, tokens=7, usd="0.1", completion_tokens=3)
    assert purse.tightened(ceilings) == ceilings
    assert (purse.is_bounded, purse.spent()) == (False, None)


@given(
    requests=st.integers(1, 50),
    tokens=st.integers(1, 5000),
    cents=st.integers(1, 500),
    used=st.integers(0, 12),
    own=st.integers(1, 30),
    own_too=st.booleans(),
)
def test_no_try_gets_more_than_is_left(
    requests: int, tokens: int, cents: int, used: int, own: int, *, own_too: bool
) -> None:
    budget = ReleaseBudget(requests=requests, tokens=tokens, usd=f"{cents / 100:.2f}")
    purse = Purse(budget=budget)
    purse.take_all(spent("chat") for _ in range(used))
    mine = Ceilings(requests=own, tokens=own if own_too else None, usd="0.3" if own_too else None)
    got = purse.tightened(mine)
    assert 0 <= got.requests <= min(own, max(0, requests - used))
    assert got.tokens is not None
    assert 0 <= got.tokens <= max(0, tokens - 110 * used)
    assert got.usd is not None
    assert 0 <= Decimal(got.usd) <= max(Decimal(0), Decimal(budget.usd or 0) - Decimal("0.5") * used)
    if own_too:
        assert (got.tokens <= own, Decimal(got.usd) <= Decimal("0.3")) == (True, True)
