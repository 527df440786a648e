"""Laws of the expected table: whatever differs is told, and nothing else is."""

from pathlib import Path

import pytest

from evaluators.model import Assurance
from runner.agents.traffic import sum_traffic
from runner.documents.aggregate import Evidence, Row
from runner.documents.expected import ExpectedRow, ExpectedTable, ExpectedTraffic
from runner.documents.facts import Phases
from runner.documents.ledger import Tokens
from runner.errors import DocumentError, DocumentErrors
from runner.outcome import Outcome
from runner.reports.expected import differences, load_expected, parse_expected

ROW = Row(
    candidate="solver",
    nomination="slugs",
    attempt=1,
    tries=1,
    outcome=Outcome.COMPLETED,
    verdict="passed",
    solved=True,
    score="1",
    reason="public tests passed, hidden checks passed (hidden)",
    failure=None,
    assurance=Assurance.IN_PROCESS,
    scripted=True,
    phases=Phases(),
    voids=None,
    evidence=Evidence(submission_sha256=None, grading_sha256=None, void_sha256=None),
)
IDLE = ROW.model_copy(update={"candidate": "idler", "outcome": Outcome.UNAVAILABLE, "verdict": None, "reason": "no"})
WANTED = ExpectedRow(
    candidate="solver", nomination="slugs", outcome=Outcome.COMPLETED, verdict="passed", reason="hidden checks passed"
)
WANTED_IDLE = ExpectedRow(candidate="idler", nomination="slugs", outcome=Outcome.UNAVAILABLE, verdict="none")


def expected(*rows: ExpectedRow) -> ExpectedTable:
    return ExpectedTable(rows=rows)


def test_a_table_that_is_as_expected_has_no_differences() -> None:
    assert differences(expected(WANTED, WANTED_IDLE), (ROW, IDLE)) == ()


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"outcome": Outcome.VOID}, "solver on slugs: the outcome is void, expected completed"),
        ({"verdict": "failed"}, "solver on slugs: the verdict is failed, expected passed"),
        ({"verdict": None}, "solver on slugs: the verdict is none, expected passed"),
        ({"reason": "luck"}, "solver on slugs: the reason is 'luck', expected it to say 'hidden checks passed'"),
    ],
)
def test_every_cell_that_differs_is_told(change: dict[str, object], told: str) -> None:
    assert differences(expected(WANTED), (ROW.model_copy(update=change),)) == (told,)


def test_tokens_and_cost_are_held_against_what_the_gateway_counted() -> None:
    tokens = Tokens(input=100, output=7)
    counted = sum_traffic(()).model_copy(update={"tokens": tokens, "cost": "0.01"})
    row = ROW.model_copy(update={"traffic": counted})

    def told(wanted: ExpectedTraffic, found: Row) -> tuple[str, ...]:
        return differences(expected(WANTED.model_copy(update={"traffic": wanted})), (found,))

    assert told(ExpectedTraffic(tokens=tokens, cost_usd="0.01"), row) == ()
    assert told(ExpectedTraffic(tokens=Tokens(input=100, cached=0), cost_usd=None), row) == (
        "solver on slugs: cached tokens are unknown, expected 0",
        "solver on slugs: output tokens are 7, expected unknown",
        "solver on slugs: the cost is 0.01, expected unknown",
    )
    assert told(ExpectedTraffic(tokens=Tokens(), cost_usd="0"), ROW) == (
        "solver on slugs: the cost is unknown, expected 0",
    )


def test_rows_that_are_missing_or_too_many_are_told() -> None:
    assert differences(expected(WANTED), (IDLE,)) == (
        "solver on slugs: expected, and not in the table",
        "idler on slugs: in the table, and not expected",
    )


def test_a_second_attempt_is_another_row() -> None:
    second = ROW.model_copy(update={"attempt": 2})
    assert differences(expected(WANTED), (ROW, second)) == (
        "solver on slugs, attempt 2: in the table, and not expected",
    )


def test_an_attempt_named_twice_is_told() -> None:
    assert differences(expected(WANTED, WANTED), (ROW,)) == ("the expected table names an attempt twice",)


def test_another_order_is_told() -> None:
    assert differences(expected(WANTED_IDLE, WANTED), (ROW, IDLE)) == ("the rows stand in another order than expected",)


@pytest.mark.parametrize(
    "rows",
    [
        "[]",
        '[{"candidate": "a", "nomination": "b", "outcome": "won", "verdict": "passed"}]',
        '[{"candidate": "a", "nomination": "b", "outcome": "void", "verdict": null}]',
        '[{"candidate": "a", "nomination": "b", "outcome": "void", "verdict": "none", "score": 1}]',
    ],
)
def test_a_broken_file_is_refused_by_name(rows: str) -> None:
    data = f'{{"schema": "cleanroom/expected-table/1", "rows": {rows}}}'.encode()
    with pytest.raises(DocumentErrors, match=r"x\.json"):
        parse_expected(data, "x.json")


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match="no such file"):
        load_expected(tmp_path / "none.expected.json")
