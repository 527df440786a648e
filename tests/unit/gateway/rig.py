"""A gateway as a plain subprocess on loopback, with the scripted provider behind it."""

import contextlib
import json
import os
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import h11
import httpx

from runner.documents.ledger import LedgerLine
from runner.gateway.bundle import gateway_bundle
from runner.gateway.client import AttemptTraffic, Gateway, Patience, Tapes, Terms, serve_through
from runner.gateway.scenario import Scenario, Step
from runner.gateway.scripted import ScriptedProvider, scripted_provider
from sandbox.spec import PYTHON

MODEL = "scripted/model"
KEY = "sk-secret-0123456789"
NO_TAPES = Tapes()

QUICK = Patience(
    retries=2,
    first_wait_ms=10,
    longest_wait_ms=50,
    all_waits_ms=500,
    connect_ms=1_000,
    silence_ms=1_000,
    request_ms=5_000,
)


@dataclass
class PlainUnit:
    """The gateway's program without a clean room around it."""

    program: Path
    process: subprocess.Popen[bytes] | None = None
    stdin: int = -1
    stdout: int = -1
    stderr: int = -1

    def go(self) -> None:
        """It runs already."""

    def kill(self) -> None:
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    @contextmanager
    def started(self) -> Iterator["PlainUnit"]:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        pipe = subprocess.PIPE
        argv = [PYTHON, "-I", "-S", "-B", str(self.program)]
        with ours, subprocess.Popen(argv, stdin=theirs, stdout=pipe, stderr=pipe, env={}) as self.process:
            theirs.close()
            assert self.process.stdout is not None
            assert self.process.stderr is not None
            self.stdin, self.stdout = ours.fileno(), self.process.stdout.fileno()
            self.stderr = self.process.stderr.fileno()
            try:
                yield self
            finally:
                with contextlib.suppress(ProcessLookupError):
                    self.process.kill()


def unpack_bundle(folder: Path) -> Path:
    bundle = gateway_bundle()
    for entry in bundle.entries:
        path = folder / os.fsdecode(entry.path)
        path.parent.mkdir(parents=True, exist_ok=True)
        assert entry.sha256 is not None
        path.write_bytes(bundle.blobs(entry.sha256))
    return folder


@contextmanager
def running_gateway(program: Path) -> Iterator[tuple[Gateway, PlainUnit]]:
    with PlainUnit(program).started() as unit, serve_through(unit) as gateway:
        yield gateway, unit


@dataclass
class Gate:
    """An attempt that is being served: its address, and what came through."""

    url: str
    port: int
    traffic: AttemptTraffic
    client: httpx.Client
    model: str
    seen: list[LedgerLine] = field(default_factory=list)

    def chat(self, *, stream: bool = False, prompt: str = "work", **more: object) -> httpx.Response:
        body = {"model": self.model, "messages": [{"role": "user", "content": prompt}], "stream": stream}
        headers = {"authorization": "Bearer dummy"}
        return self.client.post(f"{self.url}/chat/completions", json={**body, **more}, headers=headers)

    def post(self, data: bytes) -> httpx.Response:
        return self.client.post(f"{self.url}/chat/completions", content=data)

    @property
    def line(self) -> LedgerLine:
        assert len(self.traffic.lines) == 1, self.traffic.lines
        return self.traffic.lines[0]


@contextmanager
def open_gate(gateway: Gateway, base_url: str, tapes: Tapes = NO_TAPES, **terms: object) -> Iterator[Gate]:
    listener = socket.create_server(("127.0.0.1", 0), backlog=64)
    port = listener.getsockname()[1]
    told = Terms(
        attempt=f"attempt-{port}",
        base_url=base_url,
        model=MODEL,
        credential=KEY,
        patience=QUICK,
    )
    seen: list[LedgerLine] = []
    with (
        gateway.attempt(replace(told, **terms), listener.detach(), seen.append, tapes) as traffic,
        httpx.Client(trust_env=False, timeout=10, verify=False) as client,  # noqa: S501 - plain http on loopback
    ):
        yield Gate(f"http://127.0.0.1:{port}/v1", port, traffic, client, told.model, seen)


@contextmanager
def playing(
    gateway: Gateway, *steps: Step, tapes: Tapes = NO_TAPES, **terms: object
) -> Iterator[tuple[Gate, ScriptedProvider]]:
    """Serve an attempt whose provider plays the given steps."""
    scenario = Scenario(model=MODEL, steps=steps)
    with (
        scripted_provider({MODEL: scenario}) as provider,
        open_gate(gateway, provider.base_url, tapes, **terms) as gate,
    ):
        yield gate, provider


def events(response: httpx.Response) -> list[dict[str, object]]:
    """Give the JSON events of a streamed answer, `[DONE]` left out."""
    datas = [line[6:] for line in response.text.splitlines() if line.startswith("data: ")]
    return [json.loads(data) for data in datas if data != "[DONE]"]


def raw_request(port: int, data: bytes, *, patience_s: float = 5.0) -> bytes:
    """Send bytes as they are; give what comes back until the other side hangs up or falls silent."""
    with socket.create_connection(("127.0.0.1", port), timeout=patience_s) as sock:
        with contextlib.suppress(OSError):
            sock.sendall(data)
        taken = b""
        with contextlib.suppress(OSError):
            while chunk := sock.recv(65536):
                taken += chunk
        return taken


@contextmanager
def blunt_provider(answer: bytes) -> Iterator[str]:
    """A provider that answers every connection's first request with the given bytes and hangs up."""
    listener = socket.create_server(("127.0.0.1", 0))
    serving = threading.Thread(target=_serve_bluntly, args=(listener, answer), daemon=True)
    serving.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        serving.join()
        listener.close()


def _serve_bluntly(listener: socket.socket, answer: bytes) -> None:
    with contextlib.suppress(OSError):
        while True:
            sock, _ = listener.accept()
            with sock, contextlib.suppress(OSError):
                _read_request(sock)
                sock.sendall(answer)


def _read_request(sock: socket.socket) -> None:
    conn = h11.Connection(h11.SERVER)
    while type(event := conn.next_event()) is not h11.EndOfMessage:
        if event is h11.NEED_DATA:
            conn.receive_data(sock.recv(65536))
