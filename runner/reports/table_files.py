"""The two files of a table. What they hold of each attempt is not made again where it is there already."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from runner.canonical import canonical, sha256
from runner.documents.aggregate import Aggregate, Row
from runner.durable import replace_file
from runner.errors import UsageError
from runner.parsing import read_file
from runner.reports.markdown import row_line, whole

TABLE, TEXT = "aggregate.json", "aggregate.md"
_LONGEST = 4 << 30
_FIRST, _ROW, _LAST = b'{"attempts":[', b'{"assurance":', b'],"candidates":['
"""How a table, each of its rows, and what comes after them begin in canonical JSON, where keys are in order. No text in
such a document has a quotation mark that is not escaped, so that these are found nowhere else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A table as it lies in its files."""

    table: Aggregate
    data: bytes
    sha256: str
    text: bytes | None
    """None: it is not there any more as it was."""
    text_sha256: str

    def rows(self) -> Sequence[bytes]:
        """Give each row in canonical JSON, but for how all begin."""
        return self.data[len(_FIRST + _ROW) : self.data.rindex(_LAST)].split(b"," + _ROW)

    def lines(self) -> Sequence[str] | None:
        """Give each row's line in the text."""
        return None if self.text is None else self.text.decode().split("\n")[-1 - len(self.table.attempts) : -1]


def read_table(folder: Path, digest: str, text_digest: str) -> Written | None:
    """Read a table that was written before; None where its first file is not there any more as it was."""
    data = _as_it_was(folder / TABLE, digest)
    if data is None:
        return None
    # It is, by its digest, what was written here: its form needs no second look.
    table, text = Aggregate.model_validate_json(data), _as_it_was(folder / TEXT, text_digest)
    return Written(table=table, data=data, sha256=digest, text=text, text_sha256=text_digest)


def _as_it_was(file: Path, digest: str) -> bytes | None:
    try:
        data = read_file(file, _LONGEST)
    except UsageError:
        return None
    return data if sha256(data) == digest else None


def write_table(folder: Path, table: Aggregate, before: Written | None, kept: Collection[int]) -> Written:
    """Write a table; the rows at the places `kept` are those that lay there `before`.

    Raises:
        StorageError: it cannot be written.
    """
    every = range(len(table.attempts))
    had_rows, had_lines = (None, None) if before is None else (before.rows(), before.lines())
    rows = [had_rows[at] if had_rows and at in kept else _row(table.attempts[at]) for at in every]
    lines = [had_lines[at] if had_lines and at in kept else row_line(table.attempts[at]) for at in every]
    # The canonical form of a table without rows, and the rows where they belong.
    rest = canonical(table.model_copy(update={"attempts": ()})).removeprefix(_FIRST)
    data = b"".join((_FIRST, _ROW if rows else b"", (b"," + _ROW).join(rows), rest))
    text = whole(table, lines).encode()
    replace_file(folder / TABLE, data)
    replace_file(folder / TEXT, text)
    return Written(table=table, data=data, sha256=sha256(data), text=text, text_sha256=sha256(text))


def _row(row: Row) -> bytes:
    return canonical(row.model_dump(mode="json", by_alias=True)).removeprefix(_ROW)
