"""Pilots without a terminal: they stand in line, are seen from outside, and end when they are asked to."""

import json
import os
import signal
from pathlib import Path

import pytest

from runner.documents.journal import State
from runner.documents.ticket import Ticket
from runner.journal import read_journal
from runner.running.line import Line
from tests.flow.bench import SLEEP, Bench, await_, finished
from tests.flow.traces import traces

pytestmark = pytest.mark.systemd


def detached(bench: Bench, candidates: str) -> dict[str, object]:
    """Start a pilot whose starter and its terminal are gone at once."""
    starter = bench.start(
        "pilot", "--detach", "--json", "--resume", "--candidate", candidates, within=("/usr/bin/setsid", "-w")
    )
    said = finished(starter)
    assert said.code == 0, said
    return json.loads(said.out)


def standing() -> list[int]:
    return [each.number for each in Line().living()]


def is_running(bench: Bench, candidate: str) -> bool:
    entries = read_journal(bench.store / "journal.jsonl")
    return bool(entries) and (entries[-1].trial.candidate, entries[-1].state) == (candidate, State.RUNNING)


def wake(pilot: Ticket) -> None:
    """End the sleep that the candidate of a pilot is at."""
    for each in traces(pilot.process).programs:
        if each.argv == ("sleep", SLEEP):
            os.kill(each.pid, signal.SIGKILL)


def test_detached_pilots_run_in_the_order_of_asking_are_seen_and_stop_after_their_attempt_or_now(bench: Bench) -> None:
    asked = [detached(bench, "sleeper,oracle")]
    await_(lambda: is_running(bench, "sleeper"), "the candidate's work")
    asked += [detached(bench, candidate) for candidate in ("nop", "recorded")]
    first, second, third = (int(str(each["number"])) for each in asked)
    assert [each["ahead"] for each in asked] == [0, 1, 2]
    assert standing() == [first, second, third]
    assert bench.run("stop", "--pilot", str(third)).code == 0
    assert bench.run("stop", "--after-current", "--pilot", str(first)).code == 0
    await_(lambda: standing() == [first, second], "the end of the one that waited")

    follower = bench.start("status", "--follow", "--json")
    assert follower.stdout is not None
    seen = json.loads(follower.stdout.readline())
    assert (seen["at_work"]["candidate"], seen["at_work"]["state"], seen["left_ms"]) == ("sleeper", "running", None)
    assert [each["waits"] for each in seen["pilots"]] == [False, True]
    wake(Line().living()[0])
    last = json.loads(finished(follower).out.splitlines()[-1])
    assert (last["pilots"], last["at_work"], last["done"]) == ([], None, 2), "neither oracle nor recorded was begun"
    assert last["results"] == {"tests_failed": 2}
    assert last["spent"]["requests"] > 2
    log = Path(str(asked[0]["log"])).read_text()
    assert "sleeper/clamp/attempt-1: tests_failed" in log
    assert "stopped, as it was asked to" in log

    again = detached(bench, "slow")
    assert bench.run("stop", "--now").code == 0
    assert standing() == []
    assert "'runner pilot --resume' goes on from there" in Path(str(again["log"])).read_text()
    said = bench.run("pilot", "--resume", "--candidate", "oracle,recorded")
    assert (said.code, said.out) == (0, "2 tries, 0 further gradings, 0 void\n")
    assert bench.run("verify", "--no-rebuild").code == 0
