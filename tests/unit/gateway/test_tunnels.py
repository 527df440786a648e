"""`network: direct`: tunnels to the hosts of a list and nowhere else, and how much went through."""

import contextlib
import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from runner.documents.ledger import LedgerLine
from runner.gateway.client import Gateway
from runner.gateway.relay.tunnel import is_public
from tests.unit.gateway.rig import Gate, open_gate, raw_request

WAIT_S = 10.0


def echo(sock: socket.socket) -> None:
    """Give everything back, and hang up once nothing more comes."""
    while data := sock.recv(65536):
        sock.sendall(data)


def hush(sock: socket.socket) -> None:
    """Say one thing, and wait to be left."""
    sock.recv(65536)
    sock.sendall(b"k")
    while sock.recv(65536):
        pass


@contextmanager
def host(conduct: Callable[[socket.socket], None] = echo) -> Iterator[str]:
    """A server on loopback; gives its host and port."""
    listener = socket.create_server(("127.0.0.1", 0))
    serving = threading.Thread(target=serve, args=(listener, conduct), daemon=True)
    serving.start()
    try:
        yield f"127.0.0.1:{listener.getsockname()[1]}"
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        serving.join(WAIT_S)
        listener.close()


def serve(listener: socket.socket, conduct: Callable[[socket.socket], None]) -> None:
    with contextlib.suppress(OSError):
        while True:
            sock, _ = listener.accept()
            threading.Thread(target=serve_one, args=(sock, conduct), daemon=True).start()


def serve_one(sock: socket.socket, conduct: Callable[[socket.socket], None]) -> None:
    with sock, contextlib.suppress(OSError):
        conduct(sock)


@contextmanager
def leading_to(gateway: Gateway, *allowed: str, **terms: object) -> Iterator[Gate]:
    with open_gate(gateway, "", tunnels=allowed, credential=None, **terms) as gate:
        yield gate


def asking(target: str) -> bytes:
    return f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n".encode()


@contextmanager
def tunnel(gate: Gate, target: str) -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", gate.port), timeout=WAIT_S) as sock:
        sock.sendall(asking(target))
        head = b""
        while b"\r\n\r\n" not in head:
            head += sock.recv(1)
        assert head.startswith(b"HTTP/1.1 200"), head
        yield sock


def all_of(sock: socket.socket) -> bytes:
    taken = b""
    while data := sock.recv(65536):
        taken += data
    return taken


def after(gate: Gate, count: int = 1) -> tuple[LedgerLine, ...]:
    """Wait for the lines of tunnels that are over."""
    waiting = threading.Event()
    for _ in range(500):
        if len(gate.traffic.finished) >= count:
            return gate.traffic.lines
        waiting.wait(0.01)
    raise AssertionError(f"{len(gate.traffic.finished)} lines instead of {count}")


def test_what_goes_through_is_counted_and_nothing_else_is_known(gateway: Gateway) -> None:
    said = os.urandom(3 << 20)
    with host() as target, leading_to(gateway, target) as gate:
        with tunnel(gate, target) as sock:
            sending = threading.Thread(target=lambda: (sock.sendall(said), sock.shutdown(socket.SHUT_WR)))
            sending.start()
            assert all_of(sock) == said
            sending.join()
        (line,) = after(gate)
    assert line.tunnel is not None
    assert (line.operation, line.tunnel.host) == ("connect", target)
    assert line.tunnel.sent_bytes == line.tunnel.received_bytes == len(said)
    assert (line.status_given, line.failure, line.refusal, line.complete) == (200, None, None, True)
    assert (line.cost, line.tokens.input, line.model_asked, line.asks_model) == (None, None, None, False)


def test_what_is_sent_with_the_request_goes_through_too(gateway: Gateway) -> None:
    with host() as target, leading_to(gateway, target) as gate:
        with socket.create_connection(("127.0.0.1", gate.port), timeout=WAIT_S) as sock:
            sock.sendall(asking(target) + b"early")
            sock.shutdown(socket.SHUT_WR)
            assert all_of(sock).endswith(b"\r\n\r\nearly")
        (line,) = after(gate)
    assert line.tunnel is not None
    assert line.tunnel.sent_bytes == len(b"early")


@pytest.mark.parametrize(
    ("allowed", "asked", "refusal"),
    [
        pytest.param("127.0.0.1:9", "example.com:443", "host", id="another host"),
        pytest.param("127.0.0.1:9", "127.0.0.1:10", "host", id="another port"),
        pytest.param("api.example.com:443", "api.example.com:80", "host", id="the host by another port"),
        pytest.param("api.example.com:443", "api.example.com", "host", id="no port"),
        pytest.param("api.example.com:443", "api.example.com.:443", "host", id="another spelling"),
        pytest.param("192.0.2.1:443", "192.0.2.1:443", "host", id="an address on the list"),
        pytest.param("[::1]:443", "[::1]:443", "host", id="another loopback address on the list"),
        pytest.param("localhost:9", "localhost:9", "address", id="a name of this host"),
        pytest.param("2130706433:9", "2130706433:9", "address", id="this host as a number"),
    ],
)
def test_nobody_else_is_reached(gateway: Gateway, allowed: str, asked: str, refusal: str) -> None:
    with leading_to(gateway, allowed) as gate:
        answer = raw_request(gate.port, asking(asked).replace(b"\r\n\r\n", b"\r\nconnection: close\r\n\r\n"))
        assert answer.startswith(b"HTTP/1.1 403")
        line = gate.line
    assert (line.operation, line.refusal, line.failure, line.status_given) == ("connect", refusal, "refused", 403)
    assert line.tunnel is not None
    assert (line.tunnel.host, line.tunnel.sent_bytes, line.tunnel.received_bytes) == (asked, 0, 0)


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("target", ["/v1/models", "/v1/chat/completions", "http://127.0.0.1:9/"])
def test_nothing_but_tunnels_is_served(gateway: Gateway, method: str, target: str) -> None:
    with leading_to(gateway, "127.0.0.1:9") as gate:
        head = f"{method} {target} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
        assert raw_request(gate.port, head.encode()).startswith(b"HTTP/1.1 403")
        assert (gate.line.refusal, gate.line.tunnel) == ("method", None)


def test_no_tunnel_is_to_be_had_where_models_are_served(gateway: Gateway) -> None:
    with host() as target, open_gate(gateway, "http://127.0.0.1:9/v1") as gate:
        assert raw_request(gate.port, asking(target)).startswith(b"HTTP/1.1 404")
        assert (gate.line.operation, gate.line.refusal) == ("other", "path")


@pytest.mark.parametrize("target", ["127.0.0.1:1", f"{'x' * 64}.example:443"])
def test_a_host_that_cannot_be_reached_is_told(gateway: Gateway, target: str) -> None:
    with leading_to(gateway, target) as gate:
        asked = asking(target).replace(b"\r\n\r\n", b"\r\nconnection: close\r\n\r\n")
        assert raw_request(gate.port, asked).startswith(b"HTTP/1.1 502")
        assert (gate.line.failure, gate.line.refusal, gate.line.status_given) == ("network", None, 502)


def test_a_tunnel_ends_with_its_attempt(gateway: Gateway) -> None:
    with host(hush) as target, contextlib.ExitStack() as stack:
        with leading_to(gateway, target) as gate:
            sock = stack.enter_context(tunnel(gate, target))
            sock.sendall(b"hello")
            assert sock.recv(1) == b"k"
        assert sock.recv(1) == b""
        (line,) = gate.traffic.lines
    assert line.tunnel is not None
    assert (line.complete, line.tunnel.sent_bytes, line.tunnel.received_bytes) == (False, 5, 1)


def test_a_host_that_hangs_up_ends_the_tunnel(gateway: Gateway) -> None:
    with host(lambda sock: sock.sendall(b"bye")) as target, leading_to(gateway, target) as gate:
        with tunnel(gate, target) as sock:
            assert all_of(sock) == b"bye"
        (line,) = after(gate)
    assert line.tunnel is not None
    assert (line.complete, line.tunnel.received_bytes) == (True, 3)


def test_tunnels_stand_side_by_side(gateway: Gateway) -> None:
    with host() as target, leading_to(gateway, target) as gate:
        with contextlib.ExitStack() as stack:
            socks = [stack.enter_context(tunnel(gate, target)) for _ in range(10)]
            for place, sock in enumerate(socks):
                sock.sendall(bytes([place]) * 1000)
            for place, sock in enumerate(socks):
                sock.shutdown(socket.SHUT_WR)
                assert all_of(sock) == bytes([place]) * 1000
        lines = after(gate, 10)
    assert sorted(line.sequence for line in lines) == list(range(1, 11))


@pytest.mark.parametrize(
    ("address", "public"),
    [
        pytest.param("8.8.8.8", True, id="public"),
        pytest.param("2606:4700::1", True, id="public-6"),
        pytest.param("10.1.2.3", False, id="private"),
        pytest.param("172.16.0.1", False, id="private-12"),
        pytest.param("192.168.0.1", False, id="private-16"),
        pytest.param("100.64.0.1", False, id="shared"),
        pytest.param("169.254.169.254", False, id="metadata"),
        pytest.param("127.0.0.1", False, id="loopback"),
        pytest.param("0.0.0.0", False, id="none"),  # noqa: S104 - it is refused
        pytest.param("192.0.2.1", False, id="documentation"),
        pytest.param("224.0.0.1", False, id="multicast"),
        pytest.param("255.255.255.255", False, id="broadcast"),
        pytest.param("::1", False, id="loopback-6"),
        pytest.param("fe80::1%lo", False, id="link-local"),
        pytest.param("fd00::1", False, id="unique-local"),
        pytest.param("fec0::1", False, id="site-local"),
        pytest.param("::ffff:127.0.0.1", False, id="mapped"),
        pytest.param("::ffff:8.8.8.8", False, id="mapped-public"),
        pytest.param("2002:7f00:1::", False, id="6to4"),
        pytest.param("64:ff9b::7f00:1", False, id="translated"),
    ],
)
def test_only_public_addresses_are_connected_to(address: str, *, public: bool) -> None:
    assert is_public(address) is public
