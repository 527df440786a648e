"""Programs that eat what a host has, for units with small limits. Stands alone: run by path as `eaters.py NAME`.

Most never end by themselves. What one learns it prints, a word and a value a line; what it could not get any more of
is told by the name of the error.
"""

# ruff: noqa: T201, PTH102, PTH108, PTH116, PTH123, SIM115

import contextlib
import ctypes
import errno
import fcntl
import mmap
import os
import resource
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator

MIB = 1 << 20
LIBC = ctypes.CDLL(None, use_errno=True)
SMALL, BIG = bytes(4096), bytes(MIB)
GIANT = 1 << 42
HELD: list[object] = []


def tell(word: str, value: object) -> None:
    """Print one finding at once."""
    print(word, value, flush=True)


def named(error: OSError) -> str:
    """Give an error's short name."""
    return errno.errorcode.get(error.errno or 0, "?")


def until_refused(word: str, attempts: Iterable[object]) -> int:
    """Go on until the system refuses; tell why and after how many."""
    done = 0
    try:
        for _ in attempts:
            done += 1
    except OSError as error:
        tell(word, named(error))
    return done


def hang() -> None:
    """Do nothing, for ever."""
    while True:
        time.sleep(60)


def spin() -> None:
    """Use a processor, for ever."""
    while True:
        pass


# Memory


def touched(memory: mmap.mmap | bytearray | memoryview, size: int) -> None:
    for place in range(0, size, 4096):
        memory[place] = 1


def heap() -> None:
    held = []
    while True:
        held.append(bytearray(8 * MIB))


def shared_map() -> None:
    memory = mmap.mmap(-1, 1 << 30)
    touched(memory, 1 << 30)


def memfd() -> None:
    while True:
        made = os.memfd_create("x")
        for _ in range(32):
            os.write(made, BIG)


def tmpfs(folder: str) -> Callable[[], None]:
    def eat() -> None:
        with open(f"{folder}/big", "wb", buffering=0) as stream:
            while True:
                stream.write(BIG)

    return eat


def sysv() -> None:
    LIBC.shmat.restype = ctypes.c_void_p
    for _ in range(1000):
        number = LIBC.shmget(0, 8 * MIB, 0o1600)
        at = LIBC.shmat(number, None, 0)
        ctypes.memset(at, 1, 8 * MIB)
    hang()


def filled(descriptor: int) -> None:
    os.set_blocking(descriptor, False)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(descriptor, BIG)


def pipes() -> None:
    held = []
    while True:
        reading, writing = os.pipe()
        with contextlib.suppress(OSError):
            fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, MIB)
        filled(writing)
        held.append((reading, writing))


def unix_sockets() -> None:
    held = []
    while True:
        one, two = socket.socketpair()
        for each in (one, two):
            each.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 64 * MIB)
            filled(each.fileno())
        held.append((one, two))


def tcp_sockets() -> None:
    held = []
    listening = socket.create_server(("127.0.0.1", 0), backlog=64)
    until = time.monotonic() + 1
    while len(held) < 1000 and time.monotonic() < until:
        one = socket.create_connection(listening.getsockname())
        two, _ = listening.accept()
        for each in (one, two):
            filled(each.fileno())
        held.append((one, two))
    counts = open("/proc/self/net/sockstat").read().split("TCP:")[1].splitlines()[0].split()
    tell("pages", counts[counts.index("mem") + 1])
    hang()


def udp_sockets() -> None:
    held = []
    until = time.monotonic() + 1
    while len(held) < 2000 and time.monotonic() < until:
        one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        one.bind(("127.0.0.1", 0))
        one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 64 * MIB)
        held.append(one)
        for _ in range(100):
            one.sendto(bytes(60_000), one.getsockname())
    counts = open("/proc/self/net/sockstat").read().split("UDP:")[1].splitlines()[0].split()
    tell("pages", counts[counts.index("mem") + 1])
    hang()


def page_cache() -> None:
    with open("/work/big", "wb", buffering=0) as stream:
        stream.writelines(BIG for _ in range(160))
    with open("/work/big", "rb", buffering=0) as stream:
        while stream.read(MIB):
            pass
    tell("cached", 160)


# Processes


def forks() -> None:
    while True:
        with contextlib.suppress(OSError):
            os.fork()


def threads() -> None:
    while True:
        with contextlib.suppress(RuntimeError):
            threading.Thread(target=spin).start()


def daemons() -> None:
    while True:
        with contextlib.suppress(OSError):
            if os.fork() == 0:
                os.setsid()
                with contextlib.suppress(OSError):
                    if os.fork() != 0:
                        os._exit(0)


def spawns() -> None:
    for _ in range(8):
        if os.fork() == 0:
            break
    while True:
        with contextlib.suppress(OSError):
            os.waitpid(os.posix_spawn("/usr/bin/true", ["true"], {}), 0)


def bomb_and_leave() -> None:
    if os.fork() == 0:
        ignore_all()
        daemons()
    time.sleep(0.3)
    os._exit(3)


# Disk


def one_file() -> None:
    with open("/work/big", "wb", buffering=0) as stream:
        until_refused("bytes", iter(lambda: stream.write(BIG), None))


def many_files() -> None:
    until_refused("files", made_files())


def made_files() -> Iterator[None]:
    for number in range(1_000_000):
        os.close(os.open(f"/work/{number}", os.O_CREAT | os.O_WRONLY))
        yield


def fallocated() -> None:
    with open("/work/big", "wb", buffering=0) as stream:
        until_refused("bytes", (os.posix_fallocate(stream.fileno(), 0, size * MIB) for size in range(1, 1_000)))


def sparse() -> None:
    for number in range(100):
        with open(f"/work/sparse{number}", "wb", buffering=0) as stream:
            stream.truncate(GIANT)
            stream.seek(GIANT - 1)
            stream.write(b"x")
    tell("blocks", sum(os.stat(f"/work/sparse{number}").st_blocks for number in range(100)))


def deleted() -> None:
    held = []
    try:
        while True:
            held.append(open("/work/gone", "wb", buffering=0))
            os.unlink("/work/gone")
            held[-1].write(BIG)
            if os.fstat(held[-1].fileno()).st_size < MIB:
                held[-1].write(BIG)
    except OSError as error:
        tell("bytes", named(error))


def nameless() -> None:
    held = []
    try:
        while True:
            held.append(os.open("/work/nameless", os.O_CREAT | os.O_EXCL | os.O_RDWR))
            os.unlink("/work/nameless")
            while os.write(held[-1], BIG) == MIB and os.fstat(held[-1]).st_size < 2 * MIB:
                pass
    except OSError as error:
        tell("bytes", named(error))


def links() -> None:
    open("/work/one", "w").close()
    until_refused("links", (os.link("/work/one", f"/work/{'l' * 200}{number}") for number in range(1_000_000)))


def deep() -> None:
    def down() -> Iterator[None]:
        while True:
            os.mkdir("d")
            os.chdir("d")
            yield

    os.chdir("/work")
    tell("deep", until_refused("folders", down()))


def syncs() -> None:
    for _ in range(4):
        if os.fork() == 0:
            break
    with open(f"/work/{os.getpid()}", "wb", buffering=0) as stream:
        while True:
            with contextlib.suppress(OSError):
                stream.seek(0)
                stream.write(BIG)
            os.fsync(stream.fileno())
            os.sync()


def too_long() -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    with open("/work/big", "wb", buffering=0) as stream:
        while True:
            stream.write(BIG)


# Streams


def flood(*descriptors: int) -> Callable[[], None]:
    def eat() -> None:
        for descriptor in descriptors[1:]:
            if os.fork() == 0:
                flood(descriptor)()
        while True:
            os.write(descriptors[0], SMALL)

    return eat


def one_line() -> None:
    for _ in range(64):
        os.write(1, b"x" * MIB)


def both_whole() -> None:
    for _ in range(160):
        os.write(2, bytes(65536))
        os.write(1, bytes(65536))


def drip() -> None:
    while True:
        os.write(1, b".")
        time.sleep(0.2)


def mute() -> None:
    for descriptor in (0, 1, 2):
        os.close(descriptor)
    time.sleep(0.5)
    os._exit(5)


def orphan() -> None:
    tell("main", "done")
    if os.fork() == 0:
        ignore_all()
        os.setsid()
        time.sleep(0.5)
        while True:
            os.write(1, b"x")
    os._exit(0)


# Ends


def ignore_all() -> None:
    for number in range(1, signal.NSIG):
        with contextlib.suppress(OSError, ValueError):
            signal.signal(number, signal.SIG_IGN)


def ignores() -> None:
    ignore_all()
    hang()


def stops() -> None:
    os.kill(os.getpid(), signal.SIGSTOP)


def notifies() -> None:
    words = b"EXTEND_TIMEOUT_USEC=60000000\nWATCHDOG=trigger\nSTOPPING=1\nREADY=1\nMAINPID=1\nFDSTORE=1"
    for target in (os.environ.get("NOTIFY_SOCKET"), "/run/systemd/notify", "/run/systemd/private", "\0/org/systemd"):
        if target is None:
            tell("notify", "none")
            continue
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sending:
            try:
                sending.sendto(words, target)
                tell("notify", "sent")
            except OSError as error:
                tell("notify", named(error))
    hang()


def hogs() -> None:
    for _ in range(4):
        if os.fork() == 0:
            break
    spin()


def forward() -> None:
    """Try all that would put it before others."""
    tries: dict[str, Callable[[], object]] = {
        "nice": lambda: os.nice(-5),
        "fifo": lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)),
        "round": lambda: os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1)),
        "affinity": lambda: os.sched_setaffinity(0, {0}),
        "ioprio": lambda: checked(LIBC.syscall(251, 1, 0, (1 << 13) | 0)),
        "deadline": lambda: checked(LIBC.syscall(314, 0, ctypes.create_string_buffer(b"\x30\0\0\0\x06", 48), 0)),
        "files": lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (1 << 20, 1 << 20)),
        "nproc": lambda: resource.setrlimit(resource.RLIMIT_NPROC, (1 << 20, 1 << 20)),
        "oom": lambda: written("/proc/self/oom_score_adj", b"-1000"),
        "group": lambda: written("/sys/fs/cgroup/memory.max", b"max"),
    }
    for word, attempt in tries.items():
        try:
            attempt()
            tell(word, "done")
        except OSError as error:
            tell(word, named(error))
        except ValueError:
            tell(word, "refused")


def written(path: str, words: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY)
    os.write(descriptor, words)


def checked(result: int) -> None:
    if result == -1:
        raise OSError(ctypes.get_errno(), "refused")


# The gate

GATE = ("127.0.0.1", 8080)
LISTING = b"GET /v1/models HTTP/1.1\r\nHost: gate\r\n\r\n"
BODY = b"POST /v1/chat/completions HTTP/1.1\r\nHost: gate\r\nContent-Length: 30000000\r\n\r\n" + BIG
SAYINGS = (
    b"",
    BODY,
    LISTING * 1000,
    b"\0" * 9000,
    b"GET / HTTP/1.1\r\nX: " + b"x" * 90_000,
    b"POST /v1/chat/completions",
)


def gate_flood() -> None:
    """Open connections without an end: silent ones, endless ones, garbled ones, ones that break off."""
    until = time.monotonic() + 1.5
    count = 0
    while time.monotonic() < until:
        try:
            one = socket.create_connection(GATE, 0.2)
            one.setblocking(False)  # noqa: FBT003 - the only way to say it
            with contextlib.suppress(OSError):
                one.send(SAYINGS[count % len(SAYINGS)])
            if count % 3:
                HELD.append(one)
            else:
                one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
                one.close()
            count += 1
        except OSError:
            HELD[:100] = []
    tell("connections", count)
    hang()


def gate_once() -> None:
    """Ask which models there are."""
    with socket.create_connection(GATE, 5) as one:
        one.sendall(LISTING)
        tell("answer", one.recv(1000).split(b"\r\n")[0].decode())


# What the kernel counts by account


def descriptors() -> None:
    for _ in range(8):
        if os.fork() == 0:
            break
    tell("open", until_refused("descriptors", (HELD.append(os.open("/", os.O_RDONLY)) for _ in range(10**6))))
    hang()


def signals() -> Iterator[None]:
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGRTMIN])
    while True:
        checked(LIBC.sigqueue(os.getpid(), signal.SIGRTMIN, None))
        yield


def queues() -> Iterator[None]:
    for number in range(10**6):
        checked(LIBC.mq_open(f"/{number}".encode(), os.O_CREAT | os.O_RDWR, 0o600, None))
        yield


def notices() -> Iterator[None]:
    while True:
        checked(LIBC.inotify_init1(0))
        yield


def terminals() -> Iterator[None]:
    while True:
        HELD.append(os.openpty())
        yield


def wide_pipes() -> Iterator[None]:
    while True:
        reading, writing = os.pipe()
        HELD.append((reading, fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, MIB)))
        yield


COUNTED = {"notices": notices, "signals": signals, "queues": queues, "terminals": terminals, "pipes": wide_pipes}


def counted() -> None:
    """Take all there is of what the kernel counts by account, and keep it."""
    for word, taken in COUNTED.items():
        if os.fork() == 0:
            until_refused("refused", taken())
            hang()
        tell("taking", word)
    hang()


def counted_once() -> None:
    """Take one of each."""
    for word, taken in COUNTED.items():
        try:
            next(taken())
            tell(word, "got")
        except OSError as error:
            tell(word, named(error))


EATERS: dict[str, Callable[[], None]] = {
    "heap": heap, "shared-map": shared_map, "memfd": memfd, "shm": tmpfs("/dev/shm"), "tmp": tmpfs("/tmp"),
    "sysv": sysv, "pipes": pipes, "unix-sockets": unix_sockets, "tcp-sockets": tcp_sockets, "udp-sockets": udp_sockets,
    "page-cache": page_cache,
    "forks": forks, "threads": threads, "daemons": daemons, "spawns": spawns, "bomb-and-leave": bomb_and_leave,
    "one-file": one_file, "many-files": many_files, "fallocated": fallocated, "sparse": sparse, "deleted": deleted,
    "nameless": nameless, "links": links, "deep": deep, "syncs": syncs, "too-long": too_long,
    "flood": flood(1), "flood-both": flood(1, 2), "one-line": one_line, "both-whole": both_whole, "drip": drip,
    "mute": mute, "orphan": orphan, "ignores": ignores, "stops": stops, "notifies": notifies, "hang": hang,
    "hogs": hogs, "forward": forward, "descriptors": descriptors, "counted": counted,
    "counted-once": counted_once, "gate-flood": gate_flood, "gate-once": gate_once,
}  # fmt: skip

if __name__ == "__main__":
    EATERS[sys.argv[1]]()
