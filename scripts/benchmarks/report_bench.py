"""Reports: `runner report` over ever more attempts, the whole command, first and again.

The first reads every byte. Again, only what changed is read, and the files of all the rest are looked at: that is what
the bound speaks of. The store lies on a disk, since it has millions of files; what is measured is read from memory if
the machine has as much.
"""

import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from figures import Figure, Measured
from many_attempts import make_many

from runner.release import write_manifest
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


def figures() -> list[Figure]:
    """Report on releases of three sizes."""
    return [*_figures()]


def _figures() -> Iterator[Figure]:
    again = {}
    for size in _SIZES:
        with tempfile.TemporaryDirectory(prefix="cleanroom-bench-", dir="/var/tmp") as folder:
            config = checkout(Path(folder), size)
            try:
                time.sleep(_YOUNG)
                first = Measured(name="first", seconds=(report(config, kept=0),))
                yield Figure(what=f"{size} attempts read and reported", ours=first)
                again[size] = Measured(name="again", seconds=tuple(report(config, kept=size) for _ in range(_ROUNDS)))
                clock = Measured(name="a clock", seconds=(_SECONDS,)) if size == _SIZES[-1] else None
                most = None if clock is None else 1.0
                yield Figure(what=f"{size} attempts reported again", ours=again[size], theirs=clock, most=most)
            finally:
                subprocess.run(["/bin/chmod", "-R", "u+w", folder], check=True)
                shutil.rmtree(Path(folder) / "store")
    small, large = again[_SIZES[0]], again[_SIZES[-1]]
    each = tuple(seconds * _SIZES[-1] / _SIZES[0] for seconds in small.seconds)
    as_small = Measured(name=f"{_SIZES[-1] // _SIZES[0]} x {_SIZES[0]}", seconds=each)
    yield Figure(what="linear", ours=large, theirs=as_small, most=_STEEPER)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10
    print(f"bench: the largest of all processes took {peak} MiB", flush=True)


def checkout(root: Path, attempts: int) -> Path:
    """Make a checkout with a frozen release and its evidence; gives its configuration."""
    _, manifest = make_many(root / "store", attempts, _NOMINATIONS)
    state = {"clean_room": {"state_dir": str(root / "state")}}
    config = {**CONFIG, "release": manifest.release, "private_artifacts_dir": str(root / "store"), **state}
    written(root / "config/nominations/clamp", NOMINATION)
    written(root / "config", {"pilot.json": json.dumps(config)})
    write_manifest(root / "releases", manifest)
    return root / "config/pilot.json"


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
