"""What a program may see and use: the values a unit is started from."""

from dataclasses import dataclass, field, fields
from datetime import timedelta
from enum import StrEnum
from typing import NewType

from sandbox.errors import SandboxError

ObjectId = NewType("ObjectId", str)
"""Content address of a folder in the keeper's store: 64 hex digits (sandbox.tree.tree_digest)."""

WorkspaceId = NewType("WorkspaceId", str)
"""Name of a mounted workspace, as the keeper gave it."""

NamespaceId = NewType("NamespaceId", str)
"""Name of a network namespace that the keeper holds open."""

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
_MOST = 1 << 48
_LONGEST = timedelta(days=366)

PYTHON = "/usr/bin/python3"


class Role(StrEnum):
    """What a unit is for. Every role has accounts of its own."""

    CANDIDATE = "candidate"
    TESTS = "tests"
    DRIVER = "driver"
    SUBMITTED = "submitted"
    JUDGE = "judge"
    INSPECTION = "inspection"
    GATEWAY = "gateway"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Ceilings of one unit. Every one is positive; there is no 'unlimited', and nothing beyond every machine."""

    wall: timedelta
    memory_bytes: int = 2 * GIB
    tasks: int = 256
    cpu_percent: int = 200
    """100 is one core."""
    file_bytes: int = 512 * MIB
    descriptors: int = 4096
    output_bytes: int = 2 * MIB
    """A stream; standard output and standard error each."""
    tmp_bytes: int = 256 * MIB
    """Shared memory; the two temporary folders too where the unit has no workspace image."""
    disk_bytes: int = 1 * GIB
    """The workspace image: upper layer, agent home, /tmp and /var/tmp together."""
    disk_inodes: int = 200_000

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            none, most = (timedelta(0), _LONGEST) if isinstance(value, timedelta) else (0, _MOST)
            if not none < value <= most:
                raise SandboxError(f"limit {each.name} is {value}; it must be above zero, and at most {most}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mount:
    """A stored folder shown read-only at `target`."""

    object: ObjectId
    target: str


class Reach(StrEnum):
    """What a unit's network namespace can reach."""

    NOTHING = "nothing"
    """An own, empty namespace: loopback only."""
    GATE = "gate"
    """A namespace of the keeper's in which one listening socket is served from outside."""
    OUTSIDE = "outside"
    """The machine's own namespace. The gateway alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """The network a unit joins; `namespace` names the keeper's one and stands with GATE alone."""

    reach: Reach = Reach.NOTHING
    namespace: NamespaceId | None = None
    port: int | None = None

    def __post_init__(self) -> None:
        gate = self.reach is Reach.GATE
        if gate != (self.namespace is not None) or gate != (self.port is not None):
            raise SandboxError("a network has a namespace and a port if, and only if, it reaches a gate")


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitSpec:
    """One program in one unit. What is not named here, the program cannot see."""

    role: Role
    argv: tuple[str, ...]
    limits: Limits
    environment: tuple[tuple[str, str], ...] = ()
    """Added to PATH, HOME, LANG and TMPDIR, which the profile sets."""
    working_directory: str = "/work"
    workspace: WorkspaceId | None = None
    """Mounted at /work, with the agent home at /home/agent; without it /work is an empty folder."""
    mounts: tuple[Mount, ...] = ()
    network: Network = field(default_factory=Network)

    def __post_init__(self) -> None:
        if not self.argv or not self.argv[0].startswith("/"):
            raise SandboxError(f"argv must begin with an absolute path, not {self.argv[:1]}")
        if self.network.reach is Reach.OUTSIDE and self.role is not Role.GATEWAY:
            raise SandboxError(f"role {self.role} may not reach outside")
        texts = (*self.argv, self.working_directory, *(text for pair in self.environment for text in pair))
        if any("\0" in text for text in texts):
            raise SandboxError("argv, environment and working directory hold no NUL: what follows it would be lost")


WORKSPACE_ROOT = "/work"
AGENT_HOME = "/home/agent"
GATE_PORT = 8080
