"""A frozen release and its evidence, found to be read: with its inputs, or without, which may have changed since."""

from runner.config import load_config
from runner.documents.manifest import Manifest
from runner.inputs import Inputs, Places, find_places, load_inputs
from runner.manifests import RELEASES, NotFrozenError, load_with_digest, manifest_path
from runner.settings import Settings
from runner.store import Store, store_for


def find_sealed(settings: Settings, release: str | None = None) -> tuple[Manifest, Store]:
    """Find a release's manifest and its store without its inputs; by default of the release that is configured.

    Raises:
        NotFrozenError: no such release was frozen in this checkout.
    """
    config = load_config(settings.config)
    return _sealed(settings, find_places(config, settings), release or config.release)


def find_evidence(settings: Settings) -> tuple[Inputs, Manifest, Store]:
    """Find the configured release's inputs, its manifest, and its store.

    Raises:
        NotFrozenError: it was never frozen.
        DocumentErrors: an input cannot be read.
    """
    inputs = load_inputs(settings)
    return inputs, *_sealed(settings, inputs.places, inputs.config.release)


def _sealed(settings: Settings, places: Places, release: str) -> tuple[Manifest, Store]:
    path = manifest_path(settings.checkout / RELEASES, release)
    if not path.exists():
        raise NotFrozenError(release=release)
    manifest, digest = load_with_digest(path)
    return manifest, store_for(places.store, manifest, manifest_sha256=digest)
