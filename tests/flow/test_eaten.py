"""Candidates that eat what there is while they work: their own failure, with its cause, and the pilot goes on."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.flow.bench import CONFIG, SMALL, Bench, copied, own_folder

pytestmark = pytest.mark.systemd

WALL_MS = 10_000
"""Long enough for a busy machine to give out all memory, too."""
GRACE_MS = 2000
FORKS = """
import os, signal
for number in range(1, 31):
    if number not in (9, 17, 19):
        signal.signal(number, signal.SIG_IGN)
while True:
    try:
        if os.fork() == 0:
            os.setsid()
    except OSError:
        pass
"""
FILES = """
import os
open('/work/clamp.py', 'a').write('# more\\n')
try:
    with open('/home/agent/full', 'wb', buffering=0) as stream:
        while True:
            stream.write(bytes(1 << 20))
except OSError as error:
    print(error)
try:
    for number in range(100000):
        os.close(os.open(f'/tmp/{number}', os.O_CREAT))
except OSError as error:
    print(error)
"""
MEMORY = "held = []\nwhile True: held.append(bytearray(8 << 20))\n"
EATING = {"filler": FILES + FORKS, "glutton": MEMORY}
"""What each scripted model has a command do."""
CAUSES = {"filler": "timeout", "glutton": "oom"}


def scenario(name: str) -> str:
    hello = {"when": {"contains": "Reply with exactly: hi"}, "answer": {"text": "hi"}}
    eat = {"name": "run", "arguments": {"command": ["/usr/bin/python3", "-c", EATING[name]], "timeout_s": 100}}
    end = {"name": "done", "arguments": {"summary": "eaten"}}
    steps = [hello, *({"answer": {"tool_calls": [call]}} for call in (eat, end))]
    return json.dumps({"schema": "cleanroom/scenario/1", "model": f"scripted/{name}", "steps": steps})


@pytest.fixture(scope="module")
def eaten(benches: Path, frozen: Bench) -> Iterator[Bench]:
    agents = [{"id": name, "agent": "native", "model": f"scripted/{name}", "route": "scripted"} for name in EATING]
    limits = {phase: {**SMALL, "wall_ms": 90_000} for phase in ("preflight", "public_tests", "evaluators")}
    config = {
        **CONFIG,
        "release": "eaten-1",
        "judges": [],
        "candidates": [*agents, {"id": "oracle", "agent": "oracle"}],
        "limits": {**limits, "solution": {**SMALL, "wall_ms": WALL_MS}},
    }
    with own_folder(benches, "eaten") as folder:
        bench = copied(frozen, folder / "checkout")
        for name in EATING:
            (bench.checkout / f"config/scenarios/{name}.json").write_text(scenario(name))
        bench.config.write_text(json.dumps(config))
        said = bench.run("freeze")
        assert said.code == 0, said.err
        said = bench.run("pilot")
        assert said.out == "3 tries, 0 further gradings, 0 void\n", said.err
        yield bench


def test_each_fails_by_its_own_cause_and_who_comes_after_them_does_not(eaten: Bench) -> None:
    rows = {line.split()[0]: line for line in eaten.run("aggregate").out.splitlines() if line}
    assert all(rows[name].split()[2] == "agent_failure" for name in EATING)
    assert "the agent outlived its time" in rows["filler"]
    assert "the agent used more memory than it had" in rows["glutton"]
    assert rows["oracle"].split()[2:4] == ["completed", "passed"]


@pytest.mark.parametrize("name", EATING)
def test_its_end_is_recorded_and_what_it_left_is_captured_and_judged(eaten: Bench, name: str) -> None:
    tried = eaten.checkout / f".cleanroom/store/eaten-1/{name}/clamp/attempt-1/try-1"
    end = json.loads((tried / "submission/termination.json").read_bytes())["end"]
    assert end["cause"] == CAUSES[name]
    assert end["wall_ms"] < WALL_MS + GRACE_MS
    patch = (tried / "submission/candidate.diff").read_text()
    assert ("+# more\n" in patch) is (name == "filler"), "a full disk keeps nothing from being captured"
    assert (tried / "gradings/grading-1").is_dir()
