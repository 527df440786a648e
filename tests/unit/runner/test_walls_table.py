"""Laws of a proof's table: nothing is cut, every wall has its line, and a broken one stands out."""

from io import StringIO

import pytest
from rich.console import Console

from runner.documents.proof import ProofSet
from runner.reports.walls import HEAD, coloured, plain, summary
from sandbox.spec import Role
from tests.unit.runner.proofs import a_sandbox_proof, proven

LONG = proven("no-network", Role.TESTS).model_copy(update={"observed": "x" * 490})
BROKEN = proven("keys-are-not-seen", held=False)


def test_off_a_terminal_each_wall_is_one_whole_line() -> None:
    head, *lines = plain((LONG, BROKEN)).splitlines()
    assert head.split() == list(HEAD)
    assert len(lines) == 2
    assert "x" * 490 in lines[0]
    assert lines[0].endswith("  held")
    assert lines[1].endswith("  BROKEN")
    assert {head.index("expected")} == {line.index(LONG.expected) for line in lines}


@pytest.mark.parametrize("width", [40, 80, 200])
def test_on_a_terminal_long_cells_are_folded_and_never_cut(width: int) -> None:
    out = StringIO()
    Console(file=out, width=width).print(coloured((LONG, BROKEN)))
    assert out.getvalue().count("x") >= 490
    assert "…" not in out.getvalue()


def test_the_last_line_counts() -> None:
    good = a_sandbox_proof(ProofSet.SANDBOX, proven(), proven(role=Role.JUDGE), proven("no-network"))
    assert summary(good) == "sandbox: 2 attacks from 2 roles, 3 walls: all held (0.8 s)"
    bad = a_sandbox_proof(ProofSet.OBJECTIVE, LONG, BROKEN)
    assert summary(bad) == "objective-sandbox: 2 attacks from 2 roles, 2 walls: 1 held, 1 BROKEN (0.8 s)"
