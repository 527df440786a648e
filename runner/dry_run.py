"""What a pilot would do: matrix, commands, properties, limits, ceilings, what is missing. Contacts nothing. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from runner.agents.login import with_hosts
from runner.agents.model import AgentTask
from runner.agents.registry import AGENTS
from runner.bundles.held import needed_runtimes, runtime_root
from runner.config import PhaseLimits, ReleaseConfig
from runner.documents.writing import decimal_text
from runner.inputs import Inputs
from runner.logins import missing_logins
from runner.nomination import Nomination
from runner.pilot import Wanted, selected
from runner.release import planned_attempts
from runner.roster import Agent, Candidate, NetworkMode
from runner.schedule import Cell
from runner.settings import Settings
from sandbox.api import Pack
from sandbox.contents import MemoryContents
from sandbox.properties import Property, UnitPlace, unit_properties
from sandbox.spec import GATE_PORT, Limits, NamespaceId, Network, Reach, Role, UnitSpec, WorkspaceId


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One candidate's exact program on one nomination, and what it reads from standard input."""

    candidate: str
    nomination: str
    argv: tuple[str, ...]
    stdin_bytes: int
    hosts: tuple[str, ...] = ()
    """What it reaches by itself, with a login."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ceiling:
    """The most a candidate can take: its budget times its planned attempts. None: no ceiling."""

    candidate: str
    attempts: int
    usd: str | None
    requests: int | None
    tokens: int | None
    wall_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Rehearsal:
    """All that is known of a pilot before it runs."""

    release: str
    cells: tuple[Cell, ...]
    commands: tuple[Command, ...]
    properties: tuple[Property, ...]
    """Of a candidate's unit; places are named `<...>`."""
    limits: tuple[tuple[str, PhaseLimits], ...]
    ceilings: tuple[Ceiling, ...]
    missing: tuple[str, ...]

    def lines(self) -> Iterator[dict[str, object]]:
        """Give it as JSON lines."""
        for cell in self.cells:
            yield {"planned": {"candidate": cell.candidate, "nomination": cell.nomination, "attempt": cell.attempt}}
        for each in self.commands:
            command = {"candidate": each.candidate, "nomination": each.nomination, "argv": list(each.argv)}
            yield {"command": {**command, "hosts": list(each.hosts)}}
        for name, limits in self.limits:
            yield {"limits": {"phase": name, **limits.model_dump(mode="json")}}
        for prop in self.properties:
            yield {"property": {"name": prop.name, "value": repr(prop.value), "why": prop.why}}
        for ceiling in self.ceilings:
            yield {"ceiling": {name: getattr(ceiling, name) for name in Ceiling.__slots__}}
        for what in self.missing:
            yield {"missing": what}


def rehearse(inputs: Inputs, settings: Settings, wanted: Wanted) -> Rehearsal:
    """Say what a pilot of these inputs would do."""
    config = inputs.config
    cells = selected(inputs, tuple(_cells(config)), wanted)
    names = dict.fromkeys(cell.candidate for cell in cells)
    candidates = {each.id: each for each in config.candidates if each.id in names}
    return Rehearsal(
        release=config.release,
        cells=cells,
        commands=tuple(_commands(inputs, cells, candidates)),
        properties=unit_shown(Role.CANDIDATE, config.limits.solution.limits(), config.clean_room.accounts.first),
        limits=tuple((name, getattr(config.limits, name)) for name in type(config.limits).model_fields),
        ceilings=tuple(_ceiling(config, candidates[name], cells) for name in names),
        missing=tuple(_missing(settings, config, tuple(candidates.values()))),
    )


def _cells(config: ReleaseConfig) -> Iterator[Cell]:
    for each in planned_attempts(config):
        yield Cell(candidate=each.candidate, nomination=each.nomination, attempt=each.attempt)


def _commands(inputs: Inputs, cells: tuple[Cell, ...], candidates: dict[str, Candidate]) -> Iterator[Command]:
    seen: set[tuple[str, str]] = set()
    for cell in cells:
        candidate = candidates[cell.candidate]
        if (cell.candidate, cell.nomination) in seen:
            continue
        seen.add((cell.candidate, cell.nomination))
        command = AGENTS[candidate.agent].command(_task(inputs.config, candidate, inputs.nomination(cell.nomination)))
        yield Command(
            candidate=cell.candidate,
            nomination=cell.nomination,
            argv=command.argv,
            stdin_bytes=len(command.stdin),
            hosts=with_hosts(candidate).hosts,
        )


def _task(config: ReleaseConfig, candidate: Candidate, nomination: Nomination) -> AgentTask:
    """Give the task of a rehearsal: a change to apply, and files to show, are not at hand yet."""
    return AgentTask(
        prompt=nomination.prompt,
        wall=config.limits.solution.limits().wall,
        model=candidate.model,
        gate_port=GATE_PORT,
        turns=nomination.spec.loop.turns,
        tools=("run",) if nomination.spec.loop.run else (),
        reasoning=candidate.variant,
        targets=nomination.spec.target_files,
        direct=candidate.network is NetworkMode.DIRECT,
        change=Pack(entries=(), blobs=MemoryContents().get) if candidate.is_control else None,
    )


def unit_shown(role: Role, limits: Limits, account: int) -> tuple[Property, ...]:
    """List the properties of a unit with a workspace and the gate; places are named `<...>`."""
    spec = UnitSpec(
        role=role,
        argv=("/usr/bin/true",),
        limits=limits,
        workspace=WorkspaceId("workspace"),
        network=Network(reach=Reach.GATE, namespace=NamespaceId("gate"), port=GATE_PORT),
    )
    place = UnitPlace(
        unit="<unit>",
        slice="<unit>.slice",
        account="<account>",
        uid=account,
        root="<run>/<unit>/root",
        empty="<run>/<unit>/empty",
        terminals="<run>/terminals",
        workspace="<run>/<workspace>/tree",
        home="<run>/<workspace>/image/home",
        tmp="<run>/<workspace>/image/tmp",
        vartmp="<run>/<workspace>/image/vartmp",
        namespace_path="/proc/<keeper>/fd/<gate>",
    )
    return unit_properties(spec, place)


def _ceiling(config: ReleaseConfig, candidate: Candidate, cells: tuple[Cell, ...]) -> Ceiling:
    attempts = sum(cell.candidate == candidate.id for cell in cells)
    tries = attempts * config.retry_policy.void_tries
    budget = candidate.budget
    units = 2 if candidate.agent is Agent.SINGLE_SHOT else 1
    return Ceiling(
        candidate=candidate.id,
        attempts=attempts,
        usd=None if budget.usd is None else decimal_text(Decimal(budget.usd) * tries),
        requests=None if budget.requests is None else budget.requests * tries,
        tokens=None if budget.tokens is None else budget.tokens * tries,
        wall_ms=config.limits.solution.wall_ms * tries * units,
    )


def _missing(settings: Settings, config: ReleaseConfig, candidates: tuple[Candidate, ...]) -> Iterator[str]:
    yield from missing_logins(candidates, config.clean_room, settings)
    for candidate in candidates:
        yield from _missing_runtime(settings, config, candidate)
        route = config.route(candidate.route)
        name = None if route is None else route.credential
        if name is not None and settings.credential(name) is None:
            yield f"{name}, the key of route {candidate.route}, for {candidate.id}: set it in the environment"


def _missing_runtime(settings: Settings, config: ReleaseConfig, candidate: Candidate) -> Iterator[str]:
    for name in needed_runtimes((candidate,)):
        root = runtime_root(name, config.clean_room, settings)
        if root is None:
            yield f"clean_room.{name}_root, for {candidate.id}: run scripts/runtimes, and name the folder it tells"
        elif not root.is_dir():
            yield f"{root}, the program of {candidate.id}: run scripts/runtimes"


def rehearsal_text(shown: Rehearsal) -> str:
    """Write a rehearsal down for people."""
    lines = [f"release {shown.release}: {len(shown.cells)} attempts, nothing is run", "", "Planned attempts"]
    lines += (f"  {cell.candidate}  {cell.nomination}  attempt {cell.attempt}" for cell in shown.cells)
    lines += ("", "Commands (inside the candidate's unit)")
    for each in shown.commands:
        lines.append(f"  {each.candidate} on {each.nomination}: {' '.join(each.argv)}")
        lines.append(f"    standard input: {each.stdin_bytes} bytes")
        if each.hosts:
            lines.append(f"    network: direct, with a login, to {', '.join(each.hosts)}")
    lines += ("", "Limits of a unit, by phase")
    for name, limits in shown.limits:
        lines.append(f"  {name}: " + ", ".join(f"{key} {value}" for key, value in limits.model_dump().items()))
    lines += ("", "Properties of a candidate's unit")
    lines += (f"  {prop.name}={prop.value!r}  # {prop.why}" for prop in shown.properties)
    lines += ("", "Ceilings (budget times attempts and allowed tries; none: without)")
    for ceiling in shown.ceilings:
        lines.append(
            f"  {ceiling.candidate}: {ceiling.attempts} attempts, usd {_none(ceiling.usd)}, "
            f"requests {_none(ceiling.requests)}, tokens {_none(ceiling.tokens)}, wall {ceiling.wall_ms} ms"
        )
    lines += ("", "Missing")
    lines += (f"  {what}" for what in shown.missing or ("nothing",))
    return "\n".join(lines) + "\n"


def _none(value: object) -> str:
    return "none" if value is None else str(value)
