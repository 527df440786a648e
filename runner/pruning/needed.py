"""What this checkout still needs of what its host keeps: toolchains, downloads, stored trees, programs of agents."""

import contextlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from runner.bundles.bundle import record_of
from runner.bundles.held import runtime_root
from runner.bundles.install import folder_of
from runner.bundles.pins import NEEDS, load_pins
from runner.canonical import parse
from runner.config import ReleaseConfig, load_config
from runner.documents.manifest import Manifest
from runner.documents.runtimes import InstalledRuntime
from runner.errors import SupplyError
from runner.inputs import NOMINATIONS
from runner.nomination import Nomination, load_nomination
from runner.parsing import file_name, read_file
from runner.preparing import TOOLCHAINS
from runner.release import downloads_of
from runner.settings import DEFAULT_CONFIG, Settings, own_checkout
from runner.toolchains import read_lock, toolchain_key
from runner.tools import tools_key

RUNTIMES = "runtimes"
"""Folder of the usual state that `scripts/runtimes` installs into, unless it is told otherwise."""

_PINS = Path("config/runtimes.json")
_RELEASE = "cleanroom/release-configuration/"


@dataclass(frozen=True, slots=True, kw_only=True)
class Needed:
    """Names of what is needed; everything else of the kind may go."""

    toolchains: frozenset[str]
    downloads: frozenset[str]
    objects: frozenset[str]
    runtimes: frozenset[Path]


def read_needed(settings: Settings, state: Path, manifests: Iterable[Manifest]) -> Needed:
    """Read every configuration, nomination and frozen release of a checkout.

    Raises:
        RunnerError: one cannot be read, so that nobody knows what it needs.
    """
    nominations = tuple(_nominations(settings))
    configs = tuple(_configs(settings))
    keys = frozenset(_keys(nominations))
    frozen = tuple(manifests)
    fetched = {each.sha256 for nomination in nominations for each in downloads_of(nomination)}
    fetched |= {each.sha256 for manifest in frozen for found in manifest.nominations for each in found.downloads}
    runtimes = frozenset(_runtimes(settings, state, configs))
    trees = {found.fixture_sha256 for manifest in frozen for found in manifest.nominations}
    trees |= set(_digests(state / TOOLCHAINS / key / "digest" for key in keys))
    trees |= {
        parse(InstalledRuntime, read_file(record), file_name(record)).tree_sha256
        for record in map(record_of, runtimes)
        if record.is_file()
    }
    return Needed(toolchains=keys, downloads=frozenset(fetched), objects=frozenset(trees), runtimes=runtimes)


def _nominations(settings: Settings) -> Iterator[Nomination]:
    folder = settings.checkout / NOMINATIONS
    for place in sorted(folder.iterdir()) if folder.is_dir() else ():
        if place.is_dir():
            yield load_nomination(place)


def _configs(settings: Settings) -> Iterator[ReleaseConfig]:
    """Give the release configurations beside the one that is named, and that one."""
    yield load_config(settings.config)
    for place in sorted((settings.checkout / DEFAULT_CONFIG.parent).glob("*.json")):
        if place.resolve() != settings.config.resolve() and _schema(place).startswith(_RELEASE):
            yield load_config(place)


def _schema(place: Path) -> str:
    try:
        found = json.loads(read_file(place))
    except ValueError:
        return ""
    return str(found.get("schema", "")) if isinstance(found, dict) else ""


def _keys(nominations: Iterable[Nomination]) -> Iterator[str]:
    with contextlib.suppress(SupplyError):
        yield tools_key()
    for nomination in nominations:
        lock = read_lock(nomination)
        try:
            yield from () if lock is None else (toolchain_key(lock),)
        except SupplyError:
            continue  # This host cannot have it: it is for another processor.


def _digests(files: Iterable[Path]) -> Iterator[str]:
    yield from (file.read_text() for file in files if file.is_file())


def _runtimes(settings: Settings, state: Path, configs: Iterable[ReleaseConfig]) -> Iterator[Path]:
    """Give where programs lie that are pinned, by this checkout or by the code's own, or configured."""
    for pins in {settings.checkout / _PINS, own_checkout() / _PINS}:
        yield from (folder_of(state / RUNTIMES, pin) for pin in (load_pins(pins) if pins.is_file() else ()))
    for config in configs:
        roots = (runtime_root(name, config.clean_room, settings) for name in NEEDS)
        yield from (root for root in roots if root is not None)
