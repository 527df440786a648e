"""Takes of everything that a unit has a limit on until the kernel says no, and counts how much that was."""

import _thread
import ctypes
import errno
import json
import os
import signal
import sys
import threading
from collections.abc import Callable

from .kernel import UNKNOWN, call

_MOST = 1 << 16
_BLOCK = 1 << 20
_SHM = "/dev/shm"  # noqa: S108 - the unit's own
_O_TMPFILE = os.O_TMPFILE | os.O_RDWR


def eat(argv: list[str]) -> int:
    """Eat everything in turn; the first argument is a folder to write to, the second the size of a large file."""
    place, large = argv[0], int(argv[1])
    for name, meal in (
        ("forks", forks),
        ("threads", threads),
        ("descriptors", descriptors),
        ("timers", timers),
        ("file-bytes", lambda: file_bytes(place)),
        ("sparse-file", lambda: sparse_file(place, large)),
        ("disk-bytes", lambda: disk_bytes(place)),
        ("shared-memory-bytes", lambda: disk_bytes(_SHM)),
        ("disk-files", lambda: disk_files(place)),
        ("shared-memory-files", lambda: disk_files(_SHM)),
    ):
        sys.stdout.write(json.dumps({name: meal()}) + "\n")
        sys.stdout.flush()
    return 0


def _counted(bite: Callable[[int], None]) -> dict[str, int]:
    """Take bite after bite; give how many there were, and what the kernel answered to the last."""
    for count in range(_MOST):
        try:
            bite(count)
        except OSError as error:
            return {"answer": error.errno or UNKNOWN, "count": count}
    return {"answer": 0, "count": _MOST}


def forks() -> dict[str, int]:
    """Fork until there is no more."""
    children: list[int] = []

    def fork(_: int) -> None:
        child = os.fork()
        if child == 0:
            signal.pause()
            os._exit(0)
        children.append(child)

    counted = _counted(fork)
    for child in children:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    return counted


def threads() -> dict[str, int]:
    """Start threads until there is no more."""
    enough = threading.Event()
    over = threading.Semaphore(0)
    count, answer = 0, 0

    def wait() -> None:
        enough.wait()
        over.release()

    while answer == 0 and count < _MOST:
        try:
            _thread.start_new_thread(wait, ())
        except RuntimeError:  # All that Python says of EAGAIN.
            answer = errno.EAGAIN
        else:
            count += 1
    enough.set()
    for _ in range(count):
        over.acquire()
    return {"answer": answer, "count": count}


def descriptors() -> dict[str, int]:
    """Open until there is no more."""
    held: list[int] = []
    counted = _counted(lambda _: held.append(os.dup(0)))
    for each in held:
        os.close(each)
    return counted


def timers() -> dict[str, int]:
    """Make timers, each of which keeps a signal waiting, until there is no more; they go with this process."""
    made = ctypes.c_int()

    def make(_: int) -> None:
        if answer := call("timer_create", 1, 0, ctypes.addressof(made)):
            raise OSError(answer, os.strerror(answer))

    return _counted(make)


def file_bytes(place: str) -> dict[str, int]:
    """Write one file until it may not grow; the count is of bytes."""
    descriptor = _nameless(place)
    counted = _counted(lambda _: _write(descriptor))
    size = os.fstat(descriptor).st_size
    os.close(descriptor)
    return {**counted, "count": size}


def _nameless(place: str) -> int:
    """Open a new file without a name."""
    try:
        return os.open(place, _O_TMPFILE)
    except OSError as error:
        if error.errno != errno.EOPNOTSUPP:  # Overlays have such files since Linux 6.3.
            raise
    path = f"{place}/eaten"
    descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR)
    os.unlink(path)  # noqa: PTH108 - as everywhere in here
    return descriptor


def _write(descriptor: int) -> None:
    os.write(descriptor, bytes(1 << 18))


def sparse_file(place: str, large: int) -> dict[str, int]:
    """Make a file longer than may be, without writing it."""
    descriptor = _nameless(place)
    counted = _counted(lambda count: os.ftruncate(descriptor, large << count))
    size = os.fstat(descriptor).st_size
    os.close(descriptor)
    return {**counted, "count": size}


def disk_bytes(place: str) -> dict[str, int]:
    """Fill a file system with files that have no name; the count is of bytes."""
    held: list[int] = []

    def fill(_: int) -> None:
        held.append(_nameless(place))
        os.posix_fallocate(held[-1], 0, _BLOCK)

    counted = _counted(fill)
    for each in held:
        os.close(each)
    return {**counted, "count": counted["count"] * _BLOCK}


def disk_files(place: str) -> dict[str, int]:
    """Fill a file system with empty files."""
    counted = _counted(lambda count: os.close(os.open(f"{place}/eaten-{count}", os.O_CREAT | os.O_WRONLY)))
    for count in range(counted["count"]):
        os.unlink(f"{place}/eaten-{count}")  # noqa: PTH108 - as everywhere in here
    return counted


PROGRAMS: dict[str, Callable[[list[str]], int]] = {"eat": eat}
