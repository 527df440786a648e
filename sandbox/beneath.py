"""Files by descriptor, beneath one folder: nothing here follows a link or leaves the folder it was given."""

import ctypes
import errno
import os
import stat
from collections.abc import Iterator

from sandbox.mounts import system_call

_OPENAT2 = 437
_NO_XDEV, _NO_MAGICLINKS, _NO_SYMLINKS, _BENEATH = 0x1, 0x2, 0x4, 0x8
_STAY = _NO_XDEV | _NO_MAGICLINKS | _NO_SYMLINKS | _BENEATH
_STEP = 4000
FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
"""How a folder is opened, always."""


class _How(ctypes.Structure):
    """The kernel's struct open_how."""

    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


def open_folder(root: int, path: bytes) -> int:
    """Open the folder `path`, of any length, beneath `root`; a link on the way is an error (ELOOP)."""
    here, rest = _opened(root, b"."), path
    while rest:
        try:
            step, rest = _first_step(rest)
            there = _opened(here, step)
        finally:
            os.close(here)
        here = there
    return here


def _first_step(path: bytes) -> tuple[bytes, bytes]:
    """Split a path where the kernel's limit on one asks for it."""
    if len(path) <= _STEP:
        return path, b""
    cut = path.rindex(b"/", 0, _STEP)
    return path[:cut], path[cut + 1 :]


def _opened(folder: int, path: bytes) -> int:
    how = _How(flags=FOLDER, mode=0, resolve=_STAY)
    return system_call(_OPENAT2, folder, path, how, ctypes.sizeof(how), about=os.fsdecode(path))


def names(folder: int) -> list[tuple[bytes, bool]]:
    """List a folder's names and whether each is a folder itself."""
    with os.scandir(folder) as entries:
        return [(os.fsencode(each.name), each.is_dir(follow_symlinks=False)) for each in entries]


def walk(folder: int) -> Iterator[tuple[int, bytes, bool]]:
    """Give (folder's descriptor, name, is it a folder) of all that lies beneath; a folder after its contents.

    Any depth costs one descriptor: the way back up is `..`, so nothing else may change the tree meanwhile.
    A mount below is an error.
    """
    here = os.open(".", FOLDER, dir_fd=folder)
    device = os.fstat(here).st_dev
    pending = [names(here)]
    trail: list[bytes] = []
    try:
        while pending:
            if pending[-1]:
                name, is_folder = pending[-1].pop()
                if not is_folder:
                    yield here, name, False
                    continue
                here = _moved(here, name)
                if os.fstat(here).st_dev != device:
                    raise OSError(errno.EXDEV, "another file system is mounted", os.fsdecode(name))
                trail.append(name)
                pending.append(names(here))
            else:
                pending.pop()
                if trail:
                    here = _moved(here, b"..")
                    yield here, trail.pop(), True
    finally:
        os.close(here)


def _moved(here: int, name: bytes) -> int:
    there = os.open(name, FOLDER, dir_fd=here)
    os.close(here)
    return there


def make_folder(place: int, name: bytes, owner: int) -> int:
    """Make a folder that belongs to `owner`, whatever our umask is, and open it."""
    os.mkdir(name, dir_fd=place)
    made = os.open(name, FOLDER, dir_fd=place)
    os.fchmod(made, 0o755)
    os.fchown(made, owner, owner)
    return made


def empty(folder: int) -> None:
    """Remove all that lies beneath a folder."""
    for place, name, is_folder in walk(folder):
        if is_folder:
            os.rmdir(name, dir_fd=place)
        else:
            os.unlink(name, dir_fd=place)


def remove(place: int, name: bytes) -> None:
    """Remove a name, whatever it is, and all beneath it."""
    if not stat.S_ISDIR(os.stat(name, dir_fd=place, follow_symlinks=False).st_mode):
        os.unlink(name, dir_fd=place)
        return
    folder = os.open(name, FOLDER, dir_fd=place)
    try:
        empty(folder)
    finally:
        os.close(folder)
    os.rmdir(name, dir_fd=place)
