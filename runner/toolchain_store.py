"""Toolchains as they are kept: built once into a folder of their own, checked when they are used again."""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from runner.disk import DISK
from runner.durable import leftovers, make_folders
from runner.errors import StorageError, SupplyError, ToolchainError
from runner.npm import REGISTRY
from runner.package_index import IndexSettings
from sandbox.api import Pack, Sandbox
from sandbox.spec import Mount
from sandbox.tree import Entry, Kind, read_folder, tree_digest

TARGET = "/opt/toolchain"
"""Where units see it. The harness puts it on `sys.path`; a public test command gets it as PYTHONPATH."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Toolchain:
    """What was built of a lock: a folder of programs and packages."""

    key: str
    folder: Path
    entries: tuple[Entry, ...]
    paths: Mapping[str, Path]
    distributions: tuple[str, ...]

    @property
    def digest(self) -> str:
        """Tree digest of the packages."""
        return tree_digest(self.entries)

    @property
    def pack(self) -> Pack:
        """The packages as they travel to the keeper."""
        return Pack(entries=self.entries, blobs=lambda sha256: self.paths[sha256].read_bytes())


@dataclass(frozen=True, slots=True, kw_only=True)
class Workshop:
    """Where toolchains are built and kept, and by what."""

    folder: Path
    find_index: Callable[[], IndexSettings]
    """Asked when something is built."""
    npm: str = REGISTRY
    """The npm registry's address."""


def built(key: str, folder: Path, make: Callable[[Path], None], distributions: tuple[str, ...]) -> Toolchain:
    """Give the toolchain of a key, made now or before; `make` fills the folder `tree` in a folder it is given.

    Raises:
        SupplyError: it cannot be made.
        ToolchainError: what was kept is no longer what was built.
        StorageError: the disk failed or is full.
    """
    kept = folder / key
    try:
        if not kept.is_dir():
            _build(kept, make)
        return _load(key, kept, distributions)
    except OSError as error:
        raise StorageError(file=str(kept), found=error.strerror or str(error)) from error


def stored(toolchain: Toolchain, sandbox: Sandbox) -> Mount:
    """Keep a toolchain in the clean room's store and give the mount that shows it."""
    return Mount(object=sandbox.store(toolchain.pack), target=TARGET)


def distributions(toolchain: Toolchain) -> tuple[str, ...]:
    """Name what can be imported from it: lint refuses a nomination that fixes one of these."""
    return toolchain.distributions


def _build(kept: Path, make: Callable[[Path], None]) -> None:
    make_folders(kept.parent)
    with _alone(kept.parent):
        if not kept.is_dir():
            _build_alone(kept, make)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Be the only one who builds in a folder; what a killed runner was building there is removed."""
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for half in leftovers(folder):
            shutil.rmtree(half, ignore_errors=True)
        yield
    finally:
        os.close(lock)


def _build_alone(kept: Path, make: Callable[[Path], None]) -> None:
    half = Path(tempfile.mkdtemp(prefix=f".tmp-{kept.name[:12]}-", dir=kept.parent))
    try:
        make(half)
        entries, _ = _walk(half / "tree")
        (half / "digest").write_text(tree_digest(entries))
        half.chmod(0o755)
        DISK.rename_new(half, kept)
    finally:
        shutil.rmtree(half, ignore_errors=True)


def _walk(tree: Path) -> tuple[tuple[Entry, ...], dict[str, Path]]:
    entries = tuple(entry for entry in read_folder(tree) if entry.kind is not Kind.FOLDER)
    paths = {entry.sha256: tree / os.fsdecode(entry.path) for entry in entries if entry.sha256 is not None}
    return entries, paths


def _load(key: str, kept: Path, distributions: tuple[str, ...]) -> Toolchain:
    entries, paths = _walk(kept / "tree")
    toolchain = Toolchain(key=key, folder=kept / "tree", entries=entries, paths=paths, distributions=distributions)
    once = (kept / "digest").read_text() if (kept / "digest").is_file() else "nothing"
    if toolchain.digest != once:
        raise ToolchainError(
            file=str(kept),
            field="digest",
            found=toolchain.digest,
            expected=once,
            mend=f"something changed a built toolchain; remove {kept}, it is built anew",
        )
    return toolchain


def unbuilt(found: str, mend: str) -> SupplyError:
    """Give the error for a toolchain that cannot be built."""
    return SupplyError(file="toolchain", field="build", found=found, expected="a built toolchain", mend=mend)
