"""Programs that want to last longer than they may."""

import os
import signal
import socket
import time
from collections.abc import Callable
from contextlib import suppress

from .ending import fill

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


def leave(argv: list[str]) -> int:
    """Fill both streams, and end, while a daemon that no polite signal ends keeps them open."""
    fill(int(argv[0]))
    _ignore_all()
    _daemon(_sleep)
    return 0


def _sleep() -> None:
    while True:
        time.sleep(60)


PROGRAMS: dict[str, Callable[[list[str]], int]] = {"resist": resist, "leave": leave}
