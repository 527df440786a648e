"""Proofs of the walls around a whole release: made when missing or stale, never run past, kept and verified."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from secrets import token_hex

import pytest

from runner.canonical import canonical, sha256
from tests.flow.bench import Bench, Said, copied, names
from tests.flow.test_flipped import flip
from tests.flow.test_release import NOBODY

pytestmark = pytest.mark.systemd

SETS = ("sandbox", "objective-sandbox")


def kept(bench: Bench, name: str) -> Path:
    return bench.checkout / f".cleanroom/proofs/{name}.json"


def digest(bench: Bench, name: str) -> str:
    return sha256(kept(bench, name).read_bytes())


def edit(bench: Bench, name: str, change: Callable[[dict[str, dict[str, object]]], None]) -> None:
    """Write another proof in place of a kept one, in its only form."""
    value = json.loads(kept(bench, name).read_bytes())
    change(value)
    kept(bench, name).write_bytes(canonical(value))


def relied_on(bench: Bench, candidate: str) -> list[dict[str, str]]:
    """Give what both documents of a try's hosts rely on."""
    tried = bench.attempt(candidate) / "try-1"
    hosts = (tried / "submission/host.json", tried / "gradings/grading-1/host.json")
    return [json.loads(file.read_bytes())["proofs"] for file in hosts]


def now(bench: Bench) -> dict[str, str]:
    return {name.replace("-", "_"): digest(bench, name) for name in SETS}


def rebooted(value: dict[str, dict[str, object]]) -> None:
    value["host"]["boot"] = "of another boot"


def test_a_pilot_makes_a_stale_proof_anew_and_nothing_else(bench: Bench) -> None:
    edit(bench, "sandbox", rebooted)
    objective = digest(bench, "objective-sandbox")
    said = bench.run("pilot", "--candidate", "oracle")
    assert said.code == 0, said.err
    assert "as 'runner verify-sandbox' does (stale: boot was of another boot and is " in said.err
    assert "verify-objective-sandbox" not in said.err
    assert digest(bench, "objective-sandbox") == objective
    assert relied_on(bench, "oracle") == [now(bench)] * 2
    before = [kept(bench, name).read_bytes() for name in SETS]
    said = bench.run("pilot", "--candidate", "nop")
    assert said.code == 0, said.err
    assert "trying the walls" not in said.err
    assert [kept(bench, name).read_bytes() for name in SETS] == before
    assert relied_on(bench, "nop") == relied_on(bench, "oracle")
    assert names(bench.store / "proofs") == sorted(now(bench).values())
    assert bench.run("verify").code == 0


def broken(value: dict[str, object]) -> None:
    proofs, counts = value["proofs"], value["counts"]
    assert isinstance(proofs, list)
    assert isinstance(counts, dict)
    proofs[0].update(held=False, observed="the host's files")
    counts.update(held=counts["held"] - 1, broken=1)


@pytest.mark.parametrize("name", SETS)
def test_a_broken_wall_stops_a_pilot_before_anything_is_begun(bench: Bench, name: str) -> None:
    edit(bench, name, broken)
    said = bench.run("pilot", "--candidate", "oracle")
    assert said.code == 3
    assert "observed the host's files; BROKEN" in said.err
    assert f"run: runner verify-{name}" in said.err
    assert not bench.attempt("oracle").exists()
    assert not (bench.store / "proofs").exists()


@pytest.mark.parametrize("name", SETS)
def test_the_command_shows_every_wall_and_says_where_the_proof_is(
    tried: tuple[Bench, dict[str, Said]], name: str
) -> None:
    bench, said = tried
    head, *rows, counted, where = said[f"verify-{name}"].out.splitlines()
    assert head.split() == ["attack", "role", "expected", "observed", "wall"]
    assert all(row.endswith("  held") for row in rows)
    proofs = json.loads(kept(bench, name).read_bytes())["proofs"]
    assert [row.split()[:2] for row in rows] == [[each["attack"], each["role"]] for each in proofs]
    assert counted.startswith(f"{name}: ")
    assert f"{len(rows)} walls: all held" in counted
    assert where == f"kept: {kept(bench, name)}"


@pytest.mark.parametrize("name", SETS)
def test_without_root_no_wall_is_tried(frozen: Bench, name: str) -> None:
    said = frozen.run(f"verify-{name}", within=NOBODY)
    assert (said.code, said.out) == (4, "")
    assert f"verify-{name} needs root; run it as root" in said.err


@pytest.mark.parametrize("harm", [flip, Path.unlink], ids=["flipped", "gone"])
def test_a_proof_that_is_not_what_it_was_is_found_by_name(
    piloted: Bench, benches: Path, harm: Callable[[Path], None]
) -> None:
    bench = copied(piloted, benches / f"proofs-{token_hex(3)}", runnable=False)
    for file in (bench.store / "proofs").glob("*/proof.json"):
        harm(file)
        said = bench.run("verify", "--no-rebuild")
        assert said.code == 3
        assert str(file) in said.out
    shutil.rmtree(bench.store / "proofs")
    said = bench.run("verify", "--no-rebuild", "--json")
    assert said.code == 3
    missed = {json.loads(line)["file"] for line in said.out.splitlines()}
    assert {str(file) for file in bench.store.rglob("host.json")} == missed
