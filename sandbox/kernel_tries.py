"""What the kernel is asked by trying: control groups that hold limits, BPF on a group, namespaces.

Each try takes back what it made. An answer is a text: empty where it worked, else the refusal.
"""

import ctypes
import errno
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex

from sandbox.boot import base, hierarchies
from sandbox.groups import layout
from sandbox.host import GROUP_PREFIX
from sandbox.needs import CONTROLLERS, manager_group
from sandbox.sight import Groups

_V1_FILES = {"memory": "memory.limit_in_bytes", "pids": "pids.max", "cpu": "cpu.cfs_quota_us"}
_V2_FILES = {"memory": "memory.max", "pids": "pids.max", "cpu": "cpu.max"}
_VALUES = {"memory": "67108864", "pids": "64", "cpu": "50000"}
_HANDED = ("cgroup.controllers", "cgroup.subtree_control")
_BPF_CALL = {"x86_64": 321, "aarch64": 280}
_LOAD, _ATTACH, _DETACH = 5, 8, 9
_CGROUP_SKB, _EGRESS = 8, 1
_ATTRIBUTES_BYTES = 128
_FLAGS = ("user", "mount", "pid", "net", "ipc", "uts", "cgroup")
_PATIENCE_S = 20.0
_TRIES = 3


def try_groups() -> Groups:
    """Set a limit by each controller in a group made for it, and read it back."""
    found = hierarchies()
    places = {name: mount for names, _, mount in found for name in names.split(",")}
    v1 = [name for name in CONTROLLERS if name in places]
    kind = "none" if not found else "v1" if "" not in places else "v2" if layout().v2 else "hybrid"
    tried: list[tuple[str, str | None]] = []
    ready: set[str] = set()
    for name in CONTROLLERS:
        if kind == "v2":
            offered, given = _on_v2(found, name)
            ready |= {name} if offered and not given else set()
            tried.append((name, _limit(found, "", _V2_FILES[name], name) if offered else "it is not offered"))
        else:
            tried.append((name, _limit(found, name, _V1_FILES[name], name) if name in v1 else "it is not mounted"))
    return Groups(layout=kind, tried=tuple(tried), ready=frozenset(ready))


def _on_v2(found: list[tuple[str, str, Path]], name: str) -> tuple[bool, bool]:
    """Tell whether a controller is offered where units' groups are made, and whether it is handed on already."""
    for names, path, mount in found:
        if names == "":
            group = manager_group(path, mount)
            offered, handed = ((group / file).read_text(encoding="ascii").split() for file in _HANDED)
            return name in offered, name in handed
    return False, False


def _limit(found: list[tuple[str, str, Path]], controller: str, file: str, name: str) -> str | None:
    for _ in range(_TRIES):
        try:
            return _set(found, controller, file, _VALUES[name])
        except PermissionError as error:
            return None if os.geteuid() else _said(error)
        except FileNotFoundError:
            continue  # It has no such file; or a keeper that was just starting took the group for one that was left.
        except (OSError, UnicodeError) as error:
            return _said(error)
    return f"a group of it has no {file}"


def _set(found: list[tuple[str, str, Path]], controller: str, file: str, value: str) -> str:
    with _own_group(found, controller) as group:
        if group is None:
            return "no hierarchy of it is mounted"
        if not (group / file).exists():
            raise FileNotFoundError(file)
        (group / file).write_text(value, encoding="ascii")
        read = (group / file).read_text(encoding="ascii").split()
        return "" if read[:1] == [value] else f"{value} was set, and {' '.join(read)} is read back"


@contextmanager
def _own_group(found: list[tuple[str, str, Path]], controller: str) -> Iterator[Path | None]:
    """Make a group beside those of keepers, for a moment; a keeper sweeps one that a kill left."""
    places = [(path, mount) for names, path, mount in found if controller in names.split(",")]
    if not places:
        yield None
        return
    group = (base if controller else manager_group)(*places[0]) / f"{GROUP_PREFIX}doctor-{token_hex(6)}"
    group.mkdir()
    try:
        yield group
    finally:
        with suppress(FileNotFoundError):
            group.rmdir()


def try_bpf() -> str | None:
    """Load a program that lets everything pass and attach it to a control group."""
    number = _BPF_CALL.get(os.uname().machine)
    if number is None or os.geteuid() != 0:
        return None
    try:
        with _own_group(hierarchies(), "") as group:
            return "no control group v2 is mounted" if group is None else _attached(number, group)
    except OSError as error:
        return _said(error)


def _attached(number: int, group: Path) -> str:
    program = _bpf(number, _LOAD, _program())
    try:
        target = os.open(group, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            order = b"".join(word.to_bytes(4, "little") for word in (target, program, _EGRESS, 0))
            _bpf(number, _ATTACH, order)
            _bpf(number, _DETACH, order)
        finally:
            os.close(target)
    finally:
        os.close(program)
    return ""


class _Program(ctypes.Structure):
    """What the kernel is told of a program to load."""

    _fields_ = (
        ("kind", ctypes.c_uint32),
        ("count", ctypes.c_uint32),
        ("code", ctypes.c_char_p),
        ("licence", ctypes.c_char_p),
    )


def _program() -> _Program:
    """Give `r0 = 1; exit`."""
    code = bytes((0xB7, 0, 0, 0, 1, 0, 0, 0, 0x95, 0, 0, 0, 0, 0, 0, 0))
    return _Program(kind=_CGROUP_SKB, count=2, code=code, licence=b"GPL")


def _bpf(number: int, command: int, attributes: bytes | ctypes.Structure) -> int:
    libc = ctypes.CDLL(None, use_errno=True)
    room = ctypes.create_string_buffer(_ATTRIBUTES_BYTES)
    data = bytes(attributes)
    ctypes.memmove(room, data, len(data))
    answer = int(libc.syscall(ctypes.c_long(number), ctypes.c_long(command), room, ctypes.c_long(_ATTRIBUTES_BYTES)))
    if answer < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return answer


def try_namespaces() -> tuple[tuple[str, str | None], ...]:
    """Make one namespace of each kind in a program that ends at once."""
    return tuple((name, _namespace(name)) for name in _FLAGS)


def _namespace(name: str) -> str | None:
    argv = ["/usr/bin/unshare", f"--{name}", *(["--fork"] if name == "pid" else []), "/usr/bin/true"]
    try:
        done = subprocess.run(argv, env={"LC_ALL": "C"}, capture_output=True, timeout=_PATIENCE_S, check=False)
    except FileNotFoundError:
        return None
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    if done.returncode == 0:
        return ""
    return None if os.geteuid() else done.stderr.decode(errors="replace").strip()[:200] or f"status {done.returncode}"


def _said(error: Exception) -> str:
    if isinstance(error, OSError) and error.errno is not None:
        return f"{errno.errorcode.get(error.errno, error.errno)}: {error.strerror}"
    return str(error)
