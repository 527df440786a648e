"""One keeper for the whole run of these tests: real units on a real service manager. Needs root."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from secrets import token_hex

import pytest

from sandbox.client import KeeperSandbox, open_sandbox

STATES = Path("/var/lib/cleanroom")


@pytest.fixture(scope="session")
def state() -> Iterator[Path]:
    """A state folder that a private service manager can see."""
    folder = STATES / f"test-{token_hex(4)}"
    folder.mkdir(parents=True)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="session")
def sandbox(state: Path) -> Iterator[KeeperSandbox]:
    with open_sandbox(state) as opened:
        yield opened
