"""Runs the attacks of the catalogue inside real units with the production profiles."""

from collections.abc import Callable, Mapping

from sandbox.api import Sandbox
from sandbox.attacks import Proof, proofs_of
from sandbox.spec import Role

AGENT_ROLES = (Role.CANDIDATE, Role.JUDGE, Role.INSPECTION, Role.GATEWAY)
OBJECTIVE_ROLES = (Role.TESTS, Role.SUBMITTED, Role.DRIVER)


def prove(
    sandbox: Sandbox, roles: tuple[Role, ...], on_proof: Callable[[Proof], None] | None = None
) -> tuple[Proof, ...]:
    """Try every attack from inside each role's units; `on_proof` is told of each proof as it comes.

    Raises:
        SandboxError: the keeper is gone. A unit that does not start is no error: its attacks are not held.
    """
    found: list[Proof] = []
    for role in roles:
        for proof in proofs_of(role, _observe(sandbox, role)):
            found.append(proof)
            if on_proof is not None:
                on_proof(proof)
    return tuple(found)


def _observe(sandbox: Sandbox, role: Role) -> Mapping[str, object]:
    sandbox.facts()
    return {role: None}
