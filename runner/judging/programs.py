"""By which program a judge is asked, what that is told, and what it answered. Pure."""

from collections.abc import Mapping
from datetime import timedelta
from types import MappingProxyType

from runner.agents.model import Agent, AgentTask, Dialect
from runner.agents.native import read_events
from runner.agents.reading import text_of
from runner.agents.registry import AGENTS
from runner.agents.single_shot import SingleShot
from runner.gateway.routes import PROTOCOLS
from runner.judging.answers import LONGEST_ANSWER
from runner.roster import Agent as Name
from runner.roster import Judge, Protocol, Route
from sandbox.spec import GATE_PORT
from sandbox.unit import UnitResult

LOOKING_AROUND = (Name.NATIVE, Name.OPENCODE, Name.CLAUDE)
"""Agents that can be left with tools which read alone. Codex reads by running commands, and has no others."""

_KEPT = 4 * LONGEST_ANSWER
"""Characters of an answer that are kept; one that is longer than may be is no verdict anyway."""

_DIALECTS: Mapping[Protocol, Dialect] = MappingProxyType({protocol: name for name, protocol in PROTOCOLS.items()})


def agent_of(judge: Judge, route: Route, *, looks: bool) -> Agent:
    """Give the agent that asks a judge: its own where it looks around, else one question in the route's protocol."""
    return AGENTS[judge.agent] if looks else SingleShot(dialect=_DIALECTS[route.protocol])


def task_of(judge: Judge, prompt: str, wall: timedelta, *, looks: bool) -> AgentTask:
    """Give what that agent is started for."""
    return AgentTask(
        prompt=prompt,
        wall=wall,
        model=judge.model,
        gate_port=GATE_PORT,
        turns=judge.budget.requests or 1,
        reasoning=judge.variant,
        answer_tokens=judge.budget.completion_tokens,
        probe=not looks,
        reading=looks,
    )


def answer_of(agent: Agent, result: UnitResult) -> str | None:
    """Give the answer as the program told it; None where it told none.

    What an agent says on its way is no answer: only its last message counts, and only of a program that ended well.
    """
    if isinstance(agent, SingleShot):
        events, _ = read_events(result.stdout)
        turns = [event for event in events if event["event"] == "turn"]
        return text_of(turns[-1].get("text"), _KEPT) if turns else None
    told = agent.telemetry(result.stdout, result.stderr, result.termination)
    ended_well = result.termination.succeeded and told.final_error is None
    return told.final_message if ended_well else None
