"""A role's place in a proving: its workspace and gate, and its specs as the production profiles build them."""

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import TypeVar

from sandbox import profiles
from sandbox.api import Changes, Gate, HostFacts, Pack, Running, Sandbox, WorkspaceRequest
from sandbox.profiles import Program
from sandbox.spec import GATE_PORT, Limits, Mount, ObjectId, Role, UnitSpec, WorkspaceId

_Made = TypeVar("_Made")

_WITH_GATE = (Role.CANDIDATE, Role.JUDGE)
_WITH_WORKSPACE = (*_WITH_GATE, Role.TESTS, Role.SUBMITTED, Role.INSPECTION)


class Taking:
    """A sandbox whose one channel several threads take in turn; their units run side by side."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self._turn = threading.Lock()

    def facts(self) -> HostFacts:
        """As the sandbox's."""
        return self._sandbox.facts()

    def store(self, pack: Pack) -> ObjectId:
        """As the sandbox's."""
        with self._turn:
            return self._sandbox.store(pack)

    def workspace(self, request: WorkspaceRequest) -> AbstractContextManager[WorkspaceId]:
        """As the sandbox's."""
        return self._taken(self._sandbox.workspace(request))

    def changes(self, workspace: WorkspaceId) -> AbstractContextManager[tuple[WorkspaceId, Changes]]:
        """As the sandbox's."""
        return self._taken(self._sandbox.changes(workspace))

    def gate(self) -> AbstractContextManager[Gate]:
        """As the sandbox's."""
        return self._taken(self._sandbox.gate())

    @contextmanager
    def start(self, spec: UnitSpec) -> Iterator[Running]:
        """As the sandbox's; the end of a unit is no matter of the channel."""
        with ExitStack() as started:
            with self._turn:
                running = started.enter_context(self._sandbox.start(spec))
            yield running

    @contextmanager
    def _taken(self, made: AbstractContextManager[_Made]) -> Iterator[_Made]:
        with ExitStack() as undone:
            with self._turn:
                thing = made.__enter__()
            undone.callback(self._leave, made)
            yield thing

    def _leave(self, made: AbstractContextManager[_Made]) -> None:
        with self._turn:
            made.__exit__(None, None, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """Where units of one role are: those of one room share a workspace, and with it an account."""

    role: Role
    limits: Limits
    mount: Mount
    workspace: WorkspaceId | None = None
    gate: Gate | None = None
    changes: Changes | None = None

    def spec(self, argv: tuple[str, ...], environment: tuple[tuple[str, str], ...] = ()) -> UnitSpec:
        """Give the spec of a unit, by the role's own profile."""
        program = Program(argv=argv, mounts=(self.mount,), environment=environment)
        return replace(self._profile(program), limits=self.limits)

    def _profile(self, program: Program) -> UnitSpec:
        if self.gate is not None and self.workspace is not None:
            build = profiles.candidate if self.role is Role.CANDIDATE else profiles.judge
            return build(program, self.limits, self.workspace, self.gate)
        if self.role is Role.INSPECTION and self.workspace is not None:
            return profiles.inspection(program, self.workspace)
        if self.workspace is not None:
            build_offline = profiles.tests if self.role is Role.TESTS else profiles.submitted
            return build_offline(program, self.limits, self.workspace)
        return (profiles.gateway if self.role is Role.GATEWAY else profiles.driver)(program, self.limits)

    @property
    def writable(self) -> str:
        """A folder that its units may fill."""
        reads = self.role in {Role.INSPECTION, Role.JUDGE}
        return "/work" if self.workspace is not None and not reads else "/tmp"  # noqa: S108 - the unit's own

    @property
    def port(self) -> int | None:
        """The gate's port, where there is one."""
        return GATE_PORT if self.gate is not None else None


@contextmanager
def room(
    sandbox: Sandbox,
    role: Role,
    limits: Limits,
    mount: Mount,
    leave: Callable[[Room], None] | None = None,
) -> Iterator[Room]:
    """Make a room. An inspection's shows, read-only, what `leave` had done in a candidate's."""
    with ExitStack() as held:
        made = Room(role=role, limits=limits, mount=mount)
        if role in _WITH_WORKSPACE:
            asked = WorkspaceRequest(layers=(mount.object,), limits=limits)
            made = replace(made, workspace=held.enter_context(sandbox.workspace(asked)))
        if role in _WITH_GATE:
            made = replace(made, gate=held.enter_context(sandbox.gate()))
        if role is Role.INSPECTION and made.workspace is not None:
            if leave is not None:
                with sandbox.gate() as gate:
                    leave(replace(made, role=Role.CANDIDATE, gate=gate))
            view, changes = held.enter_context(sandbox.changes(made.workspace))
            made = replace(made, workspace=view, changes=changes)
        yield made
