"""Whoever is killed, and whenever: nothing is half there, nothing goes on running, and the next run goes on."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Literal

import pytest

from tests.flow.bench import SLEEP, Bench, await_, finished, listing, names
from tests.flow.traces import Traces, await_gone, groups_left, traces

pytestmark = pytest.mark.systemd

Runner = subprocess.Popen[str]

DYING = Path(__file__).with_name("dying.py")
GROWING = (".tmp-exchanges-preflight-1.gz", ".tmp-exchanges-solution.gz", ".tmp-ledger.jsonl")
"""What grows beside a try until it is sealed."""


def kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)


def start_asleep(bench: Bench, *, within: tuple[str, ...] = ()) -> tuple[Runner, Traces]:
    """Start a pilot and wait until its candidate is at work."""
    runner = bench.start("pilot", "--candidate", "sleeper", within=within)

    def asleep() -> Traces | None:
        seen = traces(runner.pid)
        return seen if alive(runner) and len(sleepers(seen)) == 2 else None

    return runner, await_(asleep, "the candidate's work")


def alive(runner: Runner) -> bool:
    """Say yes, or fail with what a runner said that ended before its time."""
    assert runner.poll() is None, runner.communicate()
    return True


def sleepers(seen: Traces) -> list[int]:
    return [each.pid for each in seen.programs if each.argv == ("sleep", SLEEP)]


CUT = "try 1 was cut while its model worked; the release allows one try"


def states(bench: Bench) -> list[str]:
    """Give what the journal says, line by line."""
    return [json.loads(line)["state"] for line in (bench.store / "journal.jsonl").read_bytes().splitlines()]


def test_a_runner_killed_while_its_model_works_leaves_a_try_that_the_next_run_voids_and_does_not_repeat(
    bench: Bench,
) -> None:
    runner, seen = start_asleep(bench)
    kill(runner.pid)
    finished(runner)
    await_gone(seen, bench.checkout)
    await_(lambda: not groups_left(seen), "the end of its control groups")
    folder = bench.attempt("sleeper") / "try-1"
    assert names(folder) == [*GROWING, "begun.json"]
    assert bench.run("verify", "--no-rebuild").code == 0
    assert bench.run("pilot", "--candidate", "sleeper").code == 2, "begun: only --resume goes on"

    said = bench.run("pilot", "--candidate", "sleeper", "--resume")
    assert (said.code, said.out) == (1, "0 tries, 0 further gradings, 1 void\n")
    assert f"close try 1 as void ({CUT})" in said.err
    assert names(folder) == ["begun.json", "void"]
    assert fact(folder) == {"blame": "runner", "interrupted": True, "phase": "solution"}
    assert (folder / "void/ledger.jsonl").read_bytes().count(b"\n") >= 2, "acknowledged requests are kept"
    assert names(folder / "void/exchanges") == ["preflight-1.gz", "solution.gz"], "and what was asked in them"
    assert states(bench) == ["planned", "probing", "running", "void"]
    said = bench.run("pilot", "--candidate", "sleeper", "--resume")
    assert (said.code, said.out) == (0, "nothing was left to do\n")
    assert names(bench.attempt("sleeper")) == ["try-1"]
    assert bench.run("verify").code == 0


def fact(folder: Path) -> dict[str, object]:
    """Give what a sealed void says of itself, but for its sentence."""
    void = json.loads((folder / "void/void.json").read_bytes())["facts"]["void"]
    assert len(void.pop("reason")) > 10
    return dict(void)


def test_ctrl_c_ends_the_units_seals_what_there_is_and_says_how_to_go_on(bench: Bench) -> None:
    runner, seen = start_asleep(bench, within=("/usr/bin/setsid",))
    os.killpg(runner.pid, signal.SIGINT)
    said = finished(runner)
    await_gone(seen, bench.checkout)
    assert said.code == 1
    assert said.out.startswith("1 try, 0 further gradings, 1 void; stopped, as it was asked to")
    wanted = f"to go on: runner --config {bench.config} pilot --candidate=sleeper --resume"
    assert said.err.splitlines()[-1] == wanted
    folder = bench.attempt("sleeper") / "try-1"
    assert names(folder) == ["begun.json", "void"]
    assert fact(folder) == {"blame": "runner", "interrupted": True, "phase": "solution"}
    assert (folder / "void/ledger.jsonl").read_bytes().count(b"\n") >= 2, "acknowledged requests are kept"
    assert names(folder / "void/exchanges") == ["preflight-1.gz", "solution.gz"], "and what was asked in them"
    said = bench.run("pilot", "--resume", "--candidate", "sleeper")
    assert (said.code, said.out) == (0, "nothing was left to do\n")
    assert f"nothing to do for 1 attempt: {CUT}" in said.err
    assert bench.run("verify").code == 0


def test_a_second_ctrl_c_ends_at_once_and_leaves_what_a_kill_leaves(bench: Bench) -> None:
    runner, seen = start_asleep(bench)
    for pid in (seen.outer.pid, seen.inner.pid):
        os.kill(pid, signal.SIGSTOP)  # Good order would wait for it.
    for _ in "ab":
        os.kill(runner.pid, signal.SIGINT)
        time.sleep(0.1)
    try:
        runner.wait(timeout=30)
    finally:
        for pid in (seen.outer.pid, seen.inner.pid):
            os.kill(pid, signal.SIGCONT)
    said = finished(runner)
    await_gone(seen, bench.checkout)
    assert (said.code, said.out) == (1, "")
    assert said.err.endswith("runner: ended at once; what was sealed is kept\n")
    assert bench.run("verify", "--no-rebuild").code == 0
    said = bench.run("pilot", "--candidate", "sleeper", "--resume")
    assert f"to do: sleeper/clamp/attempt-1: close try 1 as void ({CUT})" in said.err


def test_a_submission_sealed_before_its_runner_was_killed_is_graded_and_not_run_again(bench: Bench) -> None:
    runner = bench.start("pilot", "--candidate", "slow")
    folder = bench.attempt("slow") / "try-1"
    await_(lambda: alive(runner) and (folder / "submission").exists(), "a submission")
    seen = traces(runner.pid)
    kill(runner.pid)
    finished(runner)
    await_gone(seen, bench.checkout)
    assert set(names(folder)) - {*GROWING} == {"begun.json", "submission"}
    assert bench.run("verify", "--no-rebuild").code == 0
    sealed = listing(folder / "submission")

    said = bench.run("pilot", "--resume", "--candidate", "slow")
    assert (said.code, said.out) == (0, "0 tries, 1 further grading, 0 void\n")
    assert listing(folder / "submission") == sealed
    assert names(folder) == ["begun.json", "gradings", "submission"]
    assert not (bench.attempt("slow") / "try-2").exists()
    assert '"outcome":"completed"' in (folder / "gradings/grading-1/grading.json").read_text()
    assert states(bench) == ["planned", "probing", "running", "captured", "graded", "sealed"]
    assert bench.run("verify").code == 0


def dying(bench: Bench, point: str) -> None:
    """Run what is left of three candidates, with a runner that dies at a line of its journal."""
    within = (sys.executable, str(DYING), point, "--")
    process = bench.start("pilot", "--resume", "--candidate", "oracle,right,nop", within=within)
    said = finished(process)
    assert said.code == -signal.SIGKILL, said
    assert bench.run("verify", "--no-rebuild").code == 0, point


def test_whichever_line_of_the_journal_a_runner_dies_at_nothing_is_lost_and_nothing_is_run_twice(bench: Bench) -> None:
    oracle, right = bench.attempt("oracle"), bench.attempt("right")
    dying(bench, "planned-after")
    assert not oracle.exists()
    dying(bench, "captured-before")
    sealed = listing(oracle / "try-1/submission")
    dying(bench, "graded-before")
    graded = listing(oracle / "try-1/gradings/grading-1")
    dying(bench, "running-after")
    said = bench.run("pilot", "--resume", "--candidate", "oracle,right,nop")
    assert (said.code, said.out) == (1, "1 try, 0 further gradings, 1 void\n")
    assert names(oracle) == names(right) == ["try-1"], "neither the captured one nor the paid one was run again"
    assert names(oracle / "try-1/gradings") == ["grading-1"]
    assert (listing(oracle / "try-1/submission"), listing(oracle / "try-1/gradings/grading-1")) == (sealed, graded)
    assert fact(right / "try-1") == {"blame": "runner", "interrupted": True, "phase": "solution"}
    assert states(bench) == [
        *("planned", "planned", "running", "captured", "graded", "sealed"),
        *("planned", "probing", "running", "void"),
        *("planned", "running", "captured", "graded", "sealed"),
    ]
    assert bench.run("verify").code == 0


def test_a_runner_killed_before_its_first_try_leaves_nothing_at_all(bench: Bench) -> None:
    before = listing(bench.store)
    runner = bench.start("pilot", "--candidate", "oracle")
    seen = await_(lambda: with_init(traces(runner.pid)) if alive(runner) else None, "the private systemd")
    kill(runner.pid)
    finished(runner)
    await_gone(seen, bench.checkout)
    assert listing(bench.store) == before
    assert not bench.attempt("oracle").exists()
    assert bench.run("pilot", "--candidate", "oracle").code == 0, "nothing was begun: no --resume is needed"


def with_init(seen: Traces) -> Traces | None:
    return seen if any("/lib/systemd/systemd" in each.argv for each in seen.programs) else None


@pytest.mark.parametrize("whom", ["outer", "inner", "init"])
def test_a_killed_keeper_or_systemd_ends_the_run_with_a_sentence_and_a_void_that_is_not_repeated(
    bench: Bench, whom: Literal["outer", "inner", "init"]
) -> None:
    runner, seen = start_asleep(bench)
    victim = {"outer": seen.outer, "inner": seen.inner, "init": seen.init}[whom]
    kill(victim.pid)
    said = finished(runner)
    assert said.code == 1
    assert "the keeper is gone" in said.err
    assert "'runner pilot --resume' goes on from there" in said.err
    await_gone(seen, bench.checkout)
    folder = bench.attempt("sleeper") / "try-1"
    assert names(folder) == ["begun.json", "void"]
    assert fact(folder) == {"blame": "host", "interrupted": True, "phase": "solution"}
    assert (folder / "void/ledger.jsonl").read_bytes().count(b"\n") >= 2, "acknowledged requests are kept"
    assert names(folder / "void/exchanges") == ["preflight-1.gz", "solution.gz"], "and what was asked in them"

    said = bench.run("pilot", "--candidate", "sleeper,oracle", "--resume")
    assert (said.code, said.out) == (0, "1 try, 0 further gradings, 0 void\n")
    assert names(bench.attempt("sleeper")) == ["try-1"]
    assert groups_left(seen) == []
    assert bench.run("verify", "--no-rebuild").code == 0


def test_the_lock_is_told_and_goes_with_its_holder(bench: Bench) -> None:
    runner, seen = start_asleep(bench)
    said = finished(bench.start("pilot", "--candidate", "oracle"))
    assert said.code == 4
    assert "another run holds this host's clean room" in said.err
    assert not bench.attempt("oracle").exists()
    kill(runner.pid)
    finished(runner)
    await_gone(seen, bench.checkout)
    assert bench.run("pilot", "--candidate", "oracle").code == 0
