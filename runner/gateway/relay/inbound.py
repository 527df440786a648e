"""The agent's side of the gateway: HTTP/1.1 from a client that is not trusted."""

import contextlib
import socket
import threading
import time
from dataclasses import dataclass, field

import h11

from .rules import Line

HEADERS_LIMIT = 64 << 10
BODY_LIMIT = 16 << 20
SMALL_BODY = 1 << 20
"""Bodies up to this many bytes need no leave: as many as there are connections fit."""
IDLE_S = 900.0
"""Between requests: agents keep connections for long, and closing one under them looks like a failure."""
STALL_S = 60.0
"""Longest pause within a request, and longest time a client may leave an answer unread."""
BODY_S = 120.0
DRAIN_S = 2.0
READ = 64 << 10

CLIENT_GONE = (OSError, h11.RemoteProtocolError, h11.LocalProtocolError)
"""What a client that left, stalled or broke the protocol ends in."""


class TooLargeError(Exception):
    """A request's body is larger than the gateway takes."""


@dataclass(slots=True)
class Inbound:
    """One connection of an agent."""

    sock: socket.socket
    large: threading.Semaphore
    """Room for bodies that are not small, shared by all connections of an attempt."""
    conn: h11.Connection = field(
        default_factory=lambda: h11.Connection(h11.SERVER, max_incomplete_event_size=HEADERS_LIMIT),
    )
    method: str = "GET"
    _holds_room: bool = False

    def next_request(self) -> Line | None:
        """Wait for a request's head; None when the client is through."""
        if self.conn.our_state is h11.DONE and self.conn.their_state is h11.DONE:
            self.conn.start_next_cycle()
        if self.conn.our_state is not h11.IDLE:
            return None
        event = self._next_event(IDLE_S)
        if not isinstance(event, h11.Request):
            return None
        self.method = event.method.decode("ascii", "replace")
        headers = {name.decode("ascii"): value.decode("latin-1") for name, value in event.headers}
        return Line(method=self.method, target=event.target.decode("ascii", "replace"), headers=headers)

    def body(self) -> bytes:
        """Read the request's body.

        Raises:
            TooLargeError: It exceeds the bound; the connection cannot be used further.
        """
        taken: list[bytes] = []
        size, deadline = 0, time.monotonic() + BODY_S
        if self.conn.they_are_waiting_for_100_continue:
            self._write(self.conn.send(h11.InformationalResponse(status_code=100, headers=[])))
        while True:
            event = self._next_event(min(STALL_S, deadline - time.monotonic()))
            if not isinstance(event, h11.Data):
                return b"".join(taken)
            size += len(event.data)
            if size > BODY_LIMIT:
                raise TooLargeError
            if size > SMALL_BODY:
                self._take_room(deadline)
            taken.append(bytes(event.data))

    def _take_room(self, deadline: float) -> None:
        """Wait until few enough others hold a large body: what they take in memory is bounded."""
        if not self._holds_room:
            if not self.large.acquire(timeout=max(0.0, deadline - time.monotonic())):
                raise TimeoutError("too many large requests at once")
            self._holds_room = True

    def done(self) -> None:
        """Let go of what the last request held."""
        if self._holds_room:
            self._holds_room = False
            self.large.release()

    def _next_event(self, patience_s: float) -> h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]:
        while True:
            event = self.conn.next_event()
            if event is not h11.NEED_DATA:
                return event
            if patience_s <= 0:
                raise TimeoutError("the client took too long over its request")
            self.sock.settimeout(patience_s)
            self.conn.receive_data(self.sock.recv(READ))
            patience_s = min(patience_s, STALL_S)

    def answer(self, status: int, body: bytes, content_type: str = "application/json") -> None:
        """Send a whole answer."""
        headers = [("content-type", content_type), ("content-length", str(len(body)))]
        if status == 405:  # noqa: PLR2004 - the status that must say what is allowed
            headers.append(("allow", "GET, POST"))
        head = self.conn.send(h11.Response(status_code=status, headers=headers))
        shown = b"" if self.method == "HEAD" else self.conn.send(h11.Data(data=body))
        self._write(head + shown + self.conn.send(h11.EndOfMessage()))

    def begin_stream(self, content_type: str) -> None:
        """Send the head of a streamed answer."""
        headers = [
            ("content-type", content_type),
            ("cache-control", "no-cache"),
            ("transfer-encoding", "chunked"),
        ]
        self._write(self.conn.send(h11.Response(status_code=200, headers=headers)))

    def push(self, data: bytes) -> None:
        """Send a part of a streamed answer."""
        self._write(self.conn.send(h11.Data(data=data)))

    def end_stream(self, data: bytes = b"") -> None:
        """Send the last part of a streamed answer."""
        last = self.conn.send(h11.Data(data=data)) if data else b""
        self._write(last + self.conn.send(h11.EndOfMessage()))

    def begin_tunnel(self, quiet_s: float) -> bytes:
        """Say that the connection is the agent's and a host's from here; give what it has sent already."""
        self._write(self.conn.send(h11.Response(status_code=200, headers=[])))
        self.sock.settimeout(quiet_s)
        return self.conn.trailing_data[0]

    def _write(self, data: bytes | None) -> None:
        self.sock.settimeout(STALL_S)
        self.sock.sendall(data or b"")

    def is_left(self) -> bool:
        """Say whether the client has hung up."""
        self.sock.settimeout(0)
        try:
            return self.sock.recv(1, socket.MSG_PEEK) == b""
        except BlockingIOError:
            return False
        except OSError:
            return True

    def close(self) -> None:
        """Hang up, giving a client that is still sending a moment to read its answer."""
        with contextlib.suppress(OSError), self.sock:
            self.sock.shutdown(socket.SHUT_WR)
            deadline = time.monotonic() + DRAIN_S
            while (left := deadline - time.monotonic()) > 0:
                self.sock.settimeout(left)
                if not self.sock.recv(READ):
                    return
