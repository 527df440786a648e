"""What can be seen and written from a unit: files, the kernel's tables, streams, what was there before."""

import os
import sys
from collections.abc import Callable

from .kernel import names, opened, text, tried
from .told import Told

_LISTED = ("/", "/dev", "/dev/hugepages", "/dev/mqueue", "/etc", "/home", "/opt", "/run", "/usr/local")
HOST_FILES = (
    "/boot",
    "/etc/crontab",
    "/etc/machine-id",
    "/etc/shadow",
    "/etc/ssh",
    "/etc/sudoers",
    "/lost+found",
    "/media",
    "/mnt",
    "/run/systemd/private",
    "/run/user",
    "/srv",
    "/var/lib",
    "/var/log",
    "/var/spool",
)
KERNEL_FILES = (
    "/proc/1",
    "/proc/cmdline",
    "/proc/config.gz",
    "/proc/cpuinfo",
    "/proc/kallsyms",
    "/proc/kcore",
    "/proc/key-users",
    "/proc/keys",
    "/proc/kmsg",
    "/proc/loadavg",
    "/proc/meminfo",
    "/proc/modules",
    "/proc/sys/kernel/core_pattern",
    "/proc/sysrq-trigger",
    "/proc/sysvipc/shm",
    "/proc/version",
    "/sys/class",
    "/sys/fs/cgroup",
    "/sys/kernel",
)
DEVICES = (
    "/dev/btrfs-control",
    "/dev/fuse",
    "/dev/kmsg",
    "/dev/kvm",
    "/dev/loop-control",
    "/dev/loop0",
    "/dev/mem",
    "/dev/net/tun",
    "/dev/sda",
    "/dev/tty0",
    "/dev/ttyS0",
    "/dev/uinput",
    "/dev/vda",
    "/dev/vhost-vsock",
)
FOLDERS = (
    "/",
    "/etc",
    "/home",
    "/opt",
    "/opt/probes",
    "/opt/launcher",
    "/proc",
    "/run",
    "/sys",
    "/usr",
    "/usr/bin",
    "/var",
)
FILES = ("/etc/passwd", "/etc/ld.so.cache", "/opt/launcher/launcher.py", "/usr/bin/python3", "/proc/self/exe")
GROUP_FILES = ("cgroup.procs", "cgroup.freeze", "cpu.max", "memory.max", "pids.max", "tasks")
_PLACES = ("/tmp", "/var/tmp", "/dev/shm", "/home/agent")  # noqa: S108 - the unit's own
_WORK = "/work"


def listings(_told: Told) -> object:
    """List the folders that say what the unit was given."""
    return {path: names(path) for path in _LISTED}


def host_files(told: Told) -> object:
    """Open files and folders of the host's, by their paths and through the root of another process."""
    paths = [*HOST_FILES, *told.files, *(f"/proc/1/root{path}" for path in told.files)]
    paths += [f"/proc/{each.pid}/root{path}" for each in told.neighbours for path in told.files]
    return {_nameless(path, told): opened(path) for path in paths}


def _nameless(path: str, told: Told) -> str:
    """Say a path without what differs from run to run."""
    for number, each in enumerate(told.neighbours, 1):
        path = path.replace(f"/proc/{each.pid}/", f"/proc/(neighbour {number})/")
    return path


def kernel_files(_told: Told) -> object:
    """Open the kernel's tables of the machine and of other processes."""
    return {path: opened(path) for path in KERNEL_FILES}


def devices(_told: Told) -> object:
    """Open devices that are more than memory and noise."""
    return {path: opened(path, os.O_RDWR) for path in DEVICES}


def writing(_told: Told) -> object:
    """Try to make a file in every folder, and to open files, that nobody may write."""
    making = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    found = {f"a new file in {path}": opened(f"{path}/.canary", making) for path in FOLDERS}
    return {**found, **{f"write {path}": opened(path, os.O_WRONLY) for path in FILES}}


def control_groups(_told: Told) -> object:
    """Try to write the own control group's files, wherever they might be."""
    path = (text("/proc/self/cgroup").splitlines() or ["::/"])[-1].split(":", 2)[-1]
    places = (f"/sys/fs/cgroup{path}", f"/sys/fs/cgroup/memory{path}", f"/sys/fs/cgroup/pids{path}")
    return {name: min(_shut(f"{place}/{name}") for place in places) for name in GROUP_FILES}


def _shut(path: str) -> int:
    return opened(path, os.O_WRONLY)


def group_name(_told: Told) -> object:
    """Tell the own control group's name, which every program can read."""
    lines = text("/proc/self/cgroup").splitlines()
    return {"name": sorted({line.rpartition("/")[2] for line in lines if line.endswith(".service")})}


def places(_told: Told) -> object:
    """List what lies in the unit's own places before it has written anything."""
    found = {path: names(path) for path in _PLACES}
    there = {path: listed for path, listed in found.items() if listed is not None}
    return {"looked": len(there), "found": [f"{path}/{name}" for path, listed in there.items() for name in listed]}


def secrets(told: Told) -> object:
    """Look for the canaries' secret in the environment and command line of every process in sight, this one too."""
    numbers = [name for name in names("/proc") or () if name.isdigit()]
    paths = [f"/proc/{number}/{kind}" for number in numbers for kind in ("environ", "cmdline")]
    paths += ["/etc/passwd", "/etc/hosts", "/etc/hostname", "/proc/self/mountinfo", "/proc/self/cgroup"]
    seen = {path: text(path) for path in paths}
    return {
        "looked": sum(map(bool, seen.values())),
        "found": [path for path, said in seen.items() if told.secret in said],
    }


def processes(_told: Told) -> object:
    """List the processes in sight that are not this one."""
    numbers = [name for name in names("/proc") or () if name.isdigit()]
    return {"looked": len(numbers), "found": [f"process {name}" for name in numbers if int(name) != os.getpid()]}


def descriptors(_told: Told) -> object:
    """Tell what kind every open descriptor is of, and where this process stands."""
    kinds = {}
    for name in names("/proc/self/fd") or ():
        try:
            kinds[name] = os.readlink(f"/proc/self/fd/{name}").partition(":")[0]  # noqa: PTH115
        except FileNotFoundError:  # The one that the listing took.
            continue
    return {**kinds, "cwd": os.getcwd()}  # noqa: PTH109


def streams(_told: Told) -> object:
    """Try to change what was written to the streams."""
    found = {}
    for number, name in ((1, "standard output"), (2, "standard error")):
        found[f"seek in {name}"] = tried(lambda number=number: os.lseek(number, 0, os.SEEK_SET))  # type: ignore[misc]
        found[f"cut {name}"] = tried(lambda number=number: os.ftruncate(number, 0))  # type: ignore[misc]
    return found


def reopened(_told: Told) -> object:
    """Try to read back what was written to the streams and not taken yet."""
    return {"standard output": opened("/proc/self/fd/1"), "standard error": opened("/proc/self/fd/2")}


def argument(_told: Told) -> object:
    """Give back the argument this program was started with."""
    given = sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else []
    return {"argument": given}


def environment(_told: Told) -> object:
    """List the names in the environment."""
    return {"names": sorted(os.environ)}


def links(told: Told) -> object:
    """Open each link that a candidate left in the workspace."""
    left = [name for name in names(_WORK) or () if name.startswith("link-")]
    return {name: opened(f"{_WORK}/{name}") for name in left} if told.gate is None else {}


PROBES: dict[str, Callable[[Told], object]] = {
    "places": places,
    "listings": listings,
    "host-files": host_files,
    "kernel-files": kernel_files,
    "devices": devices,
    "writing": writing,
    "control-groups": control_groups,
    "group-name": group_name,
    "secrets": secrets,
    "processes": processes,
    "descriptors": descriptors,
    "streams": streams,
    "reopened": reopened,
    "argument": argument,
    "environment": environment,
    "links": links,
}
