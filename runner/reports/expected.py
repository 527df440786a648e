"""Whether a release's table is the one that was expected."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from runner.documents.aggregate import Row
from runner.documents.expected import ExpectedRow, ExpectedTable, ExpectedTraffic
from runner.documents.ledger import Tokens
from runner.documents.telemetry import Traffic
from runner.parsing import file_name, parse_json, read_file, validate

Attempt = tuple[str, str, int]
Either = TypeVar("Either", Row, ExpectedRow)


def load_expected(path: Path) -> ExpectedTable:
    """Read an expected table.

    Raises:
        DocumentError, DocumentErrors: the file cannot be read, or is none.
    """
    return parse_expected(read_file(path), file_name(path))


def parse_expected(data: bytes, file: str) -> ExpectedTable:
    """Parse an expected table; `file` is what errors call it."""
    return validate(ExpectedTable, parse_json(data, file), file)


def differences(expected: ExpectedTable, rows: Sequence[Row]) -> tuple[str, ...]:
    """Say in a sentence each how a table differs from the expected one; empty where it does not."""
    return tuple(_differences(expected.rows, rows))


def _differences(expected: Sequence[ExpectedRow], rows: Sequence[Row]) -> Iterator[str]:
    wanted, found = _by_attempt(expected), _by_attempt(rows)
    yield from (f"{_name(each)}: expected, and not in the table" for each in wanted if each not in found)
    yield from (f"{_name(each)}: in the table, and not expected" for each in found if each not in wanted)
    for attempt in wanted:
        if attempt in found:
            yield from (f"{_name(attempt)}: {said}" for said in _contrasts(wanted[attempt], found[attempt]))
    if len(wanted) < len(expected):
        yield "the expected table names an attempt twice"
    if wanted.keys() == found.keys() and list(wanted) != list(found):
        yield "the rows stand in another order than expected"


def _by_attempt(rows: Iterable[Either]) -> dict[Attempt, Either]:
    return {(row.candidate, row.nomination, row.attempt): row for row in rows}


def _name(attempt: Attempt) -> str:
    candidate, nomination, number = attempt
    return f"{candidate} on {nomination}" if number == 1 else f"{candidate} on {nomination}, attempt {number}"


def _contrasts(expected: ExpectedRow, row: Row) -> Iterator[str]:
    if row.outcome is not expected.outcome:
        yield f"the outcome is {row.outcome.value}, expected {expected.outcome.value}"
    verdict = row.verdict or "none"
    if verdict != expected.verdict:
        yield f"the verdict is {verdict}, expected {expected.verdict}"
    if expected.reason is not None and expected.reason not in row.reason:
        yield f"the reason is '{row.reason}', expected it to say '{expected.reason}'"
    if expected.traffic is not None:
        yield from _bills(expected.traffic, row.traffic)


def _bills(expected: ExpectedTraffic, counted: Traffic | None) -> Iterator[str]:
    found, wanted = Tokens() if counted is None else counted.tokens, expected.tokens
    for part in Tokens.model_fields:
        if getattr(found, part) != getattr(wanted, part):
            yield f"{part} tokens are {_number(getattr(found, part))}, expected {_number(getattr(wanted, part))}"
    cost = None if counted is None else counted.cost
    if cost != expected.cost_usd:
        yield f"the cost is {_number(cost)}, expected {_number(expected.cost_usd)}"


def _number(value: object) -> str:
    return "unknown" if value is None else str(value)
