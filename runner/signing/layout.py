"""Names of the signed files of a published release, and what a verifier read of it."""

from collections.abc import Mapping
from dataclasses import dataclass

MANIFEST = "manifest.json"
SUMS = "SHA256SUMS"
SIGNATURE = "SHA256SUMS.sig"
"""Raw Ed25519 over SHA256SUMS, 64 bytes, for openssl."""
SSH_SIGNATURE = "SHA256SUMS.sshsig"
ENVELOPE = "release.dsse.json"
SIGSTORE = "release.sigstore.json"
CHECKPOINT = "checkpoint"
TIMESTAMP = "timestamp.tsr"
LEAVES = "leaves.jsonl"

BESIDE = frozenset({SUMS, SIGNATURE, SSH_SIGNATURE, ENVELOPE, SIGSTORE, CHECKPOINT, TIMESTAMP})
"""What SHA256SUMS does not list, for it is made after it."""

NEEDED = BESIDE - {TIMESTAMP}

NAMES = BESIDE | {LEAVES}
"""What signing makes."""

PREDICATE = "https://cleanroom.invalid/release/v1"
"""The type of a release's claim. Nobody can own a name below .invalid (RFC 2606)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BundleFiles:
    """What was read of a published folder."""

    release: str
    """As manifest.json calls it."""
    digests: Mapping[str, str]
    """Path -> SHA-256 in hex of every file below the folder, the signed files too."""
    signed: Mapping[str, bytes]
    """Contents of `NAMES`, as far as they are there."""
    leaves: tuple[bytes, ...]
    """Derived anew: `leaf` of every attempt of manifest.json's plan, in its order, over the run.json that is there."""
