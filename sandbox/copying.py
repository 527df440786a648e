"""The plain way to give a tree to an account, where the kernel cannot map owners: copy it, or change them."""

import os
import stat
from pathlib import Path

from sandbox.beneath import FOLDER, make_folder, names, open_folder, remove, walk

_CHUNK = 1 << 20
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def copy_tree(source: Path, target: Path, owner: int) -> None:
    """Copy a stored tree over what `target` has already; all of it belongs to `owner` afterwards."""
    roots = os.open(source, FOLDER), os.open(target, FOLDER)
    try:
        waiting = [b""]
        while waiting:
            path = waiting.pop()
            waiting += _copy_folder(open_folder(roots[0], path), open_folder(roots[1], path), path, owner)
        os.chown(roots[1], owner, owner)
    finally:
        for root in roots:
            os.close(root)


def give(folder: Path, owner: int) -> None:
    """Give everything in a folder, and the folder, to another account; modes stay, set-id bits included."""
    root = os.open(folder, FOLDER)
    try:
        for place, name, _ in walk(root):
            _give(place, name, owner)
        os.chown(root, owner, owner)
    finally:
        os.close(root)


def _give(place: int, name: bytes, owner: int) -> None:
    mode = os.stat(name, dir_fd=place, follow_symlinks=False).st_mode
    os.chown(name, owner, owner, dir_fd=place, follow_symlinks=False)
    if stat.S_ISREG(mode) and mode & (stat.S_ISUID | stat.S_ISGID):
        os.chmod(name, stat.S_IMODE(mode), dir_fd=place)


def _copy_folder(source: int, target: int, path: bytes, owner: int) -> list[bytes]:
    """Copy what lies directly in a folder and give the folders in it; closes both descriptors."""
    try:
        below = []
        for name, is_folder in names(source):
            if is_folder:
                _ensure_folder(target, name, owner)
                below.append(path + b"/" + name if path else name)
            else:
                _copy(source, target, name, owner)
        return below
    finally:
        os.close(source)
        os.close(target)


def _ensure_folder(place: int, name: bytes, owner: int) -> None:
    mode = _mode(place, name)
    if mode is not None and stat.S_ISDIR(mode):
        return
    if mode is not None:
        remove(place, name)
    os.close(make_folder(place, name, owner))


def _mode(place: int, name: bytes) -> int | None:
    try:
        return os.stat(name, dir_fd=place, follow_symlinks=False).st_mode
    except FileNotFoundError:
        return None


def _copy(source: int, target: int, name: bytes, owner: int) -> None:
    if _mode(target, name) is not None:
        remove(target, name)
    status = os.stat(name, dir_fd=source, follow_symlinks=False)
    if stat.S_ISLNK(status.st_mode):
        os.symlink(os.readlink(name, dir_fd=source), name, dir_fd=target)
    else:
        _copy_bytes(source, target, name, status.st_mode)
    os.chown(name, owner, owner, dir_fd=target, follow_symlinks=False)
    times = (status.st_mtime_ns, status.st_mtime_ns)
    os.utime(name, ns=times, dir_fd=target, follow_symlinks=False)


def _copy_bytes(source: int, target: int, name: bytes, mode: int) -> None:
    reading = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=source)
    try:
        writing = os.open(name, _NEW_FILE, 0o600, dir_fd=target)
        try:
            while os.sendfile(writing, reading, None, _CHUNK):
                pass
            os.fchmod(writing, stat.S_IMODE(mode))
        finally:
            os.close(writing)
    finally:
        os.close(reading)
