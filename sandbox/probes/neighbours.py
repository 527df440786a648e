"""What a unit can do to another one that is there at the same time, and to the host's processes and objects."""

import ctypes
import os
import resource
import signal
from collections.abc import Callable

from .kernel import call, opened, tried
from .told import Neighbour, Told

_ATTACH, _SEIZE = 16, 0x4206
_LATEST = 4096
_PLACES = ("/tmp", "/var/tmp", "/dev/shm", "/home/agent", "/work")  # noqa: S108 - the unit's own
_SEEN = ("cwd", "environ", "fd", "maps", "mem", "root", "status")


def signals(told: Told) -> object:
    """Send the empty signal to whatever process there may be."""
    numbers = {1, *range(2, _LATEST), *(each.pid for each in told.neighbours)} - {os.getpid()}
    return {"looked": len(numbers), "found": [f"process {each}" for each in sorted(numbers) if _signalled(each)]}


def _signalled(pid: int) -> bool:
    return tried(lambda: os.kill(pid, 0)) == 0


def neighbour_files(told: Told) -> object:
    """Open what /proc shows of neighbours, and of the first process."""
    found = {f"{kind} of the first process": opened(f"/proc/1/{kind}") for kind in _SEEN}
    for number, each in enumerate(told.neighbours, 1):
        found |= {f"{kind} of neighbour {number}": opened(f"/proc/{each.pid}/{kind}") for kind in _SEEN}
    return found


def neighbour_calls(told: Told) -> object:
    """Make the system calls that act on another process."""
    found: dict[str, int | None] = {}
    for number, each in enumerate(told.neighbours, 1):
        found |= {f"{name} neighbour {number}": answer for name, answer in _acted(each).items()}
    return found


def _acted(each: Neighbour) -> dict[str, int | None]:
    pid = each.pid
    return {
        "kill": tried(lambda: os.kill(pid, 0)),
        "tgkill": call("tgkill", pid, pid, 0),
        "signal by descriptor": tried(lambda: _signal_by_descriptor(pid)),
        "attach to": call("ptrace", _ATTACH, pid),
        "seize": call("ptrace", _SEIZE, pid),
        "read memory of": call("process_vm_readv", pid),
        "write memory of": call("process_vm_writev", pid),
        "compare": call("kcmp", pid, os.getpid(), 2),
        "move pages of": call("move_pages", pid),
        "limit": tried(lambda: _limit(pid)),
        "pin": tried(lambda: os.sched_setaffinity(pid, {0})),
        "slow": tried(lambda: os.setpriority(os.PRIO_PROCESS, pid, 19)),
        "slow all of": tried(lambda: os.setpriority(os.PRIO_USER, each.uid, 19)),
    }


def _signal_by_descriptor(pid: int) -> None:
    descriptor = os.pidfd_open(pid)
    try:
        signal.pidfd_send_signal(descriptor, 0)
    finally:
        os.close(descriptor)


def _limit(pid: int) -> None:
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (1, 1))


def objects(told: Told) -> object:
    """Open System V and POSIX objects that the host and a neighbour hold."""
    found: dict[str, int | None] = {}
    for whose, key, name in (("the host", told.key, told.name), ("a neighbour", told.key + 1, told.held)):
        queue = ctypes.create_string_buffer(name.encode())
        found |= {
            f"shared memory of {whose}": call("shmget", key),
            f"semaphores of {whose}": call("semget", key),
            f"message queue of {whose}": call("msgget", key),
            f"POSIX queue of {whose}": call("mq_open", ctypes.addressof(queue)),
            f"POSIX shared memory of {whose}": opened(f"/dev/shm/{name}"),  # noqa: S108
        }
    return found


def keys(told: Told) -> object:
    """Ask for the keys that the host and a neighbour hold."""
    kind = ctypes.create_string_buffer(b"user")
    found = {}
    for whose, name in (("the host", told.name), ("a neighbour", told.held)):
        wanted = ctypes.create_string_buffer(name.encode())
        found[f"key of {whose}"] = call("request_key", ctypes.addressof(kind), ctypes.addressof(wanted))
    return found


def neighbour_places(told: Told) -> object:
    """Open what a neighbour wrote into its own places, which have the same names as this unit's."""
    return {f"a neighbour's file in {place}": opened(f"{place}/{told.held}") for place in _PLACES}


PROBES: dict[str, Callable[[Told], object]] = {
    "signals": signals,
    "neighbour-files": neighbour_files,
    "neighbour-calls": neighbour_calls,
    "objects": objects,
    "keys": keys,
    "neighbour-places": neighbour_places,
}
