"""What runs inside a unit beside another one: it keeps secrets everywhere it can, and looks for the other's.

Stands alone: it is stored as a file and run by the system's Python. It says lines of JSON, and judges nothing.
"""

import ctypes
import errno
import json
import os
import platform
import signal
import socket
import stat
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

PLACES = ("/tmp", "/var/tmp", "/dev/shm", "/work", "/home/agent")
ASKED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGCONT)
LEFT_SECONDS = 300
SIZE = 4096
LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.shmat.restype = ctypes.c_void_p
VM_READ = {"x86_64": 310, "aarch64": 270}.get(platform.machine(), 310)
PIDFD_OPEN, PIDFD_GETFD = 434, 438
PTRACE_ATTACH = 16

Found = dict[str, object]


class Names:
    """What a neighbour calls its things."""

    def __init__(self, number: int) -> None:
        self.secret = f"a-neighbours-secret-{number}"
        self.key = 0xC1EA0 + number
        self.queue = f"/neighbour-{number}".encode()
        self.abstract = f"\0neighbour-{number}"
        self.socket = f"/tmp/{self.secret}.sock"
        self.port = 7070 + number


def say(what: Found) -> None:
    """Say one line."""
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


def heard() -> dict[str, int]:
    """Hear one line."""
    told: dict[str, int] = json.loads(sys.stdin.readline())
    return told


def leave_a_child() -> int:
    """Leave a process behind that has a session of its own, and no parent of ours; give its number."""
    reading, writing = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for number in ASKED:
                signal.signal(number, signal.SIG_IGN)
            os.write(writing, str(os.getpid()).encode())
            for descriptor in range(5):
                with suppress(OSError):
                    os.close(descriptor)
            time.sleep(LEFT_SECONDS)
        os._exit(0)
    os.wait()
    return int(os.read(reading, 100))


# What it keeps.


class Kept:
    """Everything of it that somebody could find."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.signals: list[int] = []
        for number in ASKED:
            signal.signal(number, lambda got, _: self.signals.append(got))
        self.files = [f"{place}/{names.secret}" for place in PLACES if os.access(place, os.W_OK)]
        for path in self.files:
            Path(path).write_text(names.secret, encoding="ascii")
        self.memory = ctypes.create_string_buffer(names.secret.encode(), 64)
        self.sockets = list(self.listen())
        self.shared = LIBC.shmget(names.key, SIZE, 0o1666)
        self.attached = LIBC.shmat(self.shared, None, 0)
        ctypes.memmove(self.attached, names.secret.encode(), len(names.secret))
        self.queue = LIBC.mq_open(names.queue, os.O_CREAT | os.O_RDWR | os.O_NONBLOCK, 0o666, None)
        self.child = leave_a_child()

    def listen(self) -> Iterator[socket.socket]:
        """Listen on what sockets this unit may have."""
        for address in (self.names.abstract, self.names.socket):
            made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            made.bind(address)
            made.listen(5)
            yield made
        with suppress(OSError):  # A unit without a network has no such sockets.
            yield socket.create_server(("127.0.0.1", self.names.port))

    def where(self) -> Found:
        """Tell what somebody must know who looks for it."""
        return {
            "pid": os.getpid(),
            "child": self.child,
            "shared": self.shared,
            "queue": self.queue,
            "sockets": len(self.sockets),
            "files": self.files,
            "address": ctypes.addressof(self.memory),
        }

    def now(self) -> Found:
        """Say what is still as it was, and what came from elsewhere."""
        visits = 0
        for each in self.sockets:
            each.settimeout(0)
            with suppress(BlockingIOError):
                each.accept()
                visits += 1
        names = self.names
        own = {names.secret, names.socket.removeprefix("/tmp/")}
        return {
            "signals": self.signals,
            "visits": visits,
            "changed": [path for path in self.files if read(path) != names.secret],
            "strange": [name for place in PLACES[:3] for name in listed(place) if name not in own],
            "shared": ctypes.string_at(self.attached, len(names.secret)).decode(),
            "memory": self.memory.value.decode(),
            "child": Path(f"/proc/{self.child}").is_dir(),
        }


# What it looks for.


def listed(folder: str) -> list[str]:
    """Name what lies in a folder."""
    with os.scandir(folder) as entries:
        return [each.name for each in entries]


def tried(what: Callable[..., object], *arguments: object) -> str:
    """Try something; give the name of the refusal, or what was got."""
    try:
        return f"got {what(*arguments)!r:.200}"
    except OSError as error:
        return errno.errorcode.get(error.errno or 0, str(error.errno))


def call(result: int | None) -> int | None:
    """Turn a refused C call into an OSError."""
    if result in {-1, ctypes.c_void_p(-1).value}:
        raise OSError(ctypes.get_errno(), "refused")
    return result


def read(path: str) -> str:
    """Read the beginning of a file."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        return os.read(descriptor, 100).decode(errors="replace")
    finally:
        os.close(descriptor)


def read_memory(path: str, address: int) -> str:
    """Read another one's memory through a file."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        return os.pread(descriptor, 64, address).decode(errors="replace")
    finally:
        os.close(descriptor)


def read_across(pid: int, address: int) -> str:
    """Read another one's memory by the system call for it."""
    buffer = ctypes.create_string_buffer(64)
    here = (ctypes.c_void_p * 2)(ctypes.addressof(buffer), 64)
    there = (ctypes.c_void_p * 2)(address, 64)
    one, number = ctypes.c_long(1), ctypes.c_long(VM_READ)
    call(LIBC.syscall(number, ctypes.c_long(pid), here, one, there, one, ctypes.c_long(0)))
    return buffer.value.decode(errors="replace")


def connect(family: int, address: str | tuple[str, int]) -> str:
    """Connect, and say so."""
    with socket.socket(family, socket.SOCK_STREAM) as made:
        made.settimeout(1)
        made.connect(address)
    return "a connection"


def take_descriptor(pid: int) -> int | None:
    """Take a descriptor out of another process."""
    number, taken = ctypes.c_long(PIDFD_OPEN), ctypes.c_long(PIDFD_GETFD)
    opened = call(LIBC.syscall(number, ctypes.c_long(pid), ctypes.c_long(0)))
    return call(LIBC.syscall(taken, ctypes.c_long(opened or 0), ctypes.c_long(0), ctypes.c_long(0)))


def at_process(pid: int, address: int) -> dict[str, str]:
    """Try all there is to try on another process."""
    proc = f"/proc/{pid}"
    found = {name: tried(read, f"{proc}/{name}") for name in ("environ", "cmdline", "status", "maps", "stat", "comm")}
    found |= {f"list {name}": tried(listed, f"{proc}/{name}") for name in ("", "root", "cwd", "fd", "task")}
    links = ("root", "cwd", "exe", "ns/net", "ns/mnt")
    found |= {f"link {name}": tried(os.readlink, f"{proc}/{name}") for name in links}
    found |= {f"signal {number}": tried(os.kill, pid, number) for number in ASKED}
    found |= {
        "mem": tried(read_memory, f"{proc}/mem", address),
        "process_vm_readv": tried(read_across, pid, address),
        "ptrace": tried(lambda: call(LIBC.ptrace(PTRACE_ATTACH, pid, None, None))),
        "pidfd_getfd": tried(take_descriptor, pid),
        "group": tried(os.killpg, pid, signal.SIGTERM),
        "queued": tried(lambda: call(LIBC.sigqueue(pid, signal.SIGUSR1, None))),
        "affinity": tried(os.sched_setaffinity, pid, {0}),
        "priority": tried(os.setpriority, os.PRIO_PROCESS, pid, 19),
        "limits": tried(lambda: call(LIBC.prlimit(pid, 7, None, ctypes.create_string_buffer(16)))),
    }
    return found


def at_objects(names: Names) -> dict[str, str]:
    """Try what has a name or a number."""
    found = {
        "abstract socket": tried(connect, socket.AF_UNIX, names.abstract),
        "named socket": tried(connect, socket.AF_UNIX, names.socket),
        "loopback": tried(connect, socket.AF_INET, ("127.0.0.1", names.port)),
        "shm key": tried(lambda: call(LIBC.shmget(names.key, 0, 0))),
        "queue": tried(lambda: call(LIBC.mq_open(names.queue, os.O_RDWR, 0, None))),
    }
    return found | {place: tried(read, f"{place}/{names.secret}") for place in PLACES}


def named(names: Names) -> list[str]:
    """List every file and socket in all that can be listed whose name has the other's secret."""
    found = []
    for folder, below, files in os.walk("/"):
        if folder == "/":
            below[:] = [each for each in below if each not in {"proc", "usr"}]
        found += [f"{folder}/{name}" for name in (*below, *files) if names.secret in name]
    return found


def sockets() -> list[str]:
    """List the sockets that have a place in a folder."""
    found = []
    for folder in ("/run", "/tmp", "/var/tmp", "/dev", "/dev/shm"):
        paths = (f"{folder}/{name}" for name in listed(folder))
        found += [path for path in paths if stat.S_ISSOCK(os.lstat(path).st_mode)]
    return found


def main() -> None:
    """Keep, look, say what was found, and say in the end whether what was kept is as it was."""
    told = heard()
    kept = Kept(Names(told["own"]))
    say(kept.where())
    other = heard()
    names = Names(told["other"])
    guessed = {pid for pid in range(1, other["pid"] + 300) if tried(os.kill, pid, 0).startswith("got")}
    seen = {int(name) for name in listed("/proc") if name.isdigit()}
    own = {os.getpid(), kept.child}
    say({
        "tries": at_process(other["pid"], other["address"]) | at_objects(names),
        "child": tried(os.kill, other["child"], signal.SIGKILL),
        "all": tried(os.kill, -1, signal.SIGHUP),
        "listed": sorted(seen - own),
        "guessed": sorted(guessed - own),
        "named": named(names),
        "sockets": [path for path in sockets() if path != kept.names.socket],
    })  # fmt: skip
    heard()
    say(kept.now())
    heard()


if __name__ == "__main__":
    main()
