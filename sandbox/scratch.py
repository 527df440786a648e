"""Scratch folders that are gone with their maker: locked while it lives, removed by whoever finds them unlocked."""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sandbox.beneath import FOLDER

MEMORY = "/dev/shm"  # noqa: S108 - a folder in memory
_PREFIX = "cleanroom-scratch-"


@contextmanager
def scratch_folder(place: str | None) -> Iterator[Path]:
    """Make a folder below `place`, or where temporary files go, for as long as the block lasts."""
    folder, lock = _made(place)
    try:
        yield folder
    finally:
        shutil.rmtree(folder)
        os.close(lock)


def _made(place: str | None) -> tuple[Path, int]:
    while True:
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=place))
        with suppress(FileNotFoundError):  # A sweep came before the lock, and took the folder for left behind.
            lock = os.open(folder, FOLDER)
            fcntl.flock(lock, fcntl.LOCK_EX)
            if os.fstat(lock).st_nlink:
                return folder, lock
            os.close(lock)


def sweep_scratch(places: tuple[str, ...] | None = None) -> tuple[str, ...]:
    """Remove the folders whose makers are gone, and name them."""
    swept = []
    for folder in _abandoned(places):
        shutil.rmtree(folder, ignore_errors=True)
        swept.append(str(folder))
    return tuple(swept)


def abandoned(places: tuple[str, ...] | None = None) -> tuple[Path, ...]:
    """List the folders whose makers are gone."""
    return tuple(_abandoned(places))


def _abandoned(places: tuple[str, ...] | None) -> Iterator[Path]:
    """Give each folder with its lock in hand, so that nobody makes it his meanwhile."""
    for place in {MEMORY, tempfile.gettempdir()} if places is None else places:
        for folder in Path(place).glob(f"{_PREFIX}*"):
            with suppress(OSError):  # It is gone already, or is no folder.
                lock = os.open(folder, FOLDER)
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    yield folder
                finally:
                    os.close(lock)
