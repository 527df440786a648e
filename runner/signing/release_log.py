"""The log of releases: what was frozen and published, in order; it only grows, and its checkpoint proves that.

`releases/log/entries.jsonl` has an entry a line; each line is a leaf. `releases/log/checkpoint` is signed anew for each
entry. What a killed runner, or a machine that failed, left behind the entries that a checkpoint covers is cut off by
the next one. Entries that a checkpoint covers are never touched.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from runner.canonical import canonical, parse
from runner.disk import DISK, Disk
from runner.documents.keys import KeyRole
from runner.documents.release_log import LOG_FOLDER, LogEntry, LogKind
from runner.durable import append_file, cut_file, locked, make_folders, replace_file, settle_name
from runner.errors import DocumentError, DocumentErrors
from runner.parsing import read_file
from runner.signing.errors import SignatureError
from runner.signing.keys import KeyStore
from runner.signing.merkle import Head, head
from runner.signing.note import Checkpoint, named_keys, open_note, peek_checkpoint, sign_checkpoint
from runner.signing.signer import PublicKey, Signer

ENTRIES = "entries.jsonl"
CHECKPOINT = "checkpoint"

_LONGEST = 64 << 20

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Logged:
    """The log after something was added to it, or was found to be in it."""

    note: bytes
    """Its checkpoint."""
    place: Path
    """Where that lies."""
    size: int
    added: bool

    def lines(self) -> Iterator[str]:
        """Give the checkpoint, and the command that puts it elsewhere, for people."""
        what = "1 entry" if self.size == 1 else f"{self.size} entries"
        yield f"log of releases: {what}; its checkpoint:"
        yield from (f"  {line}".rstrip() for line in self.note.decode().splitlines())
        yield "  keep it where this host cannot write: it proves later that nothing before it was changed"
        yield f"  scp {self.place} USER@HOST:cleanroom-{self.size}.checkpoint"


@dataclass(frozen=True, slots=True, kw_only=True)
class LogState:
    """What lies in the log's folder."""

    leaves: tuple[bytes, ...]
    """Whole entries, those without a checkpoint too."""
    note: bytes | None
    checkpoint: Checkpoint | None
    size: int
    """Bytes of the file of entries, whole ones or not."""

    @property
    def whole(self) -> int:
        """How many bytes of that file are whole entries."""
        return sum(len(each) + 1 for each in self.leaves)

    @property
    def uncovered(self) -> bool:
        """Whether there is something that the checkpoint does not cover."""
        covered = 0 if self.checkpoint is None else self.checkpoint.head.size
        return len(self.leaves) > covered or self.size > self.whole


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseLog:
    """The log below a folder of releases."""

    releases: Path
    disk: Disk = DISK

    @property
    def folder(self) -> Path:
        """Where it lies."""
        return self.releases / LOG_FOLDER

    @property
    def entries(self) -> Path:
        """Its file of entries."""
        return self.folder / ENTRIES

    @property
    def checkpoint(self) -> Path:
        """Its checkpoint's file."""
        return self.folder / CHECKPOINT

    def note(self) -> bytes | None:
        """Give its checkpoint as it lies there, unchecked; None where nothing was logged yet."""
        return read_file(self.checkpoint) if os.path.lexists(self.checkpoint) else None

    def append(self, entry: LogEntry, signer: Signer, known: Sequence[PublicKey], tell: Tell) -> Logged:
        """Add an entry unless it is there, and sign what the log then is, for good before this returns.

        `known` are the keys whose checkpoints are checked before they are continued.

        Raises:
            SignatureError: what a checkpoint covers is not what it was, or the checkpoint is not by its key.
            StorageError: the disk failed; the entry may be there without a checkpoint, which the next call makes.
        """
        make_folders(self.folder, disk=self.disk)
        with locked(self.folder):
            state = self.read()
            if state.note is not None:
                self._check_signer(state.note, known, tell)
            if self.entries.exists() and state.uncovered:
                # Also where nothing is cut: a killed runner may have added what does not last yet.
                cut_file(self.entries, state.whole, disk=self.disk)
            leaf = canonical(entry)
            self._tell_twice(entry, state.leaves, tell)
            added = leaf not in state.leaves
            if added:
                append_file(self.entries, leaf + b"\n", disk=self.disk)
            return self._sign(state, (*state.leaves, leaf) if added else state.leaves, signer, added=added)

    def read(self) -> LogState:
        """Read the log; whether a checkpoint's signature counts is another question.

        Raises:
            SignatureError: what the checkpoint covers is not what it was.
        """
        data = read_file(self.entries, _LONGEST) if os.path.lexists(self.entries) else b""
        note = self.note()
        checkpoint = None if note is None else peek_checkpoint(note, str(self.checkpoint))
        covered = 0 if checkpoint is None else checkpoint.head.size
        lines = data.split(b"\n")[:-1]
        leaves = (*lines[:covered], *_whole(lines[covered:], str(self.entries)))
        if checkpoint is not None:
            self._check_covered(leaves, checkpoint.head)
        return LogState(leaves=leaves, note=note, checkpoint=checkpoint, size=len(data))

    def _check_covered(self, leaves: Sequence[bytes], covered: Head) -> None:
        expected = f"the {covered.size} that {self.checkpoint} covers, as they were; restore the folder from a copy"
        if len(leaves) < covered.size:
            raise SignatureError(file=str(self.entries), found=f"{len(leaves)} entries", expected=expected)
        if head(leaves[: covered.size]) != covered:
            raise SignatureError(file=str(self.entries), found="other entries", expected=expected)

    def _check_signer(self, note: bytes, known: Sequence[PublicKey], tell: Tell) -> None:
        """Check the last checkpoint's signature, if a key that we know made it; else say that it was not checked."""
        file = str(self.checkpoint)
        keys = named_keys(note, known, file)
        if keys:
            open_note(note, keys, file)
        else:
            tell(f"{file}: signed by a key that is not of this host; its entries are as it says, and are continued")

    def _tell_twice(self, entry: LogEntry, leaves: Iterable[bytes], tell: Tell) -> None:
        """Say when a release is logged that was logged before, as something else."""
        for leaf in leaves:
            before = parse(LogEntry, leaf, str(self.entries))
            if (before.kind, before.release) == (entry.kind, entry.release) and before != entry:
                tell(f"{self.entries}: {entry.release} has a {entry.kind} entry already, with sha256 {before.sha256}")

    def _sign(self, state: LogState, leaves: Sequence[bytes], signer: Signer, *, added: bool) -> Logged:
        now = head(leaves)
        note, before = state.note, state.checkpoint
        if note is None or before is None or before.head != now:
            origin = before.origin if before is not None else f"cleanroom.invalid/log/{signer.keyid[:16]}"
            note = sign_checkpoint(Checkpoint(origin=origin, head=now), signer)
            replace_file(self.checkpoint, note, disk=self.disk)
        else:
            settle_name(self.checkpoint, disk=self.disk)
        return Logged(note=note, place=self.checkpoint, size=now.size, added=added)


def log_release(releases: Path, keys: KeyStore, entry: LogEntry, tell: Tell) -> Logged:
    """Add an entry with this host's log key, which is made if there is none.

    Raises:
        SignatureError, StorageError: as `ReleaseLog.append` says.
        KeyFileError, KeyChoiceError: the key cannot be used.
    """
    signer = keys.ensure(KeyRole.LOG, tell)
    known = keys.public_keys(KeyRole.LOG)
    return ReleaseLog(releases=releases).append(entry, signer, known, tell)


def frozen_entry(release: str, manifest_sha256: str) -> LogEntry:
    """Give the entry of a freeze."""
    return LogEntry(kind=LogKind.FREEZE, release=release, sha256=manifest_sha256)


def published_entry(release: str, envelope_sha256: str) -> LogEntry:
    """Give the entry of a publication; the digest is that of release.dsse.json."""
    return LogEntry(kind=LogKind.PUBLISH, release=release, sha256=envelope_sha256)


def _whole(lines: Iterable[bytes], file: str) -> Iterator[bytes]:
    """Give the entries up to the first line that is none."""
    for line in lines:
        try:
            parse(LogEntry, line, file)
        except (DocumentError, DocumentErrors):
            return
        yield line
