"""Where a replay parts from its recording is told in a line."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.gateway.divergence import Comparison, compare, first_difference
from runner.gateway.recording import Recording, read_recording
from tests.unit.gateway.test_recording import member


def recording(*bodies: str, played: tuple[int | None, ...] = (), cut: int | None = None) -> Recording:
    data = b""
    for number, body in enumerate(bodies, 1):
        answers = played[number - 1] if played else None
        data += member("asked", number, body.encode())
        data += member("given", number, played=answers, cut=number == cut)
    return read_recording(data)


def chat(text: str) -> str:
    return json.dumps({"model": "m", "messages": [{"role": "user", "content": text}]})


def told(found: Comparison) -> list[str]:
    return [each.says for each in found.divergences]


def test_a_replay_that_asked_the_same_has_no_divergence() -> None:
    both = (chat("a"), chat("b"))
    found = compare(recording(*both), recording(*both, played=(1, 2)))
    assert (found.recorded, found.asked, found.answered, found.divergences) == (2, 2, 2, ())


def test_every_miss_is_told_in_order_with_the_request_it_stands_for() -> None:
    recorded = recording(chat("a"), chat("b"), chat("c"))
    found = compare(recorded, recording(chat("a"), chat("x"), chat("y"), chat("z"), played=(1, None, None, None)))
    assert [each.request for each in found.divergences] == [2, 3, 4]
    assert told(found)[0] == (
        "request 2 (chat) is not recorded request 2: /messages/0/content: recorded 'b', asked 'x'"
    )
    assert told(found)[2] == "request 4 (chat) is one more than were recorded"


def test_what_was_not_asked_any_more_is_told() -> None:
    found = compare(recording(chat("a"), chat("b")), recording(chat("a"), played=(1,)))
    assert told(found) == ["recorded request 2 (chat) was not asked"]


def test_an_answer_that_was_not_kept_whole_is_told_as_the_reason() -> None:
    found = compare(recording(chat("a"), cut=1), recording(chat("a"), played=(None,)))
    assert "not kept whole" in told(found)[0]


@pytest.mark.parametrize(
    ("before", "now", "says"),
    [
        pytest.param('{"a":1}', '{"a":2}', "/a: recorded 1, asked 2", id="value"),
        pytest.param('{"a":1}', "{}", "/a: recorded 1, asked nothing", id="gone"),
        pytest.param("{}", '{"a":[1]}', "/a: recorded nothing, asked [1]", id="more"),
        pytest.param('{"a":[1]}', '{"a":[1,true]}', "/a/1: recorded nothing, asked True", id="longer"),
        pytest.param('{"a":1}', '{"a":true}', "/a: recorded 1, asked True", id="type"),
        pytest.param('{"user":"a"}', '{"user":"b"}', "nothing but its place", id="varying"),
        pytest.param("no json", "none", "the body: recorded 'no json', asked 'none'", id="text"),
        pytest.param(
            json.dumps({"a": "x" * 400 + "old"}),
            json.dumps({"a": "x" * 400 + "new"}),
            f"/a: recorded ...'{'x' * 30}old', asked ...'{'x' * 30}new'",
            id="long",
        ),
    ],
)
def test_the_first_difference_is_named_by_its_place(before: str, now: str, says: str) -> None:
    assert first_difference(before.encode(), now.encode()) == says


@given(before=st.binary(max_size=300), now=st.binary(max_size=300))
def test_any_difference_fits_in_a_line(before: bytes, now: bytes) -> None:
    says = first_difference(before, now)
    assert "\n" not in says
    assert len(says) < 1_500
