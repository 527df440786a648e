"""Control groups of a unit, read on both layouts: what limits really hold and what was used."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from sandbox.mounts import detached

_ROOT = Path("/sys/fs/cgroup")
UNBOUNDED = sys.maxsize
"""What a control group holds that says `max`."""
_QUICK_NAME, _QUICK_OPTION = "quick", "favordynmods"


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """Where each controller's hierarchy is mounted; `unified` is the v2 one."""

    v2: bool
    memory: Path
    pids: Path
    cpu: Path
    unified: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldLimits:
    """Limits as the control group itself holds them; None where the controller is not there."""

    memory_bytes: int | None
    tasks: int | None
    cpu_percent: int | None
    swap_bytes: int | None = None
    """None where the kernel does not count swap."""


def layout(root: Path = _ROOT) -> Layout:
    """Look where the hierarchies are."""
    if (root / "memory").is_dir():
        cpu = root / "cpu" if (root / "cpu").is_dir() else root / "cpu,cpuacct"
        unified = root / "unified" if (root / "unified").is_dir() else root / "systemd"
        return Layout(v2=False, memory=root / "memory", pids=root / "pids", cpu=cpu, unified=unified)
    return Layout(v2=True, memory=root, pids=root, cpu=root, unified=root)


@contextmanager
def quick_moves() -> Iterator[None]:
    """Have moves between control groups cost microseconds while the block lasts, where the kernel can do that.

    Otherwise each first move waits until every processor has passed by, some 10 ms, and a unit's start is such a
    move. The kernel takes it from an option of any hierarchy (`favordynmods`, Linux 6.0); ours is an empty one
    without controllers, mounted nowhere and gone with its descriptor. Forks on the machine cost a little more
    meanwhile (Documentation/admin-guide/cgroup-v2.rst).
    """
    try:
        hierarchy = detached("cgroup", ("none", _QUICK_OPTION), {"name": _QUICK_NAME})
    except OSError:  # An older kernel, or one without such hierarchies: starts are slower, and all else is the same.
        yield
        return
    try:
        yield
    finally:
        os.close(hierarchy)


class UnitGroup:
    """The control groups of one unit. Its slice lives longer than it, and keeps what it used."""

    def __init__(self, where: Layout, slice_path: str, unit: str) -> None:
        self._where = where
        self._slice = slice_path.lstrip("/")
        self._unit = f"{self._slice}/{unit}"

    def held(self) -> HeldLimits:
        """Read the limits back."""
        where, unit = self._where, self._unit
        if where.v2:
            memory = _most(where.memory / unit / "memory.max")
            swap = _most(where.memory / unit / "memory.swap.max")
            quota = _words(where.cpu / unit / "cpu.max")
            spend, period = (int(word) if word.isdigit() else -1 for word in quota or ("0", "0"))
        else:
            memory = _number(where.memory / unit / "memory.limit_in_bytes")
            both = _number(where.memory / unit / "memory.memsw.limit_in_bytes")
            swap = None if both is None or memory is None else both - memory
            spend, period = (
                _number(where.cpu / unit / name) or 0 for name in ("cpu.cfs_quota_us", "cpu.cfs_period_us")
            )
        percent = None if not spend or not period else UNBOUNDED if spend < 0 else spend * 100 // period
        tasks = _most(where.pids / unit / "pids.max")
        return HeldLimits(memory_bytes=memory, tasks=tasks, cpu_percent=percent, swap_bytes=swap)

    def oom_kills(self) -> int | None:
        """Count processes of the unit that the kernel killed for memory; None once the group is gone."""
        name = "memory.events" if self._where.v2 else "memory.oom_control"
        for line in _lines(self._where.memory / self._unit / name):
            key, _, value = line.partition(" ")
            if key == "oom_kill":
                return int(value)
        return None

    def memory_peak_bytes(self) -> int | None:
        """Tell the most memory the unit had at once."""
        name = "memory.peak" if self._where.v2 else "memory.max_usage_in_bytes"
        return _number(self._where.memory / self._slice / name)

    def cpu_us(self) -> int | None:
        """Tell the processor time the unit used; the v2 hierarchy counts it on both layouts."""
        for line in _lines(self._where.unified / self._slice / "cpu.stat"):
            key, _, value = line.partition(" ")
            if key == "usage_usec":
                return int(value)
        return None

    def cpu_ms(self) -> int | None:
        """Tell the same in milliseconds."""
        used = self.cpu_us()
        return None if used is None else used // 1000

    def kill(self) -> bool:
        """Kill every process of the unit at once; false where this kernel or layout has no such switch."""
        try:
            (self._where.unified / self._unit / "cgroup.kill").write_text("1", encoding="ascii")
        except OSError:
            return False
        return True

    def bound_swap(self) -> None:
        """Leave no swap beside the memory limit on the older layout, where systemd has no directive for it."""
        folder = self._where.memory / self._unit
        limit, both = folder / "memory.limit_in_bytes", folder / "memory.memsw.limit_in_bytes"
        if not self._where.v2 and both.exists():
            with suppress(OSError):  # Whether it worked is read back with all other limits.
                both.write_text(str(_number(limit)), encoding="ascii")

    def bound_sockets(self, most: int) -> bool:
        """Bound the buffers of IP sockets, which the older layout counts apart from all other memory; false if not.

        There each socket's buffers are nobody's until this is written, and every socket on the machine shares
        the kernel's one ceiling.
        """
        if self._where.v2:
            return True
        limit = self._where.memory / self._unit / "memory.kmem.tcp.limit_in_bytes"
        try:
            limit.write_text(str(most), encoding="ascii")
        except OSError:
            return False
        return _number(limit) == most

    def processes(self) -> list[int]:
        """List the unit's processes."""
        return [int(line) for line in _lines(self._where.unified / self._unit / "cgroup.procs")]

    def is_empty(self) -> bool:
        """Tell whether no process is in the unit's own group, in any hierarchy."""
        return not any(_lines(root / self._unit / "cgroup.procs") for root in self._roots())

    def is_gone(self) -> bool:
        """Tell whether the unit's groups are gone from every hierarchy, its slice's too."""
        return not any((root / self._slice).exists() for root in self._roots())

    def _roots(self) -> set[Path]:
        where = self._where
        return {where.memory, where.pids, where.cpu, where.unified}


def slice_path(name: str) -> str:
    """Give a slice's control group: `a-b.slice` lies in `a.slice`."""
    parts = name.removesuffix(".slice").split("-")
    return "".join(f"/{'-'.join(parts[: count + 1])}.slice" for count in range(len(parts)))


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="ascii").splitlines()
    except (FileNotFoundError, OSError):
        return []


def _words(path: Path) -> list[str]:
    return " ".join(_lines(path)).split()


def _most(path: Path) -> int | None:
    """Read a bound that may be `max`; None where there is no such bound."""
    return UNBOUNDED if _words(path) == ["max"] else _number(path)


def _number(path: Path) -> int | None:
    words = _words(path)
    return int(words[0]) if words and words[0].lstrip("-").isdigit() else None
