"""The signed files of a published release: what is in them, and whether a folder is what they say it is."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from runner.canonical import sha256
from runner.documents.signed import ReleaseClaim, TreeHead
from runner.signing import dsse, sshsig
from runner.signing.checking import check_bundle, not_checked
from runner.signing.layout import (
    CHECKPOINT,
    ENVELOPE,
    LEAVES,
    MANIFEST,
    NAMES,
    PREDICATE,
    SIGNATURE,
    SIGSTORE,
    SSH_SIGNATURE,
    SUMS,
    TIMESTAMP,
    BundleFiles,
)
from runner.signing.leaves import leaf, leaf_lines
from runner.signing.merkle import head
from runner.signing.note import Checkpoint, peek_checkpoint, sign_checkpoint
from runner.signing.signer import Signer
from runner.signing.sigstore import bundle as sigstore_bundle
from runner.signing.statement import PAYLOAD_TYPE, Statement
from runner.signing.sums import sums

__all__ = [
    "LEAVES",
    "NAMES",
    "BundleFiles",
    "Extras",
    "ReleaseContents",
    "Signers",
    "check_bundle",
    "leaf",
    "not_checked",
    "signed_files",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseContents:
    """What is to be signed."""

    release: str
    origin: str
    """Which tree the checkpoint is of; names this release for ever."""
    files: Mapping[str, str]
    """Path -> SHA-256 in hex of every published file, manifest.json among them, the signed files not."""
    leaves: tuple[bytes, ...]
    """`leaf` of every planned attempt, in the plan's order."""
    supersedes: str | None
    log_checkpoint: bytes | None
    """The log of releases as it is before this one is added."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Signers:
    """Who signs: never the same key."""

    release: Signer
    log: Signer


@dataclass(frozen=True, slots=True, kw_only=True)
class Extras:
    """What is added where it was asked for."""

    timestamp: Callable[[bytes], bytes] | None = None
    """Gives an RFC 3161 token over bytes."""


def signed_files(contents: ReleaseContents, signers: Signers, extras: Extras | None = None) -> dict[str, bytes]:
    """Give the signed files of a release, and leaves.jsonl, by name. The same contents and keys give the same bytes.

    Raises:
        ValueError: the contents have no manifest, no attempt, or one of these files already.
        NamesError: they have an odd path.
        SigningError: a key held elsewhere did not sign.
    """
    if MANIFEST not in contents.files or not contents.leaves or contents.files.keys() & NAMES:
        raise ValueError("a release has a manifest, at least one attempt, and none of the signed files yet")
    lines = leaf_lines(contents.leaves)
    listed = sums({**contents.files, LEAVES: sha256(lines)})
    checkpoint = Checkpoint(origin=contents.origin, head=head(contents.leaves))
    envelope = dsse.sign(PAYLOAD_TYPE, _statement(contents, listed, checkpoint).payload, (signers.release,))
    signature = signers.release.sign(listed)
    files = {
        SUMS: listed,
        LEAVES: lines,
        SIGNATURE: signature,
        SSH_SIGNATURE: sshsig.sign(listed, signers.release),
        ENVELOPE: envelope,
        SIGSTORE: sigstore_bundle(envelope),
        CHECKPOINT: sign_checkpoint(checkpoint, signers.log),
    }
    if extras is not None and extras.timestamp is not None:
        files[TIMESTAMP] = extras.timestamp(signature)
    return files


def _statement(contents: ReleaseContents, listed: bytes, checkpoint: Checkpoint) -> Statement:
    manifest, log = contents.files[MANIFEST], contents.log_checkpoint
    claim = ReleaseClaim(
        release=contents.release,
        manifest_sha256=manifest,
        attempts=_tree(checkpoint),
        supersedes=contents.supersedes,
        log=None if log is None else _tree(peek_checkpoint(log, "the log's checkpoint")),
    )
    return Statement(
        subjects=MappingProxyType({SUMS: sha256(listed), MANIFEST: manifest}),
        predicate_type=PREDICATE,
        predicate=claim.model_dump(mode="json", by_alias=True),
    )


def _tree(checkpoint: Checkpoint) -> TreeHead:
    return TreeHead(origin=checkpoint.origin, size=checkpoint.head.size, root=checkpoint.head.root.hex())
