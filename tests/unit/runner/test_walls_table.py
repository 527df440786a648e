"""Laws of a proof's table: nothing is cut, every wall has its line, and a broken one stands out."""

import json
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from runner.canonical import sha256
from runner.cli.walls import show
from runner.documents.proof import ProofSet
from runner.host_proofs import ROLES, proof_file
from runner.reports.walls import HEAD, coloured, plain, summary
from runner.settings import Settings
from sandbox.spec import Role
from tests.unit.runner.proofs import a_sandbox_proof, proven
from tests.unit.runner.test_host_proofs import ToldProve, a_prover

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


SETTINGS = Settings(checkout=Path("/"), config=Path("/config/pilot.json"))


@pytest.mark.parametrize(("broken", "code", "end"), [((), 0, "all held"), ((Role.TESTS,), 3, "2 held, 1 BROKEN")])
def test_the_command_prints_the_table_says_where_it_is_kept_and_ends_with_3_on_any_broken_wall(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], broken: tuple[Role, ...], code: int, end: str
) -> None:
    prover = a_prover(tmp_path, ToldProve(broken=broken))
    assert show(prover, ProofSet.OBJECTIVE, SETTINGS, as_json=False) == code
    head, *rows, last, kept = capsys.readouterr().out.splitlines()
    assert head.split() == list(HEAD)
    assert [row.split()[1] for row in rows] == [role.value for role in ROLES[ProofSet.OBJECTIVE]]
    assert [row.endswith("BROKEN") for row in rows] == [role in broken for role in ROLES[ProofSet.OBJECTIVE]]
    assert last.startswith(f"objective-sandbox: 1 attacks from 3 roles, 3 walls: {end}")
    assert kept == f"kept: {proof_file(prover.state, ProofSet.OBJECTIVE)}"


def test_json_lines_are_the_walls_as_they_come_and_then_the_counts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    prover = a_prover(tmp_path, ToldProve(broken=(Role.JUDGE,)))
    assert show(prover, ProofSet.SANDBOX, SETTINGS, as_json=True) == 3
    *rows, end = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["role"] for row in rows] == [role.value for role in ROLES[ProofSet.SANDBOX]]
    assert [row["role"] for row in rows if not row["held"]] == ["judge"]
    assert end["counts"] == {"tried": 4, "held": 3, "broken": 1}
    kept = Path(end["file"]).read_bytes()
    assert sha256(kept) == end["sha256"]
    assert json.loads(kept)["proofs"] == rows
