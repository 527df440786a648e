"""Who takes part in a release, and over which routes models are reached."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import Field, JsonValue, model_validator

from runner.documents.model import Identifier, Shape
from runner.fields import (
    BaseUrl,
    HeaderName,
    HeaderValue,
    HostPath,
    HostPort,
    IsoDate,
    Line,
    ModelName,
    PositiveDecimal,
    VariableName,
    refusal,
)

_SECRET_HEADERS = frozenset(
    {"authorization", "x-api-key", "api-key", "cookie", "proxy-authorization", "x-goog-api-key"}
)
_OWN_HEADERS = frozenset(
    {"host", "connection", "content-length", "content-type", "transfer-encoding", "accept-encoding"}
)
_OWN_KEYS = frozenset({"model", "messages", "stream", "stream_options", "tools"})
"""Keys of a request's body that a route may not replace."""


class Agent(StrEnum):
    """The runtimes a candidate or a judge can be reached through."""

    NATIVE = "native"
    ORACLE = "oracle"
    PATCH = "patch"
    NOP = "nop"
    OPENCODE = "opencode"
    CODEX = "codex"
    CLAUDE = "claude"
    SINGLE_SHOT = "single-shot"


CONTROLS = frozenset({Agent.ORACLE, Agent.PATCH, Agent.NOP})
"""Agents without a model: they need no route and get no network."""


_WITH_LOGINS = frozenset({Agent.OPENCODE, Agent.CODEX, Agent.CLAUDE})

Protocol = Literal["chat-completions", "responses", "messages"]
"""How a provider is asked: OpenAI's chat completions or Responses, Anthropic's Messages."""


class Status(StrEnum):
    """Whether a candidate is planned by default."""

    ACTIVE = "active"
    EXPERIMENTAL = "experimental"
    RETIRED = "retired"


class NetworkMode(StrEnum):
    """What a candidate's program can reach: the gateway's socket, or named hosts (login-based agents)."""

    GATEWAY = "gateway"
    DIRECT = "direct"


class Retirement(Shape):
    """Why and when a candidate left the roster."""

    reason: Line
    """Why it takes part no more."""
    date: IsoDate
    """Since when."""


class Budget(Shape):
    """Ceilings of one try; the gateway enforces them. What is null has no ceiling of its own."""

    usd: PositiveDecimal | None = None
    """Money, as the provider reports it."""
    requests: Annotated[int, Field(ge=1, le=100_000)] | None = None
    """Requests to the model."""
    tokens: Annotated[int, Field(ge=1, le=10**10)] | None = None
    """Prompt and completion together, over all requests."""
    completion_tokens: Annotated[int, Field(ge=1, le=10**7)] | None = None
    """Of one completion."""


class ReleaseBudget(Shape):
    """Ceilings of a whole release, over all its tries. What is null has no ceiling."""

    usd: PositiveDecimal | None = None
    """Money, as providers report it; what they do not report counts as nothing, so set `requests` beside it."""
    requests: Annotated[int, Field(ge=1, le=10**9)] | None = None
    """Requests to models, probes included."""
    tokens: Annotated[int, Field(ge=1, le=10**13)] | None = None
    """All input and output."""
    wall_ms: Annotated[int, Field(ge=1, le=10**12)] | None = None
    """Of agents at work, summed up; looked at between tries."""


class Participant(Shape):
    """What candidates and judges have in common; the last four are copied into evidence as they are."""

    id: Identifier
    """Its id in tables and folders."""
    agent: Agent
    """The program that works with the model."""
    model: ModelName | None = None
    """The model, as its provider calls it; none for controls."""
    route: Identifier | None = None
    """Id of the route to its provider; none for controls."""
    reasoning_variant: Line | None = None
    """Null or `provider_default` passes nothing."""
    label: Line | None = None
    """How tables call it."""
    runtime: Line | None = None
    """Copied into evidence."""
    provider: Line | None = None
    """Copied into evidence."""
    subscription: Line | None = None
    """Copied into evidence."""

    @property
    def variant(self) -> str | None:
        """The reasoning variant to pass on."""
        return None if self.reasoning_variant == "provider_default" else self.reasoning_variant


class Candidate(Participant):
    """A model reached through one runtime and one route, or a control."""

    family: Line | None = None
    """What it is grouped by, such as its maker."""
    role: Literal["candidate", "anchor"] = "candidate"
    """An anchor is there for comparison, as the controls are."""
    status: Status = Status.ACTIVE
    """Retired ones are listed and not planned."""
    retired: Retirement | None = None
    """Reason and day; if, and only if, the status is `retired`."""
    self_hosted: bool = False
    """Whether the model runs on machines of the operator's own."""
    network: NetworkMode = NetworkMode.GATEWAY
    """`direct`: an agent with a login of its own reaches its maker's hosts through tunnels, unmetered, and with that
    login in its home. Without meaning for controls, which reach nothing."""
    hosts: Annotated[tuple[HostPort, ...], Field(max_length=100)] = ()
    """What `direct` leads to beside the hosts of the agent's maker, which a release freezes with these."""
    budget: Budget = Budget()
    """Ceilings of each of its tries."""
    provider_tools: tuple[Line, ...] = ()
    """What the provider may do for it beyond its model: types of tools that it runs (`web_search`), or members of a
    request (`plugins`). All else of the kind is refused; what was asked for stands in the ledger."""
    metadata: Mapping[Line, JsonValue] = Field(default_factory=dict)
    """What the provider tells of the model; copied, never read."""
    nominations: tuple[Identifier, ...] | None = None
    """Null: all of the release's."""
    patches: HostPath | None = None
    """Folder of `<nomination>.patch` files, for the agent `patch`."""

    @property
    def is_control(self) -> bool:
        """Whether no model takes part."""
        return self.agent in CONTROLS

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.is_control and (self.model is not None or self.route is not None):
            raise refusal(f"neither model nor route beside agent {self.agent}", "remove them")
        if not self.is_control and (self.model is None or (self.route is None and self.network != NetworkMode.DIRECT)):
            raise refusal(f"a model and a route beside agent {self.agent}", "add what is missing")
        if self.network is NetworkMode.DIRECT and (self.route is not None or self.agent not in _WITH_LOGINS):
            raise refusal(
                "network: direct without a route, and with the agent opencode, codex or claude",
                "remove the route, or write network: gateway",
            )
        if self.hosts and self.network is not NetworkMode.DIRECT:
            raise refusal("'hosts' beside network: direct alone", "remove them")
        if (self.agent is Agent.PATCH) != (self.patches is not None):
            raise refusal("'patches' if, and only if, the agent is patch", "add or remove 'patches'")
        if (self.status is Status.RETIRED) != (self.retired is not None):
            raise refusal("'retired' (reason, date) if, and only if, the status is retired", "add or remove 'retired'")
        return self


class Judge(Participant):
    """A model that reviews anonymous submissions."""

    agent: Agent = Agent.SINGLE_SHOT
    """How it is asked: `single-shot` is one plain completion, without tools and without files. `native`, `opencode` and
    `claude` look around besides, read-only, in base and change put together, and give points alone (`kind: rubric`)."""
    kind: Literal["rubric", "pairwise", "both"] = "both"
    """What it is asked for: points by criteria, which of two is better, or both."""
    family: Line | None = None
    """Its maker, as candidates of the same maker write it."""
    budget: Budget = Budget()
    """Ceilings of one review. For an agent `requests` must be there; for `native` they are its turns."""

    @property
    def in_depth(self) -> bool:
        """Whether it looks around in a workspace; hidden controls it is shown as packets all the same."""
        return self.agent is not Agent.SINGLE_SHOT

    @model_validator(mode="after")
    def _reachable(self) -> Self:
        if self.agent in CONTROLS or self.model is None:
            raise refusal("a judge with a model and an agent that runs models", "choose another agent, add the model")
        if self.route is None:
            raise refusal("a judge with a route", "add the id of a route")
        return self


class Route(Shape):
    """A way to a provider: a real address, or the embedded scripted provider with its folder of scenarios."""

    id: Identifier
    """The route's id."""
    protocol: Protocol = "chat-completions"
    """How the provider is spoken to: what the agents that take this route speak. A scripted route speaks all."""
    bearer: bool = False
    """Send the key as `Authorization: Bearer`, whatever the protocol's own header is."""
    base_url: BaseUrl | None = None
    """The provider's address; `/chat/completions` and the like are added to it."""
    scripted: HostPath | None = None
    """Folder of scenario files; every document labels the route as scripted."""
    credential: VariableName | None = None
    """Name of the environment variable that holds the key."""
    headers: Mapping[HeaderName, HeaderValue] = Field(default_factory=dict)
    """Sent with every request; never a key."""
    extra_body: Mapping[Line, JsonValue] = Field(default_factory=dict)
    """Keys added to every request body; recorded as amendments."""
    amendments: tuple[Literal["include_usage"], ...] = ()
    """Declared changes to bodies: `include_usage` asks a streaming provider for its usage report."""

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        if (self.base_url is None) == (self.scripted is None):
            raise refusal("either 'base_url' or 'scripted'", "keep one of the two")
        if self.scripted is not None and self.credential is not None:
            raise refusal("no 'credential' beside 'scripted'", "remove it; the scripted provider needs no key")
        if secret := next((name for name in self.headers if name.lower() in _SECRET_HEADERS), None):
            raise refusal(f"headers without {secret}", "name the key's variable in 'credential' instead")
        if header := next((name for name in self.headers if name.lower() in _OWN_HEADERS), None):
            raise refusal(f"headers without {header}", "remove it; the gateway writes it")
        if key := next((key for key in self.extra_body if key in _OWN_KEYS), None):
            raise refusal(f"an extra_body without {key}", "remove it; the agent's own always counts")
        return self

    @property
    def is_scripted(self) -> bool:
        """Whether no real provider stands behind it."""
        return self.scripted is not None
