"""Whatever a client sends, the gateway lives, answers the next request, and its ledger stays whole."""

import contextlib
import json
import socket
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runner.gateway.client import Gateway
from runner.gateway.relay.terms import Ceilings
from tests.unit.gateway.rig import MODEL, Gate, blunt_provider, open_gate

MANY = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
SAID = json.dumps({"choices": [{"message": {"role": "assistant", "content": "hi"}, "finish_reason": "stop"}]}).encode()
ANSWER = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: %d\r\n\r\n%s"
BODY = json.dumps({"model": MODEL, "messages": [{"role": "user", "content": "work"}]}).encode()
REQUEST = b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: %d\r\n\r\n%s" % (len(BODY), BODY)
PIECES = (b"\r\n", b"\0", b"\xff", b"chunked", b"transfer-encoding: chunked\r\n", b"9" * 30, b"{" * 50, b"GET ", b":")

NUMBERS = st.integers() | st.floats() | st.sampled_from([10**4000, -1, 1 << 64])
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text(st.characters(), max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters(), max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)
MEMBERS = st.sampled_from(
    ["messages", "tools", "stream", "stream_options", "max_tokens", "store", "n", "plugins", "usage", "model"]
)


@pytest.fixture
def gate(gateway: Gateway) -> Iterator[Gate]:
    ceilings = Ceilings(requests=100_000, completion_tokens=100)
    with blunt_provider(ANSWER % (len(SAID), SAID)) as url, open_gate(gateway, url, ceilings=ceilings) as opened:
        yield opened


def send(port: int, data: bytes) -> bytes:
    """Send bytes and nothing more; give what comes back."""
    with socket.create_connection(("127.0.0.1", port), timeout=5) as sock:
        taken = b""
        with contextlib.suppress(OSError):
            sock.sendall(data)
            sock.shutdown(socket.SHUT_WR)
            while chunk := sock.recv(65536):
                taken += chunk
        return taken


def check_it_lives(gate: Gate) -> None:
    assert gate.chat().status_code == 200
    sequences = [line.sequence for line in gate.traffic.lines]
    assert sequences == list(range(1, len(sequences) + 1))


@MANY
@given(
    edits=st.lists(
        st.tuples(st.integers(0, len(REQUEST)), st.integers(0, 40), st.sampled_from(PIECES) | st.binary(max_size=6)),
        min_size=1,
        max_size=4,
    )
)
def test_spoilt_http_ends_in_an_answer_or_in_silence(gate: Gate, edits: list[tuple[int, int, bytes]]) -> None:
    data = REQUEST
    for at, cut, piece in edits:
        data = data[:at] + piece + data[at + cut :]
    answer = send(gate.port, data)
    assert answer == b"" or answer.startswith(b"HTTP/1.1 ")
    check_it_lives(gate)


@MANY
@given(more=st.dictionaries(MEMBERS, VALUES, max_size=3), twist=st.sampled_from(["utf-8", "utf-16", "utf-32"]))
def test_odd_bodies_are_answered(gate: Gate, more: dict[str, object], twist: str) -> None:
    body = json.dumps({"model": MODEL, "messages": [], **more}).encode(twist)
    assert gate.post(body).status_code in {200, 400, 404}
    check_it_lives(gate)
