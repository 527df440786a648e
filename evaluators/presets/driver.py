"""What a preset may use of `cleanroom_driver`, which it is handed when it runs as a driver."""

from collections.abc import Mapping, Sequence
from typing import Protocol

MOST = 1 << 20
"""Bytes of a file that is looked at."""


class Ended(Protocol):
    """How a program ended."""

    status: int
    stdout: bytes
    stderr: bytes


class Driver(Protocol):
    """The trusted side of a conversation."""

    def check(self, name: str, passed: object, detail: str = "") -> None:
        """Report a case."""

    def read(self, path: str) -> bytes | None:
        """Give a file as it was captured."""

    def changed(self) -> Sequence[str]:
        """Name the paths that the submission changes."""

    def program(self, *argv: str, files: Mapping[str, bytes], within: float) -> Ended:
        """Run a program beside the submission."""

    def same(self, found: object, wanted: object) -> bool:
        """Say whether two plain values are equal in value and in type."""


class RefusedError(Exception):
    """What was submitted cannot be looked at as what it should be."""


def wanted(driver: Driver, named: Sequence[str], suffixes: tuple[str, ...]) -> dict[str, bytes]:
    """Give the named files, and every changed file that ends so: nothing is added beside what is looked at.

    Raises:
        RefusedError: a named file is not there, or one is too large.
    """
    added = [path for path in driver.changed() if path.endswith(suffixes) and path not in named]
    found: dict[str, bytes] = {}
    for path in (*named, *added):
        content = driver.read(path)
        if content is None:
            if path in named:
                raise RefusedError(f"{path}: no plain file of at most 8 MiB")
            continue
        if len(content) > MOST:
            raise RefusedError(f"{path}: more than {MOST} bytes")
        found[path] = content
    return found
