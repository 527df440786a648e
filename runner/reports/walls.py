"""A proof of the walls as a table: attack, role, what was expected, what was observed, and whether it held."""

from collections.abc import Iterable

from rich.table import Table
from rich.text import Text

from runner.documents.proof import ProvenAttack, SandboxProof
from runner.reports.table import aligned

HEAD = ("attack", "role", "expected", "observed", "wall")
HELD, BROKEN = "held", "BROKEN"


def cells(proven: ProvenAttack) -> tuple[str, ...]:
    """Give a row's cells."""
    return (proven.attack, proven.role.value, proven.expected, proven.observed, HELD if proven.held else BROKEN)


def plain(proofs: Iterable[ProvenAttack]) -> str:
    """Give the table as text: never cut, never wrapped, one line an attack and role."""
    return aligned((HEAD, *(cells(each) for each in proofs)))


def coloured(proofs: Iterable[ProvenAttack]) -> Table:
    """Give the table for a terminal; long cells are folded, never cut."""
    table = Table()
    for name in HEAD:
        table.add_column(name, overflow="fold")
    for each in proofs:
        *words, wall = cells(each)
        table.add_row(*(Text(word) for word in words), Text(wall, style="green" if each.held else "bold red"))
    return table


def summary(proof: SandboxProof) -> str:
    """Count in one line what was tried and what held."""
    counts, attacks = proof.counts, len({each.attack for each in proof.proofs})
    roles = len({each.role for each in proof.proofs})
    seconds = (proof.ended_ms - proof.started_ms) / 1000
    found = "all held" if not counts.broken else f"{counts.held} held, {counts.broken} {BROKEN}"
    return f"{proof.set}: {attacks} attacks from {roles} roles, {counts.tried} walls: {found} ({seconds:.1f} s)"
