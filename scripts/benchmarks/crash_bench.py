"""Crash states of a whole attempt, all of them: what a machine that fails may leave of store and journal, looked at.

What the timed tests do for small folders is done here for a submission and a grading as they really are, on a file
system that promises no more than POSIX; and for every moment at which the runner may be killed before the machine
fails, on one that keeps the order of names. One state that shows half evidence, or lacks what was told, ends it.
"""

import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from figures import Figure, Measured

from runner.errors import SealBrokenError, UsageError
from runner.journal import read_journal
from runner.recovering import recover
from runner.schedule import Standing
from runner.store import Store
from sandbox.scratch import MEMORY, scratch_folder
from tests.crashes import Crash, crashes
from tests.disks import FailingDisk, KilledError, RecordingDisk
from tests.unit.runner.evidence_maker import SOLVER, Run, a_manifest, a_store, grade, submit

_MANIFEST = a_manifest()
_ORDER = (Standing.OPEN, Standing.CAPTURED, Standing.DONE)


def figures() -> list[Figure]:
    """Look at every state; half evidence, or evidence that is lost, ends the run with a sentence."""
    with scratch_folder(MEMORY) as folder:
        whole = _disk(folder / "whole")
        _attempt(whole)
        weak = _looked_at(crashes(whole.trace), folder / "weak")
        killed = [each for events in range(1, len(whole.trace)) for each in _after_a_kill(folder, events)]
    return [
        Figure(what=f"crash states of an attempt: {len(weak)}, each", ours=Measured(name="look", seconds=tuple(weak))),
        Figure(
            what=f"the same after {len(whole.trace) - 1} kills and restarts: {len(killed)}, each",
            ours=Measured(name="look", seconds=tuple(killed)),
        ),
    ]


def _after_a_kill(folder: Path, events: int) -> list[float]:
    """Kill the runner after so many events, let the next one recover, and look at what a crash leaves from then on."""
    disk = replace(_disk(folder / f"killed-{events}"), killed_at=events)
    with suppress(KilledError):
        _attempt(disk)
    disk.restart()
    known = len(disk.trace)
    store = _store(disk.root, disk)
    recover(store, (SOLVER,), "first")
    for each in store.states((SOLVER,), "first")[SOLVER]:
        if each.standing is not Standing.OPEN:  # Nothing is told of an open try before something is sealed in it.
            disk.tell(each.standing)
    return _looked_at(crashes(disk.trace, ordered=True, known=known), folder / f"states-{events}")


def _disk(root: Path) -> RecordingDisk:
    root.mkdir()
    return RecordingDisk(root=root)


def _store(root: Path, disk: RecordingDisk | FailingDisk) -> Store:
    return replace(a_store(root / "store", _MANIFEST), disk=disk)


def _attempt(disk: RecordingDisk) -> None:
    store = _store(disk.root, disk)
    trial = store.trial(SOLVER, 1)
    store.begin(trial, runner="0.1.0", started_ms=1_000)
    disk.tell(Standing.OPEN)
    made, digest = submit(store, trial, Run())
    disk.tell(Standing.CAPTURED)
    grade(store, made, digest, Run())
    disk.tell(Standing.DONE)


def _looked_at(found: Iterable[Crash], work: Path) -> list[float]:
    """Rebuild each state, recover in it, and hold it against what had been told; gives the seconds that each took."""
    work.mkdir()
    took = []
    for number, crash in enumerate(found):
        begun = time.perf_counter()
        place = crash.rebuild(work / str(number))
        fault = _fault(_store(place, FailingDisk(number=0, fault=None)), _steps(crash))
        took.append(time.perf_counter() - begun)
        if fault is not None:
            sys.exit(f"bench: a crash after event {crash.after} {fault}: {sorted(crash.left)}")
    return took


def _steps(crash: Crash) -> int:
    """Count the steps of an attempt that had been told of."""
    return max((number for number, step in enumerate(_ORDER, 1) if step in crash.told), default=0)


def _fault(store: Store, told: int) -> str | None:
    """Say what is wrong with what a crash left."""
    try:
        recover(store, (SOLVER,), "first")
        read_journal(store.journal)
        states = store.states((SOLVER,), "first")[SOLVER]
    except (SealBrokenError, UsageError) as error:
        return f"shows half evidence ({error})"
    reached = 1 + _ORDER.index(states[0].standing) if states else 0
    return f"loses what was told: {reached} of {told} steps" if reached < told else None
