"""`runner verify PATH`: a published release, from its folder and from what is known here of it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from runner.cli.keys import host_keys
from runner.documents.manifest import Manifest
from runner.errors import DocumentError, DocumentErrors, RunnerError
from runner.freezer import Frozen, load_frozen
from runner.manifests import RELEASES, load_manifest, manifest_path
from runner.settings import Settings, host_settings
from runner.signing.trust import Pin, own_pins, read_trust
from runner.verification.model import Rebuild
from runner.verification.published import Known, PublishedReport, verify_published
from runner.verification.rebuilding import Rebuilder
from runner.verify import committed_schemas
from sandbox.errors import SandboxError
from sandbox.git import scratch_repository


@dataclass(frozen=True, slots=True, kw_only=True)
class Elsewhere:
    """What a verifier has from elsewhere than the release."""

    keys: tuple[Path, ...] = ()
    roots: Path | None = None
    """Certificates of time-stamping authorities."""


def verify_path(path: Path, config: Path | None, given: Elsewhere, *, rebuild: bool) -> PublishedReport:
    """Verify a published release: with keys that were given, those of this host, and what was frozen here.

    Raises:
        DocumentError: a key's file holds none.
        KeyInsideError: a key lies in the release that it should vouch for.
    """
    folder = path.resolve()
    settings = host_settings(config)
    trust = read_trust(given.keys, _own(config), outside=folder, roots=given.roots)
    frozen = _frozen_here(settings, folder.name)
    with _rebuilder(settings, frozen if rebuild else None) as applied:
        known = Known(trust=trust, frozen=frozen, rebuild=applied)
        return verify_published(folder, committed_schemas(), known)


def _own(config: Path | None) -> tuple[Pin, ...]:
    """Give the keys of this host; a stranger, who has no configuration, has none."""
    try:
        return tuple(own_pins(host_keys(config)))
    except (DocumentError, DocumentErrors):
        if config is not None:
            raise
        return ()


def _frozen_here(settings: Settings, release: str) -> Manifest | None:
    """Give the manifest of a release that was frozen in this checkout."""
    path = manifest_path(settings.checkout / RELEASES, release)
    return load_manifest(path) if path.exists() else None


@contextmanager
def _rebuilder(settings: Settings, manifest: Manifest | None) -> Iterator[Rebuild | None]:
    """Give what applies patches to frozen bases, where a release is the configured one and its inputs are here."""
    with scratch_repository() as scratch:
        frozen = None if manifest is None else _inputs_here(settings, scratch)
        if frozen is None or frozen.manifest != manifest:
            yield None
        else:
            yield Rebuilder(frozen.workbench.repository, frozen.base)


def _inputs_here(settings: Settings, scratch: Path) -> Frozen | None:
    """Load the configured release; a host that lacks its inputs verifies all the rest."""
    try:
        return load_frozen(settings, offline=True, scratch=scratch)
    except (RunnerError, SandboxError):
        return None
