"""The runner's side: whatever happens to the gateway is a fault."""

import contextlib
import json
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from runner.documents.ledger import LedgerLine
from runner.gateway.bundle import gateway_bundle
from runner.gateway.client import Gateway, Terms, gateway_spec, serve_through
from runner.gateway.errors import GatewayError
from runner.gateway.scenario import Answer, Step
from sandbox.spec import ObjectId, Reach, Role
from tests.unit.gateway.rig import PlainUnit, open_gate, playing, running_gateway

SAY = Step(answer=Answer(text="hello"))


def chat_and_kill(gateway: Gateway, unit: PlainUnit) -> None:
    with playing(gateway, SAY) as (gate, _):
        gate.chat()
        unit.kill()
        gate.client.close()
        with pytest.raises(httpx.ConnectError), httpx.Client(trust_env=False, verify=False) as client:  # noqa: S501 - plain http
            _ask_until_refused(client, gate.url)


def _ask_until_refused(client: httpx.Client, url: str) -> None:
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        with contextlib.suppress(httpx.ReadError, httpx.RemoteProtocolError):
            client.get(f"{url}/models")


def just_open(gateway: Gateway, base_url: str = "http://127.0.0.1:9/v1", **terms: object) -> None:
    with open_gate(gateway, base_url, **terms):
        pass


def just_start(unit: PlainUnit) -> None:
    with serve_through(unit):
        pass


def test_a_gateway_killed_amid_an_attempt_is_a_fault(program: Path) -> None:
    with running_gateway(program) as (gateway, unit):
        with pytest.raises(GatewayError):
            chat_and_kill(gateway, unit)
        assert gateway.lost is not None
        with pytest.raises(GatewayError):
            just_open(gateway)


def chat_untaken(gateway: Gateway) -> None:
    def refuse(_line: LedgerLine) -> None:
        raise OSError("disk full")

    with playing(gateway, SAY) as (gate, _), contextlib.suppress(httpx.HTTPError):
        gate.traffic.on_line = refuse
        gate.client.timeout = httpx.Timeout(0.5)
        gate.chat()


def test_a_runner_that_cannot_keep_a_line_is_a_fault(program: Path) -> None:
    with running_gateway(program) as (gateway, _), pytest.raises(GatewayError, match="disk full"):
        chat_untaken(gateway)


def test_a_program_that_does_not_start_says_why(tmp_path: Path) -> None:
    (tmp_path / "__main__.py").write_text("raise SystemExit('no such luck')")
    with PlainUnit(tmp_path).started() as unit, pytest.raises(GatewayError, match="ended"):
        just_start(unit)


def test_nonsense_from_the_gateway_is_a_fault(tmp_path: Path) -> None:
    (tmp_path / "__main__.py").write_text(
        'import socket; s = socket.socket(fileno=0); s.send(b\'{"say": "ready"}\'); s.recv(99999); '
        's.send(b\'{"say": "line"}\'); s.recv(99999)',
    )
    with (
        PlainUnit(tmp_path).started() as unit,
        serve_through(unit) as gateway,
        pytest.raises(GatewayError),
    ):
        just_open(gateway)


def kill_and_fail(gateway: Gateway, unit: PlainUnit) -> None:
    with playing(gateway, SAY):
        unit.kill()
        raise ZeroDivisionError


def test_an_error_in_the_attempt_is_not_hidden_by_the_gateways(program: Path) -> None:
    with running_gateway(program) as (gateway, unit), pytest.raises(ZeroDivisionError):
        kill_and_fail(gateway, unit)


def test_the_gateway_ends_with_its_runner(program: Path) -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with subprocess.Popen([sys.executable, "-I", "-S", "-B", str(program)], stdin=theirs) as process:
        theirs.close()
        assert json.loads(ours.recv(1000)) == {"say": "ready"}
        ours.close()
        assert process.wait(5) == 0


def test_terms_that_are_none_are_a_fault_which_quotes_no_key(program: Path) -> None:
    with running_gateway(program) as (gateway, _):
        with pytest.raises(GatewayError) as caught:
            just_open(gateway, "ftp://x", credential="sk-secret")
        assert "base_url" in str(caught.value)
        assert "sk-secret" not in str(caught.value)


def test_the_bundle_is_pure_whole_and_the_same_each_time() -> None:
    one, other = gateway_bundle(), gateway_bundle()
    paths = [entry.path.decode() for entry in one.entries]
    assert one.entries == other.entries
    assert {"__main__.py", "relay/main.py", "httpx/__init__.py", "h11/__init__.py"} <= set(paths)
    assert "certifi/cacert.pem" in paths
    assert all(path.endswith((".py", ".pem")) for path in paths)
    assert not any("pydantic" in path or path.startswith("runner") for path in paths)


def test_the_program_imports_nothing_of_ours_but_itself() -> None:
    bundle = gateway_bundle()
    for entry in bundle.entries:
        if entry.path.startswith(b"relay/"):
            assert entry.sha256 is not None
            source = bundle.blobs(entry.sha256).decode()
            assert "from runner" not in source
            assert "from sandbox" not in source


def test_only_the_gateway_reaches_outside() -> None:
    spec = gateway_spec(ObjectId("0" * 64))
    assert (spec.role, spec.network.reach) == (Role.GATEWAY, Reach.OUTSIDE)
    assert spec.argv[1:4] == ("-I", "-S", "-B")


def test_terms_show_no_secret_in_their_text() -> None:
    assert "sk-" not in repr(Terms(attempt="a", base_url="http://x", model="m", credential="sk-secret"))
