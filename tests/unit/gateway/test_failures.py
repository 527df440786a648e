"""What a provider can do wrong, what the agent is told, and what the ledger keeps."""

import json
import time
from dataclasses import replace

import httpx
import pytest

from runner.gateway.client import Gateway
from runner.gateway.relay.dialect import TOLD
from runner.gateway.scenario import Answer, Fail, Raw, Step
from tests.unit.gateway.rig import KEY, QUICK, blunt_provider, events, open_gate, playing

TEXT = Answer(text="hello")


def told(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, str(answer.json()["error"]["code"])


@pytest.mark.parametrize(
    ("fail", "given", "failure", "retries"),
    [
        pytest.param(Fail(status=401), (400, "auth"), "auth", 0, id="401"),
        pytest.param(Fail(status=402), (400, "quota"), "quota", 0, id="402"),
        pytest.param(Fail(status=403), (403, "auth"), "auth", 0, id="403"),
        pytest.param(Fail(status=404), (404, "unknown_model"), "unknown_model", 0, id="404"),
        pytest.param(Fail(status=429), (400, "provider_failed"), "overloaded", 2, id="429"),
        pytest.param(Fail(status=429, code="insufficient_quota"), (400, "quota"), "quota", 0, id="429 for ever"),
        pytest.param(Fail(status=500), (400, "provider_failed"), "overloaded", 2, id="500"),
        pytest.param(Fail(status=503), (400, "provider_failed"), "overloaded", 2, id="503"),
        pytest.param(Fail(status=529), (400, "provider_failed"), "overloaded", 2, id="529"),
        pytest.param(
            Fail(status=403, message="input was flagged by moderation"),
            (403, "None"),
            "refused",
            0,
            id="moderation",
        ),
        pytest.param(
            Fail(status=400, code="context_length_exceeded"),
            (400, "context_length_exceeded"),
            "context_length",
            0,
            id="context",
        ),
        pytest.param(Fail(status=422, code="bad_tool"), (422, "bad_tool"), "refused", 0, id="bad request"),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
def test_a_final_failure_is_told_as_one_and_kept_as_it_was(
    gateway: Gateway,
    fail: Fail,
    given: tuple[int, str],
    failure: str,
    retries: int,
    *,
    stream: bool,
) -> None:
    with playing(gateway, Step(fail=fail)) as (gate, provider):
        answer = gate.chat(stream=stream)
        assert told(answer) == given
        assert (gate.line.status_upstream, gate.line.status_given) == (fail.status, given[0])
        assert (gate.line.failure, gate.line.retries) == (failure, retries)
        assert len(provider.requests) == retries + 1
        assert gate.line.response_sha256 is not None


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("status", [429, 500])
def test_a_failure_that_passes_is_not_told(gateway: Gateway, status: int, *, stream: bool) -> None:
    with playing(gateway, Step(fail=Fail(status=status, times=2), answer=TEXT)) as (gate, _):
        assert gate.chat(stream=stream).status_code == 200
        assert (gate.line.status_upstream, gate.line.failure) == (200, None)
        assert (gate.line.retries, gate.line.wait_ms) == (2, 30)


@pytest.mark.parametrize(
    ("retry_after", "wait_ms"),
    [
        pytest.param("0", 0, id="at once"),
        pytest.param("3600", 50, id="capped"),
        pytest.param("Wed, 21 Oct 2015 07:28:00 GMT", 0, id="a date gone by"),
        pytest.param("soon", 10, id="no time"),
    ],
)
def test_the_provider_says_when_to_come_back(gateway: Gateway, retry_after: str, wait_ms: int) -> None:
    step = Step(fail=Fail(status=429, times=1, retry_after=retry_after), answer=TEXT)
    with playing(gateway, step) as (gate, _):
        assert gate.chat().status_code == 200
        assert gate.line.wait_ms == wait_ms


def test_waits_are_bounded_together(gateway: Gateway) -> None:
    patience = replace(QUICK, retries=100, all_waits_ms=60)
    with playing(gateway, Step(fail=Fail(status=500)), patience=patience) as (gate, _):
        assert gate.chat().status_code == 400
        assert gate.line.wait_ms <= 60


@pytest.mark.parametrize(
    ("step", "failure"),
    [
        pytest.param(Step(raw=Raw(body="not json")), "malformed", id="not JSON"),
        pytest.param(Step(raw=Raw(body="{}")), "malformed", id="no choices"),
        pytest.param(Step(raw=Raw(body="[1]")), "malformed", id="no object"),
        pytest.param(Step(raw=Raw(body="")), "malformed", id="nothing"),
        pytest.param(Step(raw=Raw(content_type="text/event-stream", body="")), "malformed", id="empty stream"),
        pytest.param(
            Step(raw=Raw(content_type="text/event-stream", body=": wait\n\ndata: [DONE]\n\n")),
            "malformed",
            id="stream without a word",
        ),
        pytest.param(
            Step(raw=Raw(content_type="text/event-stream", body="data: {nonsense\n\n")),
            "malformed",
            id="malformed stream",
        ),
        pytest.param(Step(answer=TEXT, cut_after=10), "network", id="cut"),
        pytest.param(Step(answer=TEXT, hang_ms=1_500), "network", id="hang"),
        pytest.param(
            Step(raw=Raw(body='{"error": {"code": 502, "message": "upstream"}}')),
            "overloaded",
            id="error with status 200",
        ),
    ],
)
def test_an_answer_that_is_none_is_asked_for_again_and_then_told(gateway: Gateway, step: Step, failure: str) -> None:
    patience = replace(QUICK, silence_ms=300, retries=1)
    with playing(gateway, step, patience=patience) as (gate, provider):
        assert told(gate.chat()) == (400, TOLD.get(failure, failure))
        assert (gate.line.failure, gate.line.retries, gate.line.status_given) == (failure, 1, 400)
        assert len(provider.requests) == 2


@pytest.mark.parametrize("stream", [False, True])
def test_a_connection_that_cannot_be_made(gateway: Gateway, *, stream: bool) -> None:
    with open_gate(gateway, "http://127.0.0.1:9/v1") as gate:
        assert told(gate.chat(stream=stream)) == (400, "network")
        assert (gate.line.status_upstream, gate.line.failure, gate.line.retries) == (None, "network", 2)
        assert gate.line.response_sha256 is None


def test_a_redirect_is_not_followed(gateway: Gateway) -> None:
    head = b"HTTP/1.1 307 x\r\nlocation: http://127.0.0.1:9/\r\ncontent-length: 0\r\n\r\n"
    with blunt_provider(head) as url, open_gate(gateway, url) as gate:
        assert told(gate.chat()) == (400, "malformed")
        assert gate.line.status_upstream == 307


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(b"", id="hangs up"),
        pytest.param(b"nonsense\r\n\r\n", id="not HTTP"),
        pytest.param(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{", id="short"),
    ],
)
def test_a_provider_that_breaks_the_protocol(gateway: Gateway, answer: bytes) -> None:
    with blunt_provider(answer) as url, open_gate(gateway, url) as gate:
        assert told(gate.chat()) == (400, "network")


def test_a_stream_cut_after_its_first_event_ends_in_an_error_event(gateway: Gateway) -> None:
    with playing(gateway, Step(answer=Answer(text="x" * 200), cut_after=3)) as (gate, provider):
        answer = gate.chat(stream=True)
        shown = events(answer)
        assert [bool(event.get("choices")) for event in shown] == [True, True, True, False]
        assert shown[-1]["error"]["code"] == "network"
        assert "[DONE]" not in answer.text
        assert (gate.line.failure, gate.line.complete, gate.line.status_given) == ("network", False, 200)
        assert len(provider.requests) == 1


def test_a_stream_that_falls_silent_ends_in_an_error_event(gateway: Gateway) -> None:
    patience = replace(QUICK, silence_ms=200)
    with playing(gateway, Step(answer=TEXT, pause_ms=1_000), patience=patience) as (gate, _):
        began = time.monotonic()
        assert events(gate.chat(stream=True))[-1]["error"]
        assert time.monotonic() - began < 2
        assert gate.line.failure == "network"


def test_a_stream_that_turns_into_nonsense_ends_in_an_error_event(gateway: Gateway) -> None:
    body = 'data: {"choices": [{"delta": {"content": "a"}}]}\n\ndata: nonsense\n\n'
    step = Step(raw=Raw(content_type="text/event-stream", body=body))
    with playing(gateway, step) as (gate, _):
        assert events(gate.chat(stream=True))[-1]["error"]
        assert (gate.line.failure, gate.line.complete) == ("malformed", False)


def test_an_error_amid_a_stream_passes_as_it_came(gateway: Gateway) -> None:
    error = {"error": {"code": 503, "message": "gone"}, "choices": []}
    body = f'data: {{"choices": [{{"delta": {{"content": "a"}}}}]}}\n\ndata: {json.dumps(error)}\n\n'
    step = Step(raw=Raw(content_type="text/event-stream", body=body))
    with playing(gateway, step) as (gate, _):
        assert events(gate.chat(stream=True))[-1] == error
        assert gate.line.failure == "overloaded"


@pytest.mark.parametrize("status", [400, 401, 403, 429, 500])
def test_a_key_quoted_by_the_provider_does_not_reach_the_agent(gateway: Gateway, status: int) -> None:
    fail = Fail(status=status, message=f"bad key {KEY}, also known as {KEY[:6]}***")
    with playing(gateway, Step(fail=fail)) as (gate, _):
        assert KEY not in gate.chat().text


def test_an_endless_answer_is_given_up(gateway: Gateway) -> None:
    head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n"
    patience = replace(QUICK, retries=0)
    with blunt_provider(head + b" " * (65 << 20)) as url, open_gate(gateway, url, patience=patience) as gate:
        assert told(gate.chat()) == (400, "malformed")


@pytest.mark.parametrize(
    ("error", "failure"),
    [
        pytest.param('{"message":"later","code":502,"retry_after":1.5}', "overloaded", id="a-number-with-a-point"),
        pytest.param('{"message":"the maximum context length is 8","code":"e"}', "context_length", id="context"),
        pytest.param('{"message":"bad tool","type":"invalid_request_error"}', "refused", id="request"),
        pytest.param('{"message":"no","code":"400"}', "refused", id="a-status-as-text"),
        pytest.param('{"message":"insufficient_quota"}', "quota", id="quota"),
        pytest.param('{"message":"upstream crashed","code":"server_error"}', "overloaded", id="its-own"),
        pytest.param('"nothing more is known"', "overloaded", id="a-text"),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
def test_an_error_in_an_answer_of_status_200_is_blamed_on_who_brought_it_about(
    gateway: Gateway, error: str, failure: str, *, stream: bool
) -> None:
    kind, body = ("text/event-stream", f'data: {{"error":{error}}}\n\n') if stream else ("application/json", "")
    body = body or f'{{"error":{error}}}'
    head = f"HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\nconnection: close\r\ncontent-length: {len(body)}\r\n\r\n"
    patience = replace(QUICK, retries=0)
    with blunt_provider((head + body).encode()) as url, open_gate(gateway, url, patience=patience) as gate:
        assert gate.chat(stream=stream).status_code in {400, 403, 404}
        assert (gate.line.failure, gate.line.status_upstream) == (failure, 200)
