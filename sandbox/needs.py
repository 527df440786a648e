"""What a keeper needs of a host before it begins, looked at in microseconds and refused by name.

`runner doctor` looks at far more, and tries it; what a unit really holds is seen by its launcher alone.
"""

import ctypes
import errno
import os
import re
from collections.abc import Iterable
from pathlib import Path

from sandbox.boot import V1_CONTROLLERS, base, hierarchies
from sandbox.errors import HostUnfitError
from sandbox.groups import layout
from sandbox.host import machine_runs_systemd

CAPABILITIES = {
    "CAP_CHOWN": (0, "workspaces that belong to their unit's account"),
    "CAP_DAC_OVERRIDE": (1, "control groups for a manager and its units"),
    "CAP_DAC_READ_SEARCH": (2, "the inspection's look at what a candidate made unreadable"),
    "CAP_KILL": (5, "an end for whatever a unit forked"),
    "CAP_SETGID": (6, "a group of its own for every unit"),
    "CAP_SETUID": (7, "an account of its own for every unit"),
    "CAP_SETPCAP": (8, "units without capabilities"),
    "CAP_NET_ADMIN": (12, "network namespaces with a loopback interface"),
    "CAP_SYS_CHROOT": (18, "an own root for every unit, and the way into a private manager's namespaces"),
    "CAP_SYS_PTRACE": (19, "user namespaces for units (their maps are written from outside)"),
    "CAP_SYS_ADMIN": (21, "every mount and every namespace: without it systemd starts units unconfined"),
    "CAP_MKNOD": (27, "an own /dev for every unit"),
    "CAP_SETFCAP": (31, "user namespaces for units (root is mapped in them)"),
}
"""What a keeper does with which capability: its number, and what is lost without it."""

CONTROLLERS = {
    "memory": "the memory limit of every unit",
    "pids": "the limit on processes and threads of every unit",
    "cpu": "the limit on processor time of every unit",
}
"""Controllers of control groups that limits are held by, and what is lost without each."""

LEAST_SYSTEMD = 252
_ROOT = "/sys/fs/cgroup"
_PR_SET_SECCOMP, _FILTER = 22, 2


def need_host() -> None:
    """Say nothing if this process may do what a keeper does, on a kernel that can hold it.

    Raises:
        HostUnfitError: names what is missing, the protection lost, and what mends it.
    """
    need_capabilities(held_capabilities())
    need_controllers()
    refusal = seccomp_refusal()
    if refusal:
        raise HostUnfitError(
            f"a filter on system calls: the kernel offers no seccomp filters ({refusal})",
            "use a kernel with CONFIG_SECCOMP_FILTER, and start the runner outside of whatever forbids seccomp to it",
        )


def held_capabilities() -> int:
    """Give the capabilities in effect for this process, as a mask."""
    status = Path("/proc/self/status").read_text(encoding="utf-8", errors="replace")
    found = re.search(r"^CapEff:\s*([0-9a-f]+)$", status, re.MULTILINE)
    return int(found[1], 16) if found else 0


def missing_capabilities(mask: int) -> tuple[str, ...]:
    """Name what a keeper needs and a mask lacks."""
    return tuple(name for name, (number, _) in CAPABILITIES.items() if not mask >> number & 1)


def need_capabilities(mask: int) -> None:
    """Say nothing if a mask has all that a keeper needs.

    Raises:
        HostUnfitError: it lacks some.
    """
    missing = missing_capabilities(mask)
    if missing:
        lost = "; ".join(f"{CAPABILITIES[name][1]} ({name})" for name in missing)
        raise HostUnfitError(
            f"a clean room without {', '.join(missing)}. Lost: {lost}",
            "run it as root with root's capabilities (in a container: docker run --privileged, or a virtual machine)",
        )


def need_controllers() -> None:
    """Say nothing if the controllers that limits are held by are there.

    Raises:
        HostUnfitError: one is not, or there is no control group of version 2.
    """
    found = hierarchies()
    if not any(names == "" for names, _, _ in found):
        raise HostUnfitError("the end of a unit as a whole: there is no control group v2 hierarchy", mend_layout())
    missing = missing_controllers(available_controllers(found))
    if missing:
        lost = "; ".join(CONTROLLERS[name] for name in missing)
        raise HostUnfitError(
            f"{lost}: no controller {', '.join(missing)} is mounted or available",
            mend_controllers(missing, v2=layout().v2),
        )


def available_controllers(found: Iterable[tuple[str, str, Path]]) -> frozenset[str]:
    """Name the controllers that are mounted as v1 hierarchies or, on pure v2, that the manager's group is given."""
    known = tuple(found)
    if not layout().v2:
        return frozenset(name for names, _, _ in known for name in names.split(",") if name in V1_CONTROLLERS)
    for names, path, mount in known:
        if names == "":
            return frozenset((manager_group(path, mount) / "cgroup.controllers").read_text(encoding="ascii").split())
    return frozenset()


def manager_group(path: str, mount: Path) -> Path:
    """Give the v2 group below which the service manager makes those of units."""
    return mount if machine_runs_systemd() else base(path, mount)


def missing_controllers(found: frozenset[str]) -> tuple[str, ...]:
    """Name what limits need and a host lacks."""
    return tuple(name for name in CONTROLLERS if name not in found)


def mend_controllers(missing: Iterable[str], *, v2: bool) -> str:
    """Say how controllers come back."""
    if v2:
        return "boot without cgroup_disable=; in a container, have its group given these controllers"
    mounts = (f"mkdir -p {_ROOT}/{name} && mount -t cgroup -o {name} cgroup {_ROOT}/{name}" for name in missing)
    return f"boot with systemd.unified_cgroup_hierarchy=1, or run: {'; '.join(mounts)}"


def mend_layout() -> str:
    """Say how a v2 hierarchy comes to be."""
    return (
        "boot with systemd.unified_cgroup_hierarchy=1, or run: mkdir -p /sys/fs/cgroup/unified && "
        "mount -t cgroup2 cgroup2 /sys/fs/cgroup/unified"
    )


def seccomp_refusal() -> str:
    """Ask for a filter without giving one, as systemd does: empty if the kernel looked for it, else its answer."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_SECCOMP, _FILTER, None, 0, 0) == 0:
        return "a filter that was none was taken"
    number = ctypes.get_errno()
    return "" if number == errno.EFAULT else f"{errno.errorcode.get(number, number)}: {os.strerror(number)}"


def systemd_number(version: str) -> int | None:
    """Read the number from what systemd calls its version, such as `252.39-1~deb12u2` or `systemd 252 (...)`."""
    found = re.match(r"(?:systemd )?v?(\d+)", version)
    return int(found[1]) if found else None


def need_systemd(version: str) -> None:
    """Say nothing if a service manager is new enough.

    Raises:
        HostUnfitError: it is older, or does not say what it is.
    """
    number = systemd_number(version)
    if number is None or number < LEAST_SYSTEMD:
        raise HostUnfitError(
            f"the walls as systemd {LEAST_SYSTEMD} builds them: this is systemd {version!r:.40}",
            f"use a system with systemd {LEAST_SYSTEMD} or newer (Debian 12, Ubuntu 24.04, Fedora 37)",
        )
