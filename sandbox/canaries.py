"""What is put on the host for the time of a proving, so that a unit that could see the host would see it."""

import ctypes
import os
import re
import shutil
import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from secrets import randbelow, token_hex

from sandbox.room import HOST_FOLDER

FOLDER = HOST_FOLDER / "canary"
"""Where the files are: only who holds the host's room makes it, and the next one removes what a killed one left."""

_libc = ctypes.CDLL(None, use_errno=True)
_NEW, _REMOVE, _USER_RING, _UNLINK = 0o1666, 0, -4, 9
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


@contextmanager
def canaries() -> Iterator[Canaries]:
    """Put everything there, and take it away again. Needs root, and the host's room."""
    secret, name, key = f"canary-{token_hex(16)}", f"cleanroom-{token_hex(6)}", 1 + randbelow(1 << 30)
    with ExitStack() as held:
        _remove_folder()
        FOLDER.mkdir(mode=0o755)
        held.callback(_remove_folder)
        files = (_file(FOLDER / "secret", secret, 0o600), _file(FOLDER / "readable", secret, 0o644))
        shared = Path("/dev/shm", name)  # noqa: S108 - where a unit that shared it would look
        _file(shared, secret, 0o666)
        held.callback(shared.unlink)
        sockets = (_socket(held, FOLDER / "socket"), _socket(held, Path("/run", f"{name}.socket")))
        abstract = held.enter_context(socket.socket(socket.AF_UNIX))
        abstract.bind(f"\0{name}")
        abstract.listen()
        listener = held.enter_context(socket.create_server(("127.0.0.1", 0)))
        _objects(held, name, key)
        _key(held, name)
        held.enter_context(_process(secret))
        yield Canaries(
            secret=secret,
            name=name,
            key=key,
            port=int(listener.getsockname()[1]),
            files=files,
            sockets=(*sockets, *socket_paths(_read("/proc/net/unix"))),
            addresses=local_addresses(_read("/proc/net/fib_trie"), _read("/proc/net/if_inet6")),
            namespaces=tuple((each.name, str(each.readlink())) for each in Path("/proc/self/ns").iterdir()),
        )


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


def _socket(held: ExitStack, path: Path) -> str:
    listener = held.enter_context(socket.socket(socket.AF_UNIX))
    listener.bind(str(path))
    held.callback(path.unlink, missing_ok=True)
    path.chmod(0o666)
    listener.listen()
    return str(path)


def _remove_folder() -> None:
    if FOLDER.exists():
        shutil.rmtree(FOLDER)


def _objects(held: ExitStack, name: str, key: int) -> None:
    """Make System V objects and a POSIX queue; where the host has no such thing, there is nothing to be found."""
    removals: tuple[tuple[int, Callable[[int], object]], ...] = (
        (_libc.shmget(key, 1, _NEW), lambda made: _libc.shmctl(made, _REMOVE, None)),
        (_libc.semget(key, 1, _NEW), lambda made: _libc.semctl(made, 0, _REMOVE)),
        (_libc.msgget(key, _NEW), lambda made: _libc.msgctl(made, _REMOVE, None)),
    )
    for made, remove in removals:
        if made >= 0:
            held.callback(remove, made)
    path = f"/{name}".encode()
    queue = _libc.mq_open(path, os.O_RDWR | os.O_CREAT, 0o666, None)
    if queue >= 0:
        held.callback(_libc.mq_unlink, path)
        held.callback(os.close, queue)


def _key(held: ExitStack, name: str) -> None:
    """Put a key on the account's ring, where the host lets us."""
    numbers = _KEYCTL.get(os.uname().machine)
    if numbers is None:
        return
    add, control = numbers
    word = name.encode()
    made = _libc.syscall(add, b"user", word, word, ctypes.c_size_t(len(word)), _USER_RING)
    if made >= 0:
        held.callback(_libc.syscall, control, _UNLINK, made, _USER_RING)


@contextmanager
def _process(secret: str) -> Iterator[None]:
    """Have a process of another account with the secret in its environment."""
    with subprocess.Popen(
        ["/usr/bin/sleep", "600"],
        stdin=subprocess.DEVNULL,
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
