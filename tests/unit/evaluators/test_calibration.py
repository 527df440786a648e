import json
import random
from collections.abc import Callable
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evaluators.calibration import Calibration, calibrate, calibration_document, parse_calibration
from evaluators.channel import Phase, Transcript
from evaluators.errors import EvaluatorError
from evaluators.twins import Disguise, Sources, Twin, disguise, find_twins
from tests.unit.hostile import HOSTILE_JSON, TIMES, hostile_documents

TEXT = "def test_a():\n    assert f() == 1\ndef test_b():\n    assert f() == 2\ndef test_c():\n    assert f()\n"
SOURCES = Sources(modules={"t.py": TEXT}, authored={})
Round = tuple[Disguise, Transcript]
Outcome = Callable[[str, Twin | None], str]


def dice(seed: int) -> random.Random:
    return random.Random(seed)  # noqa: S311 - a test repeats itself, and guards nothing


def honest(_test: str, twin: Twin | None) -> str:
    return "failed" if twin else "passed"


def run(seed: int, outcome: Outcome = honest, skip: str = "") -> Round:
    made = disguise(SOURCES, find_twins(SOURCES), dice(seed))
    names: dict[str, Twin | None] = dict.fromkeys(made.tests) | made.twins
    phases, collected = [], []
    for name, twin in names.items():
        test = twin.test if twin else made.tests[name]
        if test == skip:
            continue
        collected.append(f"t.py::{name}")
        for when in ("setup", "call", "teardown"):
            said = outcome(test, twin) if when == "call" else "passed"
            phases.append(
                Phase(
                    id=f"t.py::{name}",
                    when=when,
                    part=False,
                    outcome=said,
                    expected_failure=False,
                    raised=said != "passed",
                    ms=1,
                    detail="",
                )
            )
    return made, Transcript(started=True, collected=tuple(collected), phases=tuple(phases), status=1)


def test_what_every_run_says_is_kept() -> None:
    calibration = calibrate([run(1), run(2), run(3)])
    assert set(calibration.cases) == {"t.py::test_a", "t.py::test_b", "t.py::test_c"}
    assert {each.twin.test for each in calibration.twins} == {"test_a", "test_b", "test_c"}
    assert all(case.id == case.of for each in calibration.twins for case in each.cases)


def test_a_twin_that_once_passed_is_not_proven() -> None:
    def lucky(test: str, twin: Twin | None) -> str:
        return "failed" if twin and (test, twin.variant) != ("test_a", 0) else "passed"

    calibration = calibrate([run(1), run(2, lucky), run(3)])
    assert {(each.twin.test, each.twin.variant) for each in calibration.twins} == {
        ("test_a", 1),
        ("test_b", 0),
        ("test_b", 1),
        ("test_c", 0),
    }


def test_fewer_than_two_tests_with_a_twin_are_refused() -> None:
    def one(test: str, twin: Twin | None) -> str:
        return "failed" if twin and test == "test_a" else "passed"

    with pytest.raises(EvaluatorError, match="1 hidden tests have a twin"):
        calibrate([run(1, one), run(2, one)])


def test_a_test_that_once_failed_on_the_solution_is_named() -> None:
    def flaky(test: str, twin: Twin | None) -> str:
        return "failed" if twin or test == "test_c" else "passed"

    with pytest.raises(EvaluatorError, match=r"t\.py::test_c"):
        calibrate([run(1), run(2, flaky)])


def test_a_skipped_test_does_not_pass() -> None:
    def skipping(test: str, twin: Twin | None) -> str:
        return "skipped" if test == "test_c" else honest(test, twin)

    with pytest.raises(EvaluatorError, match=r"t\.py::test_c"):
        calibrate([run(1, skipping)])


def test_runs_must_collect_the_same() -> None:
    with pytest.raises(EvaluatorError, match="not the same cases"):
        calibrate([run(1), run(2, skip="test_c")])


def test_a_suite_that_cannot_be_collected_says_why() -> None:
    made, _ = run(1)
    with pytest.raises(EvaluatorError, match="no module"):
        calibrate([(made, Transcript(started=True, collected=(), troubles=("no module f",), status=2))])


def test_a_calibration_comes_back_as_it_was() -> None:
    calibration = calibrate([run(1)])
    assert parse_calibration(calibration_document(calibration)) == calibration


@pytest.mark.parametrize(
    "document",
    [
        None,
        [],
        {},
        {"cases": [], "twins": [], "more": 1},
        {"cases": [1], "twins": []},
        {"cases": [], "twins": [{}]},
        {
            "cases": [],
            "twins": [{"file": "t", "scope": [], "test": "t", "site": 0, "variant": 0, "cases": [3]}],
        },
        {
            "cases": [],
            "twins": [{"file": "t", "scope": [1], "test": "t", "site": 0, "variant": 0, "cases": []}],
        },
    ],
)
def test_another_document_is_refused(document: object) -> None:
    with pytest.raises(EvaluatorError):
        parse_calibration(document)


def test_an_empty_calibration_is_a_document_too() -> None:
    assert parse_calibration({"cases": [], "twins": []}) == Calibration(cases=(), twins=())


@settings(max_examples=200 * TIMES, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(hostile_documents(calibration_document(calibrate([run(1), run(2)]))) | st.dictionaries(st.text(), HOSTILE_JSON))
def test_a_calibration_that_was_spoilt_is_refused_or_is_another_in_its_one_form(spoilt: dict[str, object]) -> None:
    with suppress(EvaluatorError):
        assert json.dumps(calibration_document(parse_calibration(spoilt)), sort_keys=True) == json.dumps(
            spoilt, sort_keys=True
        )
