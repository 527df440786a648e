"""From a release's roster to what the gateway is told. Pure."""

from collections.abc import Mapping

from runner.agents.model import Dialect
from runner.gateway.relay.terms import Ceilings, Patience, Terms
from runner.roster import Candidate, Judge, Protocol, Route

REPLAY_REQUESTS = 100_000
"""A replay costs nothing: an agent that asks and asks is ended by its time."""

NOWHERE = "http://127.0.0.1:9/v1"
"""Where a replay's route leads: nobody asks there."""

SCRIPTED_PATIENCE = Patience(first_wait_ms=20)
"""A scripted provider comes back at once or never."""


PROTOCOLS: Mapping[Dialect, Protocol] = {
    "chat": "chat-completions",
    "responses": "responses",
    "messages": "messages",
}
"""What a configuration calls each protocol of the gateway."""


def speaks(route: Route, dialect: Dialect) -> bool:
    """Say whether an agent of some protocol can take a route."""
    return route.is_scripted or route.protocol == PROTOCOLS[dialect]


def replay_terms(terms: Terms) -> Terms:
    """Say how a recording is served: without a key, a provider, or a budget, which the recording has spent."""
    ceilings = Ceilings(requests=REPLAY_REQUESTS)
    return Terms(attempt=terms.attempt, base_url=NOWHERE, model=terms.model, dialect=terms.dialect, ceilings=ceilings)


def tunnel_terms(attempt: str, candidate: Candidate) -> Terms:
    """Say which hosts an agent with a login of its own may reach; what it asks there is not to be counted."""
    return Terms(attempt=attempt, base_url="", model=candidate.model or "", tunnels=candidate.hosts)


def terms_of(
    attempt: str,
    participant: Candidate | Judge,
    route: Route,
    dialect: Dialect,
    *,
    base_url: str,
    credential: str | None,
) -> Terms:
    """Say where one attempt's traffic goes; `base_url` is the scripted provider's on a scripted route."""
    if participant.model is None:
        raise ValueError(f"{participant.id} asks no model")
    budget = participant.budget
    requests = Ceilings().requests if budget.requests is None else budget.requests
    return Terms(
        attempt=attempt,
        base_url=base_url.rstrip("/"),
        model=participant.model,
        dialect=dialect,
        credential=credential,
        bearer=route.bearer,
        features=participant.provider_tools if isinstance(participant, Candidate) else (),
        headers=tuple(sorted(route.headers.items())),
        extra_body=dict(route.extra_body),
        patience=SCRIPTED_PATIENCE if route.is_scripted else Patience(),
        usage_reporting="include_usage" in route.amendments,
        ceilings=Ceilings(
            requests=requests,
            tokens=budget.tokens,
            usd=None if budget.usd is None else str(budget.usd),
            completion_tokens=budget.completion_tokens,
        ),
    )
