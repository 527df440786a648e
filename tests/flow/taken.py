"""Takes something away from what is run below it, for tests alone: `python taken.py WHAT [FOLDER] -- COMMAND...`.

What FROM_COMMAND names is taken from the command itself. `manager-WHAT` leaves the command whole and
takes it from every systemd that is started below it: in a mount namespace of the command's own, systemd's program is
this file, which lames itself and then becomes the real one. FOLDER is a scratch folder that a private systemd sees.
"""

# ruff: noqa: S606 - becoming another program is what this one is for

import ctypes
import os
import shutil
import struct
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

SYSTEMD = Path("/usr/lib/systemd/systemd")
_LIBC = ctypes.CDLL(None, use_errno=True)
_NUMBERS = {"x86_64": (157, 317), "aarch64": (167, 277)}
"""prctl, seccomp."""
_ALLOW, _EINVAL = 0x7FFF0000, 0x00050016
_LOAD, _EQUAL, _RETURN = 0x20, 0x15, 0x06
_SET_SECCOMP, _DROP_BOUNDING = 22, 24
_CAP_SYS_ADMIN = 21
_NEWNS, _PRIVATE_ALL, _BIND, _DETACH = 0x00020000, 1 << 18 | 1 << 14, 4096, 2


def take_seccomp() -> None:
    """Have every later request for a filter be answered as by a kernel that has none."""
    prctl, seccomp = _NUMBERS[os.uname().machine]
    steps = [
        (_LOAD, 0, 0, 0),  # the call's number
        (_EQUAL, 4, 0, seccomp),
        (_EQUAL, 0, 2, prctl),
        (_LOAD, 0, 0, 16),  # its first argument
        (_EQUAL, 1, 0, _SET_SECCOMP),
        (_RETURN, 0, 0, _ALLOW),
        (_RETURN, 0, 0, _EINVAL),
    ]
    code = b"".join(struct.pack("=HBBI", *step) for step in steps)
    program = ctypes.create_string_buffer(code)
    given = ctypes.create_string_buffer(struct.pack("@HP", len(steps), ctypes.addressof(program)))
    _demand(_LIBC.prctl(_SET_SECCOMP, 2, given, 0, 0))


def take_sys_admin() -> None:
    """Drop CAP_SYS_ADMIN, for this process and all that it becomes."""
    _demand(_LIBC.prctl(_DROP_BOUNDING, _CAP_SYS_ADMIN, 0, 0, 0))
    header, data = struct.pack("=Ii", 0x20080522, 0), ctypes.create_string_buffer(24)
    _demand(_LIBC.capget(header, data))
    words = list(struct.unpack("=6I", data.raw[:24]))
    kept = [word & ~(1 << _CAP_SYS_ADMIN) if place < 3 else word for place, word in enumerate(words)]
    _demand(_LIBC.capset(header, struct.pack("=6I", *kept)))


def take_hierarchy(name: str) -> None:
    """Unmount a controller's hierarchy in the mount namespace that this process is in."""
    _demand(_LIBC.umount2(f"/sys/fs/cgroup/{name}".encode(), _DETACH))


def cover_hierarchy(name: str) -> None:
    """Put an empty file system over it: a systemd would mount again what is merely gone."""
    _demand(_LIBC.mount(b"tmpfs", f"/sys/fs/cgroup/{name}".encode(), b"tmpfs", 0, None))


def take_quota() -> None:
    """Give the manager one processor and a half: the kernel then refuses its units the two they are promised (v1)."""
    Path("/sys/fs/cgroup/cpu/cpu.cfs_quota_us").write_text("150000", encoding="ascii")


def take_from_manager() -> None:
    """Drop CAP_SYS_ADMIN, after the one mount that a systemd cannot do without."""
    _demand(_LIBC.mount(b"tmpfs", b"/run/lock", b"tmpfs", 0, None))
    take_sys_admin()


_CONTROLLERS = ("memory", "pids", "cpu", "unified")
FROM_COMMAND: dict[str, Callable[[], None]] = {
    "seccomp": take_seccomp,
    "sys_admin": take_sys_admin,
    **{name: partial(take_hierarchy, name) for name in _CONTROLLERS},
}
FROM_MANAGER: dict[str, Callable[[], None]] = {
    "nothing": lambda: None,
    "seccomp": take_seccomp,
    "sys_admin": take_from_manager,
    "quota": take_quota,
    **{name: partial(cover_hierarchy, name) for name in _CONTROLLERS},
}


def lame_manager(what: str, folder: Path) -> None:
    """Put this file in systemd's place, for whoever is in this mount namespace."""
    real, script = folder / "systemd", folder / "lamed"
    shutil.copy(SYSTEMD, real)
    script.write_text(f"#!/usr/bin/python3 -ISB\n# {what} {real}\n{Path(__file__).read_text()}")
    script.chmod(0o755)
    _demand(_LIBC.mount(bytes(script), bytes(SYSTEMD), None, _BIND, None))


def _demand(answer: int) -> None:
    if answer < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def main(words: list[str]) -> None:
    """Take it away, and become the command."""
    what, *rest = words
    place = rest.index("--")
    _demand(_LIBC.unshare(_NEWNS))
    _demand(_LIBC.mount(None, b"/", None, _PRIVATE_ALL, None))
    if what.startswith("manager-"):
        lame_manager(what.removeprefix("manager-"), Path(rest[0]))
    else:
        FROM_COMMAND[what]()
    os.execv(rest[place + 1], rest[place + 1 :])


def become_systemd(words: list[str]) -> None:
    """Take it away, and become the real systemd, as its first process."""
    what, real = Path(words[0]).read_text().splitlines()[1].split()[1:]
    FROM_MANAGER[what]()
    os.execv(real, ["/lib/systemd/systemd", *words[1:]])


if __name__ == "__main__":
    become_systemd(sys.argv) if Path(sys.argv[0]) == Path("/lib/systemd/systemd") else main(sys.argv[1:])
