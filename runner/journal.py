"""The journal of a release's store: each state of each try, written and synced before anything follows from it.

`journal.jsonl` lies beside the evidence. Its lines are only ever added, each names the SHA-256 of the one before, and
the runner's key signs them where it has one. A line that names a sealed folder is written after the folder; a runner
that was killed in between is made up for by the next one (`runner/recovering.py`). All other lines are written before
what they speak of. So after a kill at any instant a try without a line `running` is one in which no model worked.

One process writes at a time (`sole_writer`). A last line that a kill has cut, or that a failed machine left zeros in,
was never acknowledged: no reader sees it, and the next line takes its place. Read it with `read_journal`, which
changes nothing and may be called beside a running pilot.
"""

import fcntl
import os
import secrets
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from runner.canonical import canonical, parse, parse_lines, sha256
from runner.disk import DISK, Disk
from runner.documents.journal import Entry, State
from runner.documents.seal import Trial
from runner.durable import append_file, cut_file, make_folders, read_regular
from runner.signing.dsse import pae
from runner.signing.encoding import b64
from runner.signing.signer import Signer

JOURNAL = "journal.jsonl"
PAYLOAD_TYPE = "application/vnd.cleanroom.journal+json"

_TAIL = 1 << 14
"""No line is longer."""


def new_run() -> str:
    """Give the name of a process's run."""
    return secrets.token_hex(8)


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What a line says."""

    trial: Trial
    state: State
    sealed_sha256: str | None = None
    """Digest of the sealed folder that it speaks of."""
    recovered: bool = False
    """Whoever sealed it was killed before it told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scribe:
    """Who writes a journal."""

    clock: Callable[[], int]
    """Milliseconds since 1970, UTC."""
    run: str = field(default_factory=new_run)
    signer: Signer | None = None
    """The runner's key; None: lines are not signed."""

    def write(self, path: Path, told: Told, *, disk: Disk = DISK) -> Entry:
        """Add a line for good.

        Raises:
            StorageError: the disk failed or is full.
            DocumentError, DocumentErrors: the line before is none.
        """
        last = _mended(path, disk)
        entry = Entry(
            at_ms=self.clock(),
            run=self.run,
            trial=told.trial,
            state=told.state,
            sealed_sha256=told.sealed_sha256,
            previous=None if last is None else sha256(last),
            recovered=told.recovered,
            keyid=None if self.signer is None else self.signer.keyid,
        )
        if self.signer is not None:
            entry = entry.model_copy(update={"sig": b64(self.signer.sign(signed_bytes(entry)))})
        append_file(path, canonical(entry) + b"\n", disk=disk)
        return entry


def signed_bytes(entry: Entry) -> bytes:
    """Give what a line's signature is over: the line without it, as DSSE authenticates a payload."""
    return pae(PAYLOAD_TYPE, canonical(entry.model_copy(update={"sig": None})))


@contextmanager
def sole_writer(folder: Path, *, wait: bool) -> Iterator[bool]:
    """Keep all others from writing the journal in a release's folder; gives whether nobody else does already."""
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield _locked(opened, wait=wait)
    finally:
        os.close(opened)


def _locked(folder: int, *, wait: bool) -> bool:
    try:
        fcntl.flock(folder, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def whole_lines(path: Path) -> bytes:
    """Give the lines that were written whole; nothing where there is no journal."""
    return _acknowledged(read_regular(path)) if path.exists() else b""


def _acknowledged(data: bytes) -> bytes:
    """Leave out what no writer told of: a last line without its end or, after the machine failed, with zeros in it."""
    whole = data[: data.rfind(b"\n") + 1]
    last = whole.rfind(b"\n", 0, -1) + 1
    return whole[:last] if b"\0" in whole[last:] else whole


def read_journal(path: Path) -> tuple[Entry, ...]:
    """Give all entries in their order; none where there is no journal. Chain and signatures are `verify`'s to check.

    Raises:
        DocumentError, DocumentErrors: a line is not one.
        OSError: it cannot be read.
    """
    return parse_lines(Entry, whole_lines(path), str(path))


def reached(entries: Iterable[Entry], trial: Trial) -> tuple[State, ...]:
    """Give what a try has reached, in the order in which it was written."""
    return tuple(entry.state for entry in entries if entry.trial == trial)


def _mended(path: Path, disk: Disk) -> bytes | None:
    """Give a journal's last line, without its end; what a kill left of a further one goes first."""
    if not path.exists():
        make_folders(path.parent, disk=disk)
        return None
    start = max(0, path.stat().st_size - _TAIL)
    with path.open("rb") as file:
        file.seek(start)
        tail = file.read()
    whole = _acknowledged(tail)
    last = whole[:-1].rpartition(b"\n")[2]
    if start or whole:
        parse(Entry, last, str(path))
    if len(whole) < len(tail):
        cut_file(path, start + len(whole), disk=disk)
    return last or None
