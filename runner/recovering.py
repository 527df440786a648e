"""What a runner sealed and was killed before it told: found by the next one, which writes the line in its place."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from runner.canonical import sha256
from runner.documents.journal import State
from runner.documents.seal import SEAL_NAME
from runner.durable import read_regular, settle_name
from runner.journal import read_journal
from runner.schedule import Cell, Standing
from runner.store import SUBMISSION, VOID, Store, Try, choose, grading_folders, state


@dataclass(frozen=True, slots=True, kw_only=True)
class SealedPart:
    """A sealed folder of a try, by the digest of its seal; nothing else of it was read."""

    state: State
    """What its line in the journal says."""
    folder: Path
    sha256: str


def sealed_parts(folder: Path) -> Iterator[SealedPart]:
    """Give what is sealed of a try, in the order in which it was.

    Raises:
        OSError: a seal cannot be read.
    """
    places = [(State.CAPTURED, folder / SUBMISSION), *((State.GRADED, each) for each in grading_folders(folder))]
    for reached, place in (*places, (State.VOID, folder / VOID)):
        if (place / SEAL_NAME).exists():
            yield SealedPart(state=reached, folder=place, sha256=sha256(read_regular(place / SEAL_NAME)))


def counted(trial: Try, rule: str) -> str | None:
    """Give the digest of the grading that a try's result stands on; None where there is none, or not yet."""
    chosen = choose(trial.gradings, rule)
    is_over = state(trial, rule).standing in {Standing.DONE, Standing.VOID}
    return chosen.sealed.digest if is_over and chosen is not None else None


def recover(store: Store, cells: Iterable[Cell], rule: str) -> tuple[str, ...]:
    """Write the lines that killed runners owe the journal, and say what they are about.

    Raises:
        StorageError: the disk failed or is full.
        VerificationError: evidence, or the journal, is not what was written.
    """
    entries = read_journal(store.journal)
    known = {(entry.trial, entry.state, entry.sealed_sha256) for entry in entries}
    closed = {entry.trial for entry in entries if entry.state is State.SEALED}
    told: list[str] = []
    for cell in cells:
        for trial in (store.trial(cell, number) for number in store.numbers(cell)):
            parts = tuple(sealed_parts(store.folder(trial)))
            for part in parts:
                if (trial, part.state, part.sha256) not in known:
                    settle_name(part.folder, disk=store.disk)
                    store.note(trial, part.state, part.sha256, recovered=True)
                    told.append(f"{part.folder}: was sealed, and its runner killed before it told")
            if trial not in closed and any(part.state is State.GRADED for part in parts):
                told += _closed(store, cell, trial.try_, rule)
    return tuple(told)


def _closed(store: Store, cell: Cell, number: int, rule: str) -> Iterator[str]:
    """Close a graded try that nothing more is done about."""
    found = next(each for each in store.tries(cell) if each.trial.try_ == number)
    digest = counted(found, rule)
    if digest is not None:
        store.note(found.trial, State.SEALED, digest, recovered=True)
        yield f"{store.folder(found.trial)}: was over, and its runner killed before it told"
