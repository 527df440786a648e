import hashlib
import hmac
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluators.channel import read_channel

KEY = b"k" * 32
PHASE = {
    "kind": "phase",
    "id": "t.py::test_a",
    "when": "call",
    "part": False,
    "outcome": "passed",
    "expected_failure": False,
    "raised": False,
    "ms": 1,
    "detail": "",
}
STARTED = {"kind": "started"}
COLLECTING = {"kind": "collecting", "count": 1}
COLLECTED = {"kind": "collected", "id": "t.py::test_a"}
FINISHED = {"kind": "finished", "status": 0}


def stream(*records: object, key: bytes = KEY, first: int = 0) -> bytes:
    frames = b""
    for number, record in enumerate(records, start=first):
        payload = json.dumps(record).encode()
        seal = hmac.digest(key, number.to_bytes(8, "big") + payload, hashlib.sha256)
        frames += (len(payload) + 32).to_bytes(4, "big") + seal + payload
    return frames


WHOLE = stream(STARTED, COLLECTING, COLLECTED, PHASE, FINISHED)


def test_a_whole_stream_is_read() -> None:
    transcript = read_channel(WHOLE, KEY)
    assert transcript.forged is None
    assert (transcript.started, transcript.collected, transcript.status) == (True, ("t.py::test_a",), 0)
    assert [phase.id for phase in transcript.phases] == ["t.py::test_a"]


@given(st.integers(min_value=0, max_value=len(WHOLE)))
def test_a_stream_that_was_cut_off_is_no_forgery_and_never_more_than_what_came(length: int) -> None:
    transcript = read_channel(WHOLE[:length], KEY)
    assert transcript.forged is None
    assert (transcript.status is None) == (length < len(WHOLE))


@given(st.integers(min_value=0, max_value=len(WHOLE) - 1), st.integers(min_value=1, max_value=255))
def test_a_changed_byte_never_reads_as_the_whole(at: int, change: int) -> None:
    damaged = WHOLE[:at] + bytes([WHOLE[at] ^ change]) + WHOLE[at + 1 :]
    transcript = read_channel(damaged, KEY)
    assert transcript.forged is not None or transcript.status is None


@given(st.binary(max_size=300))
def test_what_stands_before_or_after_is_never_taken_for_a_record(noise: bytes) -> None:
    assert read_channel(noise, KEY).started is False
    after = read_channel(WHOLE + noise, KEY)
    assert after.status == 0
    assert after.forged is None or noise


@pytest.mark.parametrize(
    "records",
    [
        pytest.param([COLLECTING], id="not started"),
        pytest.param([STARTED, STARTED], id="started twice"),
        pytest.param([STARTED, PHASE], id="result before collection"),
        pytest.param([STARTED, COLLECTING, PHASE], id="result within collection"),
        pytest.param([STARTED, COLLECTING, COLLECTED, COLLECTED], id="one collected too many"),
        pytest.param([STARTED, COLLECTING, COLLECTING], id="collected again"),
        pytest.param([STARTED, FINISHED, PHASE], id="late"),
        pytest.param([STARTED, FINISHED, FINISHED], id="finished twice"),
        pytest.param([STARTED, {"kind": "verdict"}], id="unknown kind"),
        pytest.param([STARTED, {"kind": []}], id="kind is no text"),
        pytest.param([STARTED, ["finished"]], id="no object"),
        pytest.param([STARTED, {"kind": "finished", "status": True}], id="status is no number"),
        pytest.param([STARTED, {"kind": "finished", "status": -1}], id="negative status"),
        pytest.param([STARTED, COLLECTING, COLLECTED, PHASE | {"outcome": None}], id="no outcome"),
        pytest.param([STARTED, COLLECTING, COLLECTED, PHASE | {"raised": 0}], id="raised is no truth"),
    ],
)
def test_records_that_the_harness_does_not_write_are_forged(records: list[object]) -> None:
    assert read_channel(stream(*records), KEY).forged


def test_records_need_the_key_and_their_number() -> None:
    assert read_channel(stream(STARTED, key=b"x" * 32), KEY).forged
    assert read_channel(stream(STARTED, first=1), KEY).forged
    assert read_channel(stream(STARTED) + stream(FINISHED), KEY).forged


def test_a_length_that_no_record_has_is_forged() -> None:
    assert read_channel(stream(STARTED) + b"\xff" * 8, KEY).forged
    assert read_channel(stream(STARTED) + bytes(8), KEY).forged
