"""What single directives change, seen from inside a unit: `python3 -I -S -B directives.py NAME... [-- WORD...]`.

Run by path with the standard library alone, like the launcher. It prints one JSON object, a raw observation for each
name: an error number (0: it worked), a text, a list, or null for what could not be tried. It judges nothing:
tests/systemd/test_removal.py compares what it says with a directive and without. What a call is asked is harmless,
and fails otherwise than by EPERM where no filter stands before it.
"""

# It runs alone in a unit, where a program prints and pathlib's errors are no better than the kernel's:
# ruff: noqa: PTH106, PTH109, PTH116, PTH123, T201

import ctypes
import json
import mmap
import os
import platform
import resource
import socket
import stat
import sys
import time
from collections.abc import Callable

_NUMBERS = {
    "x86_64": {"clock_settime": 227, "keyctl": 250, "sched_setscheduler": 144},
    "aarch64": {"clock_settime": 112, "keyctl": 219, "sched_setscheduler": 119},
}
_SCHED_FIFO = 1
_KEYCTL_DESCRIBE, _SESSION_RING = 6, -3
_GETPID_OF_32_BITS = bytes.fromhex("b814000000cd80c3")  # mov eax, 20; int 0x80; ret
_IPC_KEY, _IPC_CREAT = 0x636C656E, 0o1000
_IPC_SECONDS = 1.5
_RLIMIT_SIGPENDING = 11
# Each socket may hold a little whatever the bound is: few of them, so that what they hold in all is the bound's doing.
_ENOUGH, _MOST_SOCKETS, _FILL_SECONDS = 128 << 20, 120, 4.0
_DEVICES = ("/dev/autofs", "/dev/cpu_dma_latency", "/dev/loop-control")
_GROUPS = ("/sys/fs/cgroup/unified", "/sys/fs/cgroup")
_libc = ctypes.CDLL(None, use_errno=True)


def failing(attempt: Callable[..., object], *given: object) -> int:
    """Give the error an attempt ends with; 0 if it worked."""
    try:
        attempt(*given)
    except OSError as error:
        return error.errno or -1
    return 0


def call(name: str, *given: int) -> int | None:
    """Make a system call; null where this machine's number is not known."""
    number = _NUMBERS.get(platform.machine(), {}).get(name)
    if number is None:
        return None
    words = [ctypes.c_long(word) for word in (number, *given)]
    return ctypes.get_errno() if _libc.syscall(*words) == -1 else 0


def realtime() -> int | None:
    """Ask for a realtime policy for a process that cannot be."""
    return call("sched_setscheduler", -1, _SCHED_FIFO, 0)


def clock() -> int | None:
    """Set the clock from nowhere."""
    return call("clock_settime", 0, 0)


def keyring() -> str | int | None:
    """Describe the session key ring: its owner and name."""
    number = _NUMBERS.get(platform.machine(), {}).get("keyctl")
    if number is None:
        return None
    text = ctypes.create_string_buffer(200)
    words = [ctypes.c_long(word) for word in (number, _KEYCTL_DESCRIBE, _SESSION_RING)]
    if _libc.syscall(*words, text, ctypes.c_long(200)) == -1:
        return ctypes.get_errno()
    return text.value.decode()


def second_table() -> str | None:
    """Make a system call of the 32-bit table, in a child that may die of it."""
    if platform.machine() != "x86_64":
        return None
    page = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(_GETPID_OF_32_BITS)
    function = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))
    child = os.fork()
    if child == 0:
        os._exit(0 if function() == os.getpid() else 1)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return f"signal {-code}" if code < 0 else "answered" if code == 0 else "another answer"


def kernel_log() -> bool:
    """Tell whether the kernel's log is there for its owner to read."""
    return any(_mode(path) & 0o400 for path in ("/proc/kmsg", "/dev/kmsg"))


def tunables() -> bool:
    """Tell whether the kernel's settings are there and not read-only."""
    return _is_open("/proc/sys")


def groups() -> bool:
    """Tell whether control groups are there and not read-only."""
    return any(_is_open(path) for path in _GROUPS)


def own_group() -> bool:
    """Tell whether a control group can be made below the unit's own."""
    for line in _lines("/proc/self/cgroup"):
        _, controllers, path = line.split(":", 2)
        if controllers:
            continue
        for mount in _GROUPS:
            tried = f"{mount}{path}/tried"
            if not failing(os.mkdir, tried):
                os.rmdir(tried)
                return True
    return False


def devices() -> dict[str, int]:
    """Open devices that a policy of harmless ones refuses; opening them does nothing."""
    return {path: failing(_open, path) for path in _DEVICES}


def loopback() -> int:
    """Send a datagram to oneself over the namespace's own loopback."""

    def send() -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
            one.bind(("127.0.0.1", 0))
            one.sendto(b"x", one.getsockname())

    return failing(send)


def shares() -> list[int]:
    """Tell how many signals may be queued, and how many bytes in message queues."""
    return [resource.getrlimit(kind)[1] for kind in (_RLIMIT_SIGPENDING, resource.RLIMIT_MSGQUEUE)]


def buffers() -> int:
    """Fill connections to oneself that nobody reads from, and tell what they took in all."""
    held: list[socket.socket] = []
    taken, until = 0, time.monotonic() + _FILL_SECONDS
    with socket.create_server(("127.0.0.1", 0)) as listening:
        while taken < _ENOUGH and len(held) < _MOST_SOCKETS and time.monotonic() < until:
            held.append(socket.create_connection(listening.getsockname()))
            held.append(listening.accept()[0])
            taken += sum(_filled(each) for each in held[-2:])
    return taken


def _filled(one: socket.socket) -> int:
    one.settimeout(0)
    taken = 0
    try:
        while True:
            taken += one.send(bytes(1 << 16))
    except BlockingIOError:
        return taken


def make_memory() -> int:
    """Leave a piece of System V memory behind."""
    made = _libc.shmget(_IPC_KEY, 4096, _IPC_CREAT | 0o666)
    return ctypes.get_errno() if made == -1 else 0


def find_memory() -> bool:
    """Tell whether that piece is still there after a while."""
    deadline = time.monotonic() + _IPC_SECONDS
    while (found := bool(_libc.shmget(_IPC_KEY, 0, 0) != -1)) and time.monotonic() < deadline:
        time.sleep(0.02)
    return found


def folder() -> str:
    """Tell where the program was started."""
    return os.getcwd()


def words() -> list[str]:
    """Give the arguments that stand after a lone `--`, as they came."""
    return sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else []


def _open(path: str) -> None:
    os.close(os.open(path, os.O_RDONLY))


def _is_open(path: str) -> bool:
    try:
        return not os.statvfs(path).f_flag & os.ST_RDONLY and os.access(path, os.R_OK | os.X_OK)
    except OSError:
        return False


def _mode(path: str) -> int:
    try:
        return stat.S_IMODE(os.stat(path).st_mode)
    except OSError:
        return 0


def _lines(path: str) -> list[str]:
    with open(path, encoding="utf-8") as stream:
        return stream.read().splitlines()


PROBES: dict[str, Callable[[], object]] = {
    each.__name__: each
    for each in (
        buffers,
        clock,
        devices,
        find_memory,
        folder,
        groups,
        kernel_log,
        keyring,
        loopback,
        make_memory,
        own_group,
        realtime,
        second_table,
        shares,
        tunables,
        words,
    )
}
"""Every probe by its name."""


def main(argv: list[str]) -> None:
    """Print what the named probes observed."""
    names = argv[: argv.index("--")] if "--" in argv else argv
    print(json.dumps({name: PROBES[name]() for name in names}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
