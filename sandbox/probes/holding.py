"""A neighbour: it makes canaries in every place that a unit has, tells who it is, and stays until its input ends."""

import ctypes
import json
import os
import socket
import sys
from collections.abc import Callable
from contextlib import ExitStack, suppress

from .kernel import call, tried

_PLACES = ("/tmp", "/var/tmp", "/dev/shm", "/home/agent", "/work")  # noqa: S108 - the unit's own
_NEW = 0o1000 | 0o666
_MODE = 0o666


def hold(argv: list[str]) -> int:
    """Hold canaries of this name, key and secret; `shared` says that its network namespace is not its own."""
    name, key, secret, network = argv
    with ExitStack() as held:
        port = None if network == "shared" else _open_sockets(held, name)
        made = {**_write_files(name, secret), **_make_objects(name, int(key))}
        namespaces = {each: os.readlink(f"/proc/self/ns/{each}") for each in os.listdir("/proc/self/ns")}  # noqa: PTH115, PTH208
        told = {"pid": os.getpid(), "uid": os.getuid(), "namespaces": namespaces, "port": port, "made": made}
        sys.stdout.write(json.dumps(told) + "\n")
        sys.stdout.flush()
        while os.read(0, 1 << 10):
            pass
    return 0


def _open_sockets(held: ExitStack, name: str) -> int | None:
    abstract = held.enter_context(socket.socket(socket.AF_UNIX))
    abstract.bind(f"\0{name}")
    abstract.listen()
    with suppress(OSError):  # Most roles have no such sockets.
        listener = held.enter_context(socket.create_server(("127.0.0.1", 0)))
        return int(listener.getsockname()[1])
    return None


def _write_files(name: str, secret: str) -> dict[str, int]:
    def write(path: str) -> None:
        with open(path, "w", encoding="ascii") as file:  # noqa: PTH123
            file.write(secret)
        os.chmod(path, _MODE)  # noqa: PTH101 - so that its mode hides nothing

    return {f"a file in {place}": tried(lambda place=place: write(f"{place}/{name}")) for place in _PLACES}  # type: ignore[misc]


def _make_objects(name: str, key: int) -> dict[str, int | None]:
    word = ctypes.create_string_buffer(name.encode())
    return {
        "shared memory": call("shmget", key, 1, _NEW),
        "semaphores": call("semget", key, 1, _NEW),
        "message queue": call("msgget", key, _NEW),
        "POSIX queue": call("mq_open", ctypes.addressof(word), os.O_RDWR | os.O_CREAT, _MODE),
    }


PROGRAMS: dict[str, Callable[[list[str]], int]] = {"hold": hold}
