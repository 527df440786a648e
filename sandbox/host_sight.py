"""Looks at a host and gives what was seen: nothing is changed, nothing takes long, nothing found can break it."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from sandbox.boot import HIDDEN
from sandbox.doctor import HINTS
from sandbox.host import init_name, machine_runs_systemd
from sandbox.house_sight import see_accounts, see_folder, see_room
from sandbox.kernel_tries import try_bpf, try_groups, try_namespaces
from sandbox.needs import held_capabilities, seccomp_refusal
from sandbox.room import HOST_FOLDER, AccountRange
from sandbox.sight import HostSight, Interpreter, Storage, Tool
from sandbox.tools import TOOLS

_PATIENCE_S, _TRIES_S = 20.0, 60.0
_SHOWN = 120
_VERSION_FLAGS = {"/usr/sbin/mkfs.ext4": "-V"}
_PYTHON_PROGRAM = (
    "import sys, _ctypes, posix, _stat; print(sys.version_info[0], sys.version_info[1], sys.version_info[2])"
)
_SYSTEMD = "/lib/systemd/systemd"

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """What of this host a clean room would use."""

    state: Path
    store: Path
    accounts: AccountRange = field(default_factory=AccountRange)
    host: Path = HOST_FOLDER
    needed_bytes: int = 0
    """The most that one workspace may take of the state's disk."""


def see_host(places: Places) -> HostSight:
    """Look at everything."""
    account = os.geteuid()
    tried = _try_storage(places.state)
    system = _quietly(machine_runs_systemd) or False
    return HostSight(
        account=account,
        capabilities=_quietly(held_capabilities),
        kernel=os.uname().release,
        machine=os.uname().machine,
        init=_quietly(init_name) or "",
        system_manager=system,
        systemd=_said(_SYSTEMD, "--version", lines=2),
        groups=_quietly(try_groups),
        namespaces=try_namespaces(),
        bpf=_quietly(try_bpf),
        seccomp=_quietly(seccomp_refusal),
        storage=_storage(places, tried),
        accounts=see_accounts(places.accounts),
        room=see_room(places.host),
        folders=tuple(see_folder(name, path) for name, path in _folders(places)),
        tools=tuple(_tool(path) for path in TOOLS),
        python=_see_python(),
        keeper=None if tried is None else str(tried.get("broken", "")),
        hints=tuple((name, _setting(name)) for name in HINTS),
    )


def _folders(places: Places) -> Iterable[tuple[str, Path]]:
    yield "code", Path(__file__).resolve().parent
    yield "environment", Path(sys.prefix)
    yield "host folder", places.host
    yield "state", places.state
    yield "objects", places.state / "objects"
    yield "store", places.store


def _quietly(look: Callable[[], Value]) -> Value | None:
    """Look at something that may be missing, forbidden or odd; None where it cannot be seen."""
    try:
        return look()
    except (OSError, ValueError, IndexError, KeyError):
        return None


def _try_storage(state: Path) -> dict[str, object] | None:
    """Have a program of ours try mounts in a mount namespace of its own; None where it could not."""
    if os.geteuid() != 0:
        return None
    with suppress(OSError), tempfile.TemporaryDirectory(prefix="doctor-", dir=existing(state)) as folder:
        argv = ["/usr/bin/unshare", "--mount", "--propagation", "private"]
        argv += [sys.executable, "-I", "-m", "sandbox.host_tries", folder]
        with suppress(subprocess.TimeoutExpired, ValueError):
            environment = {"LANG": "C.UTF-8"}
            done = subprocess.run(argv, env=environment, capture_output=True, timeout=_TRIES_S, check=False, cwd="/")
            if done.returncode == 0:
                found = json.loads(done.stdout)
                return found if isinstance(found, dict) else None
            said = _plain(done.stderr)
            return {"broken": said[-1]} if said and "Error" in said[-1] else None
    return None


def _storage(places: Places, tried: dict[str, object] | None) -> Storage:
    found = {name: tried.get(name) if tried else None for name in ("layers", "image", "overlay")}
    free = _quietly(lambda: os.statvfs(existing(places.state)))
    real = Path(os.path.realpath(places.state))
    return Storage(
        layers=_text(found["layers"]),
        image=_text(found["image"]),
        overlay=_text(found["overlay"]),
        hidden=any(real.is_relative_to(folder) for folder, _ in HIDDEN),
        free_bytes=None if free is None else free.f_bavail * free.f_frsize,
        free_inodes=None if free is None or not free.f_files else free.f_favail,
        needed_bytes=places.needed_bytes,
    )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def existing(path: Path) -> Path:
    """Give the nearest folder on the way to a path that is there."""
    return next((each for each in (path, *path.parents) if each.is_dir()), Path("/"))


def _tool(path: str) -> Tool:
    there = os.access(path, os.X_OK)
    flag = _VERSION_FLAGS.get(path, "--version")
    version = _said(path, flag) if there else None
    return Tool(path=path, there=there, version=version and re.sub(r" \(libmount .*", "", version)[:_SHOWN])


def _said(program: str, *words: str, lines: int = 1) -> str | None:
    """Give the first lines that a program says of itself, as plain text."""
    try:
        done = subprocess.run(
            [program, *words],
            env={"LC_ALL": "C", "PATH": "/usr/sbin:/usr/bin"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PATIENCE_S,
            check=False,
            cwd="/",
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    said = _plain(done.stdout or done.stderr)
    return "\n".join(said[:lines]) if said else None


def _plain(data: bytes) -> list[str]:
    """Give the lines of what a program said, without what a terminal would obey."""
    text = re.sub(r"[^ -~\n]", "", data.decode("ascii", "ignore"))
    return [line.strip() for line in text.splitlines() if line.strip()]


def _see_python() -> Interpreter | None:
    path = "/usr/bin/python3"
    if shutil.which(path) is None:
        return None
    argv = [path, "-I", "-S", "-B", "-c", _PYTHON_PROGRAM]
    try:
        done = subprocess.run(argv, env={}, capture_output=True, timeout=_PATIENCE_S, check=False, cwd="/")
    except (OSError, subprocess.TimeoutExpired) as error:
        return Interpreter(version=None, real=os.path.realpath(path), refusal=str(error))
    numbers = done.stdout.split()
    said = _plain(done.stderr)
    if done.returncode or not numbers or not all(each.isdigit() for each in numbers):
        why = said[-1] if said else f"it ended with {done.returncode}"
        return Interpreter(version=None, real=os.path.realpath(path), refusal=why[:_SHOWN])
    return Interpreter(version=tuple(map(int, numbers)), real=os.path.realpath(path), refusal="")


def _setting(name: str) -> str | None:
    path = Path("/proc/sys", *name.split("."))
    return _quietly(lambda: " ".join(_plain(path.read_bytes()))[:_SHOWN])
