"""Protocol paired-v2 on known differences: none, beside a busy core too, and 2.0 and 1.1 times, again and again."""

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from fractions import Fraction
from pathlib import Path

from figures import Tally
from rooms import patient_sandbox, state_folder

from evaluators.errors import NoisyHostError
from evaluators.model import Bench, EvaluatorSpec, Submission
from evaluators.packing import pack_files
from evaluators.paired_v2 import same_places
from evaluators.speed_calls import Failure
from evaluators.speed_options import Protocol, SpeedOptions, read_speed
from evaluators.speed_ruling import charged, credit, floor_of, import_excess, interval, median, times_text
from evaluators.speed_session import Session, Timed
from evaluators.speed_stand import Stand, program, read_plan, read_programs
from evaluators.speed_values import Pair
from sandbox.client import KeeperSandbox
from sandbox.spec import MIB, PYTHON, Limits

_RUNS = 20
_LEAST_OF_KNOWN = 19
_STEPS = 3_300_000
"""About 180 ms: beside it, asking itself is some thousandths."""
_CODE = "def answer(size):\n    total = size\n    for _ in range({steps}):\n        total ^= 5\n    return size\n"
_PLAN = "def oracle():\n    yield (3,), 3\n\ndef make_input(seed):\n    return (seed,)\n"
_LIMITS = Limits(wall=timedelta(seconds=120), memory_bytes=512 * MIB, disk_bytes=64 * MIB, disk_inodes=5000)
_BUSY = "while True: pass"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Room:
    """A base of known work, set up to be timed."""

    bench: Bench
    private: Path

    def session(self, steps: int, clock: str) -> Session:
        """Begin to measure code of so many steps."""
        options = self._options(clock)
        programs = read_programs()
        plan, _ = read_plan(self.bench, options, programs, {"plan.py": _PLAN.encode()})
        sandbox = self.bench.sandbox
        below = pack_files({"work.py": _CODE.format(steps=_STEPS).encode()})
        change = pack_files({"work.py": ("# another\n" + _CODE.format(steps=steps)).encode()})
        submission = Submission(base=(sandbox.store(below),), change=change, tree_digest="0" * 64, below=below)
        return Session(
            stand=Stand(bench=self.bench, options=options, side=sandbox.store(program(programs, "timing"))),
            plan=plan,
            control=replace(submission, change=same_places(submission)),
            submission=submission,
        )

    def _options(self, clock: str) -> SpeedOptions:
        known = {"function": "work:answer", "plan": "plan.py", "buckets": {"20": "1"}, "clock": clock}
        spec = EvaluatorSpec(id="known", kind="speedup", options=known, folder=self.private)
        return read_speed(spec, Protocol.PAIRED_V2)


def figures() -> list[Tally]:
    """Measure identical code by both clocks, quiet and beside a busy core, then what is known to be quicker."""
    with tempfile.TemporaryDirectory() as scratch, state_folder() as state, patient_sandbox(state) as sandbox:
        room = _room(sandbox, Path(scratch))
        return [
            _identical(room, "processor", busy=0),
            _identical(room, "processor", busy=1),
            _known(room, Fraction(2)),
            _known(room, Fraction(11, 10)),
            _identical(room, "wall", busy=0),
        ]


def _room(sandbox: KeeperSandbox, folder: Path) -> _Room:
    (folder / "plan.py").write_text(_PLAN)
    bench = Bench(sandbox=sandbox, toolchain=(), python_path=(), root=".", limits=_LIMITS)
    return _Room(bench=bench, private=folder)


def _identical(room: _Room, clock: str, *, busy: int) -> Tally:
    """Count the runs in which identical code is within the floor."""
    kept, floors, noisy = 0, [], 0
    with _load(busy):
        for _ in range(_RUNS):
            try:
                session = room.session(_STEPS, clock)
                noise = session.floor()
                pairs = _pairs(session)
                found = credit(session.stand.options.scale, pairs, floor_of([each.ratio for each in noise]))
            except NoisyHostError:
                noisy += 1
                continue
            ratio = median(each.ratio for each in pairs)
            kept += 1 / Fraction(found.floor) <= ratio <= Fraction(found.floor)
            floors.append(Fraction(found.floor))
    told = f"floors up to {times_text(max(floors))}" if floors else "always too noisy"
    return Tally(
        what=f"speedup: identical code within its floor, {clock}{', one core busy' if busy else ''}",
        kept=kept,
        of=_RUNS,
        least=_RUNS if clock == "processor" else 0,
        told=told + (f", {noisy} too noisy" if noisy else ""),
    )


def _known(room: _Room, ratio: Fraction) -> Tally:
    """Count the runs whose interval holds a difference that is known."""
    kept, widest, seen = 0, Fraction(0), []
    for _ in range(_RUNS):
        # The imports are alike: what one seems to take beyond the other is noise, and would be on one side alone.
        pairs = _pairs(room.session(int(_STEPS / ratio), "processor"), is_charged=False)
        found = interval(each.ratio for each in pairs)
        kept += found.low <= ratio <= found.high
        widest = max(widest, found.high / found.low)
        seen.append(median(each.ratio for each in pairs))
    return Tally(
        what=f"speedup: {times_text(ratio)} times recovered",
        kept=kept,
        of=_RUNS,
        least=_LEAST_OF_KNOWN,
        told=f"medians {times_text(min(seen))} to {times_text(max(seen))}, intervals up to {times_text(widest)} wide",
    )


def _pairs(session: Session, *, is_charged: bool = True) -> tuple[Pair, ...]:
    timed = session.other_pairs(0)
    if isinstance(timed, Failure):
        sys.exit(f"bench: what is timed fails: {timed.detail}")
    excess = import_excess(*_imports(timed)) if is_charged else 0
    return charged([each.pair for each in timed[1:]], excess)


def _imports(timed: tuple[Timed, ...]) -> tuple[list[int], list[int]]:
    return [each.imports[0] for each in timed], [each.imports[1] for each in timed]


@contextmanager
def _load(cores: int) -> Iterator[None]:
    """Keep so many cores busy."""
    with ExitStack() as stack:
        for _ in range(cores):
            busy = subprocess.Popen([PYTHON, "-I", "-S", "-c", _BUSY], env={})
            stack.callback(busy.wait)
            stack.callback(busy.kill)
        yield
