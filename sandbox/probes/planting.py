"""What a candidate may leave in its workspace to have a reader believe, open or run it."""

import os
import socket
from collections.abc import Callable

_WORK = "/work"
_SPARSE = 3 << 20
ODD_NAME = b"odd \x01\n\xff-name"


def plant(argv: list[str]) -> int:
    """Leave links to the named files, and one of everything that is no plain file."""
    os.chdir(_WORK)
    for number, target in enumerate(argv, 1):
        os.symlink(target, f"link-{number}")  # noqa: PTH211 - as everywhere in here
        os.symlink(f"../../../../..{target}", f"link-up-{number}")  # noqa: PTH211
    os.symlink("/proc/1/root/etc", "link-etc")  # noqa: PTH211
    os.mkfifo("pipe")
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind("socket")
    _write("shut", b"nobody may read this", 0)
    _write("sparse", b"", 0o644, size=_SPARSE)
    os.link("sparse", "twin")
    os.makedirs("inner/.git/hooks")  # noqa: PTH103
    _write("inner/.git/config", b"[core]\n\tfsmonitor = /usr/bin/false\n", 0o644)
    _write("inner/file", b"seen\n", 0o755)
    _write(ODD_NAME, b"odd\n", 0o644)
    return 0


def _write(name: str | bytes, content: bytes, mode: int, size: int | None = None) -> None:
    descriptor = os.open(name, os.O_CREAT | os.O_WRONLY | os.O_EXCL, mode)
    os.write(descriptor, content)
    if size is not None:
        os.ftruncate(descriptor, size)
    os.close(descriptor)


PROGRAMS: dict[str, Callable[[list[str]], int]] = {"plant": plant}
