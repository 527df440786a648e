"""What passes through the gateway, seen from both of its ends."""

import json
import socket
import threading

import pytest

from runner.gateway.client import Gateway
from runner.gateway.relay.terms import Ceilings
from runner.gateway.scenario import Answer, Step, ToolCall
from tests.unit.gateway.rig import KEY, MODEL, events, open_gate, playing

SAY = Step(answer=Answer(text="hello"), cost="0.0012")


def test_a_whole_answer_passes_unchanged_and_is_counted(gateway: Gateway) -> None:
    with playing(gateway, SAY) as (gate, _):
        answer = gate.chat()
        assert answer.status_code == 200
        assert answer.json()["choices"][0]["message"]["content"] == "hello"
        line = gate.line
    assert (line.status_upstream, line.status_given, line.failure, line.complete) == (200, 200, None, True)
    assert (line.tokens.input, line.tokens.output, line.cost) == (100, 20, "0.0012")
    assert (line.finish_reason, line.stream, line.model_answered) == ("stop", False, MODEL)
    assert line.response_bytes == len(answer.content)
    assert line.amended == ()


def test_a_stream_is_counted_by_a_report_that_the_agent_never_sees(gateway: Gateway) -> None:
    with playing(gateway, SAY) as (gate, provider):
        answer = gate.chat(stream=True)
        shown = events(answer)
        assert provider.requests[0]["stream_options"] == {"include_usage": True}
        assert gate.line.amended == ("stream_options",)
        assert (gate.line.tokens.input, gate.line.cost) == (100, "0.0012")
    assert answer.text.endswith("data: [DONE]\n\n")
    assert all(event["choices"] for event in shown)
    assert not any("usage" in event for event in shown)


def test_an_agent_that_asks_for_the_report_itself_sees_it(gateway: Gateway) -> None:
    with playing(gateway, SAY) as (gate, _):
        shown = events(gate.chat(stream=True, stream_options={"include_usage": True}))
        assert shown[-1]["usage"]
        assert gate.line.amended == ()


def test_without_the_amendment_nothing_is_added(gateway: Gateway) -> None:
    with playing(gateway, SAY, usage_reporting=False) as (gate, provider):
        gate.chat(stream=True)
        assert "stream_options" not in provider.requests[0]
        assert gate.line.tokens.input is None


def test_declared_members_are_set_and_recorded(gateway: Gateway) -> None:
    with playing(gateway, SAY, extra_body={"provider": {"order": ["a"]}, "seed": 1}) as (gate, provider):
        gate.chat(seed=2)
        assert (provider.requests[0]["seed"], provider.requests[0]["provider"]) == (1, {"order": ["a"]})
        assert gate.line.amended == ("provider", "seed")


def test_an_unamended_body_reaches_the_provider_byte_for_byte(gateway: Gateway) -> None:
    messages = b'"messages":[ {"role":"user","content":"\\u00e9 1e2"}]'
    body = b"{ " + messages + b',\n"temperature":1.50,"model":"scripted/model"}'
    with playing(gateway, SAY) as (gate, provider):
        assert gate.post(body).status_code == 200
        assert provider.bodies == [body]


def test_the_credential_is_added_outside_and_the_agents_is_dropped(gateway: Gateway) -> None:
    with playing(gateway, SAY, headers=(("X-Title", "t"),)) as (gate, provider):
        answer = gate.chat()
        gate.client.post(
            f"{gate.url}/chat/completions",
            content=answer.request.content,
            headers={"authorization": "Bearer mine", "x-api-key": "mine", "cookie": "a=b", "te": "trailers"},
        )
    for headers in provider.headers:
        assert headers["authorization"] == f"Bearer {KEY}"
        assert headers["x-title"] == "t"
        assert not {"x-api-key", "cookie", "te"} & headers.keys()
    assert KEY not in str(answer.headers) + answer.text


def test_the_line_is_with_the_runner_before_the_last_byte_is_with_the_agent(gateway: Gateway) -> None:
    for stream in (False, True):
        with playing(gateway, SAY) as (gate, _):
            held = threading.Event()
            gate.traffic.on_line = lambda _line, held=held: held.wait(0.3)
            with gate.client.stream("POST", f"{gate.url}/chat/completions", json=_body(stream=stream)) as answer:
                taken = b""
                for chunk in answer.iter_raw():
                    taken += chunk
                    assert b"[DONE]" not in taken or gate.traffic.finished
            assert gate.traffic.finished
            assert taken


def _body(*, stream: bool) -> dict[str, object]:
    return {"model": MODEL, "messages": [{"role": "user", "content": "work"}], "stream": stream}


def test_events_pass_on_while_the_model_still_writes(gateway: Gateway) -> None:
    with playing(gateway, Step(answer=Answer(text="hello"), pause_ms=300)) as (gate, _):
        body = _body(stream=True)
        with gate.client.stream("POST", f"{gate.url}/chat/completions", json=body) as answer:
            parts = answer.iter_raw()
            assert b"role" in next(parts)
            assert not gate.traffic.finished
            assert list(parts)
        assert gate.line.first_byte_ms is not None
        assert gate.line.first_byte_ms < gate.line.duration_ms


def test_the_list_of_models_is_the_one_model_and_needs_no_provider(gateway: Gateway) -> None:
    with open_gate(gateway, "http://127.0.0.1:9/v1") as gate:
        listed = gate.client.get(f"{gate.url}/models").json()
        assert [model["id"] for model in listed["data"]] == [MODEL]
        assert (gate.line.operation, gate.line.status_upstream, gate.line.failure) == ("models", None, None)


def test_tool_calls_and_odd_texts_pass(gateway: Gateway) -> None:
    call = ToolCall(name="edit", raw='{"path": "\ud83d')
    step = Step(answer=Answer(text="naïve — ☃", reasoning="so", tool_calls=(call,)))
    with playing(gateway, step) as (gate, _):
        message = gate.chat().json()["choices"][0]["message"]
        assert message["content"] == "naïve — ☃"
        assert message["tool_calls"][0]["function"]["arguments"] == call.raw
        assert gate.line.finish_reason == "tool_calls"


def test_many_requests_on_one_connection_and_on_many(gateway: Gateway) -> None:
    with playing(gateway, Step(answer=Answer(text="x"), delay_ms=5)) as (gate, _):
        asking = [threading.Thread(target=lambda: [gate.chat(stream=True) for _ in range(5)]) for _ in range(6)]
        for thread in asking:
            thread.start()
        for thread in asking:
            thread.join()
        assert [line.sequence for line in gate.traffic.lines] == list(range(1, 31))
        assert all(line.failure is None for line in gate.traffic.lines)


def test_a_connection_without_a_request_is_no_line(gateway: Gateway) -> None:
    with playing(gateway, SAY) as (gate, _):
        socket.create_connection(("127.0.0.1", gate.port)).close()
        gate.chat()
        assert gate.line.sequence == 1


@pytest.mark.parametrize(
    "ceilings",
    [
        pytest.param(Ceilings(requests=2), id="requests"),
        pytest.param(Ceilings(tokens=150), id="tokens"),
        pytest.param(Ceilings(usd="0.0013"), id="money"),
    ],
)
def test_a_spent_budget_refuses_what_follows_with_one_line(gateway: Gateway, ceilings: Ceilings) -> None:
    with playing(gateway, SAY, ceilings=ceilings) as (gate, provider):
        answers = [gate.chat(prompt=str(number)) for number in range(5)]
        assert [answer.status_code for answer in answers] == [200, 200, 403, 403, 403]
        assert answers[-1].json()["error"]["code"] == "budget"
        assert [line.refusal for line in gate.traffic.lines] == [None, None, "budget"]
        assert len(provider.requests) == 2
    assert gate.traffic.surplus == 2


@pytest.mark.parametrize(
    ("asked", "sent"),
    [
        pytest.param({}, {"max_tokens": 10}, id="none"),
        pytest.param({"max_tokens": 5}, {"max_tokens": 5}, id="below"),
        pytest.param({"max_tokens": 50}, {"max_tokens": 10}, id="above"),
        pytest.param({"max_completion_tokens": 50}, {"max_completion_tokens": 10}, id="newer name"),
    ],
)
def test_the_length_of_an_answer_is_bounded(gateway: Gateway, asked: dict[str, int], sent: dict[str, int]) -> None:
    with playing(gateway, SAY, ceilings=Ceilings(completion_tokens=10)) as (gate, provider):
        gate.chat(**asked)
        body = provider.requests[0]
        assert {name: body[name] for name in body if name.startswith("max_")} == sent


def test_another_model_than_asked_for_shows_in_the_ledger(gateway: Gateway) -> None:
    with playing(gateway, Step(answer=Answer(text="x", model="other/model"))) as (gate, _):
        gate.chat(stream=True)
        assert (gate.line.model_asked, gate.line.model_answered) == (MODEL, "other/model")


def test_lines_hold_no_body_and_no_key(gateway: Gateway) -> None:
    with playing(gateway, SAY) as (gate, _):
        gate.chat(prompt="a secret prompt")
        written = json.dumps(json.loads(gate.line.model_dump_json(by_alias=True)))
    assert "secret" not in written
    assert "hello" not in written
