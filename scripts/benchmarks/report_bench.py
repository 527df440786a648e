"""Reports: `runner report` over ever more attempts, the whole command, after a pilot and again.

A pilot keeps the release's table as it seals: what that takes is measured over the whole pilot, by the attempt. In the
first report after it nothing is read, nor is again: the files of all are looked at. The bound speaks of both. The store
lies on a disk, since it has millions of files; what is measured is read from memory if the machine has as much.
"""

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from figures import Figure, Measured
from many_attempts import plan_many

from runner.release import write_manifest
from runner.reports.keeping import KeptTable
from runner.settings import own_checkout
from tests.flow.bench import CONFIG, NOMINATION
from tests.unit.runner.written import written

_SIZES, _NOMINATIONS = (25_000, 50_000, 100_000), 20
_SECONDS = 10.0
_STEEPER = 1.35
"""How much longer an attempt of the largest store may take than one of the smallest."""
_ROUNDS = 3
_YOUNG = 3.0
"""Seconds after which files are old enough to be known again."""
_TABLES = 10
"""How often a pilot of ours makes its table."""
_LAST = 20
"""Attempts that are sealed after that, before its last table."""
_KEPT_MS = 10.0
"""The most that a pilot may take to keep its table, by the attempt: a hundredth of the second that each takes."""


def figures() -> list[Figure]:
    """Report on releases of three sizes."""
    return [*_figures()]


def _figures() -> Iterator[Figure]:
    first, again = {}, {}
    for size in _SIZES:
        with tempfile.TemporaryDirectory(prefix="cleanroom-bench-", dir="/var/tmp") as folder:
            try:
                config, keeping = checkout(Path(folder), size)
                kept = Measured(name="keeping", seconds=(keeping / size,))
                yield Figure(what=f"{size} attempts kept in a table, each", ours=kept, most_ms=_KEPT_MS)
                first[size] = Measured(name="first", seconds=(report(config, kept=size),))
                again[size] = Measured(name="again", seconds=tuple(report(config, kept=size) for _ in range(_ROUNDS)))
                yield _within(f"{size} attempts reported after a pilot", size, first[size])
                yield _within(f"{size} attempts reported again", size, again[size])
            finally:
                subprocess.run(["/bin/chmod", "-R", "u+w", folder], check=True)
                shutil.rmtree(Path(folder) / "store")
    yield _linear("linear after a pilot", first)
    yield _linear("linear again", again)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10
    print(f"bench: the largest of all processes took {peak} MiB", flush=True)


def _within(what: str, size: int, took: Measured) -> Figure:
    """Hold the largest size against the bound."""
    return Figure(what=what, ours=took, most_ms=_SECONDS * 1000 if size == _SIZES[-1] else None)


def _linear(what: str, took: Mapping[int, Measured]) -> Figure:
    small, large = took[_SIZES[0]], took[_SIZES[-1]]
    each = tuple(seconds * _SIZES[-1] / _SIZES[0] for seconds in small.seconds)
    as_small = Measured(name=f"{_SIZES[-1] // _SIZES[0]} x {_SIZES[0]}", seconds=each)
    return Figure(what=what, ours=large, theirs=as_small, most=_STEEPER)


def checkout(root: Path, attempts: int) -> tuple[Path, float]:
    """Make a checkout with a frozen release, and its evidence as a pilot does.

    Gives its configuration, and the seconds that keeping the table took.
    """
    many = plan_many(root / "store", attempts, _NOMINATIONS)
    state = {"clean_room": {"state_dir": str(root / "state")}}
    release = many.manifest.release
    config = {**CONFIG, "release": release, "private_artifacts_dir": str(root / "store"), **state}
    written(root / "config/nominations/clamp", NOMINATION)
    written(root / "config", {"pilot.json": json.dumps(config)})
    write_manifest(root / "releases", many.manifest)
    table = KeptTable(
        store=many.store,
        manifest=many.manifest,
        folder=root / "state/tables" / release,
        clock=time.time_ns,
        monotonic=time.monotonic,
        sleep=time.sleep,
        tell=print,
    )
    size, took = -(-(attempts - _LAST) // _TABLES), 0.0
    for at in range(0, attempts - _LAST, size):
        many.make(slice(at, min(at + size, attempts - _LAST)))
        time.sleep(_YOUNG)
        took += _seconds(table.make)
    many.make(slice(attempts - _LAST, attempts))
    os.sync()  # as a pilot does with each file that it seals
    return root / "config/pilot.json", took + _seconds(table.finish)


def _seconds(work: Callable[[], None]) -> float:
    began = time.monotonic()
    work()
    return time.monotonic() - began


def report(config: Path, *, kept: int) -> float:
    """Run the command, from its start to its end; gives the seconds."""
    argv = [sys.executable, "-m", "runner", "--config", str(config), "report"]
    began = time.perf_counter()
    done = subprocess.run(argv, cwd=own_checkout(), capture_output=True, text=True, check=False)
    took = time.perf_counter() - began
    told = f"the documents of {kept} are as they were" if kept else ""
    if done.returncode or "page: " not in done.stdout or told not in done.stderr:
        raise SystemExit(f"bench: {done.returncode}: {done.stdout[-500:]} {done.stderr[-500:]}")
    return took
