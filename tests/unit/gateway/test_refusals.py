"""What an agent may not ask, and what a hostile client cannot do."""

import json
import socket
import threading
import time
from collections.abc import Callable

import pytest

from runner.gateway.client import Gateway, Patience
from runner.gateway.scenario import Answer, Step
from tests.unit.gateway.rig import MODEL, Gate, playing, raw_request

SAY = Step(answer=Answer(text="hello"))


def error_code(data: bytes) -> str:
    return str(json.loads(data)["error"]["code"])


@pytest.mark.parametrize(
    ("method", "path", "status", "refusal"),
    [
        pytest.param("POST", "/v1/responses", 404, "path", id="another protocol"),
        pytest.param("POST", "/v1/files", 404, "path", id="files"),
        pytest.param("GET", "/v1/chat/completions", 405, "method", id="method"),
        pytest.param("DELETE", "/v1/models", 405, "method", id="deletion"),
        pytest.param("HEAD", "/v1/models", 405, "method", id="head"),
        pytest.param("POST", "/v1/chat/completions/../../../v1/files", 404, "path", id="dots"),
        pytest.param("POST", "//evil.example/v1/chat/completions", 404, "path", id="two slashes"),
    ],
)
def test_other_paths_and_methods_are_refused(
    gateway: Gateway, method: str, path: str, status: int, refusal: str
) -> None:
    with playing(gateway, SAY) as (gate, provider):
        head = f"{method} {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
        answer = raw_request(gate.port, head.encode())
        assert answer.startswith(f"HTTP/1.1 {status}".encode())
        assert method == "HEAD" or error_code(answer.partition(b"\r\n\r\n")[2]) == "refused"
        assert (gate.line.refusal, gate.line.status_given, gate.line.status_upstream) == (
            refusal,
            status,
            None,
        )
        assert provider.requests == []


@pytest.mark.parametrize(
    ("change", "refusal"),
    [
        pytest.param({"model": "another/model"}, "model", id="another model"),
        pytest.param({"model": None}, "model", id="no model"),
        pytest.param({"model": ["scripted/model"]}, "model", id="a list"),
        pytest.param({"stream": "yes"}, "body", id="stream"),
        pytest.param({"stream": True, "stream_options": [1]}, "body", id="stream options"),
        pytest.param({"tools": [{"type": "web_search"}]}, "provider_feature", id="provider's tool"),
        pytest.param({"tools": {"type": "function"}}, "provider_feature", id="tools that are no list"),
        pytest.param({"plugins": [{"id": "web"}]}, "provider_feature", id="plugins"),
        pytest.param({"web_search_options": {}}, "provider_feature", id="web search"),
        pytest.param({"models": ["a", "b"]}, "provider_feature", id="fallback models"),
        pytest.param({"store": True}, "provider_feature", id="memory"),
        pytest.param(
            {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "http://x"}}]}]},
            "provider_feature",
            id="remote image",
        ),
    ],
)
def test_requests_that_reach_beyond_the_model_are_refused(
    gateway: Gateway, change: dict[str, object], refusal: str
) -> None:
    with playing(gateway, SAY) as (gate, provider):
        answer = gate.chat(**change)
        assert 400 <= answer.status_code < 429
        assert error_code(answer.content) == "refused"
        assert (gate.line.refusal, gate.line.failure) == (refusal, "refused")
        assert provider.requests == []


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"[]", id="list"),
        pytest.param(b'{"model": "scripted/model", "model": "other", "messages": []}', id="two members"),
        pytest.param(b'{"model": "scripted/model", "temperature": NaN}', id="NaN"),
        pytest.param(b"\xff\xfe", id="bytes"),
        pytest.param(b'{"a":' * 100_000, id="deep"),
        pytest.param(b'{"a": [' + b"[]," * 600_000 + b"0]}", id="wide"),
        pytest.param(b'{"n": ' + b"9" * 5_000 + b"}", id="digits"),
    ],
)
def test_bodies_that_are_not_one_json_object_are_refused(gateway: Gateway, body: bytes) -> None:
    with playing(gateway, SAY) as (gate, provider):
        assert gate.post(body).status_code == 400
        assert gate.line.refusal == "body"
        assert provider.requests == []


def test_an_odd_name_of_a_model_does_not_break_the_ledger(gateway: Gateway) -> None:
    with playing(gateway, SAY) as (gate, _):
        assert gate.post(b'{"model": "\\ud800' + b"x" * 500 + b'"}').status_code == 404
        assert gate.line.model_asked is not None
        assert len(gate.line.model_asked) == 200


def test_too_large_a_body_is_refused(gateway: Gateway) -> None:
    with playing(gateway, SAY) as (gate, provider):
        assert gate.post(b'{"model": "' + b"x" * (17 << 20) + b'"}').status_code == 413
        assert gate.line.refusal == "too_large"
        assert provider.requests == []


def test_an_image_in_the_request_itself_passes(gateway: Gateway) -> None:
    part = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
    with playing(gateway, SAY) as (gate, _):
        assert gate.chat(messages=[{"role": "user", "content": [part]}]).status_code == 200


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 10 + b"\r\n\r\n", id="TLS"),
        pytest.param(b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 20_000 + b"\r\n", id="headers"),
        pytest.param(b"POST /v1/chat/completions HTTP/1.1\r\n\r\n", id="no host"),
        pytest.param(b"GET /v1/models HTTP/1.1\r\nhost: x\r\ncontent-length: -1\r\n\r\n", id="length"),
    ],
)
def test_what_is_not_http_gets_an_error_and_no_line(gateway: Gateway, data: bytes) -> None:
    with playing(gateway, SAY) as (gate, _):
        assert raw_request(gate.port, data)[:12] in (b"HTTP/1.1 400", b"HTTP/1.1 431")
        assert gate.chat().status_code == 200
        assert gate.line.sequence == 1


def test_a_body_that_breaks_its_own_framing_is_a_line(gateway: Gateway) -> None:
    head = b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n"
    with playing(gateway, SAY) as (gate, _):
        assert raw_request(gate.port, head + b"zz\r\n").startswith(b"HTTP/1.1 400")
        assert gate.line.refusal == "http"


def test_an_agent_that_leaves_midway_leaves_an_incomplete_line(gateway: Gateway) -> None:
    with playing(gateway, Step(answer=Answer(text="x" * 4_000), pause_ms=20)) as (gate, _):
        _ask_and_leave(gate)
        _until(lambda: bool(gate.traffic.finished))
        assert not gate.line.complete
        assert gate.line.failure is None
        assert gate.line.response_bytes > 0


def test_closing_an_attempt_writes_the_lines_of_requests_under_way(gateway: Gateway) -> None:
    with playing(gateway, Step(answer=Answer(text="x"), hang_ms=4_000), patience=Patience()) as (
        gate,
        provider,
    ):
        sock = _ask(gate)
        _until(lambda: bool(provider.requests))
        began = time.monotonic()
    assert time.monotonic() - began < 2
    assert (gate.line.complete, gate.line.status_given) == (False, None)
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", gate.port))
    sock.close()


def test_large_bodies_at_once_do_not_end_the_gateway(gateway: Gateway) -> None:
    body = b'{"model": "scripted/model", "x": [' + b'"ab",' * 1_000_000 + b"0]}"
    with playing(gateway, SAY, patience=Patience()) as (gate, _):
        asking = [threading.Thread(target=gate.post, args=(body,)) for _ in range(4)]
        for thread in asking:
            thread.start()
        for thread in asking:
            thread.join()
        assert [line.failure for line in gate.traffic.lines] == [None] * 4


def test_silent_connections_do_not_keep_an_attempt_open(gateway: Gateway) -> None:
    with playing(gateway, SAY) as (gate, _):
        silent = [socket.create_connection(("127.0.0.1", gate.port)) for _ in range(40)]
        began = time.monotonic()
    assert time.monotonic() - began < 3
    for sock in silent:
        sock.close()


def test_attempts_do_not_see_each_other(gateway: Gateway) -> None:
    with playing(gateway, SAY) as (one, _), playing(gateway, SAY) as (other, _):
        one.chat()
        other.chat()
        other.chat()
        assert (len(one.traffic.lines), len(other.traffic.lines)) == (1, 2)


def _ask(gate: Gate) -> socket.socket:
    body = json.dumps({"model": MODEL, "messages": [], "stream": True}).encode()
    head = f"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: {len(body)}\r\n\r\n"
    sock = socket.create_connection(("127.0.0.1", gate.port))
    sock.sendall(head.encode() + body)
    return sock


def _ask_and_leave(gate: Gate) -> None:
    with _ask(gate) as sock:
        sock.recv(100)


def _until(holds: Callable[[], bool], patience_s: float = 5.0) -> None:
    deadline = time.monotonic() + patience_s
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)
