"""What may go of what a host keeps, and what each frees. Nothing here is sealed, and nothing was paid for."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from runner.durable import TEMPORARY
from runner.preparing import DOWNLOADS, REPOSITORY, TOOLCHAINS
from runner.pruning.needed import RUNTIMES, Needed

OBJECTS, OBJECTS_IMAGE, TABLES, STORE = "objects", "objects.ext4", "tables", "store"
"""Folders of the state, and the image that may hold the first."""

PRUNED = f"{TEMPORARY}pruned-"
"""How the name of what was on its way out begins: whoever was killed amid it left that."""

_BLOCK = 512


class What(StrEnum):
    """What can go."""

    TOOLCHAIN = "toolchain"
    DOWNLOAD = "download"
    TREES = "stored trees"
    RUNTIME = "runtime"
    BASES = "frozen bases"
    TABLES = "tables"
    REST = "rest"
    EVIDENCE = "evidence"


RETURNS = {
    What.TOOLCHAIN: "is built again from its lock, which needs the package index",
    What.DOWNLOAD: "is fetched again from the package index",
    What.TREES: "come back when a unit needs them",
    What.RUNTIME: "scripts/runtimes installs what is pinned",
    What.BASES: "is made again from fixtures",
    What.TABLES: "are made again by runner aggregate",
    What.REST: "an earlier prune was stopped amid it",
    What.EVIDENCE: "NEVER COMES BACK: recordings, streams, logs, hidden cases; what was published stays",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One thing that may go."""

    what: What
    place: Path
    why: str
    frees: int
    """Bytes of the disk."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What is looked through."""

    state: Path
    store: Path
    """Of sealed evidence; whatever is below it is never found here, but for what an earlier prune has begun with."""
    everything: bool = False
    """Also what is needed, and comes back at the next run."""


def find_items(ground: Ground, needed: Needed) -> tuple[Item, ...]:
    """List what may go, in order."""
    state = ground.state
    found = (
        *_named(state / TOOLCHAINS, needed.toolchains, What.TOOLCHAIN, everything=ground.everything),
        *_named(state / DOWNLOADS, needed.downloads, What.DOWNLOAD, everything=ground.everything),
        *_named(state / OBJECTS, needed.objects, What.TREES, everything=ground.everything),
        *_runtimes(state / RUNTIMES, needed),
        *_bases(state, everything=ground.everything),
        *_tables(state / TABLES, ground.store),
        *_rest(ground),
    )
    return _joined(found)


def item(what: What, place: Path, why: str) -> Item:
    """Give a thing with what it frees."""
    return Item(what=what, place=place, why=why, frees=size_of(place))


def size_of(place: Path) -> int:
    """Give the bytes that a file or folder takes on the disk; what has several names counts once."""
    seen: set[tuple[int, int]] = set()
    whole = 0
    walked = () if place.is_symlink() else os.walk(place)
    for path in (place, *(Path(top) / name for top, folders, files in walked for name in (*folders, *files))):
        try:
            found = path.lstat()
        except OSError:
            continue  # It has just gone, or this account may not look.
        if (found.st_dev, found.st_ino) not in seen:
            seen.add((found.st_dev, found.st_ino))
            whole += found.st_blocks * _BLOCK
    return whole


def _named(folder: Path, needed: frozenset[str], what: What, *, everything: bool) -> Iterator[Item]:
    """Find what lies in a folder under a digest that nobody needs."""
    for place in _below(folder):
        if len(place.name) == len("0" * 64) and (everything or place.name not in needed):
            idle = "no base, toolchain or program" if what is What.TREES else "nothing of this checkout needs it"
            yield item(what, place, "needed, and comes back" if place.name in needed else idle)


def _runtimes(folder: Path, needed: Needed) -> Iterator[Item]:
    for agent in _below(folder):
        for place in _below(agent):
            if place.is_dir() and place not in needed.runtimes:
                yield item(What.RUNTIME, place, "neither pinned nor configured")


def _bases(state: Path, *, everything: bool) -> Iterator[Item]:
    place = state / REPOSITORY
    if everything and place.is_dir():
        yield item(What.BASES, place, "needed, and comes back")
    image = state / OBJECTS_IMAGE
    if everything and image.is_file():
        yield item(What.TREES, image, "needed, and comes back")


def _tables(folder: Path, store: Path) -> Iterator[Item]:
    for place in _below(folder):
        if place.is_dir() and not (store / place.name).is_dir():
            yield item(What.TABLES, place, "there is no evidence of this release here")


def _rest(ground: Ground) -> Iterator[Item]:
    state = ground.state
    places = (state, ground.store, *(state / name for name in (TOOLCHAINS, DOWNLOADS, OBJECTS, TABLES)))
    for folder in (*dict.fromkeys(places), *_below(state / RUNTIMES)):
        for place in sorted(folder.glob(f"{PRUNED}*")):
            yield item(What.REST, place, "left by a prune that was stopped")


def _below(folder: Path) -> tuple[Path, ...]:
    if not folder.is_dir():
        return ()
    return tuple(sorted(each for each in folder.iterdir() if not each.name.startswith(".") and not each.is_symlink()))


def _joined(found: tuple[Item, ...]) -> tuple[Item, ...]:
    """Keep each place once: what lies in something that goes, goes with it."""
    places = {each.place for each in found}
    return tuple(each for each in found if places.isdisjoint(each.place.parents))
