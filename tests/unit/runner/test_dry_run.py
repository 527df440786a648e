"""The rehearsal: everything that a pilot would do, and what it lacks, without contacting or writing anything."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from runner.dry_run import rehearsal_text, rehearse
from runner.errors import DocumentError, UnknownNameError
from runner.inputs import Inputs, load_inputs
from runner.pilot import Wanted
from runner.settings import Settings
from tests.unit.runner.written import config_fields, nomination_files, written

KEYED: dict[str, Any] = {"id": "keyed", "agent": "native", "model": "vendor/keyed", "route": "real"}


def release(checkout: Path, **changes: Any) -> tuple[Inputs, Settings]:  # noqa: ANN401 - JSON values of all kinds
    fields = config_fields() | {"nominations": ["wordcount"], "judges": [], "judging": {}, **changes}
    written(checkout / "config/nominations/wordcount", nomination_files())
    written(checkout, {"config/pilot.json": json.dumps(fields)})
    settings = Settings(checkout=checkout, config=checkout / "config/pilot.json")
    return load_inputs(settings), settings


def test_the_matrix_is_the_plan_and_each_pair_has_its_command_once(tmp_path: Path) -> None:
    shown = rehearse(*release(tmp_path), Wanted())
    assert [str(cell) for cell in shown.cells] == [
        f"{name}/wordcount/attempt-{attempt}" for name in ("oracle", "right", "recorded") for attempt in (1, 2)
    ]
    assert [each.candidate for each in shown.commands] == ["oracle", "right", "recorded"]
    assert all(each.argv[0] == "/usr/bin/python3" and each.stdin_bytes for each in shown.commands)


def test_ceilings_are_budgets_times_attempts_and_allowed_tries(tmp_path: Path) -> None:
    ceilings = {each.candidate: each for each in rehearse(*release(tmp_path), Wanted()).ceilings}
    right = ceilings["right"]
    assert (right.attempts, right.usd, right.requests, right.tokens) == (2, "2", 160, 400_000)
    assert right.wall_ms == 3000 * 2 * 2
    assert (ceilings["oracle"].usd, ceilings["oracle"].requests) == (None, None)
    assert "oracle: 2 attempts, usd none" in rehearsal_text(rehearse(*release(tmp_path), Wanted()))


def test_a_single_shot_candidate_may_have_two_units_and_one_budget(tmp_path: Path) -> None:
    shooter = {**KEYED, "agent": "single-shot", "route": "script", "budget": {"requests": 2}}
    shown = rehearse(*release(tmp_path, candidates=[shooter]), Wanted())
    (ceiling,) = shown.ceilings
    assert (ceiling.requests, ceiling.wall_ms) == (2 * 2 * 2, 3000 * 2 * 2 * 2)
    assert [each.argv[-1] for each in shown.commands] == ["/opt/agent"]


def test_only_credentials_of_selected_routes_are_missing(tmp_path: Path) -> None:
    inputs, settings = release(tmp_path, candidates=[*config_fields()["candidates"], KEYED])  # type: ignore[misc]  # a list
    assert any("EXAMPLE_API_KEY" in each and "keyed" in each for each in rehearse(inputs, settings, Wanted()).missing)
    assert rehearse(inputs, settings, Wanted(candidates=("right",))).missing == ()
    held = replace(settings, environ={"EXAMPLE_API_KEY": "secret-value"})
    shown = rehearse(inputs, held, Wanted())
    assert shown.missing == ()
    assert "secret-value" not in rehearsal_text(shown) + json.dumps(list(shown.lines()))


def test_an_agent_with_a_login_is_told_with_its_hosts_and_what_it_lacks(tmp_path: Path) -> None:
    own = {"id": "own", "agent": "codex", "model": "m", "network": "direct", "hosts": ["models.example:443"]}
    shown = rehearse(*release(tmp_path, candidates=[own]), Wanted())
    (command,) = shown.commands
    assert command.hosts == ("chatgpt.com:443", "api.openai.com:443", "auth.openai.com:443", "models.example:443")
    assert "network: direct, with a login, to chatgpt.com:443" in rehearsal_text(shown)
    assert any("codex-login.json, the login of codex" in each for each in shown.missing)


def test_selectors_and_attempts_narrow_it(tmp_path: Path) -> None:
    inputs, settings = release(tmp_path)
    picked = rehearse(inputs, settings, Wanted(candidates=("recorded,vendor/right:free",), attempt=2))
    assert [str(cell) for cell in picked.cells] == ["recorded/wordcount/attempt-2", "right/wordcount/attempt-2"]
    with pytest.raises(UnknownNameError):
        rehearse(inputs, settings, Wanted(candidates=("nobody",)))


def test_a_release_may_want_its_nominations_named(tmp_path: Path) -> None:
    inputs, settings = release(tmp_path, require_nomination_selection=True)
    with pytest.raises(DocumentError, match="--nomination"):
        rehearse(inputs, settings, Wanted())
    assert rehearse(inputs, settings, Wanted(nominations=("wordcount",))).cells


def test_it_says_all_of_a_units_properties_and_limits_and_writes_nothing(tmp_path: Path) -> None:
    inputs, settings = release(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    shown = rehearse(inputs, settings, Wanted())
    text = rehearsal_text(shown)
    assert {"MemoryMax", "NoNewPrivileges", "RootDirectory"} <= {each.name for each in shown.properties}
    assert [name for name, _ in shown.limits][:3] == ["preflight", "solution", "public_tests"]
    for words in ("Planned attempts", "Commands", "Limits", "Properties", "Ceilings", "Missing\n  nothing"):
        assert words in text
    assert all(json.loads(json.dumps(line)) == line for line in shown.lines())
    assert sorted(tmp_path.rglob("*")) == before
