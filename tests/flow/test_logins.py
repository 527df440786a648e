"""The real agents with a login of their own, in real units; their makers are played, TLS and all, on this machine.

In the gateway's place stands a listener that plays the host of every tunnel: what an agent asks never leaves this
machine. That the gateway's tunnels lead to public hosts alone is in tests/unit/gateway/test_tunnels.py.
"""

import json
import socket
import ssl
import tempfile
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.client import HTTPConnection
from pathlib import Path
from secrets import token_hex
from typing import Any, cast
from urllib.parse import urlsplit

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from runner.agents.login import HOSTS, with_hosts
from runner.bundles.bundle import load_bundle
from runner.documents.runtimes import RuntimeName
from runner.gateway.client import AttemptTraffic, Gateway, Tapes, Terms
from runner.gateway.scenario import Answer, Scenario, Step
from runner.gateway.scripted import scripted_provider
from runner.roster import Agent, Candidate, NetworkMode
from runner.runtime import Runtime
from sandbox.client import KeeperSandbox
from sandbox.spec import MIB, Limits
from tests.flow.test_agents import roots
from tests.systemd.conftest import patiently

__all__ = ["roots"]

SECRET = f"sk-canary-{token_hex(8)}"
FAR = 4_102_444_800_000
LOGINS: dict[str, dict[str, object]] = {
    "opencode": {"anthropic": {"type": "api", "key": SECRET}},
    "codex": {"auth_mode": "apikey", "OPENAI_API_KEY": SECRET, "tokens": None, "last_refresh": None},
    "claude": {
        "claudeAiOauth": {
            "accessToken": SECRET,
            "refreshToken": "none",
            "expiresAt": FAR,
            "scopes": ["user:inference", "user:profile"],
            "subscriptionType": "max",
        }
    },
}
"""As the makers' programs write them: keys, and Claude Code's own login."""

MODELS = {"opencode": "anthropic/claude-sonnet-4-5", "codex": "gpt-5.5", "claude": "claude-sonnet-4-5"}
PATHS = {"/v1/messages", "/v1/responses"}
PLAYED = "played"
LIMITS = Limits(
    wall=timedelta(seconds=120),
    memory_bytes=2 << 30,
    tasks=256,
    disk_bytes=256 * MIB,
    disk_inodes=8192,
    output_bytes=16 * MIB,
)


@dataclass(frozen=True, slots=True)
class Papers:
    """A certificate authority, and what it has signed for the makers' hosts."""

    authorities: bytes
    context: ssl.SSLContext


def draft(subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
    now, day = datetime.now(UTC), timedelta(days=1)
    made = x509.CertificateBuilder().subject_name(subject).issuer_name(issuer).public_key(key.public_key())
    return made.serial_number(x509.random_serial_number()).not_valid_before(now - day).not_valid_after(now + day)


@pytest.fixture(scope="module")
def papers() -> Papers:
    root, host = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    issuer = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "an authority of this test")])
    authority = draft(issuer, issuer, root).add_extension(
        x509.BasicConstraints(ca=True, path_length=None), critical=True
    )
    names = [x509.DNSName(each.partition(":")[0]) for hosts in HOSTS.values() for each in hosts]
    names.append(x509.DNSName("api.anthropic.com"))
    signed = draft(x509.Name([]), issuer, host).add_extension(x509.SubjectAlternativeName(names), critical=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    pem = serialization.Encoding.PEM
    with tempfile.NamedTemporaryFile() as file:
        plain = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        file.write(host.private_bytes(pem, *plain))
        file.write(signed.sign(root, hashes.SHA256()).public_bytes(pem))
        file.flush()
        context.load_cert_chain(file.name)
    return Papers(authorities=authority.sign(root, hashes.SHA256()).public_bytes(pem), context=context)


@dataclass(slots=True)
class Makers:
    """Stands in the gateway's place, and plays every host that may be reached."""

    papers: Papers
    provider: str
    asked: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)
    """Host, request line and headers."""
    lost: None = None

    @contextmanager
    def attempt(self, terms: Terms, listener: int, on_line: object, tapes: Tapes) -> Iterator[AttemptTraffic]:
        del tapes
        with socket.socket(fileno=listener) as own:
            own.settimeout(None)
            serving = threading.Thread(target=self._serve, args=(own, terms.tunnels), daemon=True)
            serving.start()
            yield AttemptTraffic(attempt=terms.attempt, on_line=cast("Any", on_line), listener=own)
            own.shutdown(socket.SHUT_RDWR)
            serving.join()

    def _serve(self, listener: socket.socket, hosts: tuple[str, ...]) -> None:
        with suppress(OSError):
            while True:
                sock, _ = listener.accept()
                threading.Thread(target=self._tunnel, args=(sock, hosts), daemon=True).start()

    def _tunnel(self, sock: socket.socket, hosts: tuple[str, ...]) -> None:
        with sock, suppress(OSError):
            line, _ = _head(sock)
            target = line.split()[1]
            if not line.startswith("CONNECT ") or target not in hosts:
                self.asked.append((target, "refused", {}))
                sock.sendall(b"HTTP/1.1 403 no\r\ncontent-length: 0\r\n\r\n")
                return
            sock.sendall(b"HTTP/1.1 200 yes\r\n\r\n")
            with self.papers.context.wrap_socket(sock, server_side=True) as secured:
                while True:
                    self._answer(secured, target)

    def _answer(self, sock: ssl.SSLSocket, target: str) -> None:
        line, headers = _head(sock)
        self.asked.append((target, line, headers))
        body, size = b"", int(headers.get("content-length", 0))
        while len(body) < size:
            body += sock.recv(size - len(body)) or _gone()
        path = line.split()[1].partition("?")[0]
        if line.startswith("POST ") and path in PATHS:
            status, kind, said = self._play(path, body)
        else:
            # 426: no web socket is to be had here.
            status, kind, said = 426 if "upgrade" in headers else 404, "application/json", b"{}"
        head = f"HTTP/1.1 {status} x\r\ncontent-type: {kind}\r\ncontent-length: {len(said)}\r\n\r\n"
        sock.sendall(head.encode() + said)

    def _play(self, path: str, body: bytes) -> tuple[int, str, bytes]:
        asked = {**json.loads(body), "model": PLAYED}
        address = urlsplit(self.provider)
        with closing(HTTPConnection(cast("str", address.hostname), address.port)) as connection:
            connection.request("POST", path, json.dumps(asked), {"content-type": "application/json"})
            answer = connection.getresponse()
            return answer.status, answer.getheader("content-type", ""), answer.read()


def _gone() -> bytes:
    raise ConnectionError("the other side has left")


def _head(sock: socket.socket) -> tuple[str, dict[str, str]]:
    data = b""
    while not data.endswith(b"\r\n\r\n"):
        data += sock.recv(1) or _gone()
    line, *fields = data.decode("latin-1").strip().split("\r\n")
    pairs = (each.partition(":") for each in fields)
    return line, {name.strip().lower(): value.strip() for name, _, value in pairs}


@pytest.fixture(scope="module")
def sandbox(benches: Path) -> Iterator[KeeperSandbox]:
    with patiently(benches / "logins") as opened:
        yield opened


@pytest.mark.parametrize("agent", ["opencode", "codex", "claude"])
def test_a_real_agent_finds_its_login_and_reaches_its_maker(
    sandbox: KeeperSandbox, papers: Papers, roots: dict[str, str], agent: RuntimeName
) -> None:
    candidate = with_hosts(
        Candidate(
            id="own",
            agent=Agent(agent),
            model=MODELS[agent],
            network=NetworkMode.DIRECT,
            hosts=("api.anthropic.com:443",) if agent == "opencode" else (),
        )
    )
    hello = Scenario(model=PLAYED, steps=(Step(answer=Answer(text="hi"), repeat=True),))
    with scripted_provider({PLAYED: hello}) as provider:
        makers = Makers(papers=papers, provider=provider.base_url)
        runtime = Runtime(
            sandbox=sandbox,
            gateway=cast("Gateway", makers),
            routes={},
            base_urls={},
            credential=lambda _name: None,
            bundles={agent: load_bundle(agent, Path(roots[f"{agent}_root"]))},
            logins={agent: json.dumps(LOGINS[agent]).encode()},
            authorities=papers.authorities,
        )
        asked = runtime.preflight(candidate, LIMITS, lambda _line: None, lambda _run: Tapes())
    told = [(ran.telemetry.final_message, ran.telemetry.final_error) for ran in asked.runs]
    assert asked.preflight.available, (told, makers.asked)
    assert asked.preflight.tries[0].answer == "hi"
    posts = [headers for _, line, headers in makers.asked if line.startswith("POST ")]
    assert posts
    assert all(f"Bearer {SECRET}" == each.get("authorization") or each.get("x-api-key") == SECRET for each in posts)
    assert not any(line == "refused" for _, line, _ in makers.asked), makers.asked
