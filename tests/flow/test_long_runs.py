"""Pilots without a terminal: they stand in line, are seen from outside, and end when they are asked to."""

import json
import os
import signal
from pathlib import Path

import pytest

from tests.flow.bench import SLEEP, Bench, await_, finished
from tests.flow.traces import traces

pytestmark = pytest.mark.systemd


def look(bench: Bench) -> dict[str, object]:
    said = bench.run("status", "--json")
    assert said.code == 0, said
    return json.loads(said.out)


def detached(bench: Bench, candidates: str) -> dict[str, object]:
    """Start a pilot whose starter and its terminal are gone at once."""
    starter = bench.start(
        "pilot", "--detach", "--json", "--resume", "--candidate", candidates, within=("/usr/bin/setsid", "-w")
    )
    said = finished(starter)
    assert said.code == 0, said
    return json.loads(said.out)


def standing(bench: Bench) -> list[tuple[object, object]]:
    return [(each["number"], each["waits"]) for each in look(bench)["pilots"]]


def wake(pilot: dict[str, object]) -> None:
    """End the sleep that the candidate of a pilot is at."""
    for each in traces(pilot["process"]).programs:
        if each.argv == ("sleep", SLEEP):
            os.kill(each.pid, signal.SIGKILL)


def test_detached_pilots_run_in_the_order_of_asking_are_seen_and_stop_after_their_attempt_or_now(bench: Bench) -> None:
    first = detached(bench, "sleeper,oracle")
    assert first["ahead"] == 0
    seen = await_(lambda: (now := look(bench))["at_work"] and now["at_work"]["state"] == "running" and now, "work")
    assert (seen["at_work"]["candidate"], seen["left_ms"], seen["done"]) == ("sleeper", None, 0)
    said = finished(bench.start("pilot", "--resume"))
    assert (said.code, "another run holds" in said.err) == (4, True), "whoever stands in no line is not let in"

    second, third = detached(bench, "nop"), detached(bench, "recorded")
    assert (second["ahead"], third["ahead"]) == (1, 2)
    numbers = [each["number"] for each in (first, second, third)]
    assert standing(bench) == [(numbers[0], False), (numbers[1], True), (numbers[2], True)]
    assert bench.run("stop", "--pilot", str(numbers[2])).code == 0
    assert bench.run("stop", "--after-current", "--pilot", str(numbers[0])).code == 0
    await_(lambda: len(standing(bench)) == 2, "the end of the one that waited")
    follower = bench.start("status", "--follow", "--json")
    wake(look(bench)["pilots"][0])
    lines = [json.loads(line) for line in finished(follower).out.splitlines()]
    assert {(line["at_work"] or {}).get("candidate") for line in lines} >= {"sleeper", "nop", None}
    last = lines[-1]
    assert (last["pilots"], last["at_work"], last["done"]) == ([], None, 2), "neither oracle nor recorded was begun"
    assert last["spent"]["requests"] > 2
    log = Path(str(first["log"])).read_text()
    assert "sleeper/clamp/attempt-1: tests_failed" in log
    assert "stopped, as it was asked to" in log

    again = detached(bench, "slow")
    assert bench.run("stop", "--now").code == 0
    assert standing(bench) == []
    assert "'runner pilot --resume' goes on from there" in Path(str(again["log"])).read_text()
    said = bench.run("pilot", "--resume", "--candidate", "oracle,recorded")
    assert (said.code, said.out) == (0, "2 tries, 0 further gradings, 0 void\n")
    assert bench.run("verify", "--no-rebuild").code == 0
