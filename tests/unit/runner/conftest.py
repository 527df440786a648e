"""What tests of this folder share."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.scratch import MEMORY, scratch_folder


@pytest.fixture
def memory() -> Iterator[Path]:
    """Give a folder in memory: thousands of small files are quick there."""
    with scratch_folder(MEMORY) as folder:
        yield folder
        for place, _, _ in os.walk(folder):
            Path(place).chmod(0o700)  # What is sealed there goes too.
