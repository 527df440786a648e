"""What the kernel counts as root's too, whoever takes it in a user namespace: a ceiling for each unit before its go.

As properties these limits would not do: systemd makes the namespace after it has set them, and the kernel then holds
root and all units together to a single unit's limit.
"""

import os
import resource
from pathlib import Path
from typing import NoReturn

from sandbox.errors import SandboxError
from sandbox.network import enter
from sandbox.spec import KIB

MOST_SIGNALS = 1024
"""Queued signals, of which every timer takes one. Root may have some 4,000 on a small host."""
QUEUE_BYTES = 128 * KIB
"""Message queues. Root may have 800 KiB."""

_LIMITS = {resource.RLIMIT_SIGPENDING: MOST_SIGNALS, resource.RLIMIT_MSGQUEUE: QUEUE_BYTES}
_CLONE_NEWUSER = 0x10000000
_OWN = "/proc/self/ns/user"
_WATCHES = {"max_inotify_instances": ("max_user_instances", 4), "max_inotify_watches": ("max_user_watches", 2)}
"""Names of /proc/sys/user; in /proc/sys/fs/inotify what root may have, and by what that is divided for a unit."""


def bound_shares(process: int) -> bool:
    """Set these ceilings for a unit that is one process as yet; false if one of them could not be set.

    Only for a caller of one thread.
    """
    try:
        for kind, most in _LIMITS.items():
            least = min(most, resource.prlimit(process, kind)[1])
            resource.prlimit(process, kind, (least, least))
        return _bound_watches(process)
    except (OSError, ValueError):
        return False


def _bound_watches(process: int) -> bool:
    """Write the ceilings of a process's user namespace, which only a process in there can: a child of ours.

    Whether it has a namespace of its own is the launcher's to show (sandbox/walls.py); without one nothing is done.
    """
    namespace = os.open(f"/proc/{process}/ns/user", os.O_RDONLY | os.O_CLOEXEC)
    try:
        if os.path.samestat(os.fstat(namespace), Path(_OWN).stat()):
            return True
        ceilings = {name: _read(most) // part for name, (most, part) in _WATCHES.items()}
        child = os.fork()
        if child == 0:
            _write_and_leave(namespace, ceilings)
        return os.waitpid(child, 0)[1] == 0
    finally:
        os.close(namespace)


def _read(name: str) -> int:
    return int(Path("/proc/sys/fs/inotify", name).read_text(encoding="ascii"))


def _write_and_leave(namespace: int, ceilings: dict[str, int]) -> NoReturn:
    status = 1
    try:
        enter(namespace, _CLONE_NEWUSER)
        for name, most in ceilings.items():
            Path("/proc/sys/user", name).write_text(str(most), encoding="ascii")
        status = 0
    except (OSError, SandboxError):
        pass  # Its status says so.
    finally:
        os._exit(status)
