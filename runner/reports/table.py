"""The table of a release as plain text, one line a row."""

from collections.abc import Iterable, Sequence

from runner.documents.aggregate import Row

HEAD = ("candidate", "nomination", "outcome", "verdict", "reason")


def cells(row: Row) -> tuple[str, ...]:
    """Give a row's cells: the outcome is its literal name, the verdict tells its assurance."""
    nomination = row.nomination if row.attempt == 1 else f"{row.nomination} #{row.attempt}"
    verdict: str = row.verdict or "none"
    if row.assurance is not None:
        verdict = f"{verdict} ({row.assurance})"
    return (row.candidate, nomination, row.outcome.value, verdict, row.reason)


def plain(rows: Iterable[Row]) -> str:
    """Give the table as text: never cut, never wrapped, one line a row."""
    return aligned((HEAD, *(cells(row) for row in rows)))


def aligned(lines: Sequence[Sequence[str]]) -> str:
    """Give lines of cells as text whose columns stand below each other."""
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    return "".join(_line(line, widths) for line in lines)


def _line(line: Sequence[str], widths: Sequence[int]) -> str:
    padded = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
    return "  ".join(padded).rstrip() + "\n"
