"""How a pilot comes to the clean room: at once or not at all, or when all that asked before it are done."""

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TypeVar

from runner.running.line import Draft, Line, Place, described
from sandbox.errors import BusyError

IsStopped = Callable[[], bool]
"""Says whether somebody asked the pilot to end after what it is at."""

Turn = Callable[[], AbstractContextManager[IsStopped]]
"""Holds a pilot's turn for as long as the block lasts; called once there is something to do."""

Value = TypeVar("Value")

_BUSY_SECONDS = 5.0


@contextmanager
def at_once(line: Line, draft: Draft) -> Iterator[IsStopped]:
    """Take the turn of one who waits for nobody.

    Raises:
        BusyError: somebody has the clean room, or stands in line for it.
    """
    with line.place(draft) as place:
        if ahead := place.ahead():
            raise BusyError(
                f"another run holds this host's clean room, or is next in line for it: {described(ahead)}; "
                "wait for it (runner status --follow), end it (runner stop), or stand in line with --detach"
            )
        yield lambda: place.is_stopped


@contextmanager
def in_line(place: Place, tell: Callable[[str], None]) -> Iterator[IsStopped]:
    """Wait for the turn of one who stands in line already."""
    place.wait(tell)
    yield lambda: place.is_stopped


def until_free(
    work: Callable[[], Value],
    place: Place,
    tell: Callable[[str], None],
    sleep: Callable[[float], None] = time.sleep,
) -> Value:
    """Do work that needs the clean room as soon as no other command has it: a freeze stands in no line.

    Raises:
        BusyError: the pilot was asked to end while it waited.
    """
    told = False
    while True:
        try:
            return work()
        except BusyError as busy:
            if place.is_stopped:
                raise
            if not told:
                tell(f"waiting: {busy}")
            told = True
            sleep(_BUSY_SECONDS)
