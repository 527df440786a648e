"""Running an agent in its unit, with the gateway as its only peer where it asks a model."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace

from evaluators.packing import pack_files
from runner.agents.login import CERTIFICATES_TARGET, authorities_pack, login_pack
from runner.agents.model import AGENT_TARGET, Agent, AgentCommand, AgentTask
from runner.agents.registry import AGENTS
from runner.agents.traffic import metered
from runner.bundles.bundle import Bundle
from runner.documents.ledger import LedgerLine
from runner.documents.runtimes import RuntimeName
from runner.documents.telemetry import Preflight, Telemetry
from runner.gateway.client import AttemptTraffic, Gateway, Tapes, Terms
from runner.gateway.errors import GatewayError
from runner.gateway.routes import replay_terms, terms_of, tunnel_terms
from runner.preflight import PROBE_PROMPT, Probe, judge_probe, no_probe_needed, wants_another
from runner.purse import Purse, what_is_left
from runner.roster import Candidate, NetworkMode, ReleaseBudget, Route
from sandbox.api import Gate, Pack, Running, Sandbox, WorkspaceRequest
from sandbox.spec import GATE_PORT, Limits, Mount, Network, Reach, Role, UnitSpec, WorkspaceId
from sandbox.termination import Stop
from sandbox.unit import UnitResult, conduct

OnLine = Callable[[LedgerLine], None]
TapesOf = Callable[[str], Tapes]
"""Where the exchanges of a run are kept, by its name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """One run of an agent: how its unit ended, what its stream says, what the gateway saw."""

    result: UnitResult
    telemetry: Telemetry
    lines: tuple[LedgerLine, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A candidate's preflight, and the ledger of it."""

    preflight: Preflight
    runs: tuple[Ran, ...] = ()
    fresh: bool = True
    """Whether it was asked in this very try, which then bears what it took."""

    @property
    def lines(self) -> tuple[LedgerLine, ...]:
        """Every request that the probe made."""
        return tuple(line for ran in self.runs for line in ran.lines)


@dataclass(slots=True, kw_only=True)
class Runtime:
    """The clean room and the gateway, as agents are run in it."""

    sandbox: Sandbox
    gateway: Gateway | None
    """None where no agent of this run asks a model."""
    routes: Mapping[str, Route]
    base_urls: Mapping[str, str]
    """Where each route leads, by its id; a scripted provider's address for a scripted one."""
    credential: Callable[[str], str | None]
    bundles: Mapping[RuntimeName, Bundle] = field(default_factory=dict)
    """The agents' own programs that are needed."""
    logins: Mapping[RuntimeName, bytes] = field(default_factory=dict, repr=False)
    """The login files that are needed."""
    authorities: bytes = field(default=b"", repr=False)
    """The certificate authorities that programs with a login trust."""
    purse: Purse = field(default_factory=lambda: Purse(budget=ReleaseBudget()))
    """What is left of the release's budget."""
    _probed: dict[str, Asked] = field(default_factory=dict)

    def preflight(self, candidate: Candidate, limits: Limits, on_line: OnLine, tapes: TapesOf) -> Asked:
        """Ask a candidate the frozen question, once a run; later tries get the answer that was given then.

        Raises:
            SandboxError, GatewayError: a fault.
        """
        known = self._probed.get(candidate.id)
        if known is not None:
            return replace(known, fresh=False)
        self._probed[candidate.id] = self._probe(candidate, limits, on_line, tapes)
        return self._probed[candidate.id]

    def _probe(self, candidate: Candidate, limits: Limits, on_line: OnLine, tapes: TapesOf) -> Asked:
        if not AGENTS[candidate.agent].needs_gateway:
            return Asked(preflight=no_probe_needed())
        task = AgentTask(
            prompt=PROBE_PROMPT,
            wall=limits.wall,
            model=candidate.model,
            gate_port=GATE_PORT,
            turns=1,
            reasoning=candidate.variant,
            probe=True,
            direct=candidate.network is NetworkMode.DIRECT,
        )
        runs: list[Ran] = []
        probes: list[Probe] = []
        while wants_another(probes):
            label, kept = f"{candidate.id}-probe-{len(runs)}", tapes(f"preflight-{len(runs) + 1}")
            with self._probe_room(candidate, Room(limits=limits, label=label, tapes=kept)) as room:
                ran = self.run(candidate, task, room, on_line)
            if ran.result.termination.is_fault:
                raise GatewayError(f"the probe's unit was lost: {ran.result.termination.detail}")
            runs.append(ran)
            ended = ran.result.termination
            probes.append(Probe(termination=ended, telemetry=ran.telemetry, lines=ran.lines, metered=not task.direct))
        return Asked(preflight=judge_probe(probes), runs=tuple(runs))

    @contextmanager
    def _probe_room(self, candidate: Candidate, room: "Room") -> Iterator["Room"]:
        """Give an agent with a login a home to have it in; others are asked without one."""
        home = self.home_of(candidate)
        if home is None:
            yield room
            return
        layers = (self.sandbox.store(pack_files({})),)
        with self.sandbox.workspace(WorkspaceRequest(layers=layers, limits=room.limits, home=home)) as workspace:
            yield replace(room, workspace=workspace)

    def home_of(self, candidate: Candidate) -> Pack | None:
        """Give what lies in a candidate's fresh home: its login, if it has one of its own."""
        name = AGENTS[candidate.agent].runtime
        if candidate.network is not NetworkMode.DIRECT or name is None:
            return None
        if name not in self.logins:
            raise GatewayError(f"{candidate.id} works with a login, and none was read")
        return login_pack(name, self.logins[name])

    def run(self, candidate: Candidate, task: AgentTask, room: "Room", on_line: OnLine) -> Ran:
        """Run an agent to its end.

        Raises:
            SandboxError, GatewayError, AgentTaskError: a fault.
        """
        agent = AGENTS[candidate.agent]
        command = agent.command(task)
        with ExitStack() as stack:
            watch = _EndWatch(on_line=on_line, purse=self.purse, replaying=room.tapes.played is not None)
            gate, traffic = self._reach(agent, candidate, room, watch, stack)
            spec = self._spec(agent, command, room, gate, direct=task.direct)
            with self.sandbox.start(spec) as running:
                watch.running = running
                result = conduct(running, spec, stdin=command.stdin)
            self.purse.wall_ms += result.termination.usage.wall_ms
        lines = () if traffic is None else traffic.lines
        telemetry = agent.telemetry(result.stdout, result.stderr, result.termination)
        return Ran(
            result=result,
            telemetry=telemetry if traffic is None or task.direct else metered(telemetry, lines),
            lines=lines,
        )

    def _reach(
        self, agent: Agent, candidate: Candidate, room: "Room", on_line: OnLine, stack: ExitStack
    ) -> tuple[Gate | None, AttemptTraffic | None]:
        """Open the gate and have the gateway serve it, for agents that ask a model."""
        if not agent.needs_gateway:
            return None, None
        if self.gateway is None:
            raise GatewayError(f"{candidate.id} asks a model, and there is no gateway")
        terms = self._terms(agent, candidate, room)
        gate = stack.enter_context(self.sandbox.gate())
        traffic = stack.enter_context(self.gateway.attempt(terms, os.dup(gate.listener), on_line, room.tapes))
        return gate, traffic

    def _terms(self, agent: Agent, candidate: Candidate, room: "Room") -> Terms:
        if candidate.network is NetworkMode.DIRECT:
            if room.tapes.played is not None:
                raise GatewayError(f"{candidate.id} reaches its hosts by itself, and what it was answered is not kept")
            return tunnel_terms(room.label, candidate)
        if candidate.route is None or agent.dialect is None:
            raise GatewayError(f"{candidate.id} asks a model, and there is no route")
        route = self.routes[candidate.route]
        terms = terms_of(
            room.label,
            candidate,
            route,
            agent.dialect,
            base_url=self.base_urls[route.id],
            credential=None if route.credential is None else self.credential(route.credential),
        )
        ceilings = what_is_left(candidate.budget, room.asked).tightened(terms.ceilings)
        terms = replace(terms, ceilings=self.purse.tightened(ceilings))
        return terms if room.tapes.played is None else replay_terms(terms)

    def _spec(self, agent: Agent, command: AgentCommand, room: "Room", gate: Gate | None, *, direct: bool) -> UnitSpec:
        packs = list(command.packs)
        if direct:
            packs.append((CERTIFICATES_TARGET, authorities_pack(self.authorities)))
        if agent.runtime is not None:
            packs.append((AGENT_TARGET, self.bundles[agent.runtime].pack))
        shown = tuple(Mount(object=self.sandbox.store(pack), target=target) for target, pack in packs)
        network = Network() if gate is None else Network(reach=Reach.GATE, namespace=gate.namespace, port=gate.port)
        return UnitSpec(
            role=Role.CANDIDATE,
            argv=command.argv,
            limits=room.limits,
            environment=(*room.environment, *command.environment),
            workspace=room.workspace,
            mounts=(*command.mounts, *shown, *room.toolchain),
            network=network,
        )


@dataclass(slots=True, kw_only=True)
class _EndWatch:
    """Hands ledger lines on, and ends the agent as soon as one says that its budget, or a recording, is used up."""

    on_line: OnLine
    purse: Purse
    replaying: bool = False
    running: Running | None = None

    def __call__(self, line: LedgerLine) -> None:
        self.on_line(line)
        self.purse.take(line)
        # A recording's last answer may have no end: there its agent was ended, while it waited.
        ends = self.replaying and not line.complete and line.failure is None
        if (line.refusal == "budget" or ends) and self.running is not None:
            self.running.stop(Stop.KILLED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """Where an agent runs: the probe has no workspace."""

    limits: Limits
    label: str
    """Names the traffic at the gateway."""
    tapes: Tapes = field(default_factory=Tapes)
    """Where the exchanges are kept; a recording that is played answers in the provider's place."""
    workspace: WorkspaceId | None = None
    toolchain: tuple[Mount, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    """What programs need to find the toolchain."""
    asked: tuple[LedgerLine, ...] = ()
    """What the same try asked in an earlier unit: it counts against the candidate's budget."""
