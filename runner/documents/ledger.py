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

Refusal = Literal["http", "path", "method", "model", "too_large", "body", "provider_feature", "budget"]
"""Why the gateway itself refused a request, which then reached no provider."""


class Tokens(Shape):
    """Tokens as the provider counted them; null is unknown.

    `input` holds `cached` and `cache_write`; `output` holds `reasoning`.
    """

    input: Count | None = None
    cached: Count | None = None
    cache_write: Count | None = None
    output: Count | None = None
    reasoning: Count | None = None


class LedgerLine(Document):
    """A request, written before the last byte of its answer was passed on."""

    SCHEMA_NAME: ClassVar[str] = "ledger-line"
    schema_: Literal["cleanroom/ledger-line/1"] = Field(default="cleanroom/ledger-line/1", alias="schema")
    sequence: Annotated[int, Field(ge=1)]
    operation: Literal["chat", "models", "other"]
    started_ms: Milliseconds
    """Since the attempt's listener was opened."""
    first_byte_ms: Milliseconds | None
    """From the start of the request to the first byte passed on."""
    duration_ms: Milliseconds
    model_asked: Name | None
    model_answered: Name | None
    provider_answered: Name | None
    stream: bool
    status_upstream: Annotated[int, Field(ge=100, le=599)] | None
    """What the provider said last; null where nothing came."""
    status_given: Annotated[int, Field(ge=100, le=599)] | None
    """What the agent was given; null where it was gone before."""
    complete: bool
    """Whether the whole answer stood ready for the agent; its last byte follows this line."""
    finish_reason: Name | None
    failure: FailureKind | None
    refusal: Refusal | None
    tokens: Tokens
    cost: DecimalText | None
    """As the provider reported it, in its own currency (US dollars with all we know)."""
    retries: Count
    wait_ms: Milliseconds
    """Spent between tries, within `duration_ms`."""
    amended: tuple[Name, ...]
    """Members of the request's body that the route added or set."""
    request_bytes: Count
    request_sha256: Sha256
    response_bytes: Count
    response_sha256: Sha256 | None
    """Of the last answer's body as it came from the provider."""
