"""An agent's program as it lies on this host: whole, hashed once a pilot, shown read-only to units."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from runner.bundles.pins import NEEDS
from runner.canonical import parse
from runner.documents.runtimes import InstalledRuntime, RuntimeName
from runner.errors import HostError
from runner.parsing import file_name, read_file
from sandbox.api import Pack
from sandbox.errors import TreeError
from sandbox.tree import Entry, Kind, read_folder, tree_digest

MENDING = "run: scripts/runtimes"


def record_of(folder: Path) -> Path:
    """Give the file beside an installed folder that tells what it was made of."""
    return folder.with_name(f"{folder.name}.json")


@dataclass(slots=True, kw_only=True, eq=False)
class BundleError(HostError):
    """An agent's program is not there, not whole, or not what was installed: no model is asked."""

    agent: RuntimeName
    root: str
    found: str
    expected: str
    mend: str = MENDING

    def __str__(self) -> str:
        return f"{self.root}: found {self.found}; expected {self.expected}; {self.mend}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """A program that is whole."""

    agent: RuntimeName
    version: str | None
    """Null where no record of an installation stands beside it."""
    digest: str
    """Tree digest of all its files."""
    entries: tuple[Entry, ...] = field(repr=False)
    paths: Mapping[str, Path] = field(repr=False, compare=False)

    @property
    def executable(self) -> str:
        """What is run, below the folder."""
        return NEEDS[self.agent][0]

    @property
    def pack(self) -> Pack:
        """The files as they travel to the keeper."""
        return Pack(entries=self.entries, blobs=lambda sha256: self.paths[sha256].read_bytes())


def load_bundle(agent: RuntimeName, root: Path) -> Bundle:
    """Hash a program's folder and look whether it is whole.

    Raises:
        BundleError: it is not, or it is not what was installed.
    """
    try:
        entries = read_folder(root)
    except (OSError, TreeError) as error:
        found = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise _unfit(agent, root, found.lower(), f"the folder of {agent}") from error
    known = {os.fsdecode(entry.path): entry for entry in entries}
    for needed in NEEDS[agent]:
        entry = known.get(needed)
        if entry is None or entry.kind is not Kind.FILE:
            raise _unfit(agent, root, f"no file {needed}", f"the whole program ({', '.join(NEEDS[agent])})")
        if not entry.executable and not needed.endswith(".json"):
            raise _unfit(agent, root, f"{needed}, which cannot be executed", "an executable file")
    digest = tree_digest(entries)
    return Bundle(
        agent=agent,
        version=_version(agent, root, digest),
        digest=digest,
        entries=entries,
        paths={entry.sha256: root / os.fsdecode(entry.path) for entry in entries if entry.sha256 is not None},
    )


def _version(agent: RuntimeName, root: Path, digest: str) -> str | None:
    """Give the recorded version, if the folder still holds what was recorded."""
    file = record_of(root)
    if not file.exists():
        return None
    record = parse(InstalledRuntime, read_file(file), file_name(file))
    if record.agent != agent:
        raise _unfit(agent, root, f"{record.agent} {record.version}", f"the folder of {agent}")
    if record.tree_sha256 != digest:
        changed = f"remove {root} and {file.name} beside it, then {MENDING}"
        raise _unfit(agent, root, f"tree {digest}", f"tree {record.tree_sha256}, as installed", changed)
    return record.version


def _unfit(agent: RuntimeName, root: Path, found: str, expected: str, mend: str = MENDING) -> BundleError:
    return BundleError(agent=agent, root=file_name(root), found=found, expected=expected, mend=mend)
