"""The table of a release again: attempts that are as they were when they were read are not read again.

What was read is `aggregate.json`; `read.json` beside it says which attempts are in it, and by what they are known again
(`runner/reports/file_marks.py`). Verifying and publishing know nothing of this: they read every byte.
"""

import hashlib
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import evaluators
import runner
import sandbox
from runner.canonical import canonical, parse
from runner.documents.aggregate import Aggregate, Row
from runner.documents.manifest import Manifest
from runner.documents.reading import ReadAttempts
from runner.durable import replace_file
from runner.errors import UsageError
from runner.outcome import Outcome
from runner.parsing import read_file
from runner.reports.aggregate import planned, read_rows, table_of
from runner.reports.file_marks import Looking, Seen, see
from runner.reports.table_files import Written, read_table, write_table
from runner.schedule import Cell
from runner.store import Store
from runner.working import cores, uncollected

READ = "read.json"
_LONGEST = 4 << 30
YOUNG_NS = 2 * 10**9
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
    """Attempts whose rows are made of what they were made of when they were read."""


def kept(found: Gathered) -> str:
    """Say what was not read for a table; nothing where all of it was."""
    if not found.kept:
        return ""
    read = "1 attempt" if found.read == 1 else f"{found.read} attempts"
    return (
        f"{found.aggregate.release}: {read} read; the documents of {found.kept} are as they were when "
        "last read (--fresh reads every byte; verify always does)"
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
    past = None if fresh else _past(folder, store.manifest_sha256, code, len(cells))
    if past is not None and int(past.newest_ns) > began - YOUNG_NS:
        past = None  # The clock was set back: what is changed now may look older than what was read.
    before, still = (None, ()) if past is None else _still(store, cells, folder, past)
    if before is not None and len(still) == len(cells) and before.text is not None:
        return Gathered(aggregate=before.table, sha256=before.sha256, read=0, kept=len(cells))
    seen = {at: see(store.attempt_folder(cell)) for at, cell in enumerate(cells) if at not in still}
    rows = {} if before is None else {at: before.table.attempts[at] for at in still}
    found = table_of(manifest, store.manifest_sha256, _rows(store, manifest, cells, rows))
    lasting = {at: each for at, each in seen.items() if each is not None and _lasts(each, found.attempts[at], began)}
    known = {at: each.looked_at for at, each in lasting.items()}
    if past is not None:
        known |= {at: past.shapes[shape] for at, shape in enumerate(past.attempts) if at in still and shape is not None}
    shapes = {shape: number for number, shape in enumerate(dict.fromkeys(known.values()))}
    written = write_table(folder, found, before, still)
    index = ReadAttempts(
        release=manifest.release,
        manifest_sha256=store.manifest_sha256,
        code_sha256=code,
        aggregate_sha256=written.sha256,
        text_sha256=written.text_sha256,
        newest_ns=str(max([int(past.newest_ns) if past else 0, *(each.newest_ns for each in lasting.values())])),
        shapes=tuple(shapes),
        attempts=tuple(shapes[known[at]] if at in known else None for at in range(len(cells))),
    )
    replace_file(folder / READ, canonical(index))
    return Gathered(aggregate=found, sha256=written.sha256, read=len(cells) - len(still), kept=len(still))


def _still(
    store: Store, cells: Sequence[Cell], folder: Path, past: ReadAttempts
) -> tuple[Written | None, Collection[int]]:
    """Give the table that was made, and the places in it of attempts that are as they were."""
    remembered = [(at, shape) for at, shape in enumerate(past.attempts) if shape is not None]
    attempts = [(store.attempt_path(cells[at]), shape) for at, shape in remembered]
    with Looking(attempts, past.shapes, int(past.newest_ns), cores()) as looking:
        before = read_table(folder, past.aggregate_sha256, past.text_sha256)
        if before is None:
            return None, ()
        known = looking.known()
        if known == b"1" * len(cells):
            return before, range(len(cells))
        return before, {at for (at, _), said in zip(remembered, known, strict=True) if said == ord("1")}


def _lasts(seen: Seen, row: Row, began: int) -> bool:
    """Say whether an attempt can be known again: not where it is too young for that, or lacks something."""
    is_whole = row.outcome is not Outcome.MISSING_ARTIFACTS or not row.tries
    return is_whole and seen.newest_ns <= began - YOUNG_NS


def _rows(store: Store, manifest: Manifest, cells: Sequence[Cell], kept: dict[int, Row]) -> tuple[Row, ...]:
    """Read what is not kept, and give all rows in the manifest's order."""
    read = iter(read_rows(store, manifest, [cell for at, cell in enumerate(cells) if at not in kept]))
    return tuple(kept[at] if at in kept else next(read) for at in range(len(cells)))


def _past(folder: Path, manifest_sha256: str, code: str, attempts: int) -> ReadAttempts | None:
    """Give what is known of what was read before; None where it is of another plan or other code."""
    try:
        index = parse(ReadAttempts, read_file(folder / READ, _LONGEST), READ)
    except UsageError:
        return None
    same = (index.manifest_sha256, index.code_sha256, len(index.attempts)) == (manifest_sha256, code, attempts)
    return index if same else None


def _code() -> str:
    """Give the SHA-256 over all code of ours: other code may read something else."""
    whole = hashlib.sha256()
    for package in (runner, evaluators, sandbox):
        root = Path(package.__file__ or "").parent
        for file in sorted(root.rglob("*.py")):
            data = file.read_bytes()
            whole.update(f"{file.relative_to(root)} {len(data)}\n".encode() + data)
    return whole.hexdigest()
