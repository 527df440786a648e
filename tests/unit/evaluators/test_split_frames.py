"""Laws of frames: however they are cut, they come whole; what is none is told."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluators import split_frames
from evaluators.split_frames import FrameError, Frames, write_frame
from evaluators.split_side import wire


@given(st.lists(st.dictionaries(st.text(), st.integers() | st.text()), max_size=5), st.integers(1, 40))
def test_frames_come_whole_however_they_are_cut(wanted: list[dict[str, object]], size: int) -> None:
    data, frames = b"".join(map(write_frame, wanted)), Frames()
    found = [frame for at in range(0, len(data), size) for frame in frames.take(data[at : at + size])]
    assert found == wanted
    assert frames.is_empty


@pytest.mark.parametrize(
    ("data", "why"),
    [
        ((split_frames.LONGEST + 1).to_bytes(4, "big"), "more than 16 MiB"),
        (b"\0\0\0\2{]", "no JSON"),
        (b"\0\0\0\2[]", "no object"),
        (b"\0\0\0\2\xff\xff", "no JSON"),
        (b"\0\0\0\x10" + '{"a":1}'.encode("utf-16"), "no JSON"),
        (b"\0\1\0\0" + b"[" * 65536, "no JSON"),
    ],
)
def test_what_is_no_frame_is_told(data: bytes, why: str) -> None:
    with pytest.raises(FrameError, match=why):
        list(Frames().take(data))


def test_both_sides_have_the_same_bounds() -> None:
    assert (wire.LONGEST, wire.LENGTH_BYTES) == (split_frames.LONGEST, split_frames.LENGTH_BYTES)
