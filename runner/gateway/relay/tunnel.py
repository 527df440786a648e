"""Tunnels to named hosts, for agents that bring their own login: CONNECT, an allow-list, bytes counted.

What goes through is the agent's and its maker's: nothing of it is read, kept or amended.
"""

import contextlib
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from ipaddress import IPv6Address, IPv6Network, ip_address

from .draft import Draft, Passed
from .inbound import Inbound
from .rules import Line, Refused
from .terms import Terms

CONNECT = "CONNECT"
LOOPBACK = "127.0.0.1"
"""The one address that an allow-list may hold instead of a name: of a test's own server."""
QUIET_S = 900.0
"""Longest time in which neither side says anything."""
REST_S = 60.0
"""The same once one side has said all it had to say."""
READ = 64 << 10
MOST_ADDRESSES = 4
"""Of one host, that are tried."""
_TRANSLATED = IPv6Network("64:ff9b::/96")


class UnreachableError(Exception):
    """An allowed host that cannot be reached."""


def check_tunnel(line: Line, terms: Terms) -> Refused | None:
    """Say nothing if an agent may have the tunnel it asks for."""
    if line.method != CONNECT:
        return Refused(refusal="method", status=403, message="only CONNECT is served here")
    if line.target.lower() not in terms.tunnels:
        return Refused(refusal="host", status=403, message="this host and port are not on the list")
    return None


def is_public(text: str) -> bool:
    """Whether an address lies out in the world, and not on this host, in its network, or in disguise."""
    address = ip_address(text.partition("%")[0])
    if isinstance(address, IPv6Address):
        hidden = address.ipv4_mapped or address.sixtofour or address.teredo
        if hidden is not None or address in _TRANSLATED or address.is_site_local:
            return False
    return address.is_global and not (address.is_multicast or address.is_reserved or address.is_unspecified)


def dial(target: str, connect_ms: int) -> socket.socket | Refused:
    """Find an allowed host's public address and connect to it; a name that leads elsewhere is refused.

    Raises:
        UnreachableError: The name leads nowhere, or nobody is there.
    """
    host, _, port = target.rpartition(":")
    if host != LOOPBACK and _is_address(host):
        return Refused(refusal="host", status=403, message="an address is no name of a host")
    try:
        found = socket.getaddrinfo(host, int(port), type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise UnreachableError("the host has no address") from error
    places = [place for *_, place in found if host == LOOPBACK or is_public(str(place[0]))]
    if not places:
        return Refused(refusal="address", status=403, message="the host's name leads to no public address")
    for place in list(dict.fromkeys(places))[:MOST_ADDRESSES]:
        with contextlib.suppress(OSError):
            return socket.create_connection((str(place[0]), int(port)), timeout=connect_ms / 1_000)
    raise UnreachableError("the host does not answer")


def _is_address(host: str) -> bool:
    try:
        ip_address(host.strip("[]"))
    except ValueError:
        return False
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Tunnel:
    """A connection to an allowed host, about to be the agent's. `settle` writes the ledger line."""

    outbound: socket.socket
    passed: Passed
    draft: Draft
    inbound: Inbound
    settle: Callable[[Draft], None]
    closing: threading.Event
    over: threading.Event = field(default_factory=threading.Event)
    """The host has said all it had to say."""

    def run(self) -> None:
        """Pass bytes both ways until both sides are through, one falls silent, or the attempt is closed."""
        upward = threading.Thread(target=self._send, daemon=True)
        with self.outbound:
            self.outbound.settimeout(QUIET_S)
            self.outbound.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.draft.status_given = 200
            self.draft.tape.begin(200, "", stream=False)
            self.draft.first()
            first = self.inbound.begin_tunnel(QUIET_S)
            with contextlib.suppress(OSError):
                self.outbound.sendall(first)
                self.passed.sent += len(first)
                upward.start()
                self._receive()
            self.over.set()
            self._end_of(self.inbound.sock)
            if upward.ident is not None:
                upward.join(REST_S)
            self._hang_up()
        self.draft.complete = not self.closing.is_set()
        self.settle(self.draft)

    def _send(self) -> None:
        """Pass on what the agent says. Runs in a thread of its own."""
        with contextlib.suppress(OSError):
            while data := self.inbound.sock.recv(READ):
                self.outbound.sendall(data)
                self.passed.sent += len(data)
        self._end_of(self.outbound)
        if self.closing.is_set() or not self.over.wait(REST_S):
            self._hang_up()

    def _receive(self) -> None:
        """Pass on what the host says."""
        while data := self.outbound.recv(READ):
            self.inbound.sock.sendall(data)
            self.passed.received += len(data)

    def _end_of(self, sock: socket.socket) -> None:
        with contextlib.suppress(OSError):
            sock.shutdown(socket.SHUT_WR)

    def _hang_up(self) -> None:
        for sock in (self.outbound, self.inbound.sock):
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
