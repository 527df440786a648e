"""One question to one judge, in a unit with the gate: the question alone, or a tree to look around in besides."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol

from runner.agents.model import AGENT_TARGET, Agent, AgentCommand
from runner.bundles.bundle import Bundle
from runner.bundles.held import fact_of
from runner.documents.facts import RuntimeFact
from runner.documents.ledger import LedgerLine
from runner.documents.runtimes import RuntimeName
from runner.gateway.client import Gateway, Terms
from runner.gateway.errors import GatewayError
from runner.gateway.routes import terms_of
from runner.judging.programs import agent_of, answer_of, task_of
from runner.judging.reading_tree import ReadingTree
from runner.judging.ruling import Heard
from runner.roster import Judge, Route
from runner.staging import with_room
from sandbox import profiles
from sandbox.api import LauncherReport, Running, Sandbox, WorkspaceRequest
from sandbox.profiles import Program
from sandbox.spec import AGENT_HOME, WORKSPACE_ROOT, Limits, Mount, ObjectId, UnitSpec, WorkspaceId
from sandbox.termination import Stop
from sandbox.unit import UnitResult, conduct

OnLine = Callable[[LedgerLine], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Put:
    """One question as it is put."""

    judge: Judge
    prompt: str
    label: str
    """Names its traffic at the gateway."""
    tree: ReadingTree | None = None
    """What the judge may look around in; None: it has the prompt alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """What came of a call, and what its unit's launcher saw."""

    heard: Heard
    report: LauncherReport
    runtime: RuntimeFact | None = None
    """The program it was made with, where that is somebody else's."""


class Asks(Protocol):
    """Puts a question to a judge."""

    def __call__(self, put: Put, on_line: OnLine) -> Call:
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
    bundles: Mapping[RuntimeName, Bundle] = field(default_factory=dict)
    """Programs of agents that look around."""
    _stored: dict[str, ObjectId] = field(default_factory=dict)

    def __call__(self, put: Put, on_line: OnLine) -> Call:
        """Ask in a unit of its own, which is gone when this returns."""
        judge, looks = put.judge, put.tree is not None
        route = self.routes[judge.route or ""]
        agent = agent_of(judge, route, looks=looks)
        command = agent.command(task_of(judge, put.prompt, self.limits.wall, looks=looks))
        watch = _EndWatch(on_line=on_line)
        limits = self.limits if put.tree is None else with_room(self.limits, put.tree.change.entries)
        with (
            self._workspace(put.tree, limits) as workspace,
            self.sandbox.gate() as gate,
            self.gateway.attempt(self._terms(put, route, agent), os.dup(gate.listener), watch) as traffic,
        ):
            program = self._program(agent, command, looks=looks)
            result = self._run(profiles.judge(program, limits, workspace, gate), command.stdin, watch)
        if result.termination.is_fault:
            raise GatewayError(f"a judge's unit was lost: {result.termination.detail}")
        text = answer_of(agent, result)
        heard = Heard(text=text, lines=traffic.lines, duration_ms=result.termination.usage.wall_ms)
        runtime = None if agent.runtime is None else fact_of(self.bundles[agent.runtime])
        return Call(heard=heard, report=result.report, runtime=runtime)

    def _run(self, spec: UnitSpec, stdin: bytes, watch: "_EndWatch") -> UnitResult:
        with self.sandbox.start(spec) as running:
            watch.running = running
            return conduct(running, spec, stdin=stdin)

    def _terms(self, put: Put, route: Route, agent: Agent) -> Terms:
        if agent.dialect is None:
            raise GatewayError(f"{put.judge.id} asks a model, and agent {agent.name} asks none")
        return terms_of(
            put.label,
            put.judge,
            route,
            agent.dialect,
            base_url=self.base_urls[route.id],
            credential=None if route.credential is None else self.credential(route.credential),
        )

    @contextmanager
    def _workspace(self, tree: ReadingTree | None, limits: Limits) -> Iterator[WorkspaceId | None]:
        """Mount the tree that a judge reads: no `.git` is in it, and its unit cannot write to it."""
        if tree is None:
            yield None
            return
        name = tree.record.fixture_sha256
        if name not in self._stored:
            self._stored[name] = self.sandbox.store(tree.base)
        request = WorkspaceRequest(layers=(self._stored[name],), limits=limits, lay=tree.change)
        with self.sandbox.workspace(request) as workspace:
            yield workspace

    def _program(self, agent: Agent, command: AgentCommand, *, looks: bool) -> Program:
        return judge_program(command, tuple(self._mounts(agent, command)), looks=looks)

    def _mounts(self, agent: Agent, command: AgentCommand) -> Iterator[Mount]:
        packs = list(command.packs)
        if agent.runtime is not None:
            packs.append((AGENT_TARGET, self.bundles[agent.runtime].pack))
        for target, pack in packs:
            name = f"{agent.name} {target}"
            if name not in self._stored:
                self._stored[name] = self.sandbox.store(pack)
            yield Mount(object=self._stored[name], target=target)


def judge_program(command: AgentCommand, mounts: tuple[Mount, ...], *, looks: bool) -> Program:
    """Give what runs in a judge's unit. One that looks around begins in its empty home: some obey what lies there."""
    return Program(
        argv=command.argv,
        mounts=mounts,
        environment=command.environment,
        working_directory=AGENT_HOME if looks else WORKSPACE_ROOT,
    )


@dataclass(slots=True, kw_only=True)
class _EndWatch:
    """Hands ledger lines on, and ends a program that asks on although its budget is used up."""

    on_line: OnLine
    running: Running | None = None

    def __call__(self, line: LedgerLine) -> None:
        self.on_line(line)
        if line.refusal == "budget" and self.running is not None:
            self.running.stop(Stop.KILLED)
