"""One question to one judge: a unit with the question on its standard input and the gate, and nothing else."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from runner.agents.model import AgentTask
from runner.agents.native import read_events
from runner.agents.reading import text_of
from runner.agents.single_shot import SingleShot
from runner.documents.ledger import LedgerLine
from runner.gateway.client import Gateway
from runner.gateway.errors import GatewayError
from runner.gateway.routes import terms_of
from runner.judging.answers import LONGEST_ANSWER
from runner.judging.ruling import Heard
from runner.roster import Judge, Route
from sandbox import profiles
from sandbox.api import LauncherReport, Sandbox
from sandbox.profiles import Program
from sandbox.spec import GATE_PORT, Limits, Mount
from sandbox.unit import conduct

_KEPT = 4 * LONGEST_ANSWER
"""Characters of an answer that are kept; one that is longer than may be is no verdict anyway."""

OnLine = Callable[[LedgerLine], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """What came of a call, and what its unit's launcher saw."""

    heard: Heard
    report: LauncherReport


class Asks(Protocol):
    """Puts a question to a judge."""

    def __call__(self, judge: Judge, prompt: str, label: str, on_line: OnLine) -> Call:
        """Ask once; `on_line` is told each line of the ledger as soon as it is known.

        Raises:
            SandboxError, GatewayError: a fault of ours; nothing is known of an answer then.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Booth:
    """The clean room and the gateway, as judges are asked in it."""

    sandbox: Sandbox
    gateway: Gateway
    routes: Mapping[str, Route]
    base_urls: Mapping[str, str]
    """Where each route leads, by its id."""
    credential: Callable[[str], str | None]
    limits: Limits
    _mounts: dict[str, Mount] = field(default_factory=dict)

    def __call__(self, judge: Judge, prompt: str, label: str, on_line: OnLine) -> Call:
        """Ask in a unit of its own, which is gone when this returns."""
        agent = SingleShot()
        task = AgentTask(
            prompt=prompt,
            wall=self.limits.wall,
            model=judge.model,
            gate_port=GATE_PORT,
            turns=1,
            reasoning=judge.variant,
            probe=True,
        )
        command = agent.command(task)
        for target, pack in command.packs:
            if target not in self._mounts:
                self._mounts[target] = Mount(object=self.sandbox.store(pack), target=target)
        route = self.routes[judge.route or ""]
        terms = terms_of(
            label,
            judge,
            route,
            "chat",
            base_url=self.base_urls[route.id],
            credential=None if route.credential is None else self.credential(route.credential),
        )
        program = Program(argv=command.argv, mounts=tuple(self._mounts.values()))
        with (
            self.sandbox.gate() as gate,
            self.gateway.attempt(terms, os.dup(gate.listener), on_line) as traffic,
        ):
            spec = profiles.judge(program, self.limits, None, gate)
            with self.sandbox.start(spec) as running:
                result = conduct(running, spec, stdin=command.stdin)
        if result.termination.is_fault:
            raise GatewayError(f"a judge's unit was lost: {result.termination.detail}")
        heard = Heard(text=_answer(result.stdout), lines=traffic.lines, duration_ms=result.termination.usage.wall_ms)
        return Call(heard=heard, report=result.report)


def _answer(stdout: bytes) -> str | None:
    """Give the answer as the program told it; None where it told none."""
    events, _ = read_events(stdout)
    turns = [event for event in events if event["event"] == "turn"]
    return text_of(turns[-1].get("text"), _KEPT) if turns else None
