"""Evidence that may go: of a release that another one replaced, that is published, and that somebody names."""

from collections.abc import Callable, Iterable
from pathlib import Path

from runner.documents.manifest import Manifest
from runner.errors import UsageError, VerificationError
from runner.inputs import Places
from runner.listed import is_published
from runner.pruning.finding import Item, What, item

Verified = Callable[[Path], Iterable[object]]
"""Verifies a published release's folder; gives what is wrong with it."""


def evidence_item(
    places: Places, manifests: Iterable[Manifest], release: str, configured: str, verified: Verified
) -> Item:
    """Give the evidence of a release as a thing that may go.

    Raises:
        UsageError: it must stay: the release is live, unknown, not published, or has no evidence here.
        VerificationError: what is published of it is not what it says it is.
    """
    frozen = tuple(manifests)
    if all(each.release != release for each in frozen):
        raise UsageError(f"no release {release} was frozen here; see: runner list releases")
    heirs = [each.release for each in frozen if each.supersedes == release]
    if release == configured or not heirs:
        raise UsageError(
            f"release {release} is live: no frozen release supersedes it, so that its evidence stays; freeze one whose "
            f'configuration says "supersedes": "{release}"'
        )
    if not is_published(places, release):
        raise UsageError(
            f"release {release} is not published, so that its evidence stays; run: runner publish {release}"
        )
    if wrong := tuple(verified(places.results / release)):
        raise VerificationError(
            f"{places.results / release}: {len(wrong)} findings, so that the evidence stays; the first: {wrong[0]}"
        )
    place = places.store / release
    if not place.is_dir():
        raise UsageError(f"there is no evidence of {release} in {places.store}")
    return item(What.EVIDENCE, place, f"superseded by {', '.join(heirs)}, and published")
