"""What a configuration wants of a host, and how the doctor's lines are written down."""

import json
from pathlib import Path
from typing import Any

import pytest

from runner.config import parse_config
from runner.doctor import configured, json_line, report, route_report, summary
from runner.settings import Settings
from sandbox.check import Check, Line, State
from tests.unit.runner.written import config_fields

KEYED = {"id": "keyed", "agent": "native", "model": "vendor/keyed", "route": "real"}
LINE = Line(topic="machine", name="thing", expected="one", lost="a wall", mend="run: mend it")


def lines(environ: dict[str, str], **changes: Any) -> dict[str, Check]:  # noqa: ANN401 - JSON values of all kinds
    fields: dict[str, Any] = config_fields()
    fields |= {"nominations": ["wordcount"], "judges": [], "judging": {}, **changes}
    config = parse_config(json.dumps(fields).encode(), "config/pilot.json")
    settings = Settings(checkout=Path("/nowhere"), config=Path("config/pilot.json"), environ=environ)
    return {check.name: check for check in configured(config, settings)}


def with_keyed(**changes: Any) -> list[object]:  # noqa: ANN401 - as above
    fields: dict[str, Any] = config_fields()
    return [*fields["candidates"], {**KEYED, **changes}]


def test_a_key_that_nobody_uses_is_not_asked_for() -> None:
    assert lines({})["keys"].state is State.OK
    retired = with_keyed(status="retired", retired={"reason": "gone", "date": "2026-01-01"})
    assert "keys" in lines({}, candidates=retired)


def test_a_key_that_is_missing_is_named_with_who_needs_it_and_the_host_is_fit() -> None:
    check = lines({}, candidates=with_keyed())["key EXAMPLE_API_KEY"]
    assert (check.state, check.found, check.ok) == (State.WARNING, "not set", True)
    assert "keyed" in check.lost
    assert check.mend == "run: export EXAMPLE_API_KEY=..."


@pytest.mark.parametrize("value", ["sk-secret", "sk secret", "sk-sécret"])
def test_a_key_is_never_shown(value: str) -> None:
    checks = lines({"EXAMPLE_API_KEY": value}, candidates=with_keyed())
    assert checks["key EXAMPLE_API_KEY"].state is (State.OK if value == "sk-secret" else State.WARNING)
    shown = report(tuple(checks.values())) + json.dumps([json_line(check) for check in checks.values()])
    assert value not in shown
    assert "cret" not in shown


def test_a_runtime_is_looked_for_where_one_is_named_or_needed(tmp_path: Path) -> None:
    assert lines({})["runtime codex"].found == "none configured, and none needed"
    needed = lines({"EXAMPLE_API_KEY": "k"}, candidates=with_keyed(agent="opencode"))["runtime opencode"]
    assert (needed.state, needed.found) == (State.UNFIT, "none configured")
    assert "keyed" in needed.lost
    assert "scripts/runtimes opencode" in needed.mend
    broken = lines({}, clean_room={"codex_root": str(tmp_path), "claude_root": str(tmp_path / "missing")})
    assert {broken[f"runtime {name}"].state for name in ("codex", "claude")} == {State.UNFIT}
    assert "no file" in broken["runtime codex"].found
    assert "no such file" in broken["runtime claude"].found
    assert "scripts/runtimes" in broken["runtime codex"].mend


def test_people_read_one_line_for_what_is_well_and_all_of_what_is_not() -> None:
    text = report((LINE.holds("here"), LINE.fails("nothing"), LINE.unseen(), LINE.warns("half")))
    assert text.splitlines()[:14] == [
        "machine",
        "  ok       thing  here",
        "  unfit    thing  nothing",
        "           expected  one",
        "           lost      a wall",
        "           mend      run: mend it",
        "  unknown  thing  it could not be seen",
        "           lost      a wall",
        "           mend      run: mend it",
        "  warning  thing  half",
        "           expected  one",
        "           lost      a wall",
        "           mend      run: mend it",
        "",
    ]
    assert "unfit" in text.splitlines()[14]


def test_colours_are_put_around_the_states_word_alone() -> None:
    text = report((LINE.holds("here"),), lambda state, word: f"<{state}:{word}>")
    assert text.splitlines()[1] == "  <ok:ok      > thing  here"


def test_the_last_line_says_how_the_host_is() -> None:
    assert summary((LINE.holds("here"),)).startswith("this host can hold clean rooms: 1 line, 0 warnings")
    bad = summary((LINE.holds("here"), LINE.fails("nothing"), LINE.warns("half")))
    assert bad == "this host is unfit for clean rooms, 1 of 3 lines (1 warning): machine: thing"
    assert "can be used" in route_report((LINE.holds("here"),))
    assert "1 of 2 lines are not" in route_report((LINE.holds("here"), LINE.fails("nothing")))


def test_programs_read_every_part_and_null_where_nothing_is_lost() -> None:
    assert json_line(LINE.fails("nothing")) == {
        "topic": "machine",
        "name": "thing",
        "state": "unfit",
        "ok": False,
        "found": "nothing",
        "expected": "one",
        "lost": "a wall",
        "mend": "run: mend it",
    }
    assert (json_line(LINE.holds("here"))["lost"], json_line(LINE.holds("here"))["mend"]) == (None, None)
