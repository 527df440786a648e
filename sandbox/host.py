"""A service manager to start units with: the machine's own, or a private one in namespaces of its own."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex

from sandbox.boot import base, hierarchies
from sandbox.errors import HostUnfitError
from sandbox.network import CLONE_NEWNET, enter, loopback_up
from sandbox.processes import GROUP, at_work, end, read_processes
from sandbox.telling import tell

_BOOT_SECONDS = 30.0
_DEATH_SECONDS = 5.0
_NAMESPACES = {
    "cgroup": 0x02000000,
    "ipc": 0x08000000,
    "uts": 0x04000000,
    "net": CLONE_NEWNET,
    "pid": 0x20000000,
    "mnt": 0x00020000,
}
GROUP_PREFIX = "cleanroom-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Manager:
    """A running service manager. `init` is its pid as seen from outside, or None for the machine's own PID 1."""

    init: int | None

    @property
    def kind(self) -> str:
        """`system` or `private`."""
        return "system" if self.init is None else "private"


def cgroup_layout() -> str:
    """Tell how control groups are laid out here: `v2`, or `hybrid` where v1 has the controllers."""
    return "hybrid" if Path("/sys/fs/cgroup/memory").is_dir() else "v2"


def machine_runs_systemd() -> bool:
    """Tell whether PID 1 is a systemd that can be asked."""
    return init_name() == "systemd" and Path("/run/systemd/private").exists()


def init_name() -> str:
    """Give what PID 1 calls itself."""
    return Path("/proc/1/comm").read_text(encoding="utf-8", errors="replace").strip()


@contextmanager
def service_manager() -> Iterator[Manager]:
    """Use the machine's systemd where it is PID 1, else run a private one until the block is left.

    Raises:
        HostUnfitError: neither is to be had.
    """
    if machine_runs_systemd():
        yield Manager(init=None)
        return
    tell(sweep_groups())
    group = f"{GROUP_PREFIX}{token_hex(6)}"
    plan = json.dumps({"group": group, "machine_id": token_hex(16), "keeper": str(os.getpid())})
    boot = Path(__file__).with_name("boot.py")
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", "-B", str(boot), "outside", plan],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"},
        cwd="/",
    )
    try:
        yield Manager(init=_await_init(process))
    finally:
        process.kill()
        process.wait()
        if process.stderr is not None:
            process.stderr.close()
        _remove_groups(group)


def _await_init(process: "subprocess.Popen[bytes]") -> int:
    deadline = time.monotonic() + _BOOT_SECONDS
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    while time.monotonic() < deadline and process.poll() is None:
        with suppress(FileNotFoundError, ProcessLookupError):
            found = children.read_text(encoding="ascii").split()
            if found and Path(f"/proc/{found[0]}/root/run/systemd/private").exists():
                return int(found[0])
        time.sleep(0.005)
    said = ""
    if process.poll() is not None and process.stderr is not None:
        said = process.stderr.read(2000).decode(errors="replace").strip().replace("\n", "; ")
    raise HostUnfitError(
        f"a private systemd (it did not come up{': ' + said if said else ''})",
        "run it as root, on a kernel with namespaces and control groups",
    )


def join(manager: Manager) -> None:
    """Move this process into the private manager's namespaces; the pid namespace holds for children.

    Must be called before any thread starts, with everything imported: the folders that the private
    manager hides are out of sight afterwards.
    """
    if manager.init is None:
        return
    descriptors = [
        (os.open(f"/proc/{manager.init}/ns/{name}", os.O_RDONLY | os.O_CLOEXEC), kind)
        for name, kind in _NAMESPACES.items()
    ]
    for descriptor, kind in descriptors:
        enter(descriptor, kind)
        os.close(descriptor)
    os.chdir("/")
    loopback_up()


def sweep_groups(roots: Iterable[Path] | None = None) -> tuple[str, ...]:
    """End private managers without a keeper, wherever they were started, remove their control groups, and name them.

    What descends from a keeper at work is in its groups, or was told to make them: they stay.
    """
    deadline = time.monotonic() + _DEATH_SECONDS
    removed: set[str] = set()
    while True:
        processes = read_processes()
        busy = at_work(processes)
        used = {name for pid in busy for name in processes[pid].groups}
        left = [group for group in own_groups(roots) if group.name not in used]
        for process in processes.values():
            if process.pid not in busy and {group.name for group in left} & set(process.groups):
                end(process)
        stuck = {group.name for group in left if _remove_tree(group)}
        removed |= {group.name for group in left} - stuck
        if not stuck or time.monotonic() > deadline:
            return tuple(f"control group {name}" for name in sorted(removed))
        time.sleep(0.01)


def own_groups(roots: Iterable[Path] | None = None) -> Iterator[Path]:
    """Give the control groups of private managers below some groups, or below all."""
    for root in roots if roots is not None else {mount for _, _, mount in hierarchies()}:
        for folder, below, _ in os.walk(root):
            ours = [name for name in below if GROUP.fullmatch(name)]
            below[:] = [name for name in below if name not in ours]
            yield from (Path(folder, name) for name in ours)


def _remove_groups(name: str) -> None:
    deadline = time.monotonic() + 5.0
    while time.monotonic() < deadline:
        left = [base(path, mount) / name for _, path, mount in hierarchies()]
        remaining = [each for each in left if each.exists() and _remove_tree(each)]
        if not remaining:
            return
        time.sleep(0.01)


def _remove_tree(group: Path) -> bool:
    """Remove a control group and those below it; tell whether any is still there."""
    for folder, _, _ in os.walk(group, topdown=False):
        with suppress(OSError):
            Path(folder).rmdir()
    return group.exists()
