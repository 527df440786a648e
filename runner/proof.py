"""Whether a kept proof of the walls still speaks of this host, and what it says. Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from runner.documents.proof import ProofHost, ProofSet, ProvenAttack, SandboxProof
from runner.documents.writing import printable
from runner.errors import VerificationError
from sandbox.attacks import Area, Proof

PROOFS = "proofs"
"""Folder of the state, and of a release's evidence."""
PROOF = "proof.json"
PROOF_BYTES = 16 << 20

OBSERVED = 500
"""Characters of an observation that a proof keeps."""


class State(StrEnum):
    """How a kept proof stands. The first that holds."""

    MISSING = "missing"
    STALE = "stale"
    BROKEN = "broken"
    GOOD = "good"


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How a kept proof stands, and why: what has changed, or what did not hold."""

    state: State
    why: tuple[str, ...] = ()

    @property
    def must_prove(self) -> bool:
        """Whether nothing can be said before the walls are tried anew."""
        return self.state in {State.MISSING, State.STALE}


@dataclass(slots=True, kw_only=True, eq=False)
class WallsBrokenError(VerificationError):
    """A wall did not hold on this host; nothing is run behind it."""

    broken: Mapping[ProofSet, tuple[ProvenAttack, ...]]

    def __str__(self) -> str:
        lines = [f"  {told(each)}" for broken in self.broken.values() for each in broken]
        walls = "1 wall" if len(lines) == 1 else f"{len(lines)} walls"
        commands = " and ".join(command(which) for which in self.broken)
        head = (
            f"{walls} of this host's clean room did not hold; expected every one to hold; nothing was run; "
            f"mend the host and run: {commands}, which shows all and tries them anew"
        )
        return "\n".join((head, *lines))


def command(which: ProofSet) -> str:
    """Give the command that tries a set of walls and shows what came of it."""
    return f"runner verify-{which}"


def written(proof: Proof) -> ProvenAttack:
    """Write down what came of one attack; an observation is text that a unit may have made up."""
    return ProvenAttack(
        attack=proof.attack,
        area=Area(proof.area),
        items=proof.items,
        role=proof.role,
        tried=proof.tried,
        expected=proof.expected,
        observed=printable(proof.observed, OBSERVED),
        held=proof.held,
    )


def standing(kept: SandboxProof | None, now: ProofHost) -> Standing:
    """Say how a kept proof stands on the host as it is now."""
    if kept is None:
        return Standing(state=State.MISSING, why=("no proof that could be read is kept",))
    if changed := tuple(changes(kept.host, now)):
        return Standing(state=State.STALE, why=changed)
    if kept.broken:
        return Standing(state=State.BROKEN, why=tuple(told(each) for each in kept.broken))
    return Standing(state=State.GOOD)


def changes(then: ProofHost, now: ProofHost) -> Iterator[str]:
    """Name each fact that a proof speaks of and that is another one now."""
    for name in ProofHost.model_fields:
        before, after = getattr(then, name), getattr(now, name)
        if before != after:
            yield f"{name} was {_short(before)} and is {_short(after)}"


def told(proven: ProvenAttack) -> str:
    """Say in one line what an attack came to."""
    word = "held" if proven.held else "BROKEN"
    return f"{proven.attack} ({proven.role}): expected {proven.expected}; observed {proven.observed}; {word}"


def _short(value: str) -> str:
    return value if len(value) < 40 else f"{value[:12]}..."  # noqa: PLR2004 - a digest in a line for people
