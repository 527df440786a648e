"""Folders that people work in, written at once: at every moment the old one or the new one is there, and whole.

Evidence is never written like this.
"""

import shutil
import uuid
from collections.abc import Iterable
from pathlib import Path

from runner.disk import DISK, Disk
from runner.durable import TEMPORARY, leftovers, locked, make_folders, settle, settle_name, unfinished, write_file
from runner.errors import StorageError
from runner.members import Member


def replace_tree(final: Path, beside: Path, members: Iterable[Member], *, disk: Disk = DISK) -> None:
    """Put files in a folder's place; what stood there is removed once they are there for good.

    They are written in `beside` first, which must be on the same file system. What a killed call left there goes.

    Raises:
        StorageError: the disk failed or is full, or cannot exchange names; the old folder stands then, or the new one.
    """
    mark = f"{final.parent.name}-{final.name}-"
    try:
        with locked(beside):
            for left in leftovers(beside):
                if left.name.startswith(f"{TEMPORARY}{mark}"):
                    shutil.rmtree(left)
            _replace(final, beside / f"{TEMPORARY}{mark}{uuid.uuid4().hex[:12]}", members, disk)
    except OSError as error:
        raise StorageError(file=str(final), found=error.strerror or str(error)) from error


def new_tree(final: Path, members: Iterable[Member], *, disk: Disk = DISK) -> None:
    """Write a folder under a name that must be free: whole or not at all.

    Raises:
        SealTakenError: the name is taken; what stands there is left as it is.
        StorageError: the disk failed or is full.
    """
    make_folders(final.parent, disk=disk)
    with unfinished(final.parent, final.name, disk=disk) as temporary:
        _write(temporary, members, disk)


def _write(folder: Path, members: Iterable[Member], disk: Disk) -> None:
    for member in members:
        path = member.path.decode()
        write_file(folder, path, member.data, disk=disk)
        (folder / path).chmod(0o755 if member.executable else 0o644)
    settle(folder, writable=True, disk=disk)


def _replace(final: Path, temporary: Path, members: Iterable[Member], disk: Disk) -> None:
    disk.make_folder(temporary, 0o755)
    try:
        _write(temporary, members, disk)
        if final.is_dir():
            disk.exchange(temporary, final)
        else:
            disk.rename_new(temporary, final)
        settle_name(final, disk=disk)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
