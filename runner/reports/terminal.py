"""The table of a release in colours, for a terminal."""

from collections.abc import Iterable

from rich.table import Table
from rich.text import Text

from runner.documents.aggregate import Row
from runner.outcome import Outcome
from runner.reports.table import HEAD, cells

COLOURS = {
    Outcome.MISSING_ARTIFACTS: "magenta",
    Outcome.UNAVAILABLE: "yellow",
    Outcome.FORBIDDEN_CHANGES: "red",
    Outcome.VOID: "magenta",
    Outcome.AGENT_FAILURE: "red",
    Outcome.TESTS_FAILED: "red",
    Outcome.COMPLETED: "green",
}


_VERDICTS = {"passed": "green", "failed": "red", None: ""}


def coloured(rows: Iterable[Row]) -> Table:
    """Give the table for a terminal; long cells are folded, never cut."""
    table = Table()
    for name in HEAD:
        table.add_column(name, overflow="fold")
    for row in rows:
        candidate, nomination, outcome, verdict, why = cells(row)
        shown = Text(outcome, style=COLOURS[row.outcome])
        found = Text(verdict, style=_VERDICTS[row.verdict])
        table.add_row(Text(candidate), Text(nomination), shown, found, Text(why))
    return table
