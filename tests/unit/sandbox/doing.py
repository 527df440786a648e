"""What a program may do to its workspace, done as its standard input says. Stdlib only: it also runs inside units."""

import errno
import json
import os
import shutil
import sys
from collections.abc import Callable


def clear(path: bytes) -> None:
    """Take away what stands at a path."""
    if os.path.isdir(path) and not os.path.islink(path):  # noqa: PTH112, PTH114 - bytes
        shutil.rmtree(path)
    elif os.path.lexists(path):
        os.unlink(path)  # noqa: PTH108 - bytes


def make_way(path: bytes) -> None:
    """Have a folder above a path, and nothing at it."""
    parts = path.split(b"/")
    for depth in range(1, len(parts)):
        above = b"/".join(parts[:depth])
        if os.path.islink(above) or not os.path.isdir(above):  # noqa: PTH112, PTH114 - bytes
            clear(above)
            os.mkdir(above)  # noqa: PTH102 - bytes
    clear(path)


def write(path: bytes, content: bytes, mode: bytes) -> None:
    """Make a file."""
    make_way(path)
    with open(path, "wb") as file:  # noqa: PTH123 - bytes
        file.write(content)
    os.chmod(path, int(mode, 8))  # noqa: PTH101 - bytes


def append(path: bytes, content: bytes) -> None:
    """Write at a file's end."""
    with open(path, "ab") as file:  # noqa: PTH123 - bytes
        file.write(content)


def link(path: bytes, target: bytes) -> None:
    """Make a symbolic link."""
    make_way(path)
    os.symlink(target, path)  # noqa: PTH211 - bytes


def rename(path: bytes, new: bytes) -> None:
    """Move a file, link or folder."""
    make_way(new)
    try:
        os.rename(path, new)  # noqa: PTH104 - bytes
    except OSError as error:
        if error.errno != errno.EXDEV:  # an overlay does not move a folder with a long name
            raise
        os.mkdir(new)  # noqa: PTH102 - bytes
        for name in os.listdir(path):  # noqa: PTH208 - bytes
            rename(path + b"/" + name, new + b"/" + name)
        os.rmdir(path)  # noqa: PTH106 - bytes


def join(path: bytes, new: bytes) -> None:
    """Give a file a second name."""
    make_way(new)
    os.link(path, new)


def folder(path: bytes) -> None:
    """Make an empty folder."""
    make_way(path)
    os.mkdir(path)  # noqa: PTH102 - bytes


def fifo(path: bytes) -> None:
    """Make a FIFO."""
    make_way(path)
    os.mkfifo(path)


def mode(path: bytes, bits: bytes) -> None:
    """Set the permission bits of a file or folder."""
    os.chmod(path, int(bits, 8))  # noqa: PTH101 - bytes


WAYS: dict[str, Callable[..., None]] = {
    each.__name__: each for each in (append, clear, fifo, folder, join, link, mode, rename, write)
}


def do(lines: list[list[str]]) -> None:
    """Do one thing after the other, in the working directory."""
    for name, *arguments in lines:
        WAYS[name](*map(bytes.fromhex, arguments))


if __name__ == "__main__":
    do(json.load(sys.stdin))
