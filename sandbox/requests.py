"""The keeper's typed requests: the one list of what may be asked of the process that holds all privilege."""

import json
from dataclasses import dataclass, field
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter, ValidationError

from sandbox.errors import KeeperError, SandboxError
from sandbox.room import AccountRange
from sandbox.spec import Limits, NamespaceId, ObjectId, UnitSpec, WorkspaceId

_NAME = Field(pattern=r"^[0-9a-z-]{1,64}$")
_Digest = Annotated[ObjectId, Field(pattern=r"^[0-9a-f]{64}$")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Open:
    """First request: where the state is, which accounts there are, and what the machine may pay for speed."""

    do: Literal["open"] = "open"
    state: Annotated[str, Field(pattern=r"^/[^\x00]*$", max_length=4000)]
    accounts: AccountRange = field(default_factory=AccountRange)
    quick: bool = True
    """Whether units start quicker at a small cost to every fork on the machine (sandbox/groups.py)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Store:
    """Keep a tree; its pack comes as a descriptor."""

    do: Literal["store"] = "store"
    digest: _Digest


@dataclass(frozen=True, slots=True, kw_only=True)
class Has:
    """Ask whether a tree is kept already."""

    do: Literal["has"] = "has"
    digest: _Digest


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenWorkspace:
    """Mount a workspace; packs to lay (workspace first, then home) come as descriptors."""

    do: Literal["open-workspace"] = "open-workspace"
    layers: Annotated[tuple[_Digest, ...], Field(min_length=1, max_length=8)]
    limits: Limits
    lay: bool
    home: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CloseWorkspace:
    """Take a workspace, or the read-only view of one, down."""

    do: Literal["close-workspace"] = "close-workspace"
    workspace: Annotated[WorkspaceId, _NAME]


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenInspection:
    """Show a workspace read-only to an inspection account."""

    do: Literal["open-inspection"] = "open-inspection"
    workspace: Annotated[WorkspaceId, _NAME]


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenGate:
    """Make an empty network namespace with a listening socket."""

    do: Literal["open-gate"] = "open-gate"
    port: Annotated[int, Field(ge=1024, le=65535)]


@dataclass(frozen=True, slots=True, kw_only=True)
class CloseGate:
    """Let a network namespace go."""

    do: Literal["close-gate"] = "close-gate"
    namespace: Annotated[NamespaceId, _NAME]


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """Start a unit as far as its launcher."""

    do: Literal["start"] = "start"
    spec: UnitSpec


Request = Open | Store | Has | OpenWorkspace | CloseWorkspace | OpenInspection | OpenGate | CloseGate | Start

_ADAPTER: TypeAdapter[Request] = TypeAdapter(Annotated[Request, Field(discriminator="do")])


def parse_request(message: dict[str, object]) -> Request:
    """Read a request strictly.

    Raises:
        KeeperError: it is none; the sentence says what and where.
    """
    try:
        request = _ADAPTER.validate_json(json.dumps(message), strict=True)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise KeeperError(f"a request the keeper does not know: {where}: {first['msg']}") from error
    except (SandboxError, RecursionError) as error:
        raise KeeperError(f"a request the keeper does not grant: {error}") from error
    if request_message(request) != message:
        raise KeeperError(f"a request has one form; this {request.do} lacks a field, or has one too many")
    return request


def request_message(request: Request) -> dict[str, object]:
    """Give the message of a request."""
    message: dict[str, object] = _ADAPTER.dump_python(request, mode="json")
    return message
