"""One line a request that came to the gateway: what was asked of a provider, and what came of it."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from runner.documents.model import DecimalText, Document, Milliseconds, Sha256, Shape

Count = Annotated[int, Field(ge=0)]

Name = Annotated[str, Field(max_length=200)]

FailureKind = Literal[
    "auth",
    "quota",
    "unknown_model",
    "overloaded",
    "network",
    "malformed",
    "refused",
    "context_length",
]
"""Why a request brought no answer.

`overloaded` is 429 and 5xx; `network` a connection that failed, stalled or was cut; `malformed` an answer
that is none; `refused` a request that the provider, or the gateway (see `refusal`), would not take.
"""

Refusal = Literal[
    "http", "path", "method", "model", "too_large", "body", "provider_feature", "budget", "host", "address"
]
"""Why the gateway itself refused a request, which then reached no provider.

`host`: a tunnel to a host or port that is not on the list; `address`: to a name that leads to no public address.
"""


class Tokens(Shape):
    """Tokens as the provider counted them; null is unknown.

    In `chat` and `responses` the input holds what was cached; in `messages` it does not. `output` holds `reasoning`.
    """

    input: Count | None = None
    """Of the prompt."""
    cached: Count | None = None
    """Read from the provider's cache."""
    cache_write: Count | None = None
    """Written to it."""
    output: Count | None = None
    """Of the completion."""
    reasoning: Count | None = None
    """Of it, thoughts."""


class TunnelFact(Shape):
    """A tunnel to a host (`network: direct`): nothing that went through is known but how much it was."""

    host: Name
    """Host and port, as the agent asked for them."""
    sent_bytes: Count
    """From the agent."""
    received_bytes: Count
    """To it."""


class LedgerLine(Document):
    """A line of ledger.jsonl or preflight.jsonl: a request, written before its answer's last byte was passed on."""

    SCHEMA_NAME: ClassVar[str] = "ledger-line"
    schema_: Literal["cleanroom/ledger-line/1"] = Field(default="cleanroom/ledger-line/1", alias="schema")
    sequence: Annotated[int, Field(ge=1)]
    """Requests are counted from 1."""
    operation: Literal["chat", "responses", "messages", "models", "connect", "other"]
    """What was asked for."""
    started_ms: Milliseconds
    """Since the attempt's listener was opened."""
    first_byte_ms: Milliseconds | None
    """From the start of the request to the first byte passed on."""
    duration_ms: Milliseconds
    """From its start to the last byte."""
    model_asked: Name | None
    """The model that the agent named."""
    model_answered: Name | None
    """The model that the provider named."""
    provider_answered: Name | None
    """Who answered, where a router says so."""
    stream: bool
    """Whether the answer was asked for in parts."""
    status_upstream: Annotated[int, Field(ge=100, le=599)] | None
    """What the provider said last; null where nothing came."""
    status_given: Annotated[int, Field(ge=100, le=599)] | None
    """What the agent was given; null where it was gone before."""
    complete: bool
    """Whether the whole answer stood ready for the agent; its last byte follows this line."""
    finish_reason: Name | None
    """As the model gave it."""
    failure: FailureKind | None
    """Why it brought no answer; null where it did."""
    refusal: Refusal | None
    """Why the gateway let it not pass; null where it did."""
    tokens: Tokens
    cost: DecimalText | None
    """As the provider reported it, in its own currency (US dollars with all we know)."""
    retries: Count
    wait_ms: Milliseconds
    """Spent between tries, within `duration_ms`."""
    amended: tuple[Name, ...]
    """Members of the request's body that the route added or set."""
    provider_features: tuple[Name, ...] = ()
    """What it asked of the provider beyond the model, as its candidate may."""
    request_bytes: Count
    """Of its body."""
    request_sha256: Sha256
    """Of its body as it came from the agent."""
    response_bytes: Count
    """Of the answer's body."""
    response_sha256: Sha256 | None
    """Of the last answer's body as it came from the provider."""
    tunnel: TunnelFact | None = None
    """Where `connect` led, and how much went through."""

    @property
    def asks_model(self) -> bool:
        """Whether an answer of the model was asked for, in whichever protocol."""
        return self.operation in {"chat", "responses", "messages"}
