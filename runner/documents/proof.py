"""sandbox-proof: what was tried against a clean room's walls on one host, and whether each of them held."""

from enum import StrEnum
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from runner.documents.facts import Epoch
from runner.documents.model import Document, Identifier, Sha256, Shape
from sandbox.attacks import Area
from sandbox.spec import Role

Count = Annotated[int, Field(ge=0)]
Item = Annotated[int, Field(ge=1)]


class ProofSet(StrEnum):
    """Whose walls are tried. Each set has a command of its own: `runner verify-<set>`."""

    SANDBOX = "sandbox"
    """Units of candidates, the gateway, inspections and judges."""
    OBJECTIVE = "objective-sandbox"
    """Units of tests and evaluators, and of what is submitted to them."""


class ProofHost(Shape):
    """All that a proof speaks of: where one of these differs, nothing is proven."""

    kernel: str
    systemd: str
    manager: str
    """`system`: the machine's own systemd. `private`: one booted for the keeper."""
    cgroups: str
    """`v2`, or `hybrid` where v1 has the controllers."""
    layers: str
    """How a frozen tree gets an account: `idmap`, `idmap-loop` or `copy`."""
    image: str
    """What bounds a workspace: `loop` or `tmpfs`."""
    boot: str
    """The kernel's id of this boot."""
    runner: str
    """Version of the runner."""
    sandbox_sha256: Sha256
    """Of every source file of the package `sandbox`, what is run inside units included."""


class ProvenAttack(Shape):
    """One attack on the walls of one role, and what came of it."""

    attack: Identifier
    area: Area
    """What it is aimed at."""
    items: tuple[Item, ...]
    """Numbers in the catalogue of attacks."""
    role: Role
    """Whose unit it was tried from."""
    tried: str
    expected: str
    """What a unit that holds answers."""
    observed: str
    """What this one answered; bounded, and without what steers a terminal."""
    held: bool


class ProofCounts(Shape):
    """How many walls were tried, and how many of them held."""

    tried: Count
    """An attack from two roles counts as two."""
    held: Count
    broken: Count


class SandboxProof(Document):
    """<state>/proofs/<set>.json, and a copy of it beside the evidence of each release that was run on it."""

    SCHEMA_NAME: ClassVar[str] = "sandbox-proof"

    schema_: Literal["cleanroom/sandbox-proof/1"] = Field(default="cleanroom/sandbox-proof/1", alias="schema")
    set: ProofSet
    host: ProofHost
    started_ms: Epoch
    ended_ms: Epoch
    proofs: Annotated[tuple[ProvenAttack, ...], Field(min_length=1)]
    """In the order tried. Never empty: nothing tried is nothing proven."""
    counts: ProofCounts

    @model_validator(mode="after")
    def _adds_up(self) -> Self:
        if self.counts != count(self.proofs):
            raise ValueError("the counts are not those of the proofs")
        return self

    @property
    def broken(self) -> tuple[ProvenAttack, ...]:
        """List the walls that did not hold."""
        return tuple(each for each in self.proofs if not each.held)


class HostProofs(Shape):
    """Digests of the proofs that a try relied on; each is kept as proofs/<sha256>/proof.json beside the evidence."""

    sandbox: Sha256
    objective_sandbox: Sha256
    """Of the set `objective-sandbox`."""

    def of(self, which: ProofSet) -> str:
        """Give the digest of one set's proof."""
        return self.sandbox if which is ProofSet.SANDBOX else self.objective_sandbox


def count(proofs: tuple[ProvenAttack, ...]) -> ProofCounts:
    """Count what held and what did not."""
    held = sum(each.held for each in proofs)
    return ProofCounts(tried=len(proofs), held=held, broken=len(proofs) - held)
