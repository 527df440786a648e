"""A frozen release and its evidence, found without what it was made of: nominations may have changed since."""

from runner.config import load_config
from runner.documents.manifest import Manifest
from runner.inputs import Inputs, find_places, load_inputs
from runner.manifests import RELEASES, NotFrozenError, load_manifest, manifest_path
from runner.settings import Settings
from runner.store import Store, store_for


def find_sealed(settings: Settings, release: str | None = None) -> tuple[Manifest, Store]:
    """Find a release's manifest and its store, to be read; by default of the release that is configured.

    Raises:
        NotFrozenError: no such release was frozen in this checkout.
    """
    config = load_config(settings.config)
    wanted = release or config.release
    path = manifest_path(settings.checkout / RELEASES, wanted)
    if not path.exists():
        raise NotFrozenError(release=wanted)
    manifest = load_manifest(path)
    return manifest, store_for(find_places(config, settings).store, manifest)


def find_evidence(settings: Settings) -> tuple[Inputs, Manifest, Store]:
    """Find the configured release's inputs, its manifest, and its store, to be read.

    Raises:
        NotFrozenError: it was never frozen.
        DocumentErrors: an input cannot be read.
    """
    inputs = load_inputs(settings)
    path = manifest_path(settings.checkout / RELEASES, inputs.config.release)
    if not path.exists():
        raise NotFrozenError(release=inputs.config.release)
    manifest = load_manifest(path)
    return inputs, manifest, store_for(inputs.places.store, manifest)
