"""The catalogue of what is tried from inside every role's unit, and the proofs that follow from observations. Pure.

Numbers are those of the project's attack catalogue. A judge knows what a unit that holds answers; everything else,
a missing answer too, is broken.
"""

from collections.abc import Mapping

from sandbox.attacks_between import BETWEEN
from sandbox.attacks_lasting import FILLED, LASTING
from sandbox.attacks_within import ARGUMENT, WITHIN
from sandbox.proofs import Area, Attack, Proof, Ruling, proof_of
from sandbox.spec import Role

__all__ = ["ARGUMENT", "ATTACKS", "FILLED", "Area", "Attack", "Proof", "Ruling", "attacks_of", "proofs_of"]

ATTACKS: tuple[Attack, ...] = (*WITHIN, *BETWEEN, *LASTING)
"""Everything that is tried."""


def attacks_of(role: Role) -> tuple[Attack, ...]:
    """List what is tried from a role's units."""
    return tuple(attack for attack in ATTACKS if role in attack.roles)


def proofs_of(role: Role, observations: Mapping[str, object]) -> tuple[Proof, ...]:
    """Decide everything that is tried from a role's units.

    What was not observed is not held; a sentence by its unit's name, if there is one, says why.
    """
    return tuple(proof_of(attack, role, _observation(attack, observations)) for attack in attacks_of(role))


def _observation(attack: Attack, observations: Mapping[str, object]) -> object:
    unit = attack.probe.partition("/")[0]
    return observations.get(attack.probe, observations.get(unit))
