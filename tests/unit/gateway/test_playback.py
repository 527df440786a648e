"""A recording in the provider's place: what matches is given again byte for byte, all else is a miss."""

import contextlib
import io
import json
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.gateway.client import Gateway, Tapes
from runner.gateway.errors import GatewayError
from runner.gateway.recording import Exchange, read_recording
from runner.gateway.relay.matching import key_of, normalised
from runner.gateway.relay.recording import read_records, write_record
from runner.gateway.relay.terms import Ceilings
from runner.gateway.scenario import Answer, Fail, Scenario, Step
from runner.gateway.scripted import scripted_provider
from tests.unit.gateway.rig import MODEL, Gate, open_gate, playing, running_gateway

NOWHERE = "http://127.0.0.1:9/v1"
SAY = Step(answer=Answer(text="hello"))


def exchanges(path: Path) -> tuple[Exchange, ...]:
    return read_recording(path.read_bytes()).exchanges


def record(gateway: Gateway, kept: Path, ask: Callable[[Gate], object], *steps: Step, **terms: object) -> list[bytes]:
    with playing(gateway, *steps, tapes=Tapes(kept=kept), **terms) as (gate, _):
        ask(gate)
    recording = read_recording(kept.read_bytes())
    return [recording.given(each) for each in recording.exchanges]


def twice(gate: Gate) -> list[httpx.Response]:
    return [gate.chat(), gate.chat(stream=True), gate.client.get(f"{gate.url}/models"), gate.post(b"no JSON")]


def test_a_recording_answers_as_the_provider_did_without_one(gateway: Gateway, tmp_path: Path) -> None:
    first, second = tmp_path / "first.gz", tmp_path / "second.gz"
    given = record(gateway, first, twice, SAY)
    with open_gate(gateway, NOWHERE, Tapes(kept=second, played=first)) as gate:
        answers = twice(gate)
    assert [answer.content for answer in answers] == given
    assert [answer.status_code for answer in answers] == [200, 200, 200, 400]
    assert [answer.headers["content-type"] for answer in answers[:2]] == ["application/json", "text/event-stream"]
    again = exchanges(second)
    assert [each.given.played for each in again if each.given] == [1, 2, 3, 4]
    assert [each.given.status for each in again if each.given] == [200, 200, 200, 400]


def test_what_was_never_asked_is_a_miss_that_agents_do_not_repeat(gateway: Gateway, tmp_path: Path) -> None:
    first, second = tmp_path / "first.gz", tmp_path / "second.gz"
    record(gateway, first, lambda gate: gate.chat(), SAY)
    with open_gate(gateway, NOWHERE, Tapes(kept=second, played=first)) as gate:
        missed = gate.chat(prompt="another")
        assert gate.chat().status_code == 200
        spent = gate.chat()
    assert missed.status_code == spent.status_code == 400
    assert missed.json()["error"]["message"] == "the recording has no such request"
    assert [each.given.played for each in exchanges(second) if each.given] == [None, 1, None]


def test_equal_requests_get_their_answers_in_the_order_in_which_they_were_given(
    gateway: Gateway, tmp_path: Path
) -> None:
    first = tmp_path / "first.gz"
    texts = ["one", "two", "three"]
    for text in texts:
        record(gateway, tmp_path / f"{text}.gz", lambda gate: gate.chat(), Step(answer=Answer(text=text)))
    data = b"".join(renumbered((tmp_path / f"{text}.gz").read_bytes(), number) for number, text in enumerate(texts, 1))
    first.write_bytes(data)
    with open_gate(gateway, NOWHERE, Tapes(played=first)) as gate:
        told = [gate.chat().json()["choices"][0]["message"]["content"] for _ in texts]
    assert told == texts


def renumbered(data: bytes, number: int) -> bytes:
    return b"".join(
        write_record({**each.head, "sequence": number}, each.body) for each in read_records(io.BytesIO(data))
    )


@pytest.mark.parametrize("status", [401, 404, 429, 500])
def test_a_failure_is_told_again_without_a_provider(gateway: Gateway, tmp_path: Path, status: int) -> None:
    first = tmp_path / "first.gz"
    (given,) = record(gateway, first, lambda gate: gate.chat(), Step(fail=Fail(status=status, message="no")))
    with open_gate(gateway, NOWHERE, Tapes(played=first)) as gate:
        answer = gate.chat()
    assert answer.content == given
    assert answer.status_code in {400, 404}


def test_an_exhausted_budget_is_told_again_though_a_replay_has_none(gateway: Gateway, tmp_path: Path) -> None:
    first = tmp_path / "first.gz"

    def ask(gate: Gate) -> None:
        gate.chat()
        gate.chat()

    record(gateway, first, ask, SAY, SAY, ceilings=Ceilings(requests=1))
    with open_gate(gateway, NOWHERE, Tapes(played=first)) as gate:
        ask(gate)
    assert [line.refusal for line in gate.seen] == [None, "budget"]


def test_silence_at_the_end_of_a_recording_is_told_at_once(gateway: Gateway, tmp_path: Path) -> None:
    first = tmp_path / "first.gz"
    silent(gateway, first)
    with open_gate(gateway, NOWHERE, Tapes(played=first)) as gate:
        gate.client.timeout = httpx.Timeout(1)
        began = time.monotonic()
        with pytest.raises(httpx.ReadTimeout):
            gate.chat()
        assert time.monotonic() - began >= 1
        assert [(line.complete, line.failure) for line in gate.seen] == [(False, None)]


def silent(gateway: Gateway, kept: Path) -> None:
    scenario = Scenario(model=MODEL, steps=(Step(answer=Answer(text="late"), hang_ms=60_000),))
    with (
        scripted_provider({MODEL: scenario}) as provider,
        open_gate(gateway, provider.base_url, Tapes(kept=kept)) as gate,
    ):
        gate.client.timeout = httpx.Timeout(0.2)
        with pytest.raises(httpx.ReadTimeout):
            gate.chat()


def test_a_recording_that_is_none_is_a_fault(program: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.gz"
    broken.write_bytes(b"garbage")
    with running_gateway(program) as (gateway, _), pytest.raises(GatewayError, match="the recording is none"):
        _play(gateway, broken)


def _play(gateway: Gateway, played: Path) -> None:
    with open_gate(gateway, NOWHERE, Tapes(played=played)) as gate, contextlib.suppress(httpx.HTTPError):
        gate.client.get(f"{gate.url}/models")


CODEX = {
    "model": "m",
    "prompt_cache_key": "01a22918-6e3f-7342-b9a6-c0b3cec3964d",
    "client_metadata": {"session_id": "01a22918-6e3f-7342-b9a6-c0b3cec3964d"},
    "input": [
        {"id": "msg_1", "role": "user", "content": [{"text": "<current_date>2026-11-29</current_date>"}]},
        {
            "id": "fco_1",
            "type": "function_call_output",
            "call_id": "c",
            "output": "Chunk ID: 440900\nWall time: 0.0000 seconds\n1 passed in 0.02s",
        },
    ],
}
CODEX_AGAIN = {
    "model": "m",
    "prompt_cache_key": "01a22918-7210-7621-b03b-4ebf86196d35",
    "client_metadata": {"session_id": "01a22918-7210-7621-b03b-4ebf86196d35"},
    "input": [
        {"id": "msg_2", "role": "user", "content": [{"text": "<current_date>2027-01-02</current_date>"}]},
        {
            "id": "fco_2",
            "type": "function_call_output",
            "call_id": "c",
            "output": "Chunk ID: f924bb\nWall time: 0.1250 seconds\n1 passed in 1.50s",
        },
    ],
}
LISTED = "-rw-r--r-- 1 agent agent 9 Nov 29 20:57 a.py\n0m3s"
LISTED_AGAIN = "-rw-r--r-- 1 agent agent 9 Jan  2 09:03 a.py\n0m3s"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param(CODEX, CODEX_AGAIN, id="codex"),
        pytest.param({"metadata": {"user_id": "a"}, "m": 1}, {"m": 1, "metadata": {"user_id": "b"}}, id="claude"),
        pytest.param({"t": "Today's date: Sun Nov 29 2026"}, {"t": "Today's date: Mon Jan 4 2027"}, id="opencode"),
        pytest.param({"t": LISTED}, {"t": LISTED_AGAIN}, id="files"),
        pytest.param({"t": ["uid=1900000321(u1900000321)"]}, {"t": ["uid=1900090003(u1900090003)"]}, id="account"),
        pytest.param({"t": "Sun Nov 29 21:30:51 UTC 2026"}, {"t": "Sat Jan  2 01:00:00 UTC 2027"}, id="time"),
        pytest.param({"a": 1, "b": 2}, {"b": 2, "a": 1}, id="order"),
    ],
)
def test_what_varies_from_run_to_run_is_left_out(first: dict[str, object], second: dict[str, object]) -> None:
    assert normalised(json.dumps(first).encode()) == normalised(json.dumps(second).encode())


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param({"model": "a"}, {"model": "b"}, id="model"),
        pytest.param({"messages": ["a"]}, {"messages": ["b"]}, id="text"),
        pytest.param({"input": [{"call_id": "a"}]}, {"input": [{"call_id": "b"}]}, id="call"),
        pytest.param({"tools": [{"id": "a"}]}, {"tools": [{"id": "b"}]}, id="tool"),
        pytest.param({"t": "3 passed"}, {"t": "2 passed"}, id="number"),
        pytest.param({"t": "1"}, {"t": 1}, id="type"),
    ],
)
def test_what_a_model_is_asked_is_never_left_out(first: dict[str, object], second: dict[str, object]) -> None:
    assert normalised(json.dumps(first).encode()) != normalised(json.dumps(second).encode())


def test_protocol_and_target_are_of_the_key() -> None:
    keys = {key_of(*told, b"{}") for told in (("chat", "POST", "/a"), ("chat", "GET", "/a"), ("chat", "POST", "/b"))}
    assert len(keys) == 3


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.floats(allow_nan=False),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(), inner, max_size=5),
    max_leaves=12,
)


@given(body=st.dictionaries(st.text(), values, max_size=8))
def test_leaving_out_twice_leaves_out_no_more(body: dict[str, object]) -> None:
    once = normalised(json.dumps(body).encode())
    assert normalised(once) == once


@given(body=st.binary(max_size=200))
def test_any_bytes_have_a_key(body: bytes) -> None:
    assert len(key_of("chat", "POST", "/", body)) == 64


def test_a_body_that_is_deep_or_wide_is_taken_as_it_is() -> None:
    for body in (b"[" * 600_000, b'{"a":' * 900 + b"1" + b"}" * 900, b'{"a":' * 5_000 + b"1" + b"}" * 5_000):
        assert len(key_of("chat", "POST", "/", body)) == 64
