"""Sealed submissions graded again: new gradings beside the old, nothing sealed is touched, the release counts one."""

import json
from pathlib import Path

import pytest

from tests.flow.bench import Bench, copied, listing

pytestmark = pytest.mark.systemd


@pytest.fixture(scope="module")
def regraded(piloted: Bench, benches: Path) -> Bench:
    """A piloted release of its own."""
    return copied(piloted, benches / "regraded")


def test_a_submission_is_graded_again_and_the_first_grading_still_counts(regraded: Bench) -> None:
    before = listing(regraded.store)
    said = regraded.run("evaluate", "nop/clamp/attempt-1", "right/clamp/attempt-1/try-1")
    assert said.code == 0, said.err
    lines = said.out.splitlines()
    assert lines[0].startswith("nop/clamp/attempt-1/try-1: grading-2: tests_failed: public tests failed")
    assert lines[1].startswith("right/clamp/attempt-1/try-1: grading-2: completed: public tests passed")
    assert all(line.endswith("(it does not count: the release counts another one)") for line in lines)
    after = listing(regraded.store)
    kept = {path: facts for path, facts in after.items() if path in before and not path.endswith("journal.jsonl")}
    assert kept == {path: facts for path, facts in before.items() if not path.endswith("journal.jsonl")}
    assert {path.split("/gradings/")[1].split("/")[0] for path in after if path not in before} == {"grading-2"}
    assert regraded.run("verify").code == 0
    # It was copied, so that all must be read once: of what was not graded just now, grading has done that.
    said = regraded.run("aggregate")
    assert said.kept >= len(("oracle", "sleeper", "slow", "recorded"))
    assert said.out == regraded.run("aggregate", "--fresh").out


def test_one_evaluator_is_looked_at_and_nothing_is_written(regraded: Bench) -> None:
    before = listing(regraded.store)
    said = regraded.run("evaluate", "--all", "--evaluator", "hidden", "--json")
    assert said.code == 0, said.err
    told = {each["attempt"]: each for each in map(json.loads, said.out.splitlines())}
    assert told["right/clamp/attempt-1/try-1"]["cause"] == "passed"
    assert told["nop/clamp/attempt-1/try-1"]["cause"] == "failed"
    assert listing(regraded.store) == before


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("rigt/clamp/attempt-1",), "did you mean right/clamp/attempt-1"),
        (
            ("sleeper/clamp/attempt-1",),
            "was planned and never begun; run it: runner pilot --resume --candidate sleeper",
        ),
        (("right/clamp/attempt-1", "--evaluator", "hiden"), "hidden"),
        ((), "name attempts, or say --all"),
        (("right/clamp/attempt-1", "--all"), "name attempts, or say --all"),
    ],
)
def test_what_cannot_be_graded_is_told(regraded: Bench, words: tuple[str, ...], told: str) -> None:
    said = regraded.run("evaluate", *words)
    assert said.code == 2
    assert told in said.err
