"""Checking a published release's signed files against its other files, and against keys from outside."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TypeVar

from runner.canonical import sha256
from runner.documents.keys import KeyRole
from runner.documents.signed import ReleaseClaim
from runner.errors import DocumentError, DocumentErrors
from runner.parsing import validate
from runner.signing import dsse, sshsig
from runner.signing.errors import SignatureError
from runner.signing.layout import (
    BESIDE,
    CHECKPOINT,
    ENVELOPE,
    LEAVES,
    MANIFEST,
    NEEDED,
    PREDICATE,
    SIGNATURE,
    SIGSTORE,
    SSH_SIGNATURE,
    SUMS,
    TIMESTAMP,
    BundleFiles,
)
from runner.signing.leaves import compare_leaves, parse_leaves
from runner.signing.merkle import head
from runner.signing.note import Checkpoint, NoteKey, named_keys, open_note, peek_checkpoint
from runner.signing.signer import PublicKey
from runner.signing.sigstore import check_bundled
from runner.signing.statement import PAYLOAD_TYPE, Statement, parse_statement
from runner.signing.sums import compare, parse_sums
from runner.signing.timestamp import check_token
from runner.signing.trust import Trust
from runner.verification.model import Finding

T = TypeVar("T")


def check_bundle(files: BundleFiles, trust: Trust) -> Iterator[Finding]:
    """Find all that is not as the signed files say, and every signature that is not one of a pinned key."""
    check = _Check(files=files, trust=trust)
    check.everything()
    yield from check.findings


def not_checked(files: BundleFiles, trust: Trust) -> Iterator[str]:
    """Say what such a check leaves open."""
    if TIMESTAMP in files.signed and trust.roots is None:
        yield f"{TIMESTAMP}: no certificates of time-stamping authorities were given"
    data = files.signed.get(CHECKPOINT)
    if data is not None and not trust.expects(KeyRole.LOG) and not _is_signed(data, trust):
        yield f"{CHECKPOINT}: its signature, for no log key was given; its tree is bound by {ENVELOPE}"


def _is_signed(data: bytes, trust: Trust) -> bool:
    """Whether a checkpoint names a pinned key; one that is no checkpoint is found as that."""
    try:
        return bool(_log_keys(data, trust))
    except SignatureError:
        return True


def _log_keys(data: bytes, trust: Trust) -> tuple[NoteKey, ...]:
    """Give the pinned keys that may have signed a checkpoint: the log's, and of nameless ones those that it names."""
    keys = trust.keys(KeyRole.LOG)
    if trust.expects(KeyRole.LOG):
        origin = peek_checkpoint(data, CHECKPOINT).origin
        return tuple(NoteKey(name=origin, key=key) for key in keys)
    return named_keys(data, keys, CHECKPOINT)


@dataclass(slots=True, kw_only=True)
class _Check:
    """One check on its way."""

    files: BundleFiles
    trust: Trust
    findings: list[Finding] = field(default_factory=list)
    stamped_ms: int | None = None
    """When SHA256SUMS.sig was there, by the word of an authority that is believed."""

    def everything(self) -> None:
        """Check file by file; what is missing is told once."""
        for name in sorted(NEEDED | {LEAVES}):
            if name not in self.files.signed:
                self._found(name, "no such file", "the file that signing makes")
        # First: whether a revoked key's signature counts is told by when it was made.
        self.stamped_ms = self._with(TIMESTAMP, self._timestamp)
        self._with(SUMS, self._sums)
        self._with(SIGNATURE, self._signature)
        self._with(SSH_SIGNATURE, self._ssh_signature)
        statement = self._with(ENVELOPE, self._statement)
        self._with(SIGSTORE, self._sigstore)
        self._with(LEAVES, self._leaves)
        checkpoint = self._with(CHECKPOINT, self._checkpoint)
        if statement is not None:
            self._attempt(ENVELOPE, lambda: self._bound(statement, checkpoint))

    def _with(self, name: str, check: Callable[[bytes], T]) -> T | None:
        """Check one file, if it is there."""
        data = self.files.signed.get(name)
        return None if data is None else self._attempt(name, lambda: check(data))

    def _attempt(self, name: str, check: Callable[[], T]) -> T | None:
        try:
            return check()
        except SignatureError as error:
            self._found(error.file, error.found, error.expected)
        except DocumentErrors as several:
            for each in several.errors:
                self._document(name, each)
        except DocumentError as error:
            self._document(name, error)
        return None

    def _document(self, name: str, error: DocumentError) -> None:
        self._found(name, f"{error.field}: {error.found}" if error.field else error.found, error.expected)

    def _found(self, file: str, found: str, expected: str) -> None:
        self.findings.append(Finding(file=file, found=found, expected=expected))

    def _timestamp(self, data: bytes) -> int | None:
        roots = self.trust.roots
        return None if roots is None else check_token(data, self.files.signed.get(SIGNATURE, b""), roots)

    def _sums(self, data: bytes) -> None:
        found = {path: digest for path, digest in self.files.digests.items() if path not in BESIDE}
        self.findings += compare(parse_sums(data, SUMS), found)

    def _signature(self, data: bytes) -> None:
        signed = self.files.signed.get(SUMS, b"")
        keys = self.trust.keys(KeyRole.RELEASE)
        made = [key for key in keys if key.made(data, signed)]
        if not made and (stranger := self._stranger()) and stranger.made(data, signed):
            made = [stranger]
        if not made:
            self._found(SIGNATURE, f"a signature that no key given made over {SUMS}", self._wanted(KeyRole.RELEASE))
        self._count(SIGNATURE, made, KeyRole.RELEASE)

    def _ssh_signature(self, data: bytes) -> None:
        found = sshsig.parse(data, SSH_SIGNATURE)
        sshsig.check(self.files.signed.get(SUMS, b""), found, SSH_SIGNATURE)
        self._count(SSH_SIGNATURE, [found.key], KeyRole.RELEASE)

    def _statement(self, data: bytes) -> Statement:
        keys = self.trust.keys(KeyRole.RELEASE)
        stranger = self._stranger()
        known = keys if stranger is None or stranger in keys else (*keys, stranger)
        # A stranger's signature is read all the same: what else is wrong is told beside it.
        verified = dsse.verify(data, known, payload_type=PAYLOAD_TYPE, file=ENVELOPE)
        self._count(ENVELOPE, list(verified.keys), KeyRole.RELEASE)
        return parse_statement(verified.payload, PREDICATE, ENVELOPE)

    def _sigstore(self, data: bytes) -> None:
        check_bundled(data, self.files.signed.get(ENVELOPE, b""))

    def _leaves(self, data: bytes) -> None:
        self.findings += compare_leaves(parse_leaves(data, LEAVES), self.files.leaves)

    def _checkpoint(self, data: bytes) -> Checkpoint:
        checkpoint = peek_checkpoint(data, CHECKPOINT)
        keys = _log_keys(data, self.trust)
        if keys or self.trust.expects(KeyRole.LOG):
            self._count(CHECKPOINT, [each.key for each in open_note(data, keys, CHECKPOINT).keys], KeyRole.LOG)
        derived = head(self.files.leaves)
        if checkpoint.head.size != derived.size:
            self._found(CHECKPOINT, f"a tree of {checkpoint.head.size} attempts", f"{derived.size}, as many as planned")
        elif checkpoint.head != derived:
            expected = f"{derived.root.hex()}, as follows from the attempts"
            self._found(CHECKPOINT, f"the root {checkpoint.head.root.hex()}", expected)
        return checkpoint

    def _bound(self, statement: Statement, checkpoint: Checkpoint | None) -> None:
        """Hold what one signature binds together against what is there."""
        claim = validate(ReleaseClaim, statement.predicate, ENVELOPE)
        sums = self.files.signed.get(SUMS)
        present = {SUMS: None if sums is None else sha256(sums), MANIFEST: self.files.digests.get(MANIFEST)}
        self._same("subjects", sorted(statement.subjects), sorted(present))
        for name, digest in present.items():
            self._same(f"the digest of {name}", statement.subjects.get(name), digest)
        self._same("release", claim.release, self.files.release)
        self._same("manifest_sha256", claim.manifest_sha256, present[MANIFEST])
        if checkpoint is not None:
            tree, own = claim.attempts, checkpoint.head
            self._same("attempts", (tree.origin, tree.size, tree.root), (checkpoint.origin, own.size, own.root.hex()))

    def _same(self, what: str, found: object, expected: object) -> None:
        if found != expected:
            self._found(ENVELOPE, f"{what} {found}", f"{expected}, as in the files beside it")

    def _count(self, file: str, made: list[PublicKey], role: KeyRole) -> None:
        """Find that none of the keys that made a signature counts."""
        objections = [self._objection(key, role) for key in made]
        if objections and None not in objections:
            self._found(file, "; ".join(filter(None, objections)), self._wanted(role))

    def _objection(self, key: PublicKey, role: KeyRole) -> str | None:
        objection = self.trust.objection(key, role, self.stamped_ms)
        forms = {sha256(key.pem), sha256(f"{sshsig.public_line(key)}\n".encode())}
        inside = next((path for path, digest in self.files.digests.items() if digest in forms), None)
        if objection is None or inside is None:
            return objection
        return f"{objection} (it lies in the release itself, as {inside})"

    def _stranger(self) -> PublicKey | None:
        """Give the key that the release itself names; nobody vouches for it."""
        data = self.files.signed.get(SSH_SIGNATURE)
        try:
            return None if data is None else sshsig.parse(data, SSH_SIGNATURE).key
        except SignatureError:
            return None

    def _wanted(self, role: KeyRole) -> str:
        names = ", ".join(key.keyid for key in self.trust.keys(role))
        return f"one of the {role} keys pinned: {names}" if names else f"a {role} key from elsewhere: give it by --key"
