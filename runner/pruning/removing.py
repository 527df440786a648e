"""Removing: a thing loses its name first, then it goes. Whoever is killed amid it leaves nothing that looks whole."""

import fcntl
import os
import shutil
import uuid
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from runner.bundles.bundle import record_of
from runner.disk import DISK, Disk
from runner.errors import RunnerError, StorageError
from runner.immutable import set_immutable
from runner.journal import sole_writer
from runner.preparing import TOOLCHAINS
from runner.pruning.finding import PRUNED, Item, What
from sandbox.room import HOST_FOLDER, locked


@contextmanager
def quiet(state: Path, host: Path = HOST_FOLDER) -> Iterator[None]:
    """Hold the host's clean room and the toolchains: no unit runs, and nobody builds, while things go.

    Raises:
        BusyError: a run holds the clean room.
        RunnerError: a toolchain is being built.
    """
    with ExitStack() as stack:
        stack.enter_context(locked(host, even_marked=True))
        if (state / TOOLCHAINS).is_dir():
            stack.enter_context(_idle(state / TOOLCHAINS))
        yield


@contextmanager
def _idle(folder: Path) -> Iterator[None]:
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise RunnerError(f"a toolchain is being built in {folder}; run this again when it is done") from error
        yield
    finally:
        os.close(opened)


def remove(items: Iterable[Item], *, disk: Disk = DISK) -> Iterator[Item]:
    """Remove things one after another; gives each that is gone.

    Raises:
        StorageError: one cannot be removed; those before it are gone, and it is whole, or without a name.
        RunnerError: somebody writes evidence that was to go.
    """
    for each in items:
        try:
            if each.what is What.EVIDENCE:
                _remove_evidence(each.place, disk)
            else:
                _remove(each.place, disk)
                if each.what is What.RUNTIME:
                    record_of(each.place).unlink(missing_ok=True)
        except OSError as error:
            raise StorageError(file=str(each.place), found=error.strerror or str(error)) from error
        yield each


def _remove_evidence(place: Path, disk: Disk) -> None:
    with sole_writer(place, wait=False) as alone:
        if not alone:
            raise RunnerError(f"{place}: a pilot writes there; nothing of it was removed")
        for top, folders, files in os.walk(place):
            for path in (Path(top), *(Path(top) / name for name in (*folders, *files))):
                if not path.is_symlink():
                    _changeable(path)
        _remove(place, disk)


def _changeable(path: Path) -> None:
    """Take the immutable flag from what has it; where a file system knows none, nothing has."""
    try:
        set_immutable(path, on=False)
    except OSError:
        return


def _remove(place: Path, disk: Disk) -> None:
    gone = place
    if not place.name.startswith(PRUNED):
        gone = place.with_name(f"{PRUNED}{place.name[:80]}-{uuid.uuid4().hex[:12]}")
        disk.rename(place, gone)
        _sync(place.parent)
    if gone.is_dir() and not gone.is_symlink():
        shutil.rmtree(gone)
    else:
        gone.unlink()


def _sync(folder: Path) -> None:
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
