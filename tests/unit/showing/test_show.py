"""Laws of `runner show`: it tells what sealed evidence holds, and loudly where that cannot be believed."""

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from runner.documents.facts import Blame, Phase, Unavailable, Violation, VoidFact
from runner.documents.manifest import Manifest
from runner.documents.telemetry import Telemetry
from runner.errors import RunnerError, UsageError
from runner.schedule import Cell
from runner.showing.beside import beside, compared
from runner.showing.comparing import compare_stories, parting
from runner.showing.document import document
from runner.showing.lines import written
from runner.showing.page import SECTIONS, page
from runner.showing.reading import read_story
from runner.showing.steps import Kind, Step
from runner.showing.story import Story
from runner.store import Store
from runner.verify import model_schemas
from tests.unit.agents.test_preflight import line
from tests.unit.runner.evidence_maker import (
    IDLER,
    SOLVER,
    Run,
    a_manifest,
    a_store,
    attempt,
    begin,
    end_void,
    submit,
)
from tests.unit.showing.checkout import a_checkout, run

OUTAGE = VoidFact(blame=Blame.PROVIDER, phase=Phase.SOLUTION, reason="503 three times")
GONE = Unavailable(reason="wrong_answer", detail="the model did not answer `hi`: '\x1b[2J'")


SCHEMAS = cache(model_schemas)
"""They take longer than all the rest."""


def told(story: Story, *parts: str) -> str:
    return "\n".join(each.text for each in written(page(story, parts, 40), None))


def read(store: Store, manifest: Manifest, cell: Cell = SOLVER, number: int = 1) -> Story:
    return read_story(store, manifest, store.trial(cell, number), SCHEMAS())


def test_the_page_tells_outcome_patch_cases_and_times(tmp_path: Path) -> None:
    manifest = a_manifest()
    store = a_store(tmp_path, manifest)
    telemetry = Telemetry(agent="native", turns=3, final_message="\x1b[2Jall done", ended="done")
    attempt(store, SOLVER, Run(tests=False, hidden=False, telemetry=telemetry))
    story = read(store, manifest)
    assert story.findings == ()
    shown = told(story)
    for said in (
        "solver/slugs/attempt-1/try-1",
        "outcome     tests_failed: the public tests failed on what it left",
        "verdict     failed: hidden failed (in_process, score 0)",
        "  | ⟦U+001B⟧[2Jall done",
        "  | diff --git a/slugs.py b/slugs.py",
        "public tests failed: exit 1\n  | tests",
        "hidden check hidden failed (in_process), score 0: 0 of 2 cases passed",
        "  failed: empty\n  failed: long",
        "  solution      1.200     0.800          0             0.25",
        "no request was recorded",
    ):
        assert said in shown
    assert "\x1b" not in shown
    assert "DOES NOT VERIFY" not in shown


def test_each_section_can_be_shown_alone(tmp_path: Path) -> None:
    manifest = a_manifest()
    store = a_store(tmp_path, manifest)
    attempt(store, SOLVER, Run())
    story = read(store, manifest)
    for name, (title, _) in SECTIONS.items():
        shown = told(story, name)
        assert f"\n{title}\n" in shown
        assert sum(f"\n{other}\n" in shown for other, _ in SECTIONS.values()) == 1


@pytest.mark.parametrize(
    ("fact", "said"),
    [
        pytest.param(OUTAGE, "reason      the provider failed during solution: 503 three times", id="void"),
        pytest.param(GONE, "the task was never shown", id="unavailable"),
    ],
)
def test_a_try_that_left_no_submission_says_what_happened(
    tmp_path: Path, fact: VoidFact | Unavailable, said: str
) -> None:
    manifest = a_manifest()
    store = a_store(tmp_path, manifest)
    end_void(store, begin(store, SOLVER), fact)
    story = read(store, manifest)
    shown = told(story)
    assert story.findings == ()
    assert said in shown
    assert "\x1b" not in shown
    assert "it was never graded" in shown


def test_other_tries_and_open_ones_are_told(tmp_path: Path) -> None:
    manifest = a_manifest()
    store = a_store(tmp_path, manifest)
    end_void(store, begin(store, SOLVER), OUTAGE)
    begin(store, SOLVER, 2)
    submit(store, begin(store, IDLER), Run())
    assert "also        try 1: void" in told(read(store, manifest, number=2))
    assert "missing_artifacts" in told(read(store, manifest, number=2))
    idle = told(read(store, manifest, IDLER))
    assert "try 1 was never graded" in idle
    assert "  | diff --git a/slugs.py b/slugs.py" in idle


@pytest.mark.parametrize(
    "name", ["submission/candidate.diff", "gradings/grading-1/grading.json", "submission/SEAL.json"]
)
def test_evidence_that_does_not_verify_is_said_first_and_last_and_what_was_altered_is_not_shown(
    tmp_path: Path, name: str
) -> None:
    manifest = a_manifest()
    store = a_store(tmp_path, manifest)
    attempt(store, SOLVER, Run())
    file = store.folder(store.trial(SOLVER, 1)) / name
    file.chmod(0o600)
    file.write_bytes(file.read_bytes().replace(b"slugs", b"snugs"))
    story = read(store, manifest)
    shown = told(story)
    assert shown.startswith("*** THIS EVIDENCE DOES NOT VERIFY")
    assert shown.endswith("*** what does not verify says nothing about the candidate")
    assert name in shown
    assert "outcome     missing_artifacts" in shown
    assert "snugs.py b/snugs.py" not in shown


def test_two_attempts_stand_beside_each_other_with_what_differs(tmp_path: Path) -> None:
    manifest = a_manifest()
    store = a_store(tmp_path, manifest)
    attempt(store, SOLVER, Run())
    attempt(store, IDLER, Run(hidden=False, violations=(Violation(rule="denied", path="x"),)))
    left, right = (read(store, manifest, cell) for cell in (SOLVER, IDLER))
    found = compare_stories(left, right)
    assert [(row.what, row.left, row.right) for row in found.cases] == [
        ("hidden check hidden", "passed", "failed"),
        ("hidden: empty", "passed", "failed"),
        ("hidden: long", "passed", "failed"),
    ]
    assert found.same_cases == 1
    assert {row.what for row in found.rows if row.differs} >= {"outcome", "verdict", "candidate"}
    assert [path for path, _, _ in found.files] == ["slugs.py"]
    shown = "\n".join(each.text for each in written(beside(left, right, found, 40), None))
    assert "slugs.py: both left the same" in shown


def call(name: str, text: str) -> Step:
    return Step(kind=Kind.CALL, name=name, text=text)


def test_two_runs_part_at_the_first_call_that_is_another() -> None:
    look, words = call("read", '{"path": "a"}'), Step(kind=Kind.SAID, text="whatever")
    timed = [call("run", f'{{"command": "sleep 1 # {date}"}}') for date in ("2026-11-30", "2027-01-01")]
    assert parting((look, words, timed[0]), (look, timed[1])) is None  # words and what varies do not count
    found = parting((look, call("edit", '{"old": "x", "new": "y"}')), (words, look, call("edit", '{"new": "z"}')))
    assert found is not None
    assert (found.same, found.says) == (1, "both call edit: /old: the first has 'x', the second nothing")
    found = parting((look,), ())
    assert found is not None
    assert found.says == "the first calls read, the second makes no further call"


def test_the_command_needs_neither_nominations_nor_privilege(tmp_path: Path) -> None:
    manifest = a_manifest()
    config = a_checkout(tmp_path, manifest)
    store = a_store(tmp_path / "store", manifest)
    attempt(store, SOLVER, Run())
    done = run(config, "show", "solver/slugs/attempt-1")
    assert done.return_value == 0
    assert "outcome     completed" in done.stdout
    assert run(config, "show", "solver/slugs").stdout == done.stdout  # there is one attempt of each
    (line,) = run(config, "show", "solver/slugs/attempt-1", "--json").stdout.splitlines()
    shown = json.loads(line)
    assert (shown["verifies"], shown["outcome"], shown["diff"]) == (
        True,
        "completed",
        "diff --git a/slugs.py b/slugs.py\n",
    )
    never = run(config, "show", "idler/slugs/attempt-1").exception
    assert isinstance(never, UsageError)
    assert str(never) == (
        "idler/slugs/attempt-1 was planned and never begun; run it: runner pilot --resume --candidate idler "
        "--nomination slugs"
    )
    strange = run(config, "show", "nobody/slugs/attempt-1").exception
    assert isinstance(strange, RunnerError)
    assert "runner list attempts" in str(strange)
    file = store.folder(store.trial(SOLVER, 1)) / "submission/candidate.diff"
    file.chmod(0o600)
    file.write_bytes(b"x")
    assert run(config, "show", "solver/slugs/attempt-1").return_value == 3


HARMS: dict[str, Callable[[bytes], bytes | None]] = {
    "gone": lambda _: None,
    "empty": lambda _: b"",
    "garbage": lambda _: b"\x1b[2J\xff\x00{",
    "cut": lambda data: data[: len(data) // 2],
    "another document": lambda _: b'{"schema":"cleanroom/seal/1"}',
}


@pytest.mark.parametrize("turn", [0, 2])
def test_whatever_was_done_to_evidence_it_is_shown_and_said(tmp_path: Path, turn: int) -> None:
    harms = tuple(HARMS.values())
    manifest = a_manifest()
    store = a_store(tmp_path, manifest)
    attempt(store, SOLVER, Run(ledger=(line(),)))
    end_void(store, begin(store, IDLER), OUTAGE)
    for cell in (SOLVER, IDLER):
        folder = store.folder(store.trial(cell, 1))
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        for number, file in enumerate(files, turn):
            data, changed = file.read_bytes(), harms[number % len(harms)](file.read_bytes())
            file.parent.chmod(0o700)
            file.unlink()
            if changed is not None:
                file.write_bytes(changed)
            story = read(store, manifest, cell)
            shown = told(story)
            if changed != data:
                assert shown.startswith("*** THIS EVIDENCE DOES NOT VERIFY"), file
            assert "\x1b" not in shown
            json.dumps(document(story))
            json.dumps(compared(story, story, compare_stories(story, story)))
            file.unlink(missing_ok=True)
            file.write_bytes(data)
