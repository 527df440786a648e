"""The table of a release again: attempts whose files are as they were when they were read are not read again.

What was read is `aggregate.json`; `read.json` beside it says which attempts are in it, and by what their files are
known again (`runner/reports/file_marks.py`). Verifying and publishing know nothing of this: they read every byte.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import evaluators
import runner
import sandbox
from runner.canonical import canonical, parse, sha256
from runner.documents.aggregate import Aggregate, Row
from runner.documents.manifest import Manifest
from runner.documents.reading import ReadAttempts
from runner.durable import replace_file
from runner.errors import UsageError
from runner.parsing import read_file
from runner.reports.aggregate import planned, read_rows, table_of
from runner.reports.file_marks import Mark, Marking
from runner.reports.markdown import markdown
from runner.schedule import Cell
from runner.store import Store
from runner.working import cores, uncollected

TABLE, TEXT, READ = "aggregate.json", "aggregate.md", "read.json"
_LONGEST = 4 << 30
_RECENT_NS = 2 * 10**9
"""A file that was changed later than this before it was looked at could be changed again within the same tick."""


Clock = Callable[[], int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """A table, and what of it was read for it."""

    aggregate: Aggregate
    sha256: str
    """Of aggregate.json."""
    read: int
    """Attempts whose every byte was read now."""
    kept: int
    """Attempts whose files are as they were when they were read."""


def kept(found: Gathered) -> str:
    """Say what was not read for a table; nothing where all of it was."""
    if not found.kept:
        return ""
    read = "1 attempt" if found.read == 1 else f"{found.read} attempts"
    return (
        f"{found.aggregate.release}: {read} read; the files of {found.kept} are as they were when last "
        "read (--fresh reads all; verify always does)"
    )


def gather_table(store: Store, manifest: Manifest, folder: Path, *, clock: Clock, fresh: bool = False) -> Gathered:
    """Make a release's table from its sealed evidence, and write it; only what changed is read.

    Args:
        store: the release's evidence.
        manifest: its plan.
        folder: where its tables lie.
        clock: gives the nanoseconds since 1970, by the clock of the evidence's file system.
        fresh: read every attempt, whatever is remembered.

    Raises:
        VerificationError: evidence is not what was sealed.
        StorageError: the table cannot be written.
    """
    with uncollected():
        return _gather(store, manifest, folder, clock, fresh=fresh)


def _gather(store: Store, manifest: Manifest, folder: Path, clock: Clock, *, fresh: bool) -> Gathered:
    cells, began = planned(manifest), clock()
    code = _code()
    with Marking(store.root / store.release, cells, cores()) as marking:
        past = None if fresh else _remembered(folder, store.manifest_sha256, code, len(cells))
        marks = marking.marks()
    at = [] if past is None else [at for at, mark in enumerate(marks) if _is_known(mark, past.index.attempts[at])]
    if past is not None and len(at) == len(cells) and (folder / TEXT).exists():
        return Gathered(aggregate=past.table, sha256=past.index.aggregate_sha256, read=0, kept=len(cells))
    rows = {} if past is None else {each: past.table.attempts[each] for each in at}
    found = table_of(manifest, store.manifest_sha256, _rows(store, manifest, cells, rows))
    digest = _write(folder, found)
    index = ReadAttempts(
        release=manifest.release,
        manifest_sha256=store.manifest_sha256,
        code_sha256=code,
        aggregate_sha256=digest,
        attempts=tuple(mark.sha256 if at in rows and mark else _lasting(mark, began) for at, mark in enumerate(marks)),
    )
    replace_file(folder / READ, canonical(index))
    return Gathered(aggregate=found, sha256=digest, read=len(cells) - len(rows), kept=len(rows))


def _rows(store: Store, manifest: Manifest, cells: Sequence[Cell], kept: dict[int, Row]) -> tuple[Row, ...]:
    """Read what is not kept, and give all rows in the manifest's order."""
    read = iter(read_rows(store, manifest, [cell for at, cell in enumerate(cells) if at not in kept]))
    return tuple(kept[at] if at in kept else next(read) for at in range(len(cells)))


def _is_known(mark: Mark | None, known: str | None) -> bool:
    return mark is not None and mark.sha256 == known


def _lasting(mark: Mark | None, began: int) -> str | None:
    """Give by what an attempt is known again; None where its files are too young for that."""
    return None if mark is None or mark.newest_ns > began - _RECENT_NS else mark.sha256


@dataclass(frozen=True, slots=True, kw_only=True)
class _Past:
    index: ReadAttempts
    table: Aggregate


def _remembered(folder: Path, manifest_sha256: str, code: str, attempts: int) -> _Past | None:
    """Give what was read before; None where that is not whole, or of another plan or other code."""
    try:
        index = parse(ReadAttempts, read_file(folder / READ, _LONGEST), READ)
        same = (index.manifest_sha256, index.code_sha256, len(index.attempts)) == (manifest_sha256, code, attempts)
        data = read_file(folder / TABLE, _LONGEST) if same else b""
    except UsageError:
        return None
    if not same or sha256(data) != index.aggregate_sha256:
        return None
    # It is, by its digest, what was written here: its form needs no second look.
    return _Past(index=index, table=Aggregate.model_validate_json(data))


def _write(folder: Path, found: Aggregate) -> str:
    data = canonical(found)
    replace_file(folder / TABLE, data)
    replace_file(folder / TEXT, markdown(found).encode())
    return sha256(data)


def _code() -> str:
    """Give the SHA-256 over all code of ours: other code may read something else."""
    whole = hashlib.sha256()
    for package in (runner, evaluators, sandbox):
        root = Path(package.__file__ or "").parent
        for file in sorted(root.rglob("*.py")):
            data = file.read_bytes()
            whole.update(f"{file.relative_to(root)} {len(data)}\n".encode() + data)
    return whole.hexdigest()
