"""The processes of this machine, and which of them are a clean room's: told by account, group and command line."""

import os
import re
import signal
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

GROUP = re.compile(r"cleanroom-[0-9a-f]{12}")
"""Name of a private manager's control group."""
_KEEPER = "sandbox.keeper"
_PLAN = '{"group"'
_LOCK = "/host/lock"
_NAMESPACES = frozenset({"cgroup", "ipc", "mnt", "net", "pid", "user", "uts"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """One process; its start time tells it from a later one with the same number."""

    pid: int
    parent: int
    account: int
    started: int
    name: str
    argv: tuple[str, ...]
    groups: tuple[str, ...]
    """Names of the private managers' control groups that it is in, or was told to make."""

    @property
    def is_keeper(self) -> bool:
        """Whether it is one of a keeper's processes."""
        return _KEEPER in self.argv


def read_processes(proc: Path = Path("/proc")) -> dict[int, Process]:
    """Look at every process; one that ends meanwhile is not there."""
    found = {}
    for entry in proc.iterdir():
        if entry.name.isdigit():
            with suppress(FileNotFoundError, ProcessLookupError):
                found[int(entry.name)] = _read(entry)
    return found


def _read(folder: Path) -> Process:
    name, _, rest = (folder / "stat").read_bytes().decode(errors="replace").partition("(")[2].rpartition(")")
    stat = rest.split()
    argv = tuple((folder / "cmdline").read_bytes().decode(errors="replace").split("\0")[:-1])
    paths = (folder / "cgroup").read_bytes().decode(errors="replace")
    told = "".join(word for word in argv if word.startswith(_PLAN))
    return Process(
        pid=int(folder.name),
        parent=int(stat[1]),
        account=folder.stat().st_uid,
        started=int(stat[19]),
        name=name,
        argv=argv,
        groups=tuple(sorted(set(GROUP.findall(paths + told)))),
    )


def below(processes: Mapping[int, Process], roots: frozenset[int]) -> frozenset[int]:
    """Give processes and all that descend from them."""
    found = set(roots & processes.keys())
    children: dict[int, list[int]] = {}
    for each in processes.values():
        children.setdefault(each.parent, []).append(each.pid)
    todo = list(found)
    while todo:
        fresh = [pid for pid in children.get(todo.pop(), []) if pid not in found]
        found.update(fresh)
        todo += fresh
    return frozenset(found)


def end(process: Process) -> None:
    """Kill a process, and no later one with its number."""
    with suppress(ProcessLookupError, FileNotFoundError):
        handle = os.pidfd_open(process.pid)
        try:
            if _read(Path("/proc", str(process.pid))).started == process.started:
                signal.pidfd_send_signal(handle, signal.SIGKILL)
        finally:
            os.close(handle)


def at_work(processes: Mapping[int, Process]) -> frozenset[int]:
    """Give every process but this one that holds a host's lock, whichever host's, and all that descends from it."""
    others = processes.keys() - {os.getpid()}
    return below(processes, frozenset(pid for pid in others if processes[pid].argv and _holds_lock(pid)))


def _holds_lock(pid: int) -> bool:
    with suppress(OSError), os.scandir(f"/proc/{pid}/fd") as entries:
        for entry in entries:
            if os.readlink(entry.path).endswith(_LOCK):  # noqa: PTH115 - for every descriptor of every process
                return "lock:" in Path(f"/proc/{pid}/fdinfo", entry.name).read_text(encoding="ascii")
    return False


def namespaces(pid: int) -> frozenset[str]:
    """Name the namespaces that a process is in or holds open, as the kernel does: `net:[4026531840]`."""
    found: set[str] = set()
    for folder in ("ns", "fd"):
        with suppress(OSError), os.scandir(f"/proc/{pid}/{folder}") as entries:
            names = [os.readlink(entry.path) for entry in entries]  # noqa: PTH115 - as above
            found.update(name for name in names if name.endswith("]") and name.partition(":")[0] in _NAMESPACES)
    return frozenset(found)
