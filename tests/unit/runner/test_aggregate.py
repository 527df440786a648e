"""Laws of the aggregate: gaps and faults are told and never scored; the same evidence, the same bytes."""

import io
from pathlib import Path

import pytest
from rich.console import Console

from runner.agents.traffic import metered
from runner.artifacts import canonical, parse
from runner.documents.aggregate import Aggregate
from runner.documents.facts import Blame, Phase, Unavailable, Violation, VoidFact
from runner.documents.ledger import LedgerLine, Tokens
from runner.documents.telemetry import Telemetry
from runner.outcome import Outcome
from runner.reports.aggregate import aggregate, unproven_of
from runner.reports.markdown import markdown
from runner.reports.table import plain
from runner.reports.terminal import COLOURS, coloured
from tests.unit.runner.evidence_maker import (
    BADLY,
    IDLER,
    SOLVER,
    Run,
    a_manifest,
    a_store,
    attempt,
    begin,
    end_void,
    grade,
    submit,
)

OUTAGE = VoidFact(blame=Blame.PROVIDER, phase=Phase.SOLUTION, reason="503 three times")
FAULT = VoidFact(blame=Blame.HOST, phase=Phase.EVALUATORS, reason="the disk was full")


def a_line(sequence: int, tokens: Tokens) -> LedgerLine:
    return LedgerLine(
        sequence=sequence,
        operation="chat",
        started_ms=sequence,
        first_byte_ms=1,
        duration_ms=10,
        model_asked="m",
        model_answered="m",
        provider_answered=None,
        stream=True,
        status_upstream=200,
        status_given=200,
        complete=True,
        finish_reason="stop",
        failure=None,
        refusal=None,
        tokens=tokens,
        cost=None,
        retries=0,
        wait_ms=0,
        amended=(),
        request_bytes=1,
        request_sha256="0" * 64,
        response_bytes=0,
        response_sha256=None,
    )


def test_rows_and_counts_tell_what_the_evidence_says(tmp_path: Path) -> None:
    manifest = a_manifest()
    store = a_store(tmp_path, manifest)
    attempt(store, SOLVER, Run())
    attempt(store, IDLER, Run(tests=False, hidden=False, cost=None))
    found = aggregate(store, manifest)
    solver, idler = found.attempts
    assert (solver.outcome, solver.verdict, solver.score, solver.solved) == (
        Outcome.COMPLETED,
        "passed",
        "1",
        True,
    )
    assert (idler.outcome, idler.verdict, idler.score) == (Outcome.TESTS_FAILED, "failed", "0")
    assert idler.reason == "public tests failed, hidden check hidden failed"
    assert [(each.solved, each.counted, each.solved_rate) for each in found.candidates] == [
        (1, 1, "1"),
        (0, 1, "0"),
    ]
    assert [each.solution.cost_usd for each in found.candidates] == ["0.25", None]
    assert solver.phases.solution is not None
    assert solver.phases.solution.wall_ms == 1200


def test_a_row_tells_what_the_gateway_counted_and_nothing_where_no_model_was_asked(tmp_path: Path) -> None:
    manifest = a_manifest()
    store = a_store(tmp_path, manifest)
    lines = (a_line(1, tokens=Tokens(input=100, output=7)), a_line(2, tokens=Tokens(input=120, cached=90, output=3)))
    attempt(store, SOLVER, Run(ledger=lines, telemetry=metered(Telemetry(agent="native", turns=2), lines)))
    attempt(store, IDLER, Run())
    solver, idler = aggregate(store, manifest).attempts
    assert solver.traffic is not None
    assert (solver.traffic.requests, solver.traffic.tokens) == (2, Tokens(input=220, cached=90, output=10))
    assert idler.traffic is None


def test_the_same_evidence_gives_the_same_bytes_and_they_read_back(tmp_path: Path) -> None:
    manifest = a_manifest()
    for name in ("a", "b"):
        store = a_store(tmp_path / name, manifest)
        attempt(store, SOLVER, Run())
        attempt(store, IDLER, Run(tests=False))
    first, second = (canonical(aggregate(a_store(tmp_path / name, manifest), manifest)) for name in ("a", "b"))
    assert first == second
    assert parse(Aggregate, first, "aggregate.json") == aggregate(a_store(tmp_path / "a", manifest), manifest)


def test_an_attempt_that_was_never_run_keeps_its_row(tmp_path: Path) -> None:
    manifest = a_manifest()
    found = aggregate(a_store(tmp_path, manifest), manifest)
    assert [(row.outcome, row.tries, row.verdict) for row in found.attempts] == [
        (Outcome.MISSING_ARTIFACTS, 0, None)
    ] * 2
    assert "never run" in found.attempts[0].reason
    assert found.candidates[0].solved_rate is None


FILES = (
    "begun.json",
    "submission/candidate.diff",
    "submission/ledger.jsonl",
    "submission/streams/stdout",
    "submission/SEAL.json",
    "gradings/grading-1/grading.json",
    "gradings/grading-1/evaluators/hidden.json",
    "gradings/grading-1/SEAL.json",
)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("change", ["removed", "altered"])
def test_evidence_that_lacks_a_file_is_missing_artifacts_and_never_a_score(
    tmp_path: Path, name: str, change: str
) -> None:
    manifest = a_manifest("solver")
    store = a_store(tmp_path, manifest)
    attempt(store, SOLVER, Run())
    target = store.folder(store.trial(SOLVER, 1)) / name
    target.parent.chmod(0o755)
    if change == "removed":
        target.unlink()
    else:
        target.chmod(0o644)
        target.write_bytes(target.read_bytes() + b" ")
    (row,) = aggregate(store, manifest).attempts
    assert (row.outcome, row.verdict, row.score, row.solved) == (
        Outcome.MISSING_ARTIFACTS,
        None,
        None,
        False,
    )
    assert name in row.reason


def test_a_submission_that_nobody_graded_is_missing_a_grading(tmp_path: Path) -> None:
    manifest = a_manifest("solver")
    store = a_store(tmp_path, manifest)
    submit(store, begin(store, SOLVER), Run())
    (row,) = aggregate(store, manifest).attempts
    assert (row.outcome, row.reason) == (Outcome.MISSING_ARTIFACTS, "the evidence lacks a grading")


def test_a_try_without_a_seal_is_told_as_running_or_lost(tmp_path: Path) -> None:
    manifest = a_manifest("solver")
    store = a_store(tmp_path, manifest)
    begin(store, SOLVER)
    (row,) = aggregate(store, manifest).attempts
    assert row.outcome is Outcome.MISSING_ARTIFACTS
    assert "lost with its runner" in row.reason


def test_voids_are_in_no_denominator_and_are_shown_with_what_they_took(tmp_path: Path) -> None:
    manifest = a_manifest()
    store = a_store(tmp_path, manifest)
    attempt(store, SOLVER, Run())
    end_void(store, begin(store, IDLER), OUTAGE)
    found = aggregate(store, manifest)
    void = found.candidates[1]
    assert (void.outcome, void.counted, void.solved_rate) == (Outcome.VOID, 0, None)
    assert (void.rate_if_voids_failed, void.rate_if_voids_solved) == ("0", "1")
    assert void.voids is not None
    assert void.voids.cost_usd == "0.5"
    assert found.attempts[1].reason == "the provider failed during solution: 503 three times"


def test_what_judges_alone_grade_is_neither_solved_nor_unsolved(tmp_path: Path) -> None:
    plain = a_manifest()
    nomination = plain.nominations[0]
    free = nomination.model_copy(update={"spec": nomination.spec.model_copy(update={"class_": "free-text"})})
    manifest = plain.model_copy(update={"nominations": (free,)})
    store = a_store(tmp_path, manifest)
    attempt(store, SOLVER, Run())
    end_void(store, begin(store, IDLER), OUTAGE)
    found = aggregate(store, manifest)
    assert [(each.solved, each.counted, each.solved_rate) for each in found.candidates] == [(0, 0, None)] * 2
    assert {each.rate_if_voids_failed for each in found.candidates} == {None}
    assert unproven_of(manifest) == ()


def test_the_try_after_a_void_counts_and_the_voids_spend_stays_visible(tmp_path: Path) -> None:
    manifest = a_manifest("solver")
    store = a_store(tmp_path, manifest)
    end_void(store, begin(store, SOLVER), OUTAGE)
    attempt(store, SOLVER, Run(), number=2)
    (row,) = aggregate(store, manifest).attempts
    assert (row.outcome, row.tries) == (Outcome.COMPLETED, 2)
    assert row.voids is not None
    assert (row.voids.wall_ms, row.voids.cost_usd) == (50, "0.5")


def test_an_unknown_cost_stays_unknown_in_every_sum(tmp_path: Path) -> None:
    manifest = a_manifest("solver")
    store = a_store(tmp_path, manifest)
    end_void(store, begin(store, SOLVER), OUTAGE, cost=None)
    end_void(store, begin(store, SOLVER, 2), OUTAGE)
    (row,) = aggregate(store, manifest).attempts
    assert row.voids is not None
    assert (row.voids.wall_ms, row.voids.cost_usd) == (100, None)
    assert "N/A" in markdown(aggregate(store, manifest))


def test_unavailable_keeps_its_row_and_says_what_the_probe_saw(tmp_path: Path) -> None:
    manifest = a_manifest("solver")
    store = a_store(tmp_path, manifest)
    end_void(store, begin(store, SOLVER), Unavailable(reason="wrong_answer", detail="'hello \x1b[2J'"))
    (row,) = aggregate(store, manifest).attempts
    assert row.outcome is Outcome.UNAVAILABLE
    assert row.reason.endswith("the task was never shown")
    assert row.reason.isprintable()


def test_the_first_grading_without_a_fault_counts_whatever_came_later(tmp_path: Path) -> None:
    manifest = a_manifest("solver")
    store = a_store(tmp_path, manifest)
    made, digest = submit(store, begin(store, SOLVER), Run())
    grade(store, made, digest, Run(fault=FAULT))
    (row,) = aggregate(store, manifest).attempts
    assert (row.outcome, row.score) == (Outcome.VOID, None)
    grade(store, made, digest, Run(hidden=False))
    grade(store, made, digest, Run())
    (row,) = aggregate(store, manifest).attempts
    assert (row.outcome, row.verdict) == (Outcome.COMPLETED, "failed")


def test_a_violation_is_told_beside_the_agents_failure(tmp_path: Path) -> None:
    manifest = a_manifest("solver")
    store = a_store(tmp_path, manifest)
    breach = Violation(rule="not_allowed", path="tests/test_slugs.py")
    attempt(store, SOLVER, Run(termination=BADLY, violations=(breach,)))
    (row,) = aggregate(store, manifest).attempts
    assert row.outcome is Outcome.FORBIDDEN_CHANGES
    assert row.failure == "exit_status"
    assert row.solved is False
    assert row.reason.startswith("forbidden: tests/test_slugs.py may not be changed")


def test_every_table_says_scripted_and_controls_not_run(tmp_path: Path) -> None:
    manifest = a_manifest("solver")
    store = a_store(tmp_path, manifest)
    attempt(store, SOLVER, Run())
    found = aggregate(store, manifest)
    assert found.scripted
    text = markdown(found)
    assert "controls not run" in text
    assert "scripted" in text


def test_markdown_has_the_same_cells_in_every_row_and_no_markup_of_others(tmp_path: Path) -> None:
    manifest = a_manifest("solver")
    store = a_store(tmp_path, manifest)
    nasty = Violation(rule="not_allowed", path="a|b`<script>*[x](y)")
    attempt(store, SOLVER, Run(violations=(nasty,)))
    text = markdown(aggregate(store, manifest))
    assert "<script>" not in text
    tables = [block.splitlines() for block in text.split("\n\n") if block.startswith("| ")]
    assert len(tables) == 2
    for table in tables:
        assert len({line.replace("\\|", "").count("|") for line in table}) == 1


def test_the_plain_table_is_one_line_a_row_and_never_cut(tmp_path: Path) -> None:
    manifest = a_manifest()
    store = a_store(tmp_path, manifest)
    attempt(store, SOLVER, Run())
    end_void(store, begin(store, IDLER), VoidFact(blame=Blame.HOST, phase=Phase.CAPTURE, reason="long " * 100))
    lines = plain(aggregate(store, manifest).attempts).splitlines()
    assert len(lines) == 3
    assert lines[0].split() == ["candidate", "nomination", "outcome", "verdict", "reason"]
    assert lines[1].split()[:5] == ["solver", "slugs", "completed", "passed", "(in_process)"]
    assert lines[2].split()[:4] == ["idler", "slugs", "void", "none"]
    assert lines[2].count("long") == 100


def test_the_terminals_table_folds_and_has_a_colour_for_every_outcome(tmp_path: Path) -> None:
    manifest = a_manifest("solver")
    store = a_store(tmp_path, manifest)
    attempt(store, SOLVER, Run())
    out = io.StringIO()
    Console(file=out, width=60, force_terminal=True).print(coloured(aggregate(store, manifest).attempts))
    assert "completed" in out.getvalue()
    assert set(COLOURS) == set(Outcome)
