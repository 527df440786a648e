"""What an attempt's agent did, as its stream claims and the ledger counts; and how its probe went."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from runner.documents.ledger import FailureKind, Tokens
from runner.documents.model import DecimalText, Document, Milliseconds, Shape

Count = Annotated[int, Field(ge=0)]
Text = Annotated[str, Field(max_length=100_000)]
Name = Annotated[str, Field(max_length=200)]


class AgentError(Shape):
    """The error an agent gave up with, in its own words: a claim, never a verdict."""

    kind: Name
    """The provider's error code as the agent read it; from our gateway a failure kind of the ledger."""
    status: Annotated[int, Field(ge=100, le=599)] | None
    """The HTTP status it was given."""
    message: Annotated[str, Field(max_length=4_000)]
    """What it said."""


class ToolUse(Shape):
    """How often one tool was called, and how often the reply was an error."""

    name: Name
    calls: Count
    """How often it was called."""
    errors: Count
    """How often an error came back."""


class FinishReason(Shape):
    """How often answers ended for one reason."""

    reason: Name
    """As the model gave it."""
    times: Count
    """How often."""


class Traffic(Shape):
    """What the gateway counted. Counts leave unknown figures out; one unknown cost makes the sum unknown."""

    requests: Count
    """All that came."""
    failed: Count
    """Those without a whole answer."""
    tokens: Tokens
    cost: DecimalText | None
    retries: Count
    wait_ms: Milliseconds
    provider_ms: Milliseconds
    """Time of requests without the waits between tries; overlapping requests count each."""


class Claims(Shape):
    """What an agent itself says it used: kept beside what the gateway counted, and never added to it."""

    tokens: Tokens = Tokens()
    """As the agent counts them: makers disagree on what the input holds."""
    cost: DecimalText | None = None
    """Its own guess at the price, in US dollars."""


class Telemetry(Document):
    """telemetry.json: the story of one run of an agent. All but `traffic` is told by the agent's own stream."""

    SCHEMA_NAME: ClassVar[str] = "telemetry"
    schema_: Literal["cleanroom/telemetry/1"] = Field(default="cleanroom/telemetry/1", alias="schema")
    agent: Name
    turns: Count
    """Answers of the model."""
    tool_calls: tuple[ToolUse, ...] = ()
    """One a tool."""
    malformed_arguments: Count = 0
    """Calls whose arguments could not be read."""
    error_replies: Count = 0
    """Tool replies that were errors."""
    nudges: Count = 0
    """How often it was told to go on."""
    cap_reached: bool = False
    """The agent used up its turns."""
    finish_reasons: tuple[FinishReason, ...] = ()
    """One a reason."""
    ended: Name | None = None
    """Why the agent says it ended; null where it was cut off before it could."""
    final_message: Text | None = None
    """The last words."""
    final_error: AgentError | None = None
    """Null where it gave up with none."""
    unreadable_lines: Count = 0
    """Lines of the stream that were no event."""
    session: Name | None = None
    """What the agent calls this run."""
    claims: Claims | None = None
    """Null for agents that tell nothing of the kind."""
    traffic: Traffic | None = None
    """Null for agents without a model."""


ProbeReason = (
    Literal[
        "timeout",
        "output_limited",
        "process_failure",
        "no_model_response",
        "wrong_answer",
    ]
    | FailureKind
)
"""Why a candidate is unavailable; failure kinds of the ledger where the provider gave no answer."""


class ProbeTry(Shape):
    """One asking of the probe's question. `reason` is null if, and only if, the answer was `hi`."""

    answer: Annotated[str, Field(max_length=500)] | None
    """What came back."""
    reason: ProbeReason | None
    """Why that does not count."""
    wall_ms: Milliseconds
    traffic: Traffic | None


class Preflight(Document):
    """preflight.json: whether a candidate answered before it was let to work."""

    SCHEMA_NAME: ClassVar[str] = "preflight"
    schema_: Literal["cleanroom/preflight/1"] = Field(default="cleanroom/preflight/1", alias="schema")
    needed: bool
    """False for agents without a model."""
    prompt: str | None
    """What was asked."""
    available: bool
    """Whether the candidate may work."""
    reason: ProbeReason | None
    """Why not."""
    detail: Annotated[str, Field(max_length=4_000)] = ""
    """One sentence for people."""
    tries: tuple[ProbeTry, ...] = ()
    """One an asking."""
