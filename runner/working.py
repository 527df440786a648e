"""Work that is shared out to processes, each on a core of its own; what comes of it keeps its order."""

import gc
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import chain
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Generic, TypeVar

from runner.errors import RunnerError
from sandbox.errors import SandboxError

J = TypeVar("J")
R = TypeVar("R")

WORKERS = 16
"""Processes at most."""
_SHARES = 8
"""Parts that each process does, about: what one of them is slow with holds up no other for long."""
_MOST = 64
"""Jobs of a part."""
_RARELY = 100_000
"""Objects made between two looks for cycles: documents have none, and a helper does not live long."""
_MANY_FILES = 8_000
_MANY_BYTES = 1 << 30
"""What takes one process longer than another one takes to begin."""


_BEGIN = "import sys; sys.path[:] = sys.argv[2:]; from runner.working import help_out; help_out(int(sys.argv[1]))"
"""A fresh interpreter, since a fork would take locks along that other threads hold."""


def cores() -> int:
    """Give the processes that can work at the same time on this machine."""
    return min(len(os.sched_getaffinity(0)), WORKERS)


@contextmanager
def uncollected() -> Iterator[None]:
    """Make very many objects without looking for cycles among them: documents have none, and looking takes longer.

    What is there at the end is not looked at later either; it still goes when nobody holds it any more.
    """
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.freeze()
            gc.enable()


def is_much(folders: Iterable[Path]) -> bool:
    """Whether there is so much below some folders that looking at it is worth a second process."""
    files = size = 0
    for place, _, names in chain.from_iterable(map(os.walk, folders)):
        for name in names:
            files += 1
            with suppress(OSError):  # what is written meanwhile may be gone again
                size += Path(place, name).lstat().st_size
        if files > _MANY_FILES or size > _MANY_BYTES:
            return True
    return False


def in_order(work: Callable[[J], R], jobs: Sequence[J], workers: int) -> Iterator[R]:
    """Do jobs, and give what comes of each in the order of the jobs.

    With more than one worker, `work`, jobs and results must pickle. What a worker could not do is done here, so that
    results and errors are those of one process.
    """
    if workers < 2 or len(jobs) < 2:  # noqa: PLR2004 - one alone needs no help
        yield from map(work, jobs)
        return
    size = max(1, min(_MOST, len(jobs) // (workers * _SHARES)))
    parts = [jobs[at : at + size] for at in range(0, len(jobs), size)]
    with _Helpers(work, min(workers, len(parts))) as crew:
        for at, results in enumerate(crew.done(parts)):
            yield from map(work, parts[at]) if results is None else results


class _Helpers(Generic[J, R]):
    """Processes that wait for parts of the work."""

    def __init__(self, work: Callable[[J], R], count: int) -> None:
        self._work = work
        self._count = count
        self._processes: dict[Connection, subprocess.Popen[bytes]] = {}

    def __enter__(self) -> "_Helpers[J, R]":
        for _ in range(self._count):
            ours, theirs = socket.socketpair()
            with theirs:
                argv = [sys.executable, "-I", "-c", _BEGIN, str(theirs.fileno()), *sys.path]
                # What goes wrong there is told here, when it is done again.
                null = subprocess.DEVNULL
                process = subprocess.Popen(
                    argv, pass_fds=(theirs.fileno(),), env={}, stdin=null, stdout=null, stderr=null
                )
            connection = Connection(ours.detach())
            self._processes[connection] = process
            with suppress(OSError):
                connection.send(self._work)
        return self

    def __exit__(self, *_: object) -> None:
        for connection, process in self._processes.items():
            connection.close()
            process.kill()
            process.wait()

    def done(self, parts: Sequence[Sequence[J]]) -> Iterator[list[R] | None]:
        """Give what came of each part, in order; None where nobody could do it."""
        waiting = iter(enumerate(parts))
        busy: dict[Connection, int] = {}
        results: dict[int, list[R] | None] = {}
        for connection in self._processes:
            _give(connection, waiting, busy)
        for at in range(len(parts)):
            while at not in results and busy:
                ready = wait(busy)
                for connection in [each for each in busy if each in ready]:
                    results[busy.pop(connection)] = _taken(connection)
                    _give(connection, waiting, busy)
            yield results.pop(at, None)


def _give(connection: Connection, waiting: Iterator[tuple[int, Sequence[J]]], busy: dict[Connection, int]) -> None:
    """Give an idle helper the next part, if there is one; what is given to a dead one is nobody's."""
    at, part = next(waiting, (None, None))
    if at is not None:
        with suppress(OSError):
            connection.send(part)
            busy[connection] = at


def _taken(connection: Connection) -> list[R] | None:
    try:
        results: list[R] | None = connection.recv()
    except (EOFError, OSError):
        return None
    return results


def help_out(descriptor: int) -> None:
    """Be a helper: do parts until nobody is there to give another."""
    gc.set_threshold(_RARELY)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal tells all of us, and whom we help decides
    with Connection(descriptor) as connection, suppress(EOFError):
        work = connection.recv()
        while True:
            connection.send(_results(work, connection.recv()))


def _results(work: Callable[[J], R], part: Sequence[J]) -> list[R] | None:
    try:
        return [work(job) for job in part]
    except (OSError, RunnerError, SandboxError):
        return None
