"""What a release froze about its judging, as far as a summary needs it. Pure."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from runner.canonical import canonical, sha256
from runner.documents.manifest import Manifest
from runner.judges import ControlBounds, criterion_id


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What a release froze about its judging, as far as a summary needs it."""

    release: str
    manifest_sha256: str
    seed: bytes
    """32 bytes, for the ratings' samples."""
    judges: Mapping[str, str | None]
    """Each judge's family, in the manifest's order; the fallback among them."""
    candidates: Mapping[str, str | None]
    """Each candidate's family, in the manifest's order."""
    criteria: tuple[str, ...]
    """The release's, then those that nominations of class free-text have of their own."""
    bounds: ControlBounds
    """What a judge may miss."""
    own_family: bool = False
    scripted: bool = False


def terms_of(manifest: Manifest) -> Terms:
    """Give a release's terms; its samples are drawn from its manifest's digest, so that nobody can try seeds out."""
    digest = sha256(canonical(manifest))
    own = [entry for nomination in manifest.nominations for entry in nomination.spec.criteria]
    scripted = {route.id for route in manifest.routes if route.is_scripted}
    return Terms(
        release=manifest.release,
        manifest_sha256=digest,
        seed=hashlib.sha256(bytes.fromhex(digest) + b"boot").digest(),
        judges={judge.id: judge.family for judge in manifest.judges},
        candidates={candidate.id: candidate.family for candidate in manifest.candidates},
        criteria=tuple(dict.fromkeys(criterion_id(entry) for entry in (*manifest.criteria, *own))),
        bounds=manifest.judging.bounds,
        own_family=manifest.judging.own_family,
        scripted=any(judge.route in scripted for judge in manifest.judges),
    )
