"""Tries every attack of the catalogue from inside real units with the production profiles."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager

from sandbox.api import Sandbox
from sandbox.attacks import Proof, proofs_of
from sandbox.canaries import canaries
from sandbox.capture import harness_pack
from sandbox.errors import KeeperError, SandboxError
from sandbox.probe_bundle import TARGET, probe_pack
from sandbox.proving_room import Taking
from sandbox.proving_stage import Stage
from sandbox.spec import Mount, Role

AGENT_ROLES = (Role.CANDIDATE, Role.JUDGE, Role.INSPECTION, Role.GATEWAY)
OBJECTIVE_ROLES = (Role.TESTS, Role.SUBMITTED, Role.DRIVER)

_HARNESS_TARGET = "/opt/inspection"


def prove(
    sandbox: Sandbox, roles: tuple[Role, ...], on_proof: Callable[[Proof], None] | None = None
) -> tuple[Proof, ...]:
    """Try every attack from inside each role's units; `on_proof` is told of each proof as it comes.

    Raises:
        SandboxError: the keeper is gone. A unit that does not start is no error: its attacks are not held.
    """
    found: list[Proof] = []
    with stage(sandbox) as set_up, ThreadPoolExecutor(max(1, len(roles))) as pool:
        for role, observed in zip(roles, pool.map(set_up.observe, roles), strict=True):
            for proof in proofs_of(role, observed):
                found.append(proof)
                if on_proof is not None:
                    on_proof(proof)
    return tuple(found)


@contextmanager
def stage(sandbox: Sandbox) -> Iterator[Stage]:
    """Plant what is to be looked for, and have a unit of each of two roles about while the block lasts."""
    taking = Taking(sandbox)
    probes = Mount(object=taking.store(probe_pack()), target=TARGET)
    harness = Mount(object=taking.store(harness_pack()), target=_HARNESS_TARGET)
    with canaries() as planted, ExitStack() as held:
        set_up = Stage(sandbox=taking, mount=probes, harness=harness, planted=planted)
        for role in (Role.CANDIDATE, Role.SUBMITTED):
            try:
                set_up.others[role] = held.enter_context(set_up.neighbour(role))
            except KeeperError:
                raise
            except SandboxError as error:
                set_up.others[role] = str(error)
        yield set_up
