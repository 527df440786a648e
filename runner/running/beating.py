"""Saying again and again how far something has come, from a thread of its own, until it is done."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from runner.errors import RunnerError

LIVE_S, PLAIN_S = 1.0, 300.0
"""Between two looks: where a line changes in its place, and where each is said for good."""
_SHARE = 20
"""A look may take a twentieth of the time at most."""
_PATIENCE_S = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Beat:
    """What is said, to whom, and how often."""

    look: Callable[[], str]
    say: Callable[[str], None]
    every_s: float


@contextmanager
def beating(beat: Beat) -> Iterator[None]:
    """Say how far something has come while the block runs; what cannot be read just now is not said."""
    done = threading.Event()
    thread = threading.Thread(target=_beat, args=(beat, done), name="beat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join(_PATIENCE_S)


def _beat(beat: Beat, done: threading.Event) -> None:
    wait_s = beat.every_s
    while not done.wait(wait_s):
        begun = time.monotonic()
        try:
            said = beat.look()
        except (RunnerError, OSError):
            said = ""  # It is being written in this very moment.
        if said and not done.is_set():
            beat.say(said)
        wait_s = max(beat.every_s, _SHARE * (time.monotonic() - begun))
