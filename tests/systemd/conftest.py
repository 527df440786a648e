"""One keeper for each module of these tests: real units on a real service manager. Needs root.

It holds the host's room, which tests elsewhere need too: a keeper for the whole run would make them wait for it
wherever they come later.
"""

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from secrets import token_hex

import pytest

from runner.bundles.bundle import Bundle, load_bundle
from runner.bundles.install import folder_of, install
from runner.bundles.pins import load_pins, this_platform
from runner.documents.runtimes import RuntimeName
from runner.npm import registry_of
from runner.settings import DEFAULT_STATE
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


@pytest.fixture(scope="session")
def bundles() -> dict[RuntimeName, Bundle]:
    """The pinned programs of agents, installed where scripts/runtimes puts them."""
    into = DEFAULT_STATE / "runtimes"
    pins = load_pins(Path(__file__).parents[2] / "config/runtimes.json")
    for pin in pins:
        install(pin, this_platform(), into, registry_of(os.environ))
    return {pin.agent: load_bundle(pin.agent, folder_of(into, pin)) for pin in pins}


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
