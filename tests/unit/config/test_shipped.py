"""Laws of the configurations that are shipped: sound, complete, and what they promise is what is planned."""

from pathlib import Path

import pytest

from runner.documents.expected import ExpectedTable
from runner.fixture import build_fixture
from runner.gateway.scenario import Scenario
from runner.gateway.scripted import load_scenarios, scripted_provider
from runner.inputs import Inputs, load_inputs
from runner.lint import Aids, lint
from runner.outcome import Outcome
from runner.preflight import PROBE_PROMPT
from runner.release import planned_attempts
from runner.reports.expected import load_expected
from runner.roster import Candidate
from runner.sdist import Downloads
from runner.settings import Settings, load_settings
from tests.unit.agents.loop_rig import run_native, unpack

CONFIG = Path(__file__).parents[3] / "config"
PILOT = CONFIG / "pilot.json"
RELEASES = (PILOT, CONFIG / "smoke.json")

each_release = pytest.mark.parametrize("path", RELEASES, ids=lambda path: path.stem)


def loaded(path: Path) -> tuple[Inputs, Settings]:
    settings = load_settings({}, config=path)
    return load_inputs(settings), settings


def scripted(inputs: Inputs, settings: Settings) -> list[tuple[Candidate, dict[str, Scenario]]]:
    found = []
    for candidate in inputs.config.candidates:
        route = inputs.config.route(candidate.route)
        if route is not None and route.scripted is not None:
            found.append((candidate, load_scenarios(settings.path(route.scripted))))
    return found


def table(path: Path) -> ExpectedTable:
    return load_expected(path.with_suffix(".expected.json"))


@each_release
def test_nothing_is_found_against_it(path: Path) -> None:
    inputs, settings = loaded(path)
    assert lint(inputs, settings, Aids(credential=lambda _: None, copies={})) == ()


@each_release
def test_its_table_expects_every_planned_attempt_in_order(path: Path) -> None:
    planned = [(each.candidate, each.nomination, each.attempt) for each in planned_attempts(loaded(path)[0].config)]
    assert [(row.candidate, row.nomination, row.attempt) for row in table(path).rows] == planned


@each_release
def test_every_scripted_candidate_has_a_scenario_and_says_that_it_is_scripted(path: Path) -> None:
    for candidate, scenarios in scripted(*loaded(path)):
        assert candidate.model in scenarios
        assert "scripted" in (candidate.label or "")


@each_release
def test_every_scripted_candidate_has_an_answer_to_the_probe_and_to_each_of_its_prompts(path: Path) -> None:
    inputs, settings = loaded(path)
    for candidate, scenarios in scripted(inputs, settings):
        scenario = scenarios[str(candidate.model)]
        assert scenario.step(PROBE_PROMPT, 0) is not None
        if _outcome_of(path, candidate.id) is not Outcome.UNAVAILABLE:
            for name in candidate.nominations or inputs.config.nomination_ids:
                assert scenario.step(inputs.nomination(name).prompt, 0) is not None


def _outcome_of(path: Path, candidate: str) -> Outcome:
    return next(row.outcome for row in table(path).rows if row.candidate == candidate)


def test_the_pilot_shows_every_outcome_that_an_attempt_can_have() -> None:
    assert {row.outcome for row in table(PILOT).rows} == set(Outcome) - {Outcome.MISSING_ARTIFACTS}


def test_the_pilot_shows_honest_and_dishonest_ways_to_fail() -> None:
    completed = {row.verdict for row in table(PILOT).rows if row.outcome is Outcome.COMPLETED}
    assert completed == {"passed", "failed"}


def _played() -> list[tuple[str, str]]:
    config = loaded(PILOT)[0].config
    models = [each for each in config.candidates if not each.is_control]
    return [
        (each.id, name)
        for each in models
        for name in each.nominations or config.nomination_ids
        if _outcome_of(PILOT, each.id) not in {Outcome.UNAVAILABLE, Outcome.AGENT_FAILURE}
    ]


@pytest.mark.parametrize(("candidate", "nomination"), _played())
def test_what_a_scenario_reads_and_edits_is_there(candidate: str, nomination: str, tmp_path: Path) -> None:
    inputs, settings = loaded(PILOT)
    chosen = next(each for each in inputs.config.candidates if each.id == candidate)
    task = inputs.nomination(nomination)
    fixture = build_fixture(task, Downloads(folder=tmp_path, index=None))
    (tmp_path / "program").mkdir()
    workspace = unpack(fixture.pack, tmp_path / "work")
    with scripted_provider(load_scenarios(settings.path("config/scenarios"))) as provider:
        ran = run_native(
            tmp_path / "program",
            workspace,
            provider.base_url,
            prompt=task.prompt,
            model=chosen.model,
            tools=(),
            turns=task.spec.loop.turns,
        )
    # `run` is not granted here: its programs belong into a unit.
    assert [use.name for use in ran.telemetry.tool_calls if use.errors and use.name != "run"] == []
    assert ran.telemetry.ended in {"done", "error"}
    assert ran.telemetry.malformed_arguments == sum(use.errors for use in ran.telemetry.tool_calls)
