"""Every agent, by the name a release calls it."""

from collections.abc import Mapping
from types import MappingProxyType

from runner.agents.claude import Claude
from runner.agents.codex import Codex
from runner.agents.model import Agent
from runner.agents.native import Native
from runner.agents.opencode import OpenCode
from runner.agents.recorded import Nop, Recorded
from runner.agents.single_shot import SingleShot

AGENTS: Mapping[str, Agent] = MappingProxyType(
    {
        agent.name: agent
        for agent in (
            Native(),
            SingleShot(),
            OpenCode(),
            Codex(),
            Claude(),
            Recorded("oracle"),
            Recorded("patch"),
            Nop(),
        )
    },
)
