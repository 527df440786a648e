"""One keeper for each module of these tests: real units on a real service manager. Needs root.

It holds the host's room, which tests elsewhere need too: a keeper for the whole run would make them wait for it
wherever they come later.
"""

import shutil
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from secrets import token_hex

import pytest

from sandbox.client import KeeperSandbox, open_sandbox
from sandbox.errors import BusyError

STATES = Path("/var/lib/cleanroom")


@pytest.fixture(scope="session")
def state() -> Iterator[Path]:
    """A state folder that a private service manager can see."""
    folder = STATES / f"test-{token_hex(4)}"
    folder.mkdir(parents=True)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def sandbox(state: Path) -> Iterator[KeeperSandbox]:
    with patiently(state) as opened:
        yield opened


@contextmanager
def patiently(state: Path) -> Iterator[KeeperSandbox]:
    """Wait for a clean room that somebody else's run still holds."""
    deadline = time.monotonic() + 120
    with ExitStack() as stack:
        while True:
            try:
                opened = stack.enter_context(open_sandbox(state))
            except BusyError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(1)
            else:
                break
        yield opened
