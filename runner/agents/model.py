"""What an agent is: how it is started for a task, and what its stream says."""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Literal, Protocol

from runner.agents.errors import AgentTaskError
from runner.documents.runtimes import RuntimeName
from runner.documents.telemetry import Telemetry
from sandbox.api import Pack
from sandbox.spec import Mount
from sandbox.termination import Termination

AGENT_TARGET = "/opt/agent"

Dialect = Literal["chat", "responses", "messages"]
"""The protocol an agent asks its model in, by the ledger's word."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """An answer that was given, and what its model is told of it."""

    answer: str
    news: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentTask:
    """What one run of an agent is about, whatever the agent."""

    prompt: str = field(repr=False)
    wall: timedelta
    model: str | None = None
    """As the provider knows it; None for agents without a model."""
    gate_port: int | None = None
    turns: int = 50
    tools: tuple[str, ...] = ()
    """Names the nomination allows beyond the agent's own reading and writing; `run` is the one there is."""
    reasoning: str | None = None
    """The candidate's reasoning variant, for agents that can pass one on."""
    change: Pack | None = field(default=None, repr=False)
    """What `oracle` and `patch` apply; paths are relative to the workspace root."""
    words: str | None = field(default=None, repr=False)
    """What they say at the end; None: how much they changed."""
    probe: bool = False
    """Ask the prompt once and change nothing."""
    targets: tuple[str, ...] = ()
    """The files that a single-shot answer may hold; `prompt` shows them."""
    answer_tokens: int | None = None
    """The most an answer may have, for protocols that must be told; None: as the program thinks."""
    reading: bool = False
    """Look around in the workspace and say the answer as the last text; no tool is there that writes or runs."""
    direct: bool = False
    """Lead it through tunnels to its maker's hosts, with the login in its home, instead of to a gateway's model."""
    before: Exchange | None = field(default=None, repr=False)
    """The first shot, where this is the second."""

    def served(self, agent: str) -> tuple[str, int]:
        """Give the model and the gateway's port, without which `agent` cannot work.

        Raises:
            AgentTaskError: one of them is missing.
        """
        if self.model is None or self.gate_port is None:
            raise AgentTaskError(f"{agent} needs a model and a gateway's port")
        return self.model, self.gate_port


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentCommand:
    """How a unit is started for an agent."""

    argv: tuple[str, ...]
    stdin: bytes = field(default=b"", repr=False)
    environment: tuple[tuple[str, str], ...] = ()
    packs: tuple[tuple[str, Pack], ...] = ()
    """Folders to be stored and shown read-only, each with its place in the unit."""
    mounts: tuple[Mount, ...] = ()
    """Folders stored already."""
    home: Pack | None = None
    """Files put into the fresh agent home."""


class Agent(Protocol):
    """A runtime: pure on both sides, from a task to a command and from a stream to its story."""

    @property
    def name(self) -> str:
        """Name in the release."""

    @property
    def needs_gateway(self) -> bool:
        """Whether it asks a model, and therefore has a probe to answer first."""

    @property
    def dialect(self) -> Dialect | None:
        """The protocol it asks in; None for agents without a model."""

    @property
    def runtime(self) -> RuntimeName | None:
        """Whose program it is, which then stands at AGENT_TARGET; None for our own."""

    def command(self, task: AgentTask) -> AgentCommand:
        """Say how it is started.

        Raises:
            AgentTaskError: The task lacks what this agent needs.
        """

    def telemetry(self, stdout: bytes, stderr: bytes, termination: Termination) -> Telemetry:
        """Read its stream, which may say anything or nothing."""


__all__ = ["AGENT_TARGET", "Agent", "AgentCommand", "AgentTask", "Dialect", "Exchange", "RuntimeName"]
