"""`runner verify --checkpoint FILE`: that the log of releases only grew since a checkpoint that was kept elsewhere."""

from collections.abc import Iterator
from pathlib import Path

from runner.canonical import parse, sha256
from runner.documents.keys import KeyRole
from runner.documents.release_log import LogEntry, LogKind
from runner.errors import DocumentError, DocumentErrors
from runner.manifests import MANIFEST, MANIFEST_BYTES, manifest_path
from runner.parsing import file_name, read_file
from runner.signing.errors import ProofError, SignatureError
from runner.signing.merkle import check_consistency, consistency, leaf_hash
from runner.signing.note import Checkpoint, NoteKey, open_note, peek_checkpoint
from runner.signing.release_log import LogState, ReleaseLog
from runner.signing.trust import Trust
from runner.verification.model import Finding


def check_log(releases: Path, earlier: Path, trust: Trust) -> Iterator[Finding]:
    """Find all that is not as an earlier checkpoint and the log itself say.

    Raises:
        DocumentError: the earlier checkpoint cannot be read.
    """
    log = ReleaseLog(releases=releases)
    note = read_file(earlier)
    try:
        state = log.read()
        before = _signed(note, file_name(earlier), trust)
        now = _signed(state.note, str(log.checkpoint), trust)
        _continues(state, before, now, str(log.entries))
        yield from _manifests(releases, state, str(log.entries))
    except SignatureError as error:
        yield Finding(file=error.file, found=error.found, expected=error.expected)
    except (DocumentError, DocumentErrors) as error:
        yield Finding(file=str(log.entries), found=str(error), expected="entries of releases")


def _signed(note: bytes | None, file: str, trust: Trust) -> Checkpoint:
    """Give a checkpoint that a log key of ours has signed, and that counts."""
    if note is None:
        raise SignatureError(file=file, found="no such file", expected="the log's checkpoint")
    checkpoint = peek_checkpoint(note, file)
    keys = [NoteKey(name=checkpoint.origin, key=key) for key in trust.keys(KeyRole.LOG)]
    made = open_note(note, keys, file).keys
    objections = [trust.objection(each.key, KeyRole.LOG, None) for each in made]
    if None not in objections:
        raise SignatureError(file=file, found="; ".join(filter(None, objections)), expected="a log key that counts")
    return checkpoint


def _continues(state: LogState, before: Checkpoint, now: Checkpoint, file: str) -> None:
    if before.origin != now.origin:
        raise SignatureError(file=file, found=f"the log {now.origin}", expected=before.origin)
    if before.head.size > now.head.size:
        expected = f"the {before.head.size} that there were at that checkpoint, or more"
        raise SignatureError(file=file, found=f"{now.head.size} entries", expected=expected)
    hashes = [leaf_hash(each) for each in state.leaves[: now.head.size]]
    try:
        check_consistency(before.head, now.head, consistency(hashes, before.head.size))
    except ProofError as error:
        expected = f"the {before.head.size} entries that there were at that checkpoint, as they were"
        raise SignatureError(file=file, found="other entries, or in another order", expected=expected) from error


def _manifests(releases: Path, state: LogState, file: str) -> Iterator[Finding]:
    """Hold the manifests that lie beside the log against its entries."""
    entries = [parse(LogEntry, leaf, file) for leaf in state.leaves]
    logged = {each.release: each.sha256 for each in entries if each.kind is LogKind.FREEZE}
    for release, digest in logged.items():
        path = manifest_path(releases, release)
        if not path.is_file():
            yield Finding(file=str(path), found="no such file", expected=f"the manifest with sha256 {digest}")
        elif (found := sha256(read_file(path, MANIFEST_BYTES))) != digest:
            yield Finding(file=str(path), found=f"sha256 {found}", expected=f"{digest}, as it was frozen")
    for path in sorted(releases.glob(f"*/{MANIFEST}")):
        if path.parent.name not in logged:
            expected = "an entry of the log for it: run 'runner freeze' with its configuration"
            yield Finding(file=str(path), found="a release that was never logged", expected=expected)
