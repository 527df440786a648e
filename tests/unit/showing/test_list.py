"""Laws of `runner list`, and of the names that a shell offers."""

import json
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete

from runner.cli.app import app
from runner.documents.facts import Blame, Phase, VoidFact
from runner.listed import KINDS
from tests.unit.runner.evidence_maker import IDLER, SOLVER, Run, a_manifest, a_store, attempt, begin, end_void
from tests.unit.showing.checkout import a_checkout, run

OUTAGE = VoidFact(blame=Blame.PROVIDER, phase=Phase.SOLUTION, reason="503 three times")


def begun(root: Path) -> Path:
    """Make a checkout with a void and a finished attempt in it."""
    manifest = a_manifest()
    config = a_checkout(root, manifest)
    store = a_store(root / "store", manifest)
    end_void(store, begin(store, SOLVER), OUTAGE)
    attempt(store, SOLVER, Run(), 2)
    end_void(store, begin(store, IDLER), OUTAGE)
    return config


def test_attempts_are_listed_by_the_names_that_show_takes(tmp_path: Path) -> None:
    config = begun(tmp_path)
    done = run(config, "list", "attempts")
    assert done.stdout == (
        "attempt                 tries  standing  outcome\n"
        "solver/slugs/attempt-1  2      done      completed\n"
        "idler/slugs/attempt-1   1      void      void\n"
    )
    assert done.stderr == ""
    seal = tmp_path / "store/pilot/idler/slugs/attempt-1/try-1/void/SEAL.json"
    seal.chmod(0o600)
    seal.write_text("{}")
    rows = [json.loads(line) for line in run(config, "list", "attempts", "--json").stdout.splitlines()]
    assert [(row["standing"], row["outcome"]) for row in rows] == [("done", "completed"), ("broken", None)]
    assert str(seal) in rows[1]["why"]


def test_candidates_say_role_status_and_why_they_left(tmp_path: Path) -> None:
    config = a_checkout(tmp_path, a_manifest())
    assert (
        run(
            config, "drop", "solver", "--reason", "its host is gone", "--date", "2026-11-30", "--release", "p-2"
        ).exit_code
        == 0
    )
    (row,) = map(json.loads, run(config, "list", "--json").stdout.splitlines())
    assert (row["status"], row["retired_since"], row["reason"]) == ("retired", "2026-11-30", "its host is gone")
    (role,) = map(json.loads, run(config, "list", "roles", "--json").stdout.splitlines())
    assert role == {"role": "candidate", "status": "retired", "who": ["solver"]}


def test_releases_say_what_they_are_superseded_by(tmp_path: Path) -> None:
    config = begun(tmp_path)
    run(config, "drop", "solver", "--reason", "gone", "--release", "pilot-2")
    (row,) = map(json.loads, run(config, "list", "releases", "--json").stdout.splitlines())
    found = {name: row[name] for name in ("release", "configured", "planned", "begun", "published", "superseded_by")}
    expected = {"release": "pilot", "configured": False, "planned": 2, "begun": 2, "published": False}
    assert found == expected | {"superseded_by": "pilot-2"}
    assert run(config, "list", "attempts", "--release", "pilot").stdout.startswith("attempt ")
    broken = tmp_path / "releases/broken/manifest.json"
    broken.parent.mkdir()
    broken.write_text("{}")
    rows = [json.loads(line) for line in run(config, "list", "releases", "--json").stdout.splitlines()]
    assert [(each["release"], each["planned"]) for each in rows] == [("broken", None), ("pilot", 2)]
    assert str(broken) in rows[0]["why"]


@pytest.mark.parametrize("what", sorted({*KINDS} - {"nominations"}))
def test_every_list_has_a_table_and_json_with_the_same_members_in_each_row(tmp_path: Path, what: str) -> None:
    config = begun(tmp_path)
    assert run(config, "list", what).stdout
    rows = [json.loads(line) for line in run(config, "list", what, "--json").stdout.splitlines()]
    assert len({tuple(row) for row in rows}) <= 1


def completed(config: Path, *words: str) -> list[str]:
    """Give what a shell would offer for the last word."""
    *before, last = words
    complete = ShellComplete(app, {}, "runner", "_RUNNER_COMPLETE")
    return [item.value for item in complete.get_completions(["--config", str(config), *before], last)]


def test_a_shell_offers_the_names_that_are_there(tmp_path: Path) -> None:
    config = begun(tmp_path)
    assert completed(config, "show", "so") == [f"solver/slugs/attempt-1{each}" for each in ("", "/try-1", "/try-2")]
    assert completed(config, "show", "solver/slugs/attempt-1", "id") == ["idler/slugs/attempt-1"]
    assert completed(config, "drop", "") == ["solver"]
    assert completed(config, "pilot", "--candidate", "x,s") == ["x,solver"]
    assert completed(config, "pilot", "--nomination", "") == ["slugs"]
    assert completed(config, "list", "attempts", "--release", "") == ["pilot"]
    assert completed(config, "sh") == ["show"]


def test_where_nothing_is_a_shell_offers_nothing_and_says_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for words in (("show", ""), ("drop", ""), ("pilot", "--candidate", ""), ("list", "attempts", "--release", "")):
        assert completed(tmp_path / "config/none.json", *words) == []
    assert capsys.readouterr() == ("", "")
