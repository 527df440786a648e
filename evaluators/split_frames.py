"""Frames on the runner's side of a split evaluation: taken apart as they come, bounded, believed in nothing. Pure."""

import json
from collections.abc import Iterator, Mapping

LONGEST = 16 << 20
"""Bytes of one frame; `split_side.wire` has the same."""

LENGTH_BYTES = 4

Frame = Mapping[str, object]


class FrameError(ValueError):
    """What a side sent is no frame; the text says why."""


def write_frame(frame: Frame) -> bytes:
    """Give a frame's bytes."""
    data = json.dumps(frame, separators=(",", ":")).encode()
    return len(data).to_bytes(LENGTH_BYTES, "big") + data


class Frames:
    """Bytes of one side, put together to frames."""

    def __init__(self) -> None:
        self._pending = bytearray()

    @property
    def is_empty(self) -> bool:
        """Whether no part of a frame is waiting for its rest."""
        return not self._pending

    def take(self, data: bytes) -> Iterator[Frame]:
        """Give every frame that is whole now.

        Raises:
            FrameError: it is too long, or no JSON object.
        """
        self._pending += data
        while len(self._pending) >= LENGTH_BYTES:
            length = int.from_bytes(self._pending[:LENGTH_BYTES], "big")
            if length > LONGEST:
                raise FrameError("a frame of more than 16 MiB")
            if len(self._pending) < LENGTH_BYTES + length:
                return
            whole = bytes(self._pending[LENGTH_BYTES : LENGTH_BYTES + length])
            del self._pending[: LENGTH_BYTES + length]
            yield _parse(whole)


def _parse(data: bytes) -> Frame:
    try:
        frame = json.loads(data.decode())
    except (ValueError, RecursionError) as error:
        raise FrameError("a frame that is no JSON") from error
    if not isinstance(frame, dict):
        raise FrameError("a frame that is no object")
    return frame
