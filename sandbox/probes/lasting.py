"""Programs that want to last longer than they may, or to look as if they had ended well."""

import os
import signal
import socket
import time
from collections.abc import Callable
from contextlib import suppress

_WORDS = b"EXTEND_TIMEOUT_USEC=60000000\nMAINPID=%d\nWATCHDOG=1"
_NOTIFIED = ("/run/systemd/notify", "/run/systemd/private")


def _ignore_all() -> None:
    for number in set(range(1, signal.NSIG)) - {
        signal.SIGCHLD
    }:  # Whose being ignored would leave no child to wait for.
        with suppress(OSError, ValueError):  # Two of them cannot be ignored, and the C library keeps two.
            signal.signal(number, signal.SIG_IGN)


def _daemon(work: Callable[[], None]) -> None:
    """Do work in a process that is nobody's child and in no session of this one's."""
    if (child := os.fork()) == 0:
        os.setsid()
        if os.fork() == 0:
            work()
        os._exit(0)
    os.waitpid(child, 0)


def resist(_argv: list[str]) -> int:
    """Ignore every signal, burn time in daemons and here, and ask the manager for more of it."""
    _ignore_all()
    _daemon(_burn)
    while True:
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
            for path in _NOTIFIED:
                with suppress(OSError):
                    sender.sendto(_WORDS % os.getpid(), path)
        _burn_until(time.monotonic() + 0.1)


def _burn() -> None:
    _burn_until(float("inf"))


def _burn_until(deadline: float) -> None:
    while time.monotonic() < deadline:
        sum(range(1000))


def leave(_argv: list[str]) -> int:
    """Tell the start, and end, while a daemon that no polite signal ends keeps all streams open."""
    os.write(1, b"started\n")
    _ignore_all()
    _daemon(_sleep)
    return 0


def _sleep() -> None:
    while True:
        time.sleep(60)


def fill(argv: list[str]) -> int:
    """Write so many bytes to standard error, and only then as many to standard output."""
    for stream in (2, 1):
        left = int(argv[0])
        while left:
            left -= os.write(stream, b"x" * min(left, 1 << 14))
    return 0


def give_up(argv: list[str]) -> int:
    """End by a signal of one's own."""
    os.write(1, b"ALL PASSED\n")
    os.kill(os.getpid(), int(argv[0]))
    return 0


PROGRAMS: dict[str, Callable[[list[str]], int]] = {
    "resist": resist,
    "leave": leave,
    "fill": fill,
    "give-up": give_up,
}
