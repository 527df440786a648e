"""The runner's side of the gateway: start it, give it attempts, take its ledger lines."""

import contextlib
import json
import os
import select
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Protocol

from pydantic import ValidationError

from runner.documents.ledger import LedgerLine
from runner.errors import StorageError
from runner.gateway.errors import GatewayError
from runner.gateway.relay.terms import Patience, Terms
from sandbox import profiles
from sandbox.api import Sandbox
from sandbox.profiles import Program
from sandbox.spec import PYTHON, Limits, Mount, ObjectId, UnitSpec

GATEWAY_TARGET = "/opt/gateway"
PACKET_LIMIT = 128 << 10
STARTED_S, OPENED_S, CLOSED_S, LEFT_S = 15.0, 5.0, 10.0, 2.0
LAST_WORDS_S = 1.0
"""How long the last words of a gateway that is gone are waited for."""
NOISE_LIMIT = 16 << 10

OnLine = Callable[[LedgerLine], None]


class Unit(Protocol):
    """What is needed of a started unit: a running one of the sandbox is one."""

    stdin: int
    stdout: int
    stderr: int

    def go(self) -> None:
        """Let the program start."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tapes:
    """The files of an attempt's exchanges: where they are kept, and what is played in the provider's place."""

    kept: Path | None = None
    """A file that is begun, or added to."""
    played: Path | None = None

    @contextmanager
    def opened(self) -> Iterator[dict[str, int]]:
        """Open what there is, by the names that the gateway knows.

        Raises:
            StorageError: A file cannot be opened.
        """
        flags = os.O_NOFOLLOW | os.O_CLOEXEC
        with contextlib.ExitStack() as stack:
            found: dict[str, int] = {}
            for name, path, mode in (
                ("recording", self.kept, os.O_CREAT | os.O_APPEND | os.O_WRONLY),
                ("replayed", self.played, os.O_RDONLY),
            ):
                if path is not None:
                    found[name] = _opened(path, mode | flags)
                    stack.callback(os.close, found[name])
            yield found


def _opened(path: Path, flags: int) -> int:
    try:
        return os.open(path, flags, 0o600)
    except OSError as error:
        raise StorageError(file=str(path), found=error.strerror or str(error)) from error


@dataclass(slots=True, kw_only=True)
class AttemptTraffic:
    """What came through for one attempt so far, in the order in which it ended."""

    attempt: str
    on_line: OnLine
    listener: socket.socket
    """Ours, so that nobody waits at a gate whose gateway is gone."""
    finished: list[LedgerLine] = field(default_factory=list)
    surplus: int | None = None
    """Requests beyond the budget, which have no lines; known once the attempt is closed."""
    opened: threading.Event = field(default_factory=threading.Event)
    closed: threading.Event = field(default_factory=threading.Event)

    @property
    def lines(self) -> tuple[LedgerLine, ...]:
        """The lines, in the order in which requests came."""
        return tuple(sorted(self.finished, key=lambda line: line.sequence))


@dataclass(slots=True)
class Gateway:
    """A gateway that serves attempts. Made by `open_gateway`."""

    control: socket.socket
    ready: threading.Event = field(default_factory=threading.Event)
    lost: str | None = None
    """Why there is no gateway any more, if so."""
    noise: bytearray = field(default_factory=bytearray)
    """The last of what its program printed: tracebacks of faults, never bodies or keys."""
    heard: threading.Event = field(default_factory=threading.Event)
    """Set once there is nothing more to hear."""
    silent: threading.Event = field(default_factory=threading.Event)
    """Whether it will print nothing more."""
    _attempts: dict[str, AttemptTraffic] = field(default_factory=dict)

    @contextmanager
    def attempt(self, terms: Terms, listener: int, on_line: OnLine, tapes: Tapes = Tapes()) -> Iterator[AttemptTraffic]:
        """Serve one attempt on its listening socket, which is taken over; `on_line` is called from a thread.

        A line is acknowledged when `on_line` returns, and only then the agent gets the last of its answer. What was
        asked and given stands in the attempt's recording before its line comes.

        Raises:
            GatewayError: The gateway died, or did not answer.
            StorageError: A recording cannot be opened.
        """
        own = socket.socket(fileno=listener)
        traffic = AttemptTraffic(attempt=terms.attempt, on_line=on_line, listener=own)
        self._attempts[terms.attempt] = traffic
        with contextlib.ExitStack() as ending:
            ending.callback(own.close)
            ending.callback(self._attempts.pop, terms.attempt)
            passed = ending.enter_context(tapes.opened())
            failing = ending.enter_context(contextlib.ExitStack())
            failing.callback(self._close_whatever_is, traffic)
            headers = [list(pair) for pair in terms.headers]
            packet = {"do": "open", **asdict(terms), "headers": headers, "passed": ["listener", *passed]}
            self._send(packet, listener, *passed.values())
            self.expect(traffic.opened, OPENED_S, "did not open an attempt")
            yield traffic
            failing.pop_all()
            self._close(traffic)

    def _close_whatever_is(self, traffic: AttemptTraffic) -> None:
        """Close an attempt that something else has ended; the gateway's own word counts less then."""
        with contextlib.suppress(GatewayError):
            self._close(traffic)

    def _close(self, traffic: AttemptTraffic) -> None:
        self._send({"do": "close", "attempt": traffic.attempt})
        self.expect(traffic.closed, CLOSED_S, "did not close an attempt")

    def _send(self, packet: Mapping[str, object], *descriptors: int) -> None:
        data = json.dumps(packet).encode()
        if len(data) > PACKET_LIMIT:
            raise GatewayError(f"a route's terms take {len(data)} bytes; at most {PACKET_LIMIT} can be sent")
        try:
            socket.send_fds(self.control, [data], descriptors)
        except OSError as error:
            raise GatewayError(f"the gateway is gone: {self._epitaph(str(error))}") from error

    def expect(self, event: threading.Event, patience_s: float, failing: str) -> None:
        """Wait for what the gateway has to say.

        Raises:
            GatewayError: It did not in time, or is gone.
        """
        if not event.wait(patience_s) or self.lost is not None:
            raise GatewayError(f"the gateway {failing}: {self._epitaph('no answer in time')}")

    def _epitaph(self, otherwise: str) -> str:
        if self.lost is not None:
            self.heard.wait(LEFT_S)  # What it printed last may still be on its way.
        self.silent.wait(LAST_WORDS_S if self.lost is not None else 0)
        last = self.noise.decode("utf-8", "replace").strip()
        return "\n".join(part for part in (self.lost or otherwise, last) if part)

    def listen(self) -> None:
        """Take packets until the gateway ends. Runs in a thread of its own."""
        try:
            while data := self.control.recv(PACKET_LIMIT):
                self._take(json.loads(data))
            self._lose("it ended")
        except (OSError, ValueError, KeyError, ValidationError, GatewayError) as error:
            self._lose(f"{type(error).__name__}: {error}")

    def _lose(self, why: str) -> None:
        self.lost = why
        self.ready.set()
        for traffic in tuple(self._attempts.values()):
            with contextlib.suppress(OSError):
                traffic.listener.shutdown(socket.SHUT_RDWR)
            traffic.opened.set()
            traffic.closed.set()

    def _take(self, packet: dict[str, object]) -> None:
        if packet["say"] == "ready":
            self.ready.set()
            return
        traffic = self._attempts[str(packet["attempt"])]
        match packet["say"]:
            case "opened":
                traffic.opened.set()
            case "line":
                line = LedgerLine.model_validate_json(json.dumps(packet["line"]))
                traffic.finished.append(line)
                traffic.on_line(line)
                self._send({"do": "taken", "attempt": traffic.attempt, "sequence": line.sequence})
            case "closed":
                traffic.surplus = int(str(packet["surplus"]))
                traffic.closed.set()
            case other:
                raise GatewayError(f"the gateway says {other!r}, which nobody knows")

    def overhear(self, *descriptors: int) -> None:
        """Drain what the program prints, keeping the last of it, and close. Runs in a thread of its own."""
        open_ones = set(descriptors)
        while open_ones:
            for readable in select.select(list(open_ones), [], [])[0]:
                try:
                    data = os.read(readable, 4096)
                except OSError:
                    data = b""
                if not data:
                    open_ones.discard(readable)
                    os.close(readable)
                self.noise += data
                del self.noise[:-NOISE_LIMIT]
        self.heard.set()
        self.silent.set()


def gateway_spec(bundle: ObjectId, limits: Limits = profiles.GATEWAY_LIMITS) -> UnitSpec:
    """Say how the gateway's unit is started from its stored bundle."""
    program = Program(
        argv=(PYTHON, "-I", "-S", "-B", GATEWAY_TARGET),
        mounts=(Mount(object=bundle, target=GATEWAY_TARGET),),
        working_directory="/",
    )
    return profiles.gateway(program, limits)


@contextmanager
def open_gateway(sandbox: Sandbox, bundle: ObjectId, limits: Limits = profiles.GATEWAY_LIMITS) -> Iterator[Gateway]:
    """Start the gateway's unit and keep it until left.

    Raises:
        SandboxError: The unit did not start.
        GatewayError: Its program did not.
    """
    with sandbox.start(gateway_spec(bundle, limits)) as running, serve_through(running) as gateway:
        yield gateway


@contextmanager
def serve_through(unit: Unit) -> Iterator[Gateway]:
    """Talk to a gateway's program that is about to get its go."""
    gateway = Gateway(socket.socket(fileno=os.dup(unit.stdin)))
    hearing = (
        threading.Thread(target=gateway.listen, daemon=True),
        threading.Thread(target=gateway.overhear, args=(os.dup(unit.stdout), os.dup(unit.stderr)), daemon=True),
    )
    try:
        unit.go()
        for thread in hearing:
            thread.start()
        gateway.expect(gateway.ready, STARTED_S, "did not start")
        yield gateway
    finally:
        with contextlib.suppress(OSError):
            gateway.control.shutdown(socket.SHUT_RDWR)
        for thread in hearing:
            if thread.ident is not None:
                thread.join(LEFT_S)
        gateway.control.close()


__all__ = ["AttemptTraffic", "Gateway", "Patience", "Tapes", "Terms", "gateway_spec", "open_gateway", "serve_through"]
