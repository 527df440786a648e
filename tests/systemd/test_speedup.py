"""Speed in real units: what a call uses is seen from outside, and nothing of it is there at the next one."""

from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal

import pytest

from evaluators.model import Bench, EvaluatorSpec, Submission, VerdictCause
from evaluators.packing import pack_files
from evaluators.paired_v2 import PairedV2
from evaluators.speed_calls import Call
from evaluators.speed_options import Protocol, read_speed
from evaluators.speed_stand import Stand, program, read_programs
from evaluators.speedup import build_speedup
from sandbox.client import KeeperSandbox
from sandbox.spec import MIB, Limits

pytestmark = pytest.mark.systemd

LIMITS = Limits(wall=timedelta(seconds=60), memory_bytes=512 * MIB, disk_bytes=64 * MIB, disk_inodes=5000)
BUSY = """
import os, threading, time
CLOCK = time.thread_time_ns
def work(ms):
    until = CLOCK() + ms * 1_000_000
    while CLOCK() < until:
        pass
"""
BASE = BUSY + "def answer(size):\n    work(40)\n    return size\n"
QUICK = BUSY + "def answer(size):\n    work(4)\n    return size\n"
PATCHED = BUSY + "time.time_ns = time.monotonic_ns = lambda: 0\n" + BASE.removeprefix(BUSY)
SHARED_OUT = """
def answer(size):
    threads = [threading.Thread(target=work, args=(15,)) for _ in range(2)]
    [each.start() for each in threads]
    child = os.fork()
    if child == 0:
        work(15)
        os._exit(0)
    [each.join() for each in threads]
    os.waitpid(child, 0)
    return size
"""
LEAVING = """
import contextlib, os, time
PLACES = ("/tmp", "/var/tmp", "/dev/shm", "/work", "/home/agent")
def answer(size):
    found = [each for each in PLACES if os.path.exists(each + "/left")]
    for each in PLACES:
        open(each + "/left", "w").write("1")
    if os.fork() == 0:
        os.setsid()
        time.sleep(600)
    return [found, len([name for name in os.listdir("/proc") if name.isdigit()])]
"""
PLAN = "def oracle():\n    yield (3,), 3\n\ndef make_input(seed):\n    return (seed,)\n"


@dataclass(frozen=True, kw_only=True)
class Court:
    spec: EvaluatorSpec
    bench: Bench

    def submission(self, code: str) -> Submission:
        below = pack_files({"work.py": BASE.encode()})
        change = pack_files({"work.py": code.encode()})
        base = self.bench.sandbox.store(below)
        return Submission(base=(base,), change=change, tree_digest="0" * 64, below=below)

    def call(self, code: str) -> Call:
        side = self.bench.sandbox.store(program(read_programs(), "timing"))
        stand = Stand(bench=self.bench, options=read_speed(self.spec, Protocol.PAIRED_V2), side=side)
        found, _ = stand.time(self.submission(code), [3])
        assert isinstance(found, Call), found
        return found


@pytest.fixture(scope="module")
def court(sandbox: KeeperSandbox, tmp_path_factory: pytest.TempPathFactory) -> Court:
    private = tmp_path_factory.mktemp("private")
    (private / "plan.py").write_text(PLAN)
    options = {"function": "work:answer", "plan": "plan.py", "buckets": {"2": "0.5", "5": "1"}, "pairs": 6}
    return Court(
        spec=EvaluatorSpec(id="quick", kind="speedup", options=options, folder=private),
        bench=Bench(sandbox=sandbox, toolchain=(), python_path=(), root=".", limits=LIMITS),
    )


def test_what_a_call_costs_is_seen_from_outside_whatever_its_clocks_say(court: Court) -> None:
    honest, patched = court.call(BASE), court.call(PATCHED)
    for found in (honest, patched):
        assert 38_000_000 <= found.ns < 400_000_000


def test_what_threads_and_children_use_is_the_candidates(court: Court) -> None:
    assert court.call(BUSY + SHARED_OUT).ns >= 43_000_000


def test_a_call_finds_nothing_that_an_earlier_one_left_anywhere(court: Court) -> None:
    first, second = court.call(LEAVING), court.call(LEAVING)
    assert first.value == second.value
    assert isinstance(first.value, list)
    assert first.value[0] == []


def test_a_quick_repair_gets_the_top_bucket_and_the_base_itself_nothing(court: Court) -> None:
    evaluator = build_speedup(court.spec)
    assert isinstance(evaluator, PairedV2)
    quick, same = (evaluator.judge(court.submission(code), court.bench) for code in (QUICK, BASE))
    assert (quick.cause, quick.score) == (VerdictCause.PASSED, Decimal(1)), quick.detail
    assert (same.cause, same.score) == (VerdictCause.FAILED, Decimal(0)), same.detail
    assert quick.measurement is not None
    assert quick.measurement.floor is not None
    assert quick.measurement.machine.kernel == court.bench.sandbox.facts().kernel
    assert None not in (quick.report, quick.driver_report)


def test_a_candidate_that_is_killed_while_the_base_passes_has_failed(court: Court) -> None:
    evaluator = build_speedup(replace(court.spec, options={**court.spec.options, "wall_s": 20}))
    hungry = "def answer(size):\n    return len(bytearray(1 << 30)) and size\n"
    verdict = evaluator.judge(court.submission(hungry), court.bench)
    assert verdict.score == 0
    assert verdict.cause in {VerdictCause.CRASHED, VerdictCause.FAILED}, verdict
