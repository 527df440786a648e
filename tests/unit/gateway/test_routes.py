"""From the roster to the gateway's terms, and back out of their packet."""

import json
from dataclasses import asdict

import pytest

from runner.gateway.relay.terms import Ceilings, Patience, Terms, TermsError, parse_terms
from runner.gateway.routes import SCRIPTED_PATIENCE, speaks, terms_of
from runner.roster import Agent, Budget, Candidate, Route


def candidate(**changes: object) -> Candidate:
    return Candidate(**{"id": "c", "agent": Agent.NATIVE, "model": "m/1", "route": "r", **changes})


def test_a_route_and_a_budget_become_terms() -> None:
    budget = Budget(usd="1.50", requests=7, tokens=100, completion_tokens=9)
    route = Route(
        id="r",
        base_url="https://api.example/v1",
        credential="KEY",
        headers={"X-Title": "t"},
        extra_body={"seed": 1},
        amendments=("include_usage",),
    )
    terms = terms_of("a", candidate(budget=budget), route, "chat", base_url="https://api.example/v1/", credential="k")
    assert terms == Terms(
        attempt="a",
        base_url="https://api.example/v1",
        model="m/1",
        credential="k",
        headers=(("X-Title", "t"),),
        extra_body={"seed": 1},
        usage_reporting=True,
        ceilings=Ceilings(requests=7, tokens=100, usd="1.50", completion_tokens=9),
    )


def test_what_a_route_does_not_declare_is_not_done() -> None:
    route = Route(id="r", scripted="config/scenarios")
    terms = terms_of(
        "a",
        candidate(provider_tools=("web_search",)),
        route,
        "messages",
        base_url="http://127.0.0.1:1/v1",
        credential=None,
    )
    assert (terms.usage_reporting, terms.extra_body, terms.patience) == (False, {}, SCRIPTED_PATIENCE)
    assert (terms.dialect, terms.features, terms.bearer) == ("messages", ("web_search",), False)


def test_a_real_route_is_for_agents_of_its_protocol_and_a_scripted_one_for_all() -> None:
    real = Route(id="r", base_url="https://api.example/v1", protocol="responses", bearer=True)
    assert [speaks(real, each) for each in ("chat", "responses", "messages")] == [False, True, False]
    scripted = Route(id="r", scripted="config/scenarios")
    assert all(speaks(scripted, each) for each in ("chat", "responses", "messages"))


def test_terms_survive_their_packet() -> None:
    terms = Terms(
        attempt="a",
        base_url="http://x/v1",
        model="m",
        credential="k",
        headers=(("a", "b"),),
        dialect="responses",
        features=("web_search", "plugins"),
        bearer=True,
        extra_body={"x": [1, None]},
        ceilings=Ceilings(usd="0.5"),
        patience=Patience(retries=1),
    )
    assert parse_terms(json.loads(json.dumps({"do": "open", **asdict(terms)}))) == terms


@pytest.mark.parametrize(
    "broken",
    [
        {},
        {"attempt": "a", "base_url": "file:///x", "model": "m"},
        {"attempt": "a", "base_url": "http://x/", "model": "m"},
        {"attempt": "a", "base_url": "http://x", "model": "m", "colour": "red"},
        {"attempt": "a", "base_url": "http://x", "model": "m", "headers": [["a"]]},
        {"attempt": "a", "base_url": "http://x", "model": "m", "ceilings": {"usd": "much"}},
        {"attempt": "a", "base_url": "http://x", "model": "m", "patience": {"none": 1}},
    ],
)
def test_other_packets_are_refused(broken: dict[str, object]) -> None:
    with pytest.raises(TermsError):
        parse_terms(broken)
