"""Every agent, by the name a release calls it."""

from collections.abc import Mapping
from types import MappingProxyType

from runner.agents.model import Agent
from runner.agents.native import Native
from runner.agents.recorded import Nop, Recorded

AGENTS: Mapping[str, Agent] = MappingProxyType(
    {agent.name: agent for agent in (Native(), Recorded("oracle"), Recorded("patch"), Nop())},
)
