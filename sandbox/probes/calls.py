"""System calls that no unit needs, and ways around the filter on them.

What each is asked is harmless even where it is let through: bad pointers, numbers and descriptors.
"""

import ctypes
import errno
import mmap
import os
import socket
from collections.abc import Callable

from .kernel import UNKNOWN, call, in_child, number_called, tried
from .told import Told

_SIGCHLD, _X32 = 17, 0x4000_0000
_NAMESPACES = {
    "mount": 0x0002_0000,
    "control group": 0x0200_0000,
    "uts": 0x0400_0000,
    "ipc": 0x0800_0000,
    "user": 0x1000_0000,
    "process": 0x2000_0000,
    "network": 0x4000_0000,
}
KERNEL_CALLS: dict[str, tuple[int, ...]] = {
    "acct": (1,),
    "adjtimex": (1,),
    "bpf": (-1,),
    "chroot": (1,),
    "clock_adjtime": (0, 1),
    "clock_settime": (0, 1),
    "delete_module": (1,),
    "fanotify_init": (-1,),
    "finit_module": (-1,),
    "fsconfig": (-1,),
    "fsmount": (-1,),
    "fsopen": (1,),
    "fspick": (-1, 1),
    "init_module": (1, 1, 1),
    "io_uring_enter": (-1,),
    "io_uring_register": (-1,),
    "io_uring_setup": (),
    "kcmp": (0, 0, 99),
    "kexec_file_load": (-1, -1, 0, 0, -1),
    "kexec_load": (0, 0, 0, 0xFFFF),
    "mbind": (1, 1, 99),
    "memfd_secret": (-1,),
    "migrate_pages": (-1,),
    "mount": (1, 1, 1),
    "mount_setattr": (-1,),
    "move_mount": (-1,),
    "move_pages": (-1,),
    "name_to_handle_at": (-1,),
    "open_by_handle_at": (-1, 1),
    "open_tree": (-1, 1, -1),
    "perf_event_open": (1,),
    "personality": (8,),
    "pidfd_getfd": (-1, -1),
    "pivot_root": (1, 1),
    "process_madvise": (-1,),
    "process_mrelease": (-1,),
    "process_vm_readv": (0, 0, 0, 0, 0, 9),
    "process_vm_writev": (0, 0, 0, 0, 0, 9),
    "ptrace": (9999,),
    "quotactl": (-1,),
    "quotactl_fd": (-1,),
    "reboot": (),
    "sched_setattr": (0, 1),
    "set_mempolicy": (99,),
    "setdomainname": (1, -1),
    "sethostname": (1, -1),
    "settimeofday": (1,),
    "swapoff": (1,),
    "swapon": (1,),
    "syslog": (99,),
    "umount2": (1,),
    "userfaultfd": (-1,),
    "vhangup": (),
}
KEY_CALLS: dict[str, tuple[int, ...]] = {"add_key": (1,), "keyctl": (9999,), "request_key": (1,)}
FAMILIES = {
    "netlink": 16,
    "packet": 17,
    "rds": 21,
    "can": 29,
    "tipc": 30,
    "bluetooth": 31,
    "alg": 38,
    "vsock": 40,
    "kcm": 41,
    "qipcrtr": 42,
    "xdp": 44,
}
_FORBIDDEN_ENTRY = bytes.fromhex("b814000000cd80c3")  # mov eax, 20 (getpid); int 0x80; ret


def kernel_calls(_told: Told) -> object:
    """Make each call of the list."""
    return {name: call(name, *given) for name, given in KERNEL_CALLS.items()}


def key_calls(_told: Told) -> object:
    """Make each call on the kernel's key rings."""
    return {name: call(name, *given) for name, given in KEY_CALLS.items()}


def new_namespaces(_told: Told) -> object:
    """Try to make and to enter namespaces."""
    found: dict[str, int | None] = {
        f"unshare: {name}": in_child(lambda flag=flag: call("unshare", flag))  # type: ignore[misc]  # a default binds it
        for name, flag in _NAMESPACES.items()
    }
    found["clone: user"] = in_child(lambda: call("clone", _NAMESPACES["user"] | _SIGCHLD))
    found["clone3"] = call("clone3")
    with open("/proc/self/ns/user", "rb") as own:  # noqa: PTH123
        found["setns: user"] = in_child(lambda: call("setns", own.fileno(), 0))
    with open("/proc/self/ns/net", "rb") as own:  # noqa: PTH123
        found["setns: network"] = in_child(lambda: call("setns", own.fileno(), 0))
    return found


def other_tables(_told: Told) -> object:
    """Try the machine's other system call tables, which no filter for the usual one covers."""
    if os.uname().machine != "x86_64":
        return {"32-bit entry": errno.ENOSYS, "x32 entry": errno.ENOSYS}  # There are none.
    return {"32-bit entry": in_child(_by_interrupt), "x32 entry": in_child(lambda: number_called(_X32 | 39))}


def _by_interrupt() -> int:
    page = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(_FORBIDDEN_ENTRY)
    enter = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))
    answer = int(enter())
    return 0 if answer > 0 else min(-answer, UNKNOWN)


def families(_told: Told) -> object:
    """Try sockets of families that reach the kernel, the hypervisor or the wire."""
    return {name: _socket(number, socket.SOCK_RAW, socket.SOCK_DGRAM) for name, number in FAMILIES.items()}


def ip_families(_told: Told) -> object:
    """Try IP sockets."""
    return {"inet": _socket(2, socket.SOCK_STREAM), "inet6": _socket(10, socket.SOCK_STREAM)}


def raw_sockets(_told: Told) -> object:
    """Try sockets below TCP and UDP."""
    return {"icmp": _raw(2, 1), "raw": _raw(2, 255), "icmpv6": _raw(10, 58)}


def _raw(family: int, protocol: int) -> int:
    return tried(lambda: socket.socket(family, socket.SOCK_RAW, protocol).close())


def _socket(family: int, *kinds: int) -> int:
    """Try kinds until one is had; which error the last one gave, else."""
    answers = [tried(lambda kind=kind: socket.socket(family, kind).close()) for kind in kinds]  # type: ignore[misc]
    return 0 if 0 in answers else answers[-1]


PROBES: dict[str, Callable[[Told], object]] = {
    "kernel-calls": kernel_calls,
    "key-calls": key_calls,
    "new-namespaces": new_namespaces,
    "other-tables": other_tables,
    "families": families,
    "ip-families": ip_families,
    "raw-sockets": raw_sockets,
}
