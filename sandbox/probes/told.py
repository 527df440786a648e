"""What a probe is told on its standard input: which canaries there are, outside and with its neighbours."""

import json
import os
from dataclasses import dataclass

HELD = "-held"
"""What a neighbour's canaries have at the end of their name."""


@dataclass(frozen=True)
class Neighbour:
    """A unit that is there at the same time, as it told itself."""

    pid: int
    uid: int
    namespaces: dict[str, str]
    port: int | None
    made: dict[str, int]


@dataclass(frozen=True)
class Told:
    """The canaries; `name` and `key` are what those without a path are called."""

    secret: str
    name: str
    key: int
    port: int
    files: list[str]
    sockets: list[str]
    addresses: list[str]
    namespaces: dict[str, str]
    gate: int | None
    neighbours: list[Neighbour]
    made: list[list[object]]

    @property
    def held(self) -> str:
        """Name of what a neighbour holds."""
        return self.name + HELD


def read_told() -> Told:
    """Read all of standard input, a pipe or a socket of packets."""
    data = b""
    while more := os.read(0, 1 << 20):
        data += more
    members = json.loads(data)
    members["neighbours"] = [Neighbour(**each) for each in members["neighbours"]]
    return Told(**members)
