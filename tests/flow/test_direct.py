"""`network: direct`: an agent with a login of its own, from the configuration to the tables.

The agent is a stand-in for Codex that speaks to a server on this machine's loopback: the real ones go to their makers.
tests/flow/test_logins.py has those, with their makers played.
"""

import json
import shutil
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.flow.bench import CONFIG, LONGEST_SECONDS, PROMPT, Bench, Said, copied
from tests.flow.test_agents import KEY, ROOM, Watch, holds_secret

STAND_IN = r"""#!/usr/bin/python3 -I
import json, os, pathlib, socket, sys, urllib.parse

login = pathlib.Path.home() / ".codex/auth.json"
told = json.loads(login.read_text())
proxy = urllib.parse.urlsplit(os.environ["HTTPS_PROXY"])


def connect(target):
    sock = socket.create_connection((proxy.hostname, proxy.port))
    file = sock.makefile("rb")
    sock.sendall(f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n".encode())
    status = int(file.readline().split()[1])
    while file.readline() not in (b"\r\n", b""):
        pass
    return status, sock, file


def tell(**event):
    print(json.dumps(event), flush=True)


tell(type="thread.started", thread_id="stand-in")
elsewhere = [connect(target)[0] for target in ("example.com:443", "127.0.0.1:1", "169.254.169.254:80")]
status, sock, file = connect(told["server"])
asked = {"key": told["key"], "prompt": sys.stdin.read(), "mode": oct(login.stat().st_mode & 0o777),
         "own": login.stat().st_uid == os.getuid(), "elsewhere": elsewhere,
         "home": sorted(str(path.relative_to(login.parents[1])) for path in login.parents[1].rglob("*"))}
sock.sendall(json.dumps(asked).encode() + b"\n")
answer = json.loads(file.readline())
login.write_text(json.dumps({**told, "renewed": True}))
if "content" in answer:
    pathlib.Path("clamp.py").write_text(answer["content"])
if answer["text"] is not None:
    tell(type="item.completed", item={"id": "0", "type": "agent_message", "text": answer["text"]})
tell(type="turn.completed", usage={"input_tokens": 10, "output_tokens": 2})
"""

MENDED = "def clamp(value, low, high):\n    return min(high, max(low, value))\n"


@dataclass(slots=True)
class Maker:
    """The agent's maker: answers one question a connection."""

    asked: list[dict[str, Any]] = field(default_factory=list)
    address: str = ""
    mute: bool = False

    @contextmanager
    def serving(self) -> Iterator["Maker"]:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            self.address = f"127.0.0.1:{listener.getsockname()[1]}"
            serving = threading.Thread(target=self._serve, args=(listener,))
            serving.start()
            try:
                yield self
            finally:
                listener.shutdown(socket.SHUT_RDWR)
                serving.join()

    def _serve(self, listener: socket.socket) -> None:
        with suppress(OSError):
            while True:
                sock, _ = listener.accept()
                with sock, sock.makefile("rb") as file, suppress(OSError, ValueError):
                    asked = json.loads(file.readline())
                    self.asked.append(asked)
                    sock.sendall(json.dumps(self._answer(asked["prompt"])).encode() + b"\n")

    def _answer(self, prompt: str) -> dict[str, object]:
        if prompt != PROMPT:
            return {"text": "hi"}
        return {"text": None} if self.mute else {"text": "Mended.", "content": MENDED}


@dataclass(frozen=True, slots=True, kw_only=True)
class Piloted:
    """A release with a login that was run, and what was seen meanwhile."""

    bench: Bench
    login: Path
    said: Said
    watch: Watch
    maker: Maker

    def document(self, path: str, candidate: str = "own") -> dict[str, Any]:
        folder = self.bench.checkout / ".cleanroom/store/direct" / candidate / "clamp/attempt-1/try-1"
        found: dict[str, Any] = json.loads((folder / path).read_bytes())
        return found

    def lines(self, path: str) -> list[dict[str, Any]]:
        folder = self.bench.checkout / ".cleanroom/store/direct/own/clamp/attempt-1/try-1"
        return [json.loads(line) for line in (folder / path).read_text().splitlines()]


def written(bench: Bench, maker: Maker, login: Path) -> Bench:
    root = bench.checkout / "codex"
    for name in ("bin/codex", "bin/codex-code-mode-host", "codex-path/rg", "codex-resources/bwrap"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(STAND_IN)
        (root / name).chmod(0o755)
    (root / "codex-package.json").write_text("{}")
    login.write_text(json.dumps({"server": maker.address, "key": KEY}))
    login.chmod(0o600)
    candidate = {"id": "own", "agent": "codex", "model": "m", "network": "direct", "hosts": [maker.address]}
    room = {"state_dir": ".cleanroom", "codex_root": "codex", "login_files": {"codex": str(login)}}
    limits = {**CONFIG["limits"], "preflight": ROOM, "solution": ROOM}  # type: ignore[dict-item]
    changed = {
        "release": "direct",
        "candidates": [candidate],
        "routes": [],
        "judges": [],
        "clean_room": room,
        "limits": limits,
    }
    bench.config.write_text(json.dumps(CONFIG | changed))
    return bench


@pytest.fixture(scope="module")
def piloted(benches: Path, frozen: Bench) -> Iterator[Piloted]:
    with Maker().serving() as maker:
        login = benches / "login.json"
        bench = written(copied(frozen, benches / "direct"), maker, login)
        frozen_now = bench.run("freeze")
        assert frozen_now.code == 0, frozen_now.err
        with bench.start("pilot") as process:
            watch = Watch(runner=process.pid)
            watching = threading.Thread(target=watch.look)
            watching.start()
            try:
                out, err = process.communicate(timeout=LONGEST_SECONDS)
            finally:
                watch.over.set()
                watching.join()
        said = Said(code=process.returncode, out=out, err=err)
        yield Piloted(bench=bench, login=login, said=said, watch=watch, maker=maker)


def test_an_agent_with_a_login_works_and_reaches_its_makers_hosts_alone(piloted: Piloted) -> None:
    assert piloted.said.code == 0, piloted.said.err
    assert "own/clamp/attempt-1: completed" in piloted.said.err
    probe, work = piloted.maker.asked
    assert (probe["prompt"], work["prompt"]) == ("Reply with exactly: hi", PROMPT)
    for asked in (probe, work):
        assert asked["elsewhere"] == [403, 403, 403]
        assert (asked["mode"], asked["own"], asked["key"]) == ("0o600", True, KEY)
        assert asked["home"] == [".codex", ".codex/auth.json"]
    assert piloted.document("submission/preflight.json")["available"] is True


def test_nothing_is_known_of_its_traffic_but_where_it_led_and_how_much_it_was(piloted: Piloted) -> None:
    lines = piloted.lines("submission/ledger.jsonl")
    assert [(line["operation"], line["refusal"]) for line in lines] == [("connect", "host")] * 3 + [("connect", None)]
    through = lines[-1]["tunnel"]
    assert through["host"] == piloted.maker.address
    assert through["sent_bytes"] == len(json.dumps(piloted.maker.asked[1])) + 1
    assert through["received_bytes"] > len(MENDED)
    telemetry = piloted.document("submission/telemetry.json")
    assert telemetry["traffic"] is None
    assert (telemetry["final_message"], telemetry["claims"]["tokens"]["input"]) == ("Mended.", 10)
    submission = piloted.document("submission/submission.json")
    assert submission["phases"]["solution"]["cost_usd"] is None
    assert submission["failure"] is None
    assert piloted.document("submission/preflight.json")["tries"][0]["traffic"] is None


def test_every_document_and_every_table_says_so(piloted: Piloted) -> None:
    bench = piloted.bench
    manifest = json.loads((bench.checkout / "releases/direct/manifest.json").read_bytes())
    (candidate,) = manifest["candidates"]
    assert candidate["network"] == "direct"
    makers = ["chatgpt.com:443", "api.openai.com:443", "auth.openai.com:443"]
    assert candidate["hosts"] == [*makers, piloted.maker.address]
    for path in ("submission/submission.json", "gradings/grading-1/grading.json"):
        assert piloted.document(path)["origin"]["network"] == "direct"
    linted = bench.run("lint")
    assert "candidates[0].network" in linted.out
    assert "its login lies within its reach" in linted.out
    said = bench.run("aggregate")
    assert said.code == 0, said.err
    (found,) = bench.checkout.rglob("aggregate.json")
    aggregate = json.loads(found.read_bytes())
    assert (aggregate["direct"], aggregate["attempts"][0]["network"]) == (True, "direct")
    assert aggregate["attempts"][0]["phases"]["solution"]["cost_usd"] is None
    table = found.with_suffix(".md").read_text()
    assert "**network: direct: some agents reached their makers' hosts by themselves" in table
    assert "| direct |" in table
    verified = bench.run("verify")
    assert verified.code == 0, verified.out + verified.err
    replayed = bench.run("replay", "own/clamp/attempt-1")
    assert replayed.code == 2
    assert "own reached its hosts by itself, so that nothing of it was recorded" in replayed.err


def test_the_login_is_in_no_document_no_environment_and_no_journal(piloted: Piloted) -> None:
    assert json.loads(piloted.login.read_text()) == {"server": piloted.maker.address, "key": KEY}
    assert piloted.watch.journals > 0
    assert piloted.watch.found == set()
    assert not holds_secret((piloted.said.out + piloted.said.err).encode())
    files = [path for path in piloted.bench.checkout.rglob("*") if path.is_file() and not path.is_symlink()]
    assert any(path.name == "ledger.jsonl" for path in files)
    assert [path for path in files if path.stat().st_size < (64 << 20) and holds_secret(path.read_bytes())] == []


@pytest.mark.parametrize(
    ("mode", "told"),
    [
        pytest.param(0o644, "of mode 0644", id="others-can-read-it"),
        pytest.param(None, "no such file or directory", id="not-there"),
    ],
)
def test_a_login_that_cannot_be_taken_stops_the_run_before_anything_begins(
    piloted: Piloted, benches: Path, mode: int | None, told: str
) -> None:
    asked = len(piloted.maker.asked)
    bench = copied(piloted.bench, benches / f"login-{mode}")
    config = json.loads(bench.config.read_text())
    login = bench.checkout / "config/login.json"
    config["clean_room"]["login_files"] = {"codex": str(login)}
    bench.config.write_text(json.dumps(config))
    shutil.rmtree(bench.checkout / ".cleanroom/store/direct/own")
    if mode is not None:
        login.write_text("{}")
        login.chmod(mode)
    said = bench.run("pilot")
    assert said.code == 2, said.err
    assert "clean_room.login_files.codex" in said.err
    assert told in said.err
    assert len(piloted.maker.asked) == asked
    assert not (bench.checkout / ".cleanroom/store/direct/own").exists()


def test_an_agent_that_says_nothing_has_not_answered(piloted: Piloted, benches: Path) -> None:
    bench = copied(piloted.bench, benches / "mute")
    shutil.rmtree(bench.checkout / ".cleanroom/store/direct/own")
    piloted.maker.mute = True
    said = bench.run("pilot")
    piloted.maker.mute = False
    assert "own/clamp/attempt-1: agent_failure" in said.err
    folder = bench.checkout / ".cleanroom/store/direct/own/clamp/attempt-1/try-1"
    assert json.loads((folder / "submission/submission.json").read_bytes())["failure"]["cause"] == "no_answer"
