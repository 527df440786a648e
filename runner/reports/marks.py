"""Markdown's tables, with text in them that is nothing but text."""

import re
from collections.abc import Iterable, Iterator

from runner.documents.writing import printable

UNKNOWN = "N/A"

_SPECIAL = re.compile(r"[\\`*_\[\]|~#]")
_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    """Give the lines of a table; cells are plain text."""
    columns = tuple(head)
    yield _line(columns)
    yield _line("---" for _ in columns)
    yield from map(table_row, rows)


def table_row(cells: Iterable[str]) -> str:
    """Give the line of a row; cells are plain text."""
    return _line(map(cell, cells))


def linked_table(head: Iterable[str], rows: Iterable[Iterable[tuple[str, str | None]]]) -> Iterator[str]:
    """Give the lines of a table whose cells are a text each, and a place in the document that it leads to."""
    columns = tuple(head)
    yield _line(columns)
    yield _line("---" for _ in columns)
    for row in rows:
        yield _line(cell(text) if place is None else f"[{cell(text)}](#{place})" for text, place in row)


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def cell(text: str) -> str:
    """Give text that is nothing but text, inside a table or out of it."""
    return _SPECIAL.sub(r"\\\g<0>", printable(text)).translate(_ENTITIES)
