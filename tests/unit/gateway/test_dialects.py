"""The gateway in OpenAI's Responses and Anthropic's Messages: as in chat, and what is each one's own."""

import json
from typing import Any

import httpx
import pytest

from runner.documents.ledger import Tokens
from runner.gateway.client import Gateway
from runner.gateway.relay.dialect import told
from runner.gateway.relay.dialects import BY_NAME
from runner.gateway.relay.terms import Ceilings
from runner.gateway.scenario import Answer, Fail, Raw, Step, ToolCall
from tests.unit.gateway.rig import KEY, MODEL, Gate, events, playing

COUNTED = Tokens(input=1000, cached=200, cache_write=30, output=50, reasoning=7)
SAY = Step(answer=Answer(text="hello there, this is longer than one part of a stream"), usage=COUNTED, cost="0.0012")
OTHERS = ("responses", "messages")


def asked(dialect: str, **more: object) -> dict[str, Any]:
    said = [{"role": "user", "content": "work"}]
    own = {"input": said} if dialect == "responses" else {"messages": said, "max_tokens": 100}
    return {"model": MODEL, "stream": False, **own, **more}


def ask(
    gate: Gate, dialect: str, *, query: str = "", headers: dict[str, str] | None = None, **more: object
) -> httpx.Response:
    path = BY_NAME[dialect].path.removeprefix("/v1")
    return gate.client.post(f"{gate.url}{path}{query}", json=asked(dialect, **more), headers=headers)


def text_in(dialect: str, answer: httpx.Response) -> str:
    whole = answer.json()
    place = whole["output"][0] if dialect == "responses" else whole
    return str(place["content"][0]["text"])


@pytest.mark.parametrize("dialect", OTHERS)
def test_a_whole_answer_passes_unchanged_and_is_counted(gateway: Gateway, dialect: str) -> None:
    with playing(gateway, SAY, dialect=dialect) as (gate, provider):
        answer = ask(gate, dialect)
        assert SAY.answer is not None
        assert text_in(dialect, answer) == SAY.answer.text
        assert provider.requests == [asked(dialect)]
        line = gate.line
    assert (line.operation, line.stream, line.complete, line.failure) == (dialect, False, True, None)
    assert (line.model_answered, line.cost) == (MODEL, "0.0012")
    assert line.finish_reason == {"responses": "completed", "messages": "end_turn"}[dialect]
    assert line.tokens.input == 1000
    assert line.tokens.cached == 200
    assert line.tokens.output == 50
    assert line.tokens.cache_write == {"responses": None, "messages": 30}[dialect]
    assert line.tokens.reasoning == {"responses": 7, "messages": None}[dialect]


@pytest.mark.parametrize("dialect", OTHERS)
def test_a_stream_passes_unchanged_and_is_counted(gateway: Gateway, dialect: str) -> None:
    with playing(gateway, SAY, dialect=dialect) as (gate, _):
        answer = ask(gate, dialect, stream=True)
        last = events(answer)[-1]
        line = gate.line
    assert answer.headers["content-type"] == "text/event-stream"
    assert last["type"] == {"responses": "response.completed", "messages": "message_stop"}[dialect]
    assert f"event: {last['type']}\n" in answer.text
    assert (line.stream, line.complete, line.failure, line.cost) == (True, True, None, "0.0012")
    assert (line.tokens.input, line.tokens.cached, line.tokens.output) == (1000, 200, 50)
    assert line.response_bytes == len(answer.content)


@pytest.mark.parametrize("dialect", OTHERS)
def test_tool_calls_come_through(gateway: Gateway, dialect: str) -> None:
    call = ToolCall(name="look", arguments={"path": "a"})
    with playing(gateway, Step(answer=Answer(tool_calls=(call,))), dialect=dialect) as (gate, _):
        answer = ask(gate, dialect).json()
    if dialect == "responses":
        assert [(each["type"], each["arguments"]) for each in answer["output"]] == [("function_call", '{"path": "a"}')]
    else:
        assert [(each["type"], each["input"]) for each in answer["content"]] == [("tool_use", {"path": "a"})]


def test_each_protocol_has_its_own_header_for_the_key(gateway: Gateway) -> None:
    for dialect, bearer, name, value in (
        ("chat", False, "authorization", f"Bearer {KEY}"),
        ("responses", False, "authorization", f"Bearer {KEY}"),
        ("messages", False, "x-api-key", KEY),
        ("messages", True, "authorization", f"Bearer {KEY}"),
    ):
        with playing(gateway, SAY, dialect=dialect, bearer=bearer) as (gate, provider):
            if dialect == "chat":
                gate.chat()
            else:
                ask(gate, dialect, headers={"x-api-key": "dummy", "authorization": "Bearer dummy"})
            held = {key: got for key, got in provider.headers[0].items() if key in {"authorization", "x-api-key"}}
            assert held == {name: value}


def test_headers_of_the_protocol_go_on_and_no_others(gateway: Gateway) -> None:
    given = {"anthropic-beta": "one,two", "x-secret": "s", "x-stainless-lang": "js"}
    with playing(gateway, SAY, dialect="messages") as (gate, provider):
        ask(gate, "messages", query="?beta=true", headers=given)
        seen = provider.headers[0]
    assert (seen["anthropic-beta"], seen["anthropic-version"]) == ("one,two", "2023-06-01")
    assert not {"x-secret", "x-stainless-lang"} & seen.keys()


@pytest.mark.parametrize("served", ["chat", "responses", "messages"])
def test_one_protocol_is_served_to_an_attempt_and_the_others_are_refused(gateway: Gateway, served: str) -> None:
    others = {"chat", "responses", "messages"} - {served}
    with playing(gateway, SAY, dialect=served) as (gate, provider):
        answers = [gate.client.post(f"{gate.url}{BY_NAME[each].path[3:]}", json={}) for each in sorted(others)]
        assert [answer.status_code for answer in answers] == [404, 404]
        odd = gate.client.post(f"{gate.url}{BY_NAME[served].path[3:]}?beta=true&x=1", json={})
        assert odd.status_code == 404
        assert provider.requests == []
        assert {line.refusal for line in gate.traffic.lines} == {"path"}


@pytest.mark.parametrize(
    ("dialect", "more", "feature"),
    [
        pytest.param("responses", {"tools": [{"type": "web_search"}]}, "web_search", id="search"),
        pytest.param("responses", {"tools": [{"type": "code_interpreter"}]}, "code_interpreter", id="code"),
        pytest.param("responses", {"tools": [{"type": "mcp", "server_url": "http://x"}]}, "mcp", id="mcp"),
        pytest.param("responses", {"previous_response_id": "r"}, "previous_response_id", id="memory"),
        pytest.param("responses", {"store": True}, "store", id="store"),
        pytest.param("responses", {"background": True}, "background", id="background"),
        pytest.param("responses", {"prompt": {"id": "p"}}, "prompt", id="stored-prompt"),
        pytest.param(
            "responses",
            {
                "input": [
                    {"type": "additional_tools", "tools": [{"type": "namespace", "tools": [{"type": "file_search"}]}]}
                ]
            },
            "file_search",
            id="in-a-namespace",
        ),
        pytest.param(
            "responses",
            {"input": [{"role": "user", "content": [{"type": "input_image", "image_url": "http://x"}]}]},
            "content from elsewhere",
            id="image",
        ),
        pytest.param("responses", {"input": [{"type": "item_reference"}]}, "content from elsewhere", id="reference"),
        pytest.param("messages", {"tools": [{"type": "web_search_20250305"}]}, "web_search_20250305", id="a-search"),
        pytest.param("messages", {"tools": [{"type": "web_fetch_1"}]}, "web_fetch_1", id="a-fetch"),
        pytest.param("messages", {"tools": [{"type": "code_execution_1"}]}, "code_execution_1", id="a-code"),
        pytest.param("messages", {"mcp_servers": [{"url": "http://x"}]}, "mcp_servers", id="a-mcp"),
        pytest.param("messages", {"container": "c"}, "container", id="a-container"),
        pytest.param(
            "messages",
            {"messages": [{"role": "user", "content": [{"type": "document", "source": {"type": "url"}}]}]},
            "content from elsewhere",
            id="a-document",
        ),
    ],
)
def test_what_reaches_beyond_the_model_is_refused_unless_allowed(
    gateway: Gateway, dialect: str, more: dict[str, object], feature: str
) -> None:
    with playing(gateway, SAY, dialect=dialect) as (gate, provider):
        answer = ask(gate, dialect, **more)
        assert answer.status_code == 400
        assert feature in answer.json()["error"]["message"]
        assert (gate.line.refusal, provider.requests) == ("provider_feature", [])
    with playing(gateway, SAY, dialect=dialect, features=(feature,)) as (gate, _):
        assert ask(gate, dialect, **more).status_code == 200
        assert gate.line.provider_features == (feature,)


@pytest.mark.parametrize(
    ("dialect", "tools"),
    [
        ("responses", [{"type": "function", "name": "a"}, {"type": "custom", "name": "b"}]),
        ("responses", [{"type": "namespace", "name": "n", "tools": [{"type": "function", "name": "a"}]}]),
        ("messages", [{"name": "a", "input_schema": {}}, {"type": "custom", "name": "b"}]),
        ("messages", [{"type": "bash_20250124", "name": "bash"}, {"type": "text_editor_20250728", "name": "e"}]),
    ],
)
def test_tools_that_the_agent_runs_itself_pass(gateway: Gateway, dialect: str, tools: list[object]) -> None:
    with playing(gateway, SAY, dialect=dialect) as (gate, _):
        assert ask(gate, dialect, tools=tools).status_code == 200


@pytest.mark.parametrize("dialect", ["chat", *OTHERS])
@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (401, "auth"),
        (402, "quota"),
        (404, "unknown_model"),
        (429, "overloaded"),
        (500, "overloaded"),
        (529, "overloaded"),
    ],
)
def test_a_final_failure_is_told_in_the_protocols_shape_and_never_as_one_to_retry(
    gateway: Gateway, dialect: str, status: int, kind: str
) -> None:
    with playing(gateway, Step(fail=Fail(status=status)), dialect=dialect) as (gate, _):
        answer = gate.chat() if dialect == "chat" else ask(gate, dialect, stream=True)
        line = gate.line
    assert 400 <= answer.status_code < 429
    assert answer.status_code not in {401, 402, 408, 409}
    assert (line.failure, line.status_upstream, line.status_given) == (kind, status, answer.status_code)
    error = answer.json()["error"]
    if dialect == "messages":
        assert answer.json()["type"] == "error"
        assert error["type"] not in {"overloaded_error", "rate_limit_error", "api_error"}
        assert told(kind) in error["message"]
    else:
        assert error["code"] == told(kind)
    assert "overloaded" not in answer.text


@pytest.mark.parametrize("dialect", OTHERS)
@pytest.mark.parametrize("cut", [1, 3, 6])
def test_a_stream_that_is_cut_ends_in_an_error_event(gateway: Gateway, dialect: str, cut: int) -> None:
    step = SAY.model_copy(update={"cut_after": cut})
    with playing(gateway, step, dialect=dialect) as (gate, _):
        answer = ask(gate, dialect, stream=True)
        assert events(answer)[-1]["type"] == {"responses": "response.failed", "messages": "error"}[dialect]
        assert (gate.line.failure, gate.line.complete) == ("network", False)


@pytest.mark.parametrize("dialect", OTHERS)
@pytest.mark.parametrize("body", ["", ": comment\n\n", "data: {broken\n\n", "event: x\ndata: 7\n\n"])
def test_a_stream_that_is_none_is_malformed(gateway: Gateway, dialect: str, body: str) -> None:
    step = Step(raw=Raw(content_type="text/event-stream", body=body))
    with playing(gateway, step, dialect=dialect) as (gate, provider):
        assert 400 <= ask(gate, dialect, stream=True).status_code < 429
        assert (gate.line.failure, gate.line.retries) == ("malformed", 2)
        assert len(provider.requests) == 3


@pytest.mark.parametrize(
    ("dialect", "first", "failure"),
    [
        ("responses", {"type": "error", "code": "rate_limit_exceeded", "message": "slow down"}, "overloaded"),
        ("responses", {"type": "response.failed", "response": {"error": {"code": "server_error"}}}, "overloaded"),
        (
            "responses",
            {"type": "error", "error": {"code": "context_length_exceeded", "message": "m"}},
            "context_length",
        ),
        ("messages", {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}, "overloaded"),
        ("messages", {"type": "error", "error": {"type": "rate_limit_error", "message": "slow"}}, "overloaded"),
        ("messages", {"type": "error", "error": {"type": "authentication_error", "message": "key"}}, "auth"),
        ("messages", {"type": "error", "error": {"type": "invalid_request_error", "message": "bad"}}, "refused"),
        ("messages", {"type": "error", "error": {"type": "billing_error", "message": "pay"}}, "quota"),
    ],
)
def test_an_error_told_in_a_stream_of_status_200_is_typed(
    gateway: Gateway, dialect: str, first: dict[str, object], failure: str
) -> None:
    body = f"event: {first['type']}\ndata: {json.dumps(first)}\n\n"
    step = Step(raw=Raw(content_type="text/event-stream", body=body))
    with playing(gateway, step, dialect=dialect) as (gate, _):
        assert 400 <= ask(gate, dialect, stream=True).status_code < 429
        assert gate.line.failure == failure


@pytest.mark.parametrize(
    ("dialect", "field", "most"),
    [("responses", "max_output_tokens", 10), ("messages", "max_tokens", 10), ("messages", "max_tokens", 200)],
)
def test_the_length_of_an_answer_is_bounded(gateway: Gateway, dialect: str, field: str, most: int) -> None:
    with playing(gateway, SAY, dialect=dialect, ceilings=Ceilings(completion_tokens=most)) as (gate, provider):
        ask(gate, dialect)
        assert provider.requests[0][field] == min(most, 100 if dialect == "messages" else most)


@pytest.mark.parametrize("dialect", OTHERS)
def test_a_token_budget_counts_all_input_and_output(gateway: Gateway, dialect: str) -> None:
    spent = {"responses": 1050, "messages": 1280}[dialect]
    for ceiling, second in ((spent, 403), (spent + 1, 200)):
        with playing(gateway, SAY, dialect=dialect, ceilings=Ceilings(tokens=ceiling)) as (gate, _):
            assert ask(gate, dialect).status_code == 200
            assert ask(gate, dialect).status_code == second


def test_the_list_of_models_can_be_read_by_clients_of_both_makers(gateway: Gateway) -> None:
    with playing(gateway, SAY, dialect="messages") as (gate, _):
        (model,) = gate.client.get(f"{gate.url}/models?limit=1000").json()["data"]
    assert {model["id"], model["display_name"]} == {MODEL}
    assert (model["object"], model["type"]) == ("model", "model")
