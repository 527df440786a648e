"""A measured process and all that it starts, before whatever else this machine does: a control group of its own.

Where there is no such group to make, times are taken beside the rest, and the machine's load tells.
"""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from statistics import median

_HIERARCHY = Path("/sys/fs/cgroup/cpu")
_SHARES = 1 << 18
_TRIES, _PAUSE = 100, 0.05
_MOVES, _IDLE = 5, 0.2


@contextmanager
def precedence() -> Iterator[None]:
    """Give this process nearly all processor time it asks for."""
    own = _own_group()
    if own is None:
        yield
        return
    group = own / f"cleanroom-bench-{token_hex(4)}"
    group.mkdir()
    try:
        (group / "cpu.shares").write_text(str(_SHARES))
        (group / "cgroup.procs").write_text(str(os.getpid()))
        yield
    finally:
        (own / "cgroup.procs").write_text(str(os.getpid()))
        _remove(group)


def move_ms() -> float | None:
    """Tell how long a process takes to move to another group when none has moved for a while; None without groups.

    About 10 where the kernel waits for every processor, below 1 where it does not (docs/decisions/0009).
    """
    own = _own_group()
    if own is None:
        return None
    group = own / f"cleanroom-bench-{token_hex(4)}"
    group.mkdir()
    times = []
    for _ in range(_MOVES):
        time.sleep(_IDLE)
        began = time.perf_counter()
        (group / "cgroup.procs").write_text(str(os.getpid()))
        times.append(time.perf_counter() - began)
        (own / "cgroup.procs").write_text(str(os.getpid()))
    _remove(group)
    return median(times) * 1000


def _own_group() -> Path | None:
    for line in Path("/proc/self/cgroup").read_text(encoding="ascii").splitlines():
        _, controllers, path = line.split(":", 2)
        if "cpu" in controllers.split(",") and (_HIERARCHY / "cpu.shares").exists():
            return _HIERARCHY / path.lstrip("/")
    return None


def _remove(group: Path) -> None:
    """Remove the group; what was started in it may take a moment to be gone."""
    for _ in range(_TRIES):
        with suppress(OSError):
            group.rmdir()
            return
        time.sleep(_PAUSE)
