"""The immutable flag of files and folders (`chattr +i`): set on what is never to change, where the file system can."""

import errno
import fcntl
import os
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

GET_FLAGS = 0x80086601
SET_FLAGS = 0x40086602
"""FS_IOC_GETFLAGS and FS_IOC_SETFLAGS of linux/fs.h, as every 64-bit Linux has them."""

IMMUTABLE = 0x10
"""FS_IMMUTABLE_FL."""

_CANNOT = frozenset({errno.ENOTTY, errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS})
_MAY_NOT = frozenset({errno.EPERM, errno.EACCES})


@dataclass(frozen=True, slots=True, kw_only=True)
class Frozen:
    """What came of it."""

    paths: int
    """Files and folders that have the flag now."""
    why_not: str | None
    """Why the rest does not; None where all have it."""


def freeze_folders(folders: Iterable[Path]) -> Frozen:
    """Set the flag on whole folders, what lies in one before the folder itself; the first refusal ends it."""
    done = 0
    for folder in folders:
        for place, _, names in os.walk(folder, topdown=False):
            for path in (*(Path(place) / name for name in sorted(names)), Path(place)):
                try:
                    set_immutable(path)
                except OSError as error:
                    return Frozen(paths=done, why_not=_told(path, error))
                done += 1
    return Frozen(paths=done, why_not=None)


def set_immutable(path: Path, *, on: bool = True) -> None:
    """Set or clear the flag of one file or folder.

    Raises:
        OSError: the file system has no such flag, or this account may not set it.
    """
    opened = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        (flags,) = struct.unpack("l", fcntl.ioctl(opened, GET_FLAGS, struct.pack("l", 0)))
        wanted = flags | IMMUTABLE if on else flags & ~IMMUTABLE
        if wanted != flags:
            fcntl.ioctl(opened, SET_FLAGS, struct.pack("l", wanted))
    finally:
        os.close(opened)


def _told(path: Path, error: OSError) -> str:
    if error.errno in _CANNOT:
        return f"the file system of {path} has no immutable flag"
    if error.errno in _MAY_NOT:
        return f"this account may not set the immutable flag of {path} (it takes CAP_LINUX_IMMUTABLE)"
    return f"{path}: {error.strerror or error}"
