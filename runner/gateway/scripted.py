"""The scripted provider: a real HTTP server of ours that plays scenario files, labelled as such."""

import contextlib
import hashlib
import json
import socket
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import islice
from pathlib import Path

from runner.errors import DocumentError
from runner.gateway.playing.chat import Chat
from runner.gateway.playing.messages import Messages
from runner.gateway.playing.responses import Responses
from runner.gateway.playing.voice import Voice
from runner.gateway.scenario import Scenario, Step
from runner.parsing import parse_json, validate

LABEL = ("x-cleanroom-scripted", "1")
CHAT: Voice = Chat()
VOICES: Mapping[str, Voice] = {voice.path: voice for voice in (CHAT, Responses(), Messages())}


def load_scenarios(folder: Path) -> dict[str, Scenario]:
    """Read every scenario of a folder, by model.

    Raises:
        DocumentError, DocumentErrors: One is broken, or two have one model.
    """
    found: dict[str, Scenario] = {}
    for path in sorted(folder.glob("*.json")):
        scenario = parse_scenario(path.read_bytes(), str(path))
        if scenario.model in found:
            raise DocumentError(
                file=str(path),
                field="model",
                found=scenario.model,
                expected="a model that no other scenario has",
                mend="rename one",
            )
        found[scenario.model] = scenario
    return found


def parse_scenario(data: bytes, file: str) -> Scenario:
    """Read one scenario.

    Raises:
        DocumentError, DocumentErrors: It is not one.
    """
    return validate(Scenario, parse_json(data, file), file)


@dataclass(slots=True, kw_only=True)
class ScriptedProvider:
    """A running scripted provider."""

    base_url: str
    requests: list[dict[str, object]] = field(default_factory=list)
    """Bodies of completions asked for, in order."""
    bodies: list[bytes] = field(default_factory=list)
    """The same, byte for byte."""
    headers: list[dict[str, str]] = field(default_factory=list)
    """Their headers, names in lower case."""


@contextmanager
def scripted_provider(scenarios: Mapping[str, Scenario]) -> Iterator[ScriptedProvider]:
    """Serve scenarios on a free port of 127.0.0.1 until left."""
    server = _Server(scenarios)
    serving = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    serving.start()
    try:
        yield server.seen
    finally:
        server.over.set()
        server.shutdown()
        serving.join()
        server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(self, scenarios: Mapping[str, Scenario]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.scenarios = dict(scenarios)
        self.seen = ScriptedProvider(base_url=f"http://127.0.0.1:{self.server_port}/v1")
        self.over = threading.Event()
        self.times: Counter[str] = Counter()
        self.guard = threading.Lock()

    def count(self, body: bytes) -> int:
        """Say how often this very request came, this time included."""
        with self.guard:
            key = hashlib.sha256(body).hexdigest()
            self.times[key] += 1
            return self.times[key]

    def handle_error(self, request: object, client_address: object) -> None:
        """Stay silent about clients that leave."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it so
        """Print nothing."""

    def do_GET(self) -> None:
        if self.path != "/v1/models":
            self._error(CHAT, 404, "no such path", None)
            return
        models = [{"id": name, "object": "model"} for name in sorted(self.server.scenarios)]
        self._whole(200, {"object": "list", "data": models})

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", "0")))
        voice = VOICES.get(self.path.partition("?")[0])
        if voice is None:
            self._error(CHAT, 404, "no such path", None)
            return
        asked = json.loads(body)
        self.server.seen.headers.append({name.lower(): value for name, value in self.headers.items()})
        self.server.seen.bodies.append(body)
        self.server.seen.requests.append(asked)
        scenario = self.server.scenarios.get(asked["model"])
        if scenario is None:
            self._error(voice, 404, f"no scenario for the model {asked['model']}", "model_not_found")
            return
        step = scenario.step(voice.prompt(asked), voice.turn(asked))
        if step is None:
            self._error(voice, 400, "the script is over", "script_over")
            return
        self._play(voice, step, asked, self.server.count(body))

    def _play(self, voice: Voice, step: Step, asked: dict[str, object], time_asked: int) -> None:
        self.server.over.wait((step.delay_ms + step.hang_ms) / 1_000)
        if step.fail is not None and (step.fail.times is None or time_asked <= step.fail.times):
            self._error(voice, step.fail.status, step.fail.message, step.fail.code, step.fail.retry_after)
        elif step.raw is not None:
            self._send(step.raw.status, step.raw.content_type, step.raw.body.encode())
        elif step.answer is not None:
            answer = step.answer.filled(voice.prompt(asked))
            if asked.get("stream"):
                self._stream(step, voice.events(step, answer, asked))
            else:
                self._whole(200, voice.whole(step, answer, asked), cut=step.cut_after)

    def _error(self, voice: Voice, status: int, message: str, code: str | None, retry_after: str | None = None) -> None:
        self._whole(status, voice.error(status, message, code), retry_after=retry_after)

    def _whole(
        self,
        status: int,
        document: Mapping[str, object],
        *,
        cut: int | None = None,
        retry_after: str | None = None,
    ) -> None:
        data = json.dumps(document).encode()
        more = {} if retry_after is None else {"retry-after": retry_after}
        self._send(status, "application/json", data, cut=cut, more=more)

    def _send(
        self,
        status: int,
        content_type: str,
        data: bytes,
        *,
        cut: int | None = None,
        more: Mapping[str, str] | None = None,
    ) -> None:
        self._head(status, {"content-type": content_type, "content-length": str(len(data)), **(more or {})})
        self.wfile.write(data if cut is None else data[:cut])
        if cut is not None:
            self._break()

    def _head(self, status: int, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in (LABEL, *headers.items()):
            self.send_header(name, value)
        self.end_headers()

    def _stream(self, step: Step, events: Iterator[bytes]) -> None:
        self._head(200, {"content-type": "text/event-stream", "transfer-encoding": "chunked"})
        for event in events if step.cut_after is None else islice(events, step.cut_after):
            self._chunk(event)
            if step.pause_ms:
                self.server.over.wait(step.pause_ms / 1_000)
        if step.cut_after is not None:
            self._break()
            return
        self.wfile.write(b"0\r\n\r\n")

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.flush()

    def _break(self) -> None:
        self.close_connection = True
        self.wfile.flush()
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)
