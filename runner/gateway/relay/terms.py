"""What the runner tells the gateway about one attempt."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Any, cast

Json = dict[str, object]


class TermsError(Exception):
    """The runner sent terms that are none: a fault of ours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long and how often a provider is tried before the first byte is passed on."""

    retries: int = 4
    first_wait_ms: int = 1_000
    """Doubled for each further try; a provider's Retry-After counts instead."""
    longest_wait_ms: int = 30_000
    all_waits_ms: int = 120_000
    connect_ms: int = 10_000
    silence_ms: int = 300_000
    """Longest time without a byte from the provider."""
    request_ms: int = 900_000
    """Longest time of a whole request, tries and waits included."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ceilings:
    """After how much the next request is refused. None: no ceiling."""

    requests: int = 2_000
    tokens: int | None = None
    """Input and output together, over all requests, as far as the provider told them."""
    usd: str | None = None
    """A decimal, over all costs that the provider told."""
    completion_tokens: int | None = None
    """Of one answer: set as its length limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """Where an attempt's traffic goes, with which key, and what it may ask."""

    attempt: str
    base_url: str
    """Up to and including `/v1`, without a slash at its end. Unused where there are tunnels."""
    model: str
    dialect: str = "chat"
    """The one protocol that is served: chat, responses or messages."""
    credential: str | None = field(repr=False, default=None)
    bearer: bool = False
    """Send the credential as a bearer's, whatever the protocol's own header is."""
    headers: tuple[tuple[str, str], ...] = field(repr=False, default=())
    extra_body: Mapping[str, object] = field(default_factory=dict)
    features: tuple[str, ...] = ()
    """What the provider may do beyond its model: members of the body, or types of tools that it runs."""
    tunnels: tuple[str, ...] = ()
    """Hosts with their ports, in lower case, that may be connected to; nothing else is served then."""
    usage_reporting: bool = True
    """Ask for a usage chunk in streams and keep it from the agent."""
    ceilings: Ceilings = field(default_factory=Ceilings)
    patience: Patience = field(default_factory=Patience)


def parse_terms(message: Json) -> Terms:
    """Read an `open` message.

    Raises:
        TermsError: It is not one.
    """
    try:
        known = {
            key: value
            for key, value in message.items()
            if key not in {"do", "passed", "patience", "ceilings", "headers", "features", "tunnels"}
        }
        pairs = cast("list[list[str]]", message.get("headers", []))
        terms = Terms(
            **cast("dict[str, Any]", known),
            headers=tuple((name, value) for name, value in pairs),
            features=tuple(cast("list[str]", message.get("features", []))),
            tunnels=tuple(cast("list[str]", message.get("tunnels", []))),
            ceilings=Ceilings(**cast("dict[str, Any]", message.get("ceilings", {}))),
            patience=Patience(**cast("dict[str, int]", message.get("patience", {}))),
        )
        Decimal(terms.ceilings.usd or 0)
    except (TypeError, ValueError, InvalidOperation) as error:
        raise TermsError(f"an open message has other members than expected: {sorted(message)}") from error
    if terms.tunnels:
        return terms
    if not terms.base_url.startswith(("http://", "https://")) or terms.base_url.endswith("/"):
        raise TermsError(f"base_url is {terms.base_url!r}; it must be http(s) without a slash at its end")
    return terms
