"""Timing cheats against paired-v2, each beside its honest control; units are plain processes here."""

import contextlib
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from evaluators.model import Submission, VerdictCause
from evaluators.packing import pack_files
from evaluators.paired_v2 import same_places
from evaluators.speed_calls import Call, Failure
from evaluators.speed_options import Protocol, read_speed
from evaluators.speed_stand import Stand, program, read_programs
from sandbox.spec import UnitSpec
from tests.fakes import PlainRunning, PlainSandbox
from tests.unit.evaluators.judging import plain_bench
from tests.unit.evaluators.speeding import speed_spec

BUSY_US = 30_000
BUSY = """
def _work(us, _clock=__import__("time").thread_time_ns):
    until = _clock() + us * 1000
    while _clock() < until:
        pass

"""
HONEST = BUSY + "def common(left, right):\n    _work(30_000)\n    return [each for each in left if each in right]\n"
ARGS = [[1, 2, 3], [3, 1]]
ANSWER = [1, 3]
PATCHED = """
import time
for name in ("time", "time_ns", "perf_counter", "perf_counter_ns", "monotonic", "monotonic_ns", "process_time",
             "process_time_ns", "clock_gettime_ns"):
    setattr(time, name, lambda *_: 0)
"""
LAZY = """
class Lazy(list):
    def __init__(self, make):
        super().__init__()
        self.make = make
    def __eq__(self, other):
        return self.make() == other
    def __iter__(self):
        return iter(self.make())
def common(left, right):
    return Lazy(lambda: [each for each in left if each in right])
"""
LATER = """
import threading
def common(left, right):
    found = []
    threading.Thread(target=lambda: (_work(30_000), found.extend(each for each in left if each in right))).start()
    return found
"""
SENT_BEFORE = """
import json, os, threading
answer = json.dumps({"value": [1, 3]}).encode()
def send():
    for descriptor in range(3, 20):
        try:
            os.write(descriptor, len(answer).to_bytes(4, "big") + answer)
        except OSError:
            pass
send()
"""
CACHED = """
import os
def common(left, right):
    places = ["seen", os.path.join(os.environ.get("TMPDIR", "."), "seen")]
    found = [each for each in places if os.path.exists(each)]
    for each in places:
        open(each, "w").write("1")
    return found
"""
GARBAGE = """
import gc
def common(left, right):
    return [gc.isenabled(), sorted(gc.get_threshold())[0] > 0]
"""
AT_IMPORT = BUSY + "_work(60_000)\nKNOWN = {3: 1}\ndef common(left, right):\n    return [1, 3]\n"


def stand(folder: Path) -> Stand:
    sandbox = PlainSandbox(folder / "sandbox")
    sandbox.folder.mkdir()
    bench = plain_bench(sandbox)
    options = read_speed(speed_spec(folder), Protocol.PAIRED_V2)
    return Stand(bench=bench, options=options, side=sandbox.store(program(read_programs(), "timing")))


def tree(held: Stand, code: str) -> Submission:
    base = held.bench.sandbox.store(pack_files({"README": b"x"}))
    return Submission(base=(base,), change=pack_files({"work.py": code.encode()}), tree_digest="0" * 64)


def call(held: Stand, code: str) -> Call | Failure:
    found, _ = held.time(tree(held, code), ARGS)
    return found


def test_a_clock_that_the_candidate_patched_is_not_the_one_that_counts(tmp_path: Path) -> None:
    held = stand(tmp_path)
    honest, patched = call(held, HONEST), call(held, BUSY + PATCHED + HONEST.removeprefix(BUSY))
    assert isinstance(honest, Call)
    assert isinstance(patched, Call)
    assert honest.value == patched.value == ANSWER
    assert min(honest.ns, patched.ns) >= BUSY_US * 900


def test_a_lazy_answer_is_none_and_a_plain_one_has_paid(tmp_path: Path) -> None:
    held = stand(tmp_path)
    lazy = call(held, LAZY)
    assert isinstance(lazy, Failure)
    assert "Lazy" in lazy.detail
    assert isinstance(call(held, HONEST), Call)


def test_work_that_goes_on_after_the_answer_is_not_in_the_answer(tmp_path: Path) -> None:
    later = call(stand(tmp_path), BUSY + LATER)
    assert isinstance(later, Call)
    assert later.value != ANSWER


def test_an_answer_that_was_sent_before_it_was_asked_for_is_forged(tmp_path: Path) -> None:
    held = stand(tmp_path)
    forged = call(held, SENT_BEFORE + HONEST)
    assert isinstance(forged, Failure)
    assert forged.cause in {VerdictCause.TAMPERED, VerdictCause.REJECTED}
    assert isinstance(call(held, HONEST), Call)


def test_a_call_finds_nothing_that_an_earlier_one_kept(tmp_path: Path) -> None:
    held = stand(tmp_path)
    kept = tree(held, CACHED)
    for _ in range(2):
        found, _ = held.time(kept, ARGS)
        assert isinstance(found, Call)
        assert found.value == []


def test_collections_of_garbage_are_off_on_both_sides(tmp_path: Path) -> None:
    held = stand(tmp_path)
    honest, player = call(held, GARBAGE), call(held, "import gc\ngc.disable()\ngc.freeze()\n" + GARBAGE)
    assert isinstance(honest, Call)
    assert isinstance(player, Call)
    assert honest.value == player.value == [False, True]


def test_work_at_import_is_seen_at_the_import(tmp_path: Path) -> None:
    held = stand(tmp_path)
    early, honest = call(held, AT_IMPORT), call(held, HONEST)
    assert isinstance(early, Call)
    assert isinstance(honest, Call)
    assert early.import_ns - honest.import_ns >= 40_000_000


def test_no_two_units_live_at_once_so_nothing_is_stolen_from_the_baseline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alive, most = 0, 0
    start = PlainSandbox.start

    @contextlib.contextmanager
    def counted(sandbox: PlainSandbox, spec: UnitSpec) -> Iterator[PlainRunning]:
        nonlocal alive, most
        with start(sandbox, spec) as running:
            alive += 1
            most = max(most, alive)
            yield running
        alive -= 1

    monkeypatch.setattr(PlainSandbox, "start", counted)
    held = stand(tmp_path)
    burner = "import threading\ndef burn():\n    while True: pass\nthreading.Thread(target=burn, daemon=True).start()\n"
    for code in (burner + HONEST, HONEST):
        assert isinstance(call(held, code), Call)
    assert most == 1


def test_the_baseline_has_not_one_file_of_the_candidates() -> None:
    below = pack_files({"work.py": b"slow", "other.py": b"o"})
    change = pack_files({"work.py": b"quick", "json.py": b"slows the baseline", "sitecustomize.py": b"x"})
    again = same_places(Submission(base=(), change=change, tree_digest="0" * 64, below=below))
    assert [(entry.path, again.blobs(entry.sha256 or "")) for entry in again.entries] == [(b"work.py", b"slow")]


def test_the_clock_runs_until_the_last_byte_of_a_long_answer(tmp_path: Path) -> None:
    held = stand(tmp_path)
    found = call(held, "def common(left, right):\n    return 'x' * (4 << 20)\n")
    assert isinstance(found, Call)
    assert len(str(found.value)) == 4 << 20


def test_who_goes_on_after_the_last_answer_is_counted_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    events: list[str] = []
    used = PlainRunning.used_us

    def looked(running: PlainRunning) -> int | None:
        events.append("looked")
        return used(running)

    held = stand(tmp_path)
    monkeypatch.setattr(PlainRunning, "used_us", looked)
    monkeypatch.setattr("evaluators.interview.time.sleep", lambda _: events.append("waited"))
    assert isinstance(call(held, HONEST), Call)
    assert events == ["looked", "looked", "looked", "waited", "looked"]


def test_a_unit_that_does_not_answer_in_time_is_cut_off(tmp_path: Path) -> None:
    held = stand(tmp_path)
    sleepy = tree(held, "import time\ndef common(left, right):\n    time.sleep(60)\n")
    found, seen = held.time(sleepy, ARGS, timedelta(seconds=1))
    assert isinstance(found, Failure)
    assert (found.cause, seen.late) == (VerdictCause.FAILED, True)
