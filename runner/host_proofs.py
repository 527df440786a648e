"""Proofs of this host's walls: made, kept in its state, asked for before a run, copied beside the run's evidence."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from runner import __version__
from runner.artifacts import keep_folder, make_private
from runner.canonical import canonical, parse, sha256
from runner.documents.proof import HostProofs, ProofHost, ProofSet, SandboxProof, count
from runner.durable import replace_file
from runner.errors import HostError, UsageError, VerificationError
from runner.parsing import read_file
from runner.proof import PROOF, PROOF_BYTES, PROOFS, State, WallsBrokenError, command, standing, written
from sandbox.api import HostFacts, Sandbox
from sandbox.attacks import Proof
from sandbox.installed import code_digest
from sandbox.proving import AGENT_ROLES, OBJECTIVE_ROLES, prove
from sandbox.spec import Role

ROLES: Mapping[ProofSet, tuple[Role, ...]] = {ProofSet.SANDBOX: AGENT_ROLES, ProofSet.OBJECTIVE: OBJECTIVE_ROLES}

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")

Tell = Callable[[str], None]
Prove = Callable[[Sandbox, tuple[Role, ...], Callable[[Proof], None]], tuple[Proof, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prover:
    """What tries the walls of a clean room that is open, and keeps what came of it."""

    sandbox: Sandbox
    host: ProofHost
    """As it is while the clean room is open."""
    state: Path
    clock: Callable[[], int]
    """Milliseconds since 1970, UTC."""
    prove: Prove = prove
    may_prove: bool = True
    """Whether this is root: what is looked for from inside must be put on the host first."""

    def make(self, which: ProofSet, on_proof: Callable[[Proof], None]) -> SandboxProof:
        """Try every wall of a set, and keep the result whatever it is.

        Raises:
            SandboxError: a fault; what was kept before stays.
        """
        started = self.clock()
        proofs = tuple(written(each) for each in self.prove(self.sandbox, ROLES[which], on_proof))
        if not proofs:
            raise VerificationError(
                f"{command(which)}: found nothing tried; expected attacks; run it from a whole checkout"
            )
        document = SandboxProof(
            set=which,
            host=self.host,
            started_ms=started,
            ended_ms=self.clock(),
            proofs=proofs,
            counts=count(proofs),
        )
        replace_file(proof_file(self.state, which), canonical(document))
        return document

    def required(self, tell: Tell) -> tuple[SandboxProof, ...]:
        """Give the proof of every set; one that is missing or stale is made now.

        Raises:
            WallsBrokenError: a wall does not hold.
            HostError: a proof must be made, and this is not root.
            SandboxError: a fault.
        """
        proofs = tuple(self._current(which, tell) for which in ProofSet)
        if any(standing(each, self.host).state is not State.GOOD for each in proofs):
            raise WallsBrokenError(broken={each.set: each.broken for each in proofs if each.broken})
        return proofs

    def _current(self, which: ProofSet, tell: Tell) -> SandboxProof:
        kept = find_proof(self.state, which)
        found = standing(kept, self.host)
        if kept is not None and not found.must_prove:
            return kept
        why = f"{found.state}: {'; '.join(found.why)}"
        if not self.may_prove:
            raise HostError(
                f"{proof_file(self.state, which)}: found no proof of this host as it is now ({why}); expected one that"
                f" its walls hold; only root can try them: let root run '{command(which)}' with the same configuration"
            )
        tell(f"trying the walls of this host, as '{command(which)}' does ({why})")
        made = self.make(which, lambda _: None)
        tell(f"{made.counts.held} of {made.counts.tried} walls held")
        return made


def host_now(facts: HostFacts) -> ProofHost:
    """Say what a proof made now would speak of."""
    return ProofHost(
        kernel=facts.kernel,
        systemd=facts.systemd,
        manager=facts.manager,
        cgroups=facts.cgroups,
        layers=facts.layers,
        image=facts.image,
        boot=_BOOT_ID.read_text(encoding="ascii").strip(),
        runner=__version__,
        sandbox_sha256=code_digest(),
    )


def proof_file(state: Path, which: ProofSet) -> Path:
    """Say where a set's proof is kept."""
    return state / PROOFS / f"{which}.json"


def find_proof(state: Path, which: ProofSet) -> SandboxProof | None:
    """Read a set's proof; None where there is none that could be believed."""
    file = proof_file(state, which)
    try:
        found = parse(SandboxProof, read_file(file, PROOF_BYTES), str(file))
    except UsageError:
        return None
    return found if found.set is which else None


def digests(proofs: tuple[SandboxProof, ...]) -> HostProofs:
    """Give what the documents of a try say of the proofs that it relied on."""
    known = {each.set: sha256(canonical(each)) for each in proofs}
    return HostProofs(sandbox=known[ProofSet.SANDBOX], objective_sandbox=known[ProofSet.OBJECTIVE])


def keep_copies(evidence: Path, proofs: tuple[SandboxProof, ...]) -> None:
    """Put proofs beside the evidence of a release, once, named by their digests.

    Raises:
        StorageError: the disk failed or is full.
    """
    make_private(evidence.parent)
    for each in proofs:
        data = canonical(each)
        keep_folder(evidence / PROOFS, sha256(data), {PROOF: data})
