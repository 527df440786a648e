"""The specs we use: one small builder for each role, which fixes what the role may never be given. Pure."""

from dataclasses import dataclass
from datetime import timedelta

from sandbox.api import Gate
from sandbox.spec import GIB, MIB, WORKSPACE_ROOT, Limits, Mount, Network, Reach, Role, UnitSpec, WorkspaceId

INSPECTION_LIMITS = Limits(
    wall=timedelta(minutes=2), memory_bytes=512 * MIB, tasks=16, output_bytes=2048 * MIB, tmp_bytes=16 * MIB
)
GATEWAY_LIMITS = Limits(
    wall=timedelta(hours=24), memory_bytes=2 * GIB, tasks=512, output_bytes=1 * MIB, tmp_bytes=16 * MIB
)
"""A thread a connection; sixteen requests of the largest size at once, one being taken apart, need half the memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """What runs in a unit and what it is shown."""

    argv: tuple[str, ...]
    mounts: tuple[Mount, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    working_directory: str = WORKSPACE_ROOT


def candidate(program: Program, limits: Limits, workspace: WorkspaceId, gate: Gate) -> UnitSpec:
    """An agent at work: its workspace and home, and the gate as its only peer."""
    return _spec(Role.CANDIDATE, program, limits, workspace=workspace, network=_through(gate))


def judge(program: Program, limits: Limits, workspace: WorkspaceId | None, gate: Gate) -> UnitSpec:
    """A judge at work, with the gate as its only peer: it may read its workspace, or has its question alone."""
    return _spec(Role.JUDGE, program, limits, workspace=workspace, network=_through(gate))


def tests(program: Program, limits: Limits, workspace: WorkspaceId) -> UnitSpec:
    """Public tests of a submission, without any network."""
    return _spec(Role.TESTS, program, limits, workspace=workspace)


def submitted(program: Program, limits: Limits, workspace: WorkspaceId) -> UnitSpec:
    """Submitted code that an evaluator runs, without any network."""
    return _spec(Role.SUBMITTED, program, limits, workspace=workspace)


def driver(program: Program, limits: Limits) -> UnitSpec:
    """An evaluator's own side: it never shares an account or a folder with submitted code."""
    return _spec(Role.DRIVER, program, limits)


def inspection(program: Program, workspace: WorkspaceId) -> UnitSpec:
    """Our harness that reads what a candidate left: read-only, whatever the modes say."""
    return _spec(Role.INSPECTION, program, INSPECTION_LIMITS, workspace=workspace)


def gateway(program: Program, limits: Limits = GATEWAY_LIMITS) -> UnitSpec:
    """The only unit with a way out, and without anything of a candidate's."""
    return _spec(Role.GATEWAY, program, limits, network=Network(reach=Reach.OUTSIDE))


def _through(gate: Gate) -> Network:
    return Network(reach=Reach.GATE, namespace=gate.namespace, port=gate.port)


def _spec(
    role: Role,
    program: Program,
    limits: Limits,
    *,
    workspace: WorkspaceId | None = None,
    network: Network | None = None,
) -> UnitSpec:
    return UnitSpec(
        role=role,
        argv=program.argv,
        limits=limits,
        environment=program.environment,
        working_directory=program.working_directory,
        workspace=workspace,
        mounts=program.mounts,
        network=network or Network(),
    )
