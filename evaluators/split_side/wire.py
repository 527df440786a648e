"""Frames: a 4-byte big-endian length, then so many bytes of JSON in UTF-8: one object. At most 16 MiB."""

import json
import os
from typing import Any

LONGEST = 16 << 20
LENGTH_BYTES = 4


class WireError(Exception):
    """The other side is gone, or what it sent is no frame."""


class Wire:
    """Frames over two descriptors."""

    def __init__(self, inward: int, outward: int) -> None:
        self._inward, self._outward = inward, outward

    def pass_on(self) -> list[str]:
        """Let the next program have both descriptors; give their numbers."""
        for descriptor in (self._inward, self._outward):
            os.set_inheritable(descriptor, True)  # noqa: FBT003 - it takes no keyword
        return [str(self._inward), str(self._outward)]

    def send(self, frame: dict[str, Any]) -> None:
        """Send one frame.

        Raises:
            WireError: it is too long, or nobody is there.
        """
        data = json.dumps(frame, separators=(",", ":"), allow_nan=False).encode()
        if len(data) > LONGEST:
            raise WireError("more than 16 MiB of data")
        rest = memoryview(len(data).to_bytes(LENGTH_BYTES, "big") + data)
        try:
            while rest:
                rest = rest[os.write(self._outward, rest) :]
        except OSError as error:
            raise WireError("nobody reads any more") from error

    def receive(self) -> dict[str, Any]:
        """Wait for one frame.

        Raises:
            WireError: the other side has closed, or it is no frame.
        """
        length = int.from_bytes(self._read(LENGTH_BYTES), "big")
        if length > LONGEST:
            raise WireError("more than 16 MiB of data")
        try:
            frame = json.loads(self._read(length))
        except (ValueError, RecursionError) as error:
            raise WireError("no JSON") from error
        if not isinstance(frame, dict):
            raise WireError("no object")
        return frame

    def _read(self, count: int) -> bytes:
        data = bytearray()
        while len(data) < count:
            more = os.read(self._inward, count - len(data))
            if not more:
                raise WireError("the other side has closed")
            data += more
        return bytes(data)
