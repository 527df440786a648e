"""What is put on the host for the time of a proving, so that a unit that could see the host would see it."""

import ctypes
import json
import os
import re
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from secrets import randbelow, token_hex
from threading import Thread

from sandbox.room import HOST_FOLDER

FOLDER = HOST_FOLDER / "canary"
"""Where the files are. Only who holds the host's room makes it; by its record the next one removes what a killed one
left."""
_RECORD = FOLDER / "planted.json"

_libc = ctypes.CDLL(None, use_errno=True)
_NEW, _REMOVE, _USER_RING, _UNLINK, _SEARCH = 0o1666, 0, -4, 9, 10
_KEYCTL = {"x86_64": (248, 250), "aarch64": (217, 219)}
"""Numbers of add_key and keyctl."""
_NOBODY = 65534
_LONGEST_PATH, _MOST_SOCKETS = 100, 64
_LOCAL = re.compile(r"\|-- ([0-9.]+)\n\s+/32 host LOCAL")


@dataclass(frozen=True, slots=True, kw_only=True)
class Canaries:
    """What the host holds; `name` and `key` are what that without a path is called."""

    secret: str
    name: str
    key: int
    port: int
    files: tuple[str, ...]
    sockets: tuple[str, ...]
    addresses: tuple[str, ...]
    namespaces: tuple[tuple[str, str], ...]
    made: tuple[tuple[str, int], ...]
    """What could be put there; 0 says that it was. A host may lack kernel keys, or refuse them."""


@contextmanager
def canaries() -> Iterator[Canaries]:
    """Put everything there, and take it away again. Needs root, and the host's room."""
    secret, name, key = f"canary-{token_hex(16)}", f"cleanroom-{token_hex(6)}", 1 + randbelow(1 << 30)
    with ExitStack() as held:
        sweep()
        FOLDER.mkdir(mode=0o755)
        held.callback(sweep)
        _RECORD.write_text(json.dumps({"name": name, "key": key}), encoding="ascii")
        files = (_file(FOLDER / "secret", secret, 0o600), _file(FOLDER / "readable", secret, 0o644))
        _file(_shared(name), secret, 0o666)
        sockets = tuple(_listen(held, path) for path in (str(FOLDER / "socket"), _path(name), f"\0{name}"))
        listener = held.enter_context(socket.create_server(("127.0.0.1", 0)))
        made = _objects(name, key)
        held.enter_context(_process(secret))
        yield Canaries(
            secret=secret,
            name=name,
            key=key,
            port=int(listener.getsockname()[1]),
            files=files,
            sockets=(*sockets[:2], *socket_paths(_read("/proc/net/unix"))),
            addresses=local_addresses(_read("/proc/net/fib_trie"), _read("/proc/net/if_inet6")),
            namespaces=tuple((each.name, str(each.readlink())) for each in Path("/proc/self/ns").iterdir()),
            made=tuple(made.items()),
        )


def sweep() -> None:
    """Remove all that the last proving put there, if it is there."""
    with suppress(FileNotFoundError, ValueError, TypeError, KeyError):
        record = json.loads(_RECORD.read_bytes())
        _remove(str(record["name"]), int(record["key"]))
    if FOLDER.exists():
        shutil.rmtree(FOLDER)


def _remove(name: str, key: int) -> None:
    for path in (_shared(name), Path(_path(name))):
        path.unlink(missing_ok=True)
    if (made := _libc.shmget(key, 0, 0)) >= 0:
        _libc.shmctl(made, _REMOVE, None)
    if (made := _libc.semget(key, 0, 0)) >= 0:
        _libc.semctl(made, 0, _REMOVE)
    if (made := _libc.msgget(key, 0)) >= 0:
        _libc.msgctl(made, _REMOVE, None)
    _libc.mq_unlink(f"/{name}".encode())
    _, control = _KEYCTL.get(os.uname().machine, (None, None))
    if control is not None and (found := _libc.syscall(control, _SEARCH, _USER_RING, b"user", name.encode(), 0)) >= 0:
        _libc.syscall(control, _UNLINK, found, _USER_RING)


def _shared(name: str) -> Path:
    """Where a unit looks that shares the host's memory for files."""
    return Path("/dev/shm", name)  # noqa: S108


def _path(name: str) -> str:
    return f"/run/{name}.socket"


def _objects(name: str, key: int) -> dict[str, int]:
    """Make System V objects, a POSIX queue and a key; say of each whether it is there."""
    queue = _libc.mq_open(f"/{name}".encode(), os.O_RDWR | os.O_CREAT, 0o666, None)
    if queue >= 0:
        os.close(queue)
    found = {
        "shared memory": _libc.shmget(key, 1, _NEW),
        "semaphores": _libc.semget(key, 1, _NEW),
        "message queue": _libc.msgget(key, _NEW),
        "POSIX queue": queue,
        "key": -1,
    }
    add, _ = _KEYCTL.get(os.uname().machine, (None, None))
    if add is not None:
        word = name.encode()
        found["key"] = _libc.syscall(add, b"user", word, word, ctypes.c_size_t(len(word)), _USER_RING)
    return {what: 0 if made >= 0 else 1 for what, made in found.items()}


def _listen(held: ExitStack, path: str) -> str:
    listener = held.enter_context(socket.socket(socket.AF_UNIX))
    listener.bind(path)
    if path.startswith("/"):
        Path(path).chmod(0o666)
    listener.listen()
    answering = Thread(target=_hang_up, args=(listener,))
    answering.start()
    held.callback(answering.join)
    held.callback(listener.shutdown, socket.SHUT_RDWR)
    return path


def _hang_up(listener: socket.socket) -> None:
    """Let go of whoever connects: the kernel keeps the keys of an account that waits for an answer."""
    with suppress(OSError):  # It was shut.
        while True:
            listener.accept()[0].close()


def socket_paths(table: str) -> tuple[str, ...]:
    """List paths of the sockets in the kernel's table of a network namespace."""
    paths = {line.split(None, 7)[7] for line in table.splitlines()[1:] if len(line.split(None, 7)) > 7}  # noqa: PLR2004
    return tuple(sorted(path for path in paths if path.startswith("/") and len(path) < _LONGEST_PATH))[:_MOST_SOCKETS]


def local_addresses(trie: str, sixth: str) -> tuple[str, ...]:
    """List the addresses of a network namespace, loopback's apart."""
    fourth = {address for address in _LOCAL.findall(trie) if not address.startswith("127.")}
    long = {
        line.split()[0] for line in sixth.splitlines() if not line.startswith("fe80") and line.split()[5:] != ["lo"]
    }
    return (*sorted(fourth), *sorted(socket.inet_ntop(socket.AF_INET6, bytes.fromhex(each)) for each in long))


def _read(path: str) -> str:
    return Path(path).read_text(encoding="ascii", errors="replace") if Path(path).exists() else ""


def _file(path: Path, content: str, mode: int) -> str:
    path.write_text(content, encoding="ascii")
    path.chmod(mode)
    return str(path)


@contextmanager
def _process(secret: str) -> Iterator[None]:
    """Have a process of another account with the secret in its environment; it ends with this one."""
    with subprocess.Popen(
        ["/usr/bin/cat"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={"CANARY_KEY": secret},
        cwd="/",
        user=_NOBODY,
        group=_NOBODY,
        extra_groups=[],
    ) as process:
        try:
            yield
        finally:
            with suppress(ProcessLookupError):
                process.kill()
