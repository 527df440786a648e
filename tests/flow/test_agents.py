"""OpenCode, Codex and Claude Code as their makers ship them, in the clean room, over routes with a real key.

The provider is the scripted one on this machine's loopback; it is reached as a real one would be. The programs come
from the npm registry, as scripts/runtimes installs them.
"""

import json
import os
import re
import shutil
import subprocess
import threading
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_hex
from typing import Any

import pytest

from runner.bundles.install import folder_of, install
from runner.bundles.pins import load_pins, this_platform
from runner.gateway.scenario import Answer, Scenario, Step, ToolCall
from runner.gateway.scripted import ScriptedProvider, scripted_provider
from runner.npm import registry_of
from runner.publishing.forms import Spellings
from runner.publishing.model import Secret
from runner.settings import DEFAULT_STATE
from tests.flow.bench import CONFIG, LONGEST_SECONDS, PROMPT, Bench, Said, copied

KEY = f"sk-canary+{token_hex(12)}/=x"
"""Signs that encodings change are in it."""

OLD, NEW = "return max(low, value)", "return min(high, max(low, value))"
WORK = {
    "opencode": (
        ("read", {"filePath": "/work/clamp.py"}),
        ("edit", {"filePath": "/work/clamp.py", "oldString": OLD, "newString": NEW}),
    ),
    "codex": (
        ("exec_command", {"cmd": "cat clamp.py"}),
        ("exec_command", {"cmd": f"sed -i 's/{OLD}/{NEW}/' clamp.py"}),
    ),
    "claude": (
        ("Read", {"file_path": "/work/clamp.py"}),
        ("Edit", {"file_path": "/work/clamp.py", "old_string": OLD, "new_string": NEW}),
    ),
}
PROTOCOLS = {"opencode": "chat-completions", "codex": "responses", "claude": "messages"}
COSTS = ("0.01", "0.02", "0.03")
WHOLE_COST = "0.06"
ROOM = {"memory_bytes": 2 << 30, "tasks": 256, "disk_bytes": 256 << 20, "disk_inodes": 8192, "wall_ms": 120_000}


def scenario(agent: str) -> Scenario:
    """Look, mend, say so."""
    calls = [ToolCall(name=name, arguments=dict(given)) for name, given in WORK[agent]]
    answers = [Answer(text="I look.", tool_calls=(calls[0],)), Answer(tool_calls=(calls[1],)), Answer(text="Mended.")]
    hello = Step.model_validate({"when": {"contains": "Reply with exactly: hi"}, "answer": {"text": "hi"}})
    work = [
        Step.model_validate(
            {"when": {"contains": PROMPT.strip()}, "answer": answer.model_dump(exclude_none=True), "cost": cost},
            strict=False,
        )
        for answer, cost in zip(answers, COSTS, strict=True)
    ]
    return Scenario(model=f"scripted/{agent}", steps=(hello, *work))


@pytest.fixture(scope="module")
def roots() -> dict[str, str]:
    """The pinned programs, installed where scripts/runtimes puts them."""
    into = DEFAULT_STATE / "runtimes"
    found = {}
    for pin in load_pins(Path(__file__).parents[2] / "config/runtimes.json"):
        install(pin, this_platform(), into, registry_of(os.environ))
        found[f"{pin.agent}_root"] = str(folder_of(into, pin))
    return found


@dataclass(slots=True)
class Watch:
    """Looks at every process's environment and arguments, and at the units' journal, while a command runs."""

    runner: int
    found: set[str] = field(default_factory=set)
    looked_at: set[str] = field(default_factory=set)
    journals: int = 0
    over: threading.Event = field(default_factory=threading.Event)

    def look(self) -> None:
        while not self.over.wait(0.05):
            for folder in Path("/proc").iterdir():
                if folder.name.isdecimal() and int(folder.name) not in {self.runner, os.getpid()}:
                    self._process(folder)

    def _process(self, folder: Path) -> None:
        with suppress(OSError):
            name = (folder / "comm").read_text().strip()
            for file in ("environ", "cmdline"):
                if holds_secret((folder / file).read_bytes()):
                    self.found.add(f"{file} of {name}")
            self.looked_at.add(name)
            if name == "systemd":
                self._journal(folder / "root/run/log/journal")

    def _journal(self, folder: Path) -> None:
        for file in folder.rglob("*.journal"):
            self.journals += 1
            if holds_secret(file.read_bytes()):
                self.found.add("the journal")


SECRETS = Spellings((Secret(name="the key", value=KEY.encode()),))


def holds_secret(content: bytes) -> bool:
    return any(SECRETS.find(content)) or any(hit for part in unzipped(content) for hit in SECRETS.find(part))


def unzipped(content: bytes) -> Iterator[bytes]:
    """Give what gzip members within some bytes hold, as far as they go."""
    for found in re.finditer(rb"\x1f\x8b\x08", content):
        with suppress(zlib.error):
            yield zlib.decompressobj(31).decompress(content[found.start() :])


def written(bench: Bench, base_url: str, roots: dict[str, str]) -> Bench:
    """Make the bench's release one of the three agents, each over a route of its protocol, and of one that is poor."""
    routes = [
        {"id": agent, "base_url": base_url, "credential": "CANARY_KEY", "protocol": protocol}
        for agent, protocol in PROTOCOLS.items()
    ]
    routes[0]["amendments"] = ["include_usage"]  # type: ignore[assignment]  # a list among texts
    candidates: list[dict[str, object]] = [
        {"id": agent, "agent": agent, "model": f"scripted/{agent}", "route": agent} for agent in PROTOCOLS
    ]
    candidates.append({**candidates[1], "id": "poor", "budget": {"requests": 2}})
    bench.config.write_text(
        json.dumps(
            CONFIG
            | {
                "release": "agents",
                "candidates": candidates,
                "routes": routes,
                "judges": [],
                "clean_room": {"state_dir": ".cleanroom", **roots},
                "limits": {**CONFIG["limits"], "preflight": ROOM, "solution": ROOM},  # type: ignore[dict-item]
            }
        )
    )
    return bench


@dataclass(frozen=True, slots=True, kw_only=True)
class Piloted:
    """A release of the real agents that was run, and what was seen meanwhile."""

    bench: Bench
    said: Said
    watch: Watch
    provider: ScriptedProvider

    def attempt(self, candidate: str) -> Path:
        return self.bench.checkout / ".cleanroom/store/agents" / candidate / "clamp/attempt-1/try-1"

    def document(self, candidate: str, path: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.attempt(candidate) / path).read_bytes())
        return found


@pytest.fixture(scope="module")
def piloted(benches: Path, frozen: Bench, roots: dict[str, str]) -> Iterator[Piloted]:
    scenarios = {each.model: each for each in map(scenario, WORK)}
    with scripted_provider(scenarios) as provider:
        bench = written(copied(frozen, benches / "agents"), provider.base_url, roots)
        said = bench.run("freeze")
        assert said.code == 0, said.err
        environment = {**os.environ, "CANARY_KEY": KEY}
        pipe = subprocess.PIPE
        with subprocess.Popen(bench.argv("pilot"), stdout=pipe, stderr=pipe, text=True, env=environment) as process:
            watch = Watch(runner=process.pid)
            watching = threading.Thread(target=watch.look)
            watching.start()
            try:
                out, err = process.communicate(timeout=LONGEST_SECONDS)
            finally:
                watch.over.set()
                watching.join()
        yield Piloted(bench=bench, said=Said(code=process.returncode, out=out, err=err), watch=watch, provider=provider)


@pytest.mark.parametrize("agent", WORK)
def test_a_real_agent_finishes_a_real_edit(piloted: Piloted, agent: str) -> None:
    assert piloted.said.code == 0, piloted.said.err
    assert f"{agent}/clamp/attempt-1: completed" in piloted.said.err
    assert f"+    {NEW}" in (piloted.attempt(agent) / "submission/candidate.diff").read_text()
    submission = piloted.document(agent, "submission/submission.json")
    assert submission["failure"] is None
    runtime = submission["origin"]["runtime"]
    assert (runtime["agent"], len(runtime["tree_sha256"])) == (agent, 64)
    assert re.fullmatch(r"\d+\.\d+\.\d+", runtime["version"])


@pytest.mark.parametrize("agent", WORK)
def test_the_gateway_counts_and_the_agents_own_figures_stand_beside_it(piloted: Piloted, agent: str) -> None:
    telemetry = piloted.document(agent, "submission/telemetry.json")
    assert telemetry["final_message"] == "Mended."
    traffic = telemetry["traffic"]
    assert (traffic["requests"], traffic["failed"], traffic["cost"]) == (3, 0, WHOLE_COST)
    assert (traffic["tokens"]["input"], traffic["tokens"]["output"]) == (300, 60)
    assert telemetry["claims"]["tokens"]["output"] == 60
    assert telemetry["session"]
    ledger = (piloted.attempt(agent) / "submission/ledger.jsonl").read_text().splitlines()
    operation = {"opencode": "chat", "codex": "responses", "claude": "messages"}[agent]
    assert {json.loads(line)["operation"] for line in ledger} == {operation}


def test_a_budget_ends_an_agent_at_once_and_is_its_failure(piloted: Piloted) -> None:
    assert "poor/clamp/attempt-1: agent_failure" in piloted.said.err
    submission = piloted.document("poor", "submission/submission.json")
    assert submission["failure"]["cause"] == "budget"


def test_the_provider_gets_the_key_and_nobody_else_ever_holds_it(piloted: Piloted) -> None:
    sent = [{name: head.get(name) for name in ("authorization", "x-api-key")} for head in piloted.provider.headers]
    assert all(KEY in (each["authorization"] or "") or each["x-api-key"] == KEY for each in sent)
    assert {"python3", "systemd", "codex", "claude"} <= piloted.watch.looked_at
    assert piloted.watch.journals > 0
    assert piloted.watch.found == set()
    assert not holds_secret((piloted.said.out + piloted.said.err).encode())
    files = [path for path in piloted.bench.checkout.rglob("*") if path.is_file() and not path.is_symlink()]
    assert any(path.name == "ledger.jsonl" for path in files)
    assert [path for path in files if path.stat().st_size < (64 << 20) and holds_secret(path.read_bytes())] == []


def test_nothing_was_asked_but_the_model(piloted: Piloted) -> None:
    ledgers = piloted.bench.checkout.rglob("ledger.jsonl")
    lines = [json.loads(line) for ledger in ledgers for line in ledger.read_text().splitlines()]
    assert {line["refusal"] for line in lines} == {None, "budget"}
    assert all(line["provider_features"] == [] for line in lines)


@pytest.mark.parametrize("agent", WORK)
def test_an_attempt_of_each_is_replayed_without_a_provider_and_a_key(piloted: Piloted, agent: str) -> None:
    asked = len(piloted.provider.requests)
    said = piloted.bench.run("replay", f"{agent}/clamp/attempt-1", "--json")
    assert said.code == 0, said
    told = json.loads(said.out)
    assert (told["recorded"], told["answered"], told["divergences"]) == (3, 3, [])
    sealed = piloted.document(agent, "submission/submission.json")["tree_sha256"]
    assert told["tree_sha256"] == told["sealed_sha256"] == sealed
    assert len(piloted.provider.requests) == asked


def test_a_program_that_is_not_whole_stops_the_run_before_a_model_is_asked(
    piloted: Piloted, benches: Path, roots: dict[str, str]
) -> None:
    asked = len(piloted.provider.requests)
    broken = benches / "broken-codex"
    subprocess.run(["/usr/bin/cp", "-al", roots["codex_root"], str(broken)], check=True)
    (broken / "codex-resources/bwrap").unlink()
    bench = copied(piloted.bench, benches / "broken")
    config = json.loads(bench.config.read_text())
    config["clean_room"]["codex_root"] = str(broken)
    bench.config.write_text(json.dumps(config))
    shutil.rmtree(bench.checkout / ".cleanroom/store/agents/codex")
    pilot = bench.start("pilot", "--candidate", "codex", within=("/usr/bin/env", f"CANARY_KEY={KEY}"))
    _, err = pilot.communicate(timeout=LONGEST_SECONDS)
    assert pilot.returncode == 4, err
    assert "no file codex-resources/bwrap" in err
    assert "scripts/runtimes" in err
    assert len(piloted.provider.requests) == asked
