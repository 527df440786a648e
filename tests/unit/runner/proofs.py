"""Proofs of walls as a host would keep them, without any being tried."""

from runner import __version__
from runner.canonical import sha256
from runner.documents.proof import ProofHost, ProofSet, ProvenAttack, SandboxProof, count
from sandbox.attacks import Area, Proof
from sandbox.spec import Role

PROVEN_HOST = ProofHost(
    kernel="6.1",
    systemd="252",
    manager="private",
    cgroups="v2",
    layers="idmap",
    image="loop",
    boot="0f6f3a2c-6c1e-4a1e-9d0c-0d6a1f0a7b11",
    runner=__version__,
    sandbox_sha256=sha256(b"sandbox"),
)


def a_proof(attack: str = "root-is-empty", role: Role = Role.CANDIDATE, *, held: bool = True) -> Proof:
    return Proof(
        attack=attack,
        area=Area.SANDBOX,
        items=(3, 14),
        role=role,
        tried="list what is at the root",
        expected="what was bound and nothing else",
        observed="what was bound" if held else "/host",
        held=held,
    )


def proven(attack: str = "root-is-empty", role: Role = Role.CANDIDATE, *, held: bool = True) -> ProvenAttack:
    shown = a_proof(attack, role, held=held)
    return ProvenAttack(
        attack=shown.attack,
        area=Area(shown.area),
        items=shown.items,
        role=shown.role,
        tried=shown.tried,
        expected=shown.expected,
        observed=shown.observed,
        held=shown.held,
    )


def a_sandbox_proof(
    which: ProofSet = ProofSet.SANDBOX, *proofs: ProvenAttack, host: ProofHost = PROVEN_HOST
) -> SandboxProof:
    tried = proofs or (proven(), proven("no-network"))
    return SandboxProof(set=which, host=host, started_ms=100, ended_ms=900, proofs=tried, counts=count(tried))
