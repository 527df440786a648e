"""Two shots through the real command line and real units: what is told, what is kept, what each came to."""

import json
import shutil
from pathlib import Path

import pytest

from runner.agents.native_loop.blocks import block
from tests.flow.bench import CONFIG, NOMINATION, RIGHT, Bench, copied

pytestmark = pytest.mark.systemd

WRONG = "def clamp(value, low, high):\n    return min(value, low)\n"
LOOKS_RIGHT = "def clamp(value, low, high):\n    return 3\n"

ANSWERS = {
    "once": (block("clamp.py", RIGHT),),
    "twice": (f"Here:\n{block('clamp.py', WRONG)}", f"Better:\n{block('clamp.py', RIGHT)}"),
    "never": (block("clamp.py", WRONG), block("clamp.py", f"# again\n{WRONG}")),
    "seeming": (block("clamp.py", LOOKS_RIGHT),),
    "stray": ("I would call min.", block("clamp.py", RIGHT) + block("test_public.py", "")),
}
"""What each scripted model answers, shot by shot."""


@pytest.fixture(scope="module", name="shot")
def _shot(benches: Path, frozen: Bench) -> Bench:
    """The bench with its nomination in mode single-shot, frozen and run once."""
    bench = copied(frozen, benches / "single-shot")
    for folder in (bench.manifest.parent, bench.store):
        shutil.rmtree(folder)
    document = NOMINATION["nomination.toml"].replace('"agentic"', '"single-shot"')
    (bench.nomination / "nomination.toml").write_text(document)
    for name in ANSWERS:
        (bench.checkout / f"config/scenarios/{name}.json").write_text(json.dumps(_scenario(name)))
    shooting = [
        {"id": name, "agent": "single-shot", "model": f"scripted/{name}", "route": "scripted"} for name in ANSWERS
    ]
    routes = [{"id": "scripted", "scripted": "config/scenarios", "amendments": ["include_usage"]}]
    bench.config.write_text(json.dumps({**CONFIG, "candidates": shooting, "routes": routes, "judges": []}))
    for words in (("freeze",), ("pilot",)):
        said = bench.run(*words)
        assert said.code == 0, said
    return bench


def _scenario(name: str) -> dict[str, object]:
    hello = {"when": {"contains": "Reply with exactly: hi"}, "answer": {"text": "hi"}}
    steps = [{"answer": {"text": text}, "cost": "0.01"} for text in ANSWERS[name]]
    return {"schema": "cleanroom/scenario/1", "model": f"scripted/{name}", "steps": [hello, *steps]}


def read(bench: Bench, candidate: str, name: str) -> dict[str, object]:
    found: dict[str, object] = json.loads((bench.attempt(candidate) / "try-1" / name).read_bytes())
    return found


@pytest.mark.parametrize(
    ("candidate", "outcome", "shots"),
    [
        pytest.param("once", "completed", [True], id="right-at-once"),
        pytest.param("twice", "completed", [False, True], id="wrong-then-right"),
        pytest.param("never", "tests_failed", [False, False], id="wrong-twice"),
        pytest.param("seeming", "completed", [False], id="hidden-checks-are-no-news"),
        pytest.param("stray", "agent_failure", [False, False], id="malformed"),
    ],
)
def test_each_shot_is_graded_and_the_last_is_the_outcome(
    shot: Bench, candidate: str, outcome: str, shots: list[bool]
) -> None:
    grading = read(shot, candidate, "gradings/grading-1/grading.json")
    assert grading["outcome"] == outcome
    results = grading["shots"]
    assert isinstance(results, list)
    assert [each["solved"] for each in results] == shots
    assert results[-1]["facts"] == grading["facts"]
    evaluators = [[each["id"] for each in result["facts"]["evaluators"]] for result in results]
    assert evaluators == [["hidden"]] * len(shots)


def test_the_second_shot_is_told_what_the_public_tests_printed_and_starts_from_the_base(shot: Bench) -> None:
    tests = read(shot, "twice", "submission/shots/1/public-tests.json")
    assert tests["passed"] is False
    log = shot.attempt("twice") / f"try-1/submission/shots/1/logs/{tests['stdout_sha256']}"
    assert "test_high" in log.read_text()
    first, last = (read(shot, "twice", f"submission/{where}submission.json") for where in ("shots/1/", ""))
    assert first["tree_sha256"] != last["tree_sha256"]
    assert first["base_sha256"] == last["base_sha256"]
    phases = last["phases"]
    assert isinstance(phases, dict)
    assert phases["solution"]["cost_usd"] == "0.02"


def test_nothing_of_a_malformed_answer_is_used(shot: Bench) -> None:
    submitted = shot.attempt("stray") / "try-1/submission"
    assert (submitted / "candidate.diff").read_bytes() == b""
    failure = read(shot, "stray", "submission/submission.json")["failure"]
    assert isinstance(failure, dict)
    assert failure["cause"] == "malformed_answer"
    assert "'test_public.py' is none of the files" in failure["detail"]


def test_pass_at_one_and_two_stand_in_the_table(shot: Bench) -> None:
    assert shot.run("aggregate").code == 0
    table = json.loads((shot.tables / "aggregate.json").read_bytes())
    rates = {each["candidate"]: (each["pass_at_1"], each["pass_at_2"]) for each in table["candidates"]}
    assert rates == {
        "once": ("1", "1"),
        "twice": ("0", "1"),
        "never": ("0", "0"),
        "seeming": ("0", "0"),
        "stray": ("0", "0"),
    }
    assert "| twice | 0 | 1 |" in (shot.tables / "aggregate.md").read_text()


def test_the_two_shots_can_be_played_again(shot: Bench) -> None:
    said = shot.run("replay", "twice/clamp/attempt-1")
    assert said.code == 0, said.out + said.err


def test_all_of_it_is_verified_from_the_files(shot: Bench) -> None:
    said = shot.run("verify")
    assert said.code == 0, said.out
