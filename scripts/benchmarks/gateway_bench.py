"""What the gateway costs: a request and a streamed event through its real unit, against the same without it."""

import http.client
import json
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from blunt_provider import EVENTS, GIANT_BYTES, PAUSE_S, SLOW_EVENTS
from figures import Figure, Measured
from rooms import manager_pid, patient_sandbox, state_folder

from runner.documents.ledger import LedgerLine
from runner.gateway.bundle import gateway_bundle
from runner.gateway.client import Gateway, Tapes, open_gateway
from runner.gateway.relay.terms import Ceilings, Terms

_REQUESTS, _STREAMS, _WARM = 200, 9, 2
_AT_ONCE = 200
_ADDED_REQUEST_MS, _ADDED_EVENT_MS = 1.5, 0.3
_GROWTH_BYTES = 32 << 20
"""How much more memory the gateway may hold over a stream of a gigabyte."""


def figures() -> list[Figure]:
    """Measure each through the gateway and without it, in turn."""
    with (
        state_folder() as state,
        patient_sandbox(state) as sandbox,
        _provider() as port,
        open_gateway(sandbox, sandbox.store(gateway_bundle())) as gateway,
    ):
        with _gate(gateway, port, "whole") as gate:
            whole = _figure("gateway: a request", _requests(gate.port), _requests(port), _ADDED_REQUEST_MS)
        with _gate(gateway, port, "stream") as gate:
            event = _figure("gateway: a streamed event", _events(gate.port), _events(port), _ADDED_EVENT_MS)
        with _gate(gateway, port, "slow") as gate:
            together = _together(gate)
        with _gate(gateway, port, "giant") as gate:
            _giant(gate)
    return [whole, event, together]


def _figure(what: str, through: list[float], direct: list[float], most_added_ms: float) -> Figure:
    return Figure(
        what=what,
        ours=Measured(name="gateway", seconds=tuple(through)),
        theirs=Measured(name="without", seconds=tuple(direct)),
        most_added_ms=most_added_ms,
    )


@dataclass(slots=True, kw_only=True)
class _Gate:
    """An attempt's listener, and the lines that came of it."""

    port: int
    lines: list[LedgerLine]


@contextmanager
def _provider() -> Iterator[int]:
    argv = [sys.executable, "-I", str(Path(__file__).with_name("blunt_provider.py"))]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as process:
        if process.stdout is None:
            raise RuntimeError("the provider says nothing")
        try:
            yield int(process.stdout.readline())
        finally:
            process.kill()


@contextmanager
def _gate(gateway: Gateway, provider: int, model: str) -> Iterator[_Gate]:
    listener = socket.create_server(("127.0.0.1", 0), backlog=512)
    gate = _Gate(port=listener.getsockname()[1], lines=[])
    terms = Terms(
        attempt=model,
        base_url=f"http://127.0.0.1:{provider}/v1",
        model=model,
        usage_reporting=False,
        ceilings=Ceilings(requests=100_000),
    )
    with TemporaryDirectory() as folder:
        # As an attempt's is: what is measured is what is used.
        tapes = Tapes(kept=Path(folder) / "kept.gz")
        with gateway.attempt(terms, listener.detach(), gate.lines.append, tapes):
            yield gate


def _ask(connection: http.client.HTTPConnection, model: str) -> http.client.HTTPResponse:
    body = json.dumps({"model": model, "messages": [{"role": "user", "content": "x"}], "stream": model != "whole"})
    connection.request("POST", "/v1/chat/completions", body, {"content-type": "application/json"})
    answer = connection.getresponse()
    if answer.status != http.client.OK:
        raise RuntimeError(f"{model}: status {answer.status}: {answer.read(500)!r}")
    return answer


def _connect(port: int) -> http.client.HTTPConnection:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    connection.connect()
    connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def _requests(port: int) -> list[float]:
    """Give the seconds of each request on one connection."""
    connection, times = _connect(port), []
    for _ in range(_WARM + _REQUESTS):
        began = time.perf_counter()
        _ask(connection, "whole").read()
        times.append(time.perf_counter() - began)
    connection.close()
    return times[_WARM:]


def _events(port: int) -> list[float]:
    """Give the seconds of each stream, by its events."""
    connection, times = _connect(port), []
    for _ in range(_WARM + _STREAMS):
        began = time.perf_counter()
        whole = _ask(connection, "stream").read()
        times.append((time.perf_counter() - began) / EVENTS)
        if whole.count(b"data: ") != EVENTS + 2:
            raise RuntimeError(f"{whole.count(b'data: ')} events came of a stream of {EVENTS + 2}")
    connection.close()
    return times[_WARM:]


def _together(gate: _Gate) -> Figure:
    """Have many streams at once; each must come whole."""
    times: list[float] = []
    counts: list[int] = []

    def one() -> None:
        began = time.perf_counter()
        connection = _connect(gate.port)
        counts.append(_ask(connection, "slow").read().count(b"data: "))
        times.append(time.perf_counter() - began)
        connection.close()

    threads = [threading.Thread(target=one) for _ in range(_AT_ONCE)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if counts != [SLOW_EVENTS + 2] * _AT_ONCE:
        raise RuntimeError(f"of {_AT_ONCE} streams {counts.count(SLOW_EVENTS + 2)} came whole")
    if len(gate.lines) != _AT_ONCE or not all(line.complete for line in gate.lines):
        raise RuntimeError(f"{len(gate.lines)} lines of {_AT_ONCE} streams")
    alone = Measured(name="the provider's own pauses", seconds=(SLOW_EVENTS * PAUSE_S,))
    return Figure(
        what=f"gateway: {_AT_ONCE} streams at once", ours=Measured(name="g", seconds=tuple(times)), theirs=alone
    )


def _giant(gate: _Gate) -> None:
    """Take a stream of a gigabyte; the gateway's memory must stay as it is."""
    before = _resident()
    peak, over = [before], threading.Event()

    def watch() -> None:
        while not over.wait(0.1):
            peak.append(_resident())

    watching = threading.Thread(target=watch)
    watching.start()
    began = time.perf_counter()
    answer, size = _ask(_connect(gate.port), "giant"), 0
    while part := answer.read(1 << 20):
        size += len(part)
    over.set()
    watching.join()
    grown = max(peak) - before
    took = time.perf_counter() - began
    print(f"bench: a stream of {size >> 20} MiB in {took:.1f} s; the gateway's memory grew by {grown >> 10} KiB")
    if size < GIANT_BYTES or grown > _GROWTH_BYTES:
        raise RuntimeError("a stream was cut, or the gateway's memory is not flat")


def _resident() -> int:
    """Tell the memory of the gateway's program: the one Python below the units' manager that is started by a folder."""
    manager = manager_pid()
    found = [
        int(status.split("VmRSS:")[1].split()[0]) << 10
        for process in Path("/proc").iterdir()
        if process.name.isdecimal() and (status := _status_of(process, manager))
    ]
    if len(found) != 1:
        raise RuntimeError(f"{len(found)} programs look like the gateway's")
    return found[0]


def _status_of(process: Path, manager: int) -> str | None:
    try:
        status = (process / "status").read_text()
        is_ours = f"\nPPid:\t{manager}\n" in status and b"/opt/gateway" in (process / "cmdline").read_bytes()
    except OSError:
        return None
    return status if is_ours else None
