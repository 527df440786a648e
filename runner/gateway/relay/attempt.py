"""One attempt's traffic: its listening socket, its connections, its numbered ledger lines."""

import contextlib
import socket
import threading
import time
from dataclasses import dataclass, field
from decimal import Decimal

import h11
import httpx

from .control import Control
from .dialect import Dialect, models_body
from .dialects import BY_NAME
from .draft import Draft, Passed
from .exchange import Exchange
from .inbound import CLIENT_GONE, Inbound, TooLargeError
from .playback import Playback
from .rules import Line, Refused, check_body, check_line, operation_of
from .shelf import Shelf
from .tally import name_of
from .taping import Recorder
from .terms import Terms
from .tunnel import CONNECT, Tunnel, UnreachableError, check_tunnel, dial

CONNECTIONS = 256
LARGE_BODIES = 16
CLOSE_S = 1.0


@dataclass(slots=True, kw_only=True)
class Attempt:
    """Serves one listening socket until it is closed. Whoever reaches the socket is the attempt."""

    terms: Terms
    listener: socket.socket
    client: httpx.Client
    control: Control
    recorder: Recorder
    shelf: Shelf | None = None
    """A recording that answers in the provider's place."""
    closing: threading.Event = field(default_factory=threading.Event)
    opened: float = field(default_factory=time.monotonic)
    _sequence: int = 0
    _surplus: int = 0
    _told_spent: bool = False
    _tokens: int = 0
    _usd: Decimal = Decimal(0)
    _drafts: dict[int, Draft] = field(default_factory=dict)
    _connections: dict[socket.socket, threading.Thread] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _parsing: threading.Lock = field(default_factory=threading.Lock)
    """One body at a time is taken apart: what a hostile one needs in memory is needed once."""
    _room: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(CONNECTIONS))
    _large: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(LARGE_BODIES))

    def serve(self) -> None:
        """Take connections, as many at once as there is room for, until the listener is shut down."""
        if self.shelf is not None:
            self.shelf.fill()
        while not self.closing.is_set():
            self._room.acquire()
            try:
                sock, _ = self.listener.accept()
            except OSError:
                self._room.release()
                self.closing.wait(0.05)
                continue
            serving = threading.Thread(target=self._serve_connection, args=(sock,), daemon=True)
            with self._lock:
                # Known and started at once: whoever closes joins what it finds here.
                self._connections[sock] = serving
                serving.start()

    def close(self) -> None:
        """Hang up on everybody, write the lines of requests still under way, and say so."""
        self.closing.set()
        with self._lock:
            connections = dict(self._connections)
        for sock in (self.listener, *connections):
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
        deadline = time.monotonic() + CLOSE_S
        for serving in connections.values():
            serving.join(max(0.0, deadline - time.monotonic()))
        # A thread that still waits for its provider finds its line written, and nobody to answer.
        with self._lock:
            left = tuple(self._drafts.values())
        for draft in left:
            self._settle(draft)
        self.listener.close()
        self.recorder.close()
        closed = {"say": "closed", "attempt": self.terms.attempt}
        self.control.send({**closed, "requests": self._sequence, "surplus": self._surplus})

    def _serve_connection(self, sock: socket.socket) -> None:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        inbound = Inbound(sock, self._large)
        try:
            while not self.closing.is_set() and self._serve_request(inbound):
                pass
        finally:
            inbound.close()
            with self._lock:
                self._connections.pop(sock, None)
            self._room.release()

    def _serve_request(self, inbound: Inbound) -> bool:
        """Serve one request; say whether another may follow on this connection."""
        head = self._head(inbound)
        if head is None:
            return False
        draft = self._begin(head)
        if draft is None:
            return False
        try:
            self._handle(head, draft, inbound)
        except CLIENT_GONE:
            return False
        finally:
            self._settle(draft)
            inbound.done()
        return draft.refusal not in {"http", "too_large"}

    def _head(self, inbound: Inbound) -> Line | None:
        try:
            return inbound.next_request()
        except h11.RemoteProtocolError as error:
            # Nothing was asked, so there is no line.
            with contextlib.suppress(*CLIENT_GONE):
                inbound.answer(error.error_status_hint, self._dialect.error_body("refused", "this is not HTTP"))
        except CLIENT_GONE:
            pass
        return None

    def _begin(self, line: Line) -> Draft | None:
        with self._lock:
            if self.closing.is_set():
                return None
            spent, told = self._is_spent(), self._told_spent
            surplus = spent and told
            self._told_spent = spent
            self._sequence += not surplus
            self._surplus += surplus
            connects = bool(self.terms.tunnels) and line.method == CONNECT
            operation = "connect" if connects else operation_of(line.path)
            draft = Draft(
                sequence=self._sequence,
                opened=self.opened,
                started=time.monotonic(),
                operation=operation,
                tape=self.recorder.tape(self._sequence, operation, line.method, line.target),
                refusal="budget" if spent else None,
            )
            if surplus:
                # One line says that the budget ran out; a flood of them would say no more.
                draft.claim()
                draft.settled.set()
            else:
                self._drafts[draft.sequence] = draft
        return draft

    def _is_spent(self) -> bool:
        most = self.terms.ceilings
        return (
            self._sequence >= most.requests
            or (most.tokens is not None and self._tokens >= most.tokens)
            or (most.usd is not None and self._usd >= Decimal(most.usd))
        )

    def _handle(self, head: Line, draft: Draft, inbound: Inbound) -> None:
        decided = self._decide(head, draft, inbound)
        if not isinstance(decided, tuple):
            decided.run()
            return
        status, body = decided
        draft.tape.whole(status, "application/json", body)
        draft.status_given, draft.complete = status, True
        draft.first()
        self._settle(draft)
        inbound.answer(status, body)

    @property
    def _dialect(self) -> Dialect:
        return BY_NAME[self.terms.dialect]

    def _decide(self, head: Line, draft: Draft, inbound: Inbound) -> Exchange | Playback | Tunnel | tuple[int, bytes]:
        unsent = self._take_body(draft, inbound)
        if unsent is not None:
            return self._refuse(draft, unsent)
        if self.shelf is not None:
            return self._find(self.shelf, head, draft, inbound)
        if draft.refusal == "budget":
            return self._refuse(draft, Refused(refusal="budget", status=403, message="the budget is used up"))
        return self._connect(head, draft, inbound) if self.terms.tunnels else self._decide_line(head, draft, inbound)

    def _decide_line(self, head: Line, draft: Draft, inbound: Inbound) -> Exchange | tuple[int, bytes]:
        dialect = check_line(head, self.terms)
        if isinstance(dialect, Refused):
            return self._refuse(draft, dialect)
        if dialect is None:
            return 200, models_body(self.terms.model)
        return self._decide_body(dialect, head, draft, inbound)

    def _connect(self, head: Line, draft: Draft, inbound: Inbound) -> Tunnel | tuple[int, bytes]:
        target = head.target.lower()
        passed = Passed(host=name_of(target) or "")
        draft.passed = passed if draft.operation == "connect" else None
        try:
            found = check_tunnel(head, self.terms) or dial(target, self.terms.patience.connect_ms)
        except UnreachableError as error:
            draft.failure = "network"
            return 502, self._dialect.error_body("network", str(error))
        if isinstance(found, Refused):
            return self._refuse(draft, found)
        return Tunnel(
            outbound=found,
            passed=passed,
            draft=draft,
            inbound=inbound,
            settle=self._settle,
            closing=self.closing,
        )

    def _take_body(self, draft: Draft, inbound: Inbound) -> Refused | None:
        try:
            draft.request = draft.tape.request = inbound.body()
        except TooLargeError:
            return Refused(refusal="too_large", status=413, message="the body exceeds 16 MiB")
        except h11.RemoteProtocolError:
            return Refused(refusal="http", status=400, message="the body is not sent as announced")
        return None

    def _find(self, shelf: Shelf, head: Line, draft: Draft, inbound: Inbound) -> Playback | tuple[int, bytes]:
        with self._parsing:
            played = shelf.take(draft.operation, head.method, head.target, draft.request)
        if played is None:
            status, unknown = self._dialect.final_status, "the recording has no such request"
            return self._refuse(draft, Refused(refusal="body", status=status, message=unknown))
        return Playback(played=played, draft=draft, inbound=inbound, settle=self._settle, closing=self.closing)

    def _decide_body(
        self, dialect: Dialect, head: Line, draft: Draft, inbound: Inbound
    ) -> Exchange | tuple[int, bytes]:
        with self._parsing:
            asked = check_body(dialect, head, draft.request, self.terms)
        if isinstance(asked, Refused):
            return self._refuse(draft, asked)
        draft.model_asked, draft.stream = name_of(asked.model), asked.stream
        draft.amended, draft.features = asked.amended, asked.features
        return Exchange(
            terms=self.terms,
            client=self.client,
            asked=asked,
            draft=draft,
            inbound=inbound,
            settle=self._settle,
            closing=self.closing,
        )

    def _refuse(self, draft: Draft, refused: Refused) -> tuple[int, bytes]:
        draft.refusal, draft.failure = refused.refusal, "refused"
        draft.model_asked = name_of(refused.model)
        code = "budget" if refused.refusal == "budget" else "refused"
        return refused.status, self._dialect.error_body(code, refused.message)

    def _settle(self, draft: Draft) -> None:
        """Write a request's line, once; return when the runner has it."""
        if draft.claim():
            draft.tape.finish(draft.failure, draft.refusal)
            self.control.settle(self.terms.attempt, draft.line(time.monotonic()))
            with self._lock:
                self._drafts.pop(draft.sequence, None)
                self._tokens += self._dialect.spent(draft.tally)
                self._usd += Decimal(draft.tally.cost or 0)
            draft.settled.set()
        else:
            draft.settled.wait()
