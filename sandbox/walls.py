"""Whether a unit stands behind the walls it was promised, decided from what its launcher saw. Pure.

Nothing here trusts that a directive was obeyed: systemd ignores many of them silently. A report that lacks
a part, or holds one of another type, is itself a broken wall. Every sentence names the wall, the promise and
what was seen instead.
"""

import errno
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from pydantic import ValidationError

from sandbox.api import LauncherReport
from sandbox.properties import (
    LAUNCHER_TARGET,
    MASKED,
    UnitPlace,
    has_internet_families,
    promised_capabilities,
    promised_environment,
    promised_writable,
)
from sandbox.sightings import (
    Mounted,
    Sighting,
    parse_groups,
    parse_interfaces,
    parse_limits,
    parse_mounts,
    parse_routes,
    parse_status,
)
from sandbox.spec import WORKSPACE_ROOT, Limits, Reach, Role, UnitSpec

_PAGE = 4096
_TABLES = 2 << 20
"""An image's own tables count in its size: this, and a thirty-second of what was promised, may be on top."""
OWN_NAMESPACES = ("ipc", "mnt", "net", "user", "uts")
"""Namespaces a unit has for itself; systemd 252 has no own process or control group namespace for one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostView:
    """What the keeper saw of itself, to compare with: links of /proc/PID/ns, like `net:[4026531840]`."""

    namespaces: tuple[tuple[str, str], ...] = ()
    """The keeper's own, by name; all of OWN_NAMESPACES."""
    network: str | None = None
    """The network namespace the unit was to join, for every reach but NOTHING."""


class Held(Protocol):
    """The limits as a control group itself holds them; None where there is none."""

    @property
    def memory_bytes(self) -> int | None:
        """Most memory."""

    @property
    def tasks(self) -> int | None:
        """Most processes and threads."""

    @property
    def cpu_percent(self) -> int | None:
        """Processor time, 100 for one core."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Look:
    """One report beside all that was promised about it."""

    seen: Sighting
    status: dict[str, str]
    mounts: dict[str, Mounted]
    spec: UnitSpec
    place: UnitPlace
    host: HostView


def broken_walls(report: LauncherReport, spec: UnitSpec, place: UnitPlace, host: HostView) -> tuple[str, ...]:
    """Name every wall that a unit was promised and its launcher did not see."""
    try:
        seen = Sighting.model_validate(report.seen)
    except ValidationError as error:
        return tuple(
            f"report: {'.'.join(str(part) for part in each['loc'])}: {each['msg']}" for each in error.errors()
        )
    mounts = parse_mounts(seen.mounts)
    if mounts is None:
        return ("report: the mount table is garbled",)
    look = _Look(
        seen=seen, status=parse_status(seen.status), mounts=mounts, spec=spec, place=place, host=host
    )
    return tuple(sentence for check in _CHECKS for sentence in check(look))


def broken_limits(held: Held, limits: Limits) -> tuple[str, ...]:
    """Name every limit that the unit's control group does not hold."""
    return tuple(
        f"limit {name}: promised {promised}, the control group holds {found}"
        for name, promised, found, slack in (
            ("memory_bytes", limits.memory_bytes, held.memory_bytes, _PAGE),
            ("tasks", limits.tasks, held.tasks, 0),
            ("cpu_percent", limits.cpu_percent, held.cpu_percent, 1),
        )
        if found is None or not promised - slack <= found <= promised
    )


def _differs(wall: str, promised: object, seen: object) -> Iterator[str]:
    if promised != seen:
        yield f"{wall}: promised {promised}, seen {seen}"


def _strangers(wall: str, promised: Iterable[str], seen: Iterable[str] | None) -> Iterator[str]:
    if seen is None:
        yield f"{wall}: could not be seen"
    elif beside := sorted(set(seen) - set(promised)):
        yield f"{wall}: promised nothing but {sorted(promised)}, seen {beside} as well"


def _check_launcher(look: _Look) -> Iterator[str]:
    yield from _differs("report version", 1, look.seen.version)
    if look.seen.program:
        yield f"program: {look.seen.program}"


def _check_identity(look: _Look) -> Iterator[str]:
    number = str(look.place.uid)
    for wall, line in (("user", "Uid"), ("group", "Gid")):
        yield from _differs(wall, " ".join([number] * 4), look.status.get(line))
    groups = look.status.get("Groups")
    yield from _strangers("groups", {number}, None if groups is None else groups.split())


def _check_privilege(look: _Look) -> Iterator[str]:
    held = f"{promised_capabilities(look.spec):016x}"
    for line in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
        yield from _differs(f"capabilities ({line})", held, look.status.get(line))
    yield from _differs("no new privileges", "1", look.status.get("NoNewPrivs"))
    yield from _differs("system call filter", "2", look.status.get("Seccomp"))
    yield from _differs("umask", "0022", look.status.get("Umask"))
    yield from _differs("set-id bit", errno.EPERM, look.seen.set_id)
    yield from _differs("device node", errno.EPERM, look.seen.device)
    yield from _differs("out-of-memory score", "500", look.seen.oom_score_adj.strip())
    if look.seen.terminal == 0:
        yield "terminal: promised none, one could be opened"


CALLS = (
    "add_key",
    "bpf",
    "chroot",
    "clone3",
    "init_module",
    "io_uring_setup",
    "kcmp",
    "keyctl",
    "mount",
    "name_to_handle_at",
    "perf_event_open",
    "pivot_root",
    "process_vm_readv",
    "ptrace",
    "setns",
    "unshare",
    "userfaultfd",
)
"""System calls that the launcher tries and every unit is refused."""


def _check_calls(look: _Look) -> Iterator[str]:
    refusals = {errno.EPERM, errno.ENOSYS}
    for name in CALLS:
        answer = look.seen.calls.get(name)
        if answer not in refusals:
            yield f"system call {name}: promised a refusal, the kernel answered {_named(answer)}"


def _check_families(look: _Look) -> Iterator[str]:
    refused = ["AF_NETLINK", "AF_PACKET", "AF_ALG", "AF_VSOCK"]
    if not has_internet_families(look.spec):
        refused += ["AF_INET", "AF_INET6"]
    for name in refused:
        answer = look.seen.families.get(name)
        if answer != errno.EAFNOSUPPORT:
            yield f"sockets of {name}: promised a refusal, the kernel answered {_named(answer)}"


def _check_namespaces(look: _Look) -> Iterator[str]:
    outer = dict(look.host.namespaces)
    joined = look.host.network if look.spec.network.reach is not Reach.NOTHING else None
    for name in OWN_NAMESPACES:
        mine, theirs = look.seen.namespaces.get(name), outer.get(name)
        if mine is None or theirs is None:
            yield f"{name} namespace: could not be compared, seen {mine} inside and {theirs} outside"
        elif name == "net" and look.spec.network.reach is not Reach.NOTHING:
            yield from _differs("network namespace", joined, mine)
        elif mine == theirs:
            yield f"{name} namespace: promised an own one, seen the keeper's {mine}"


# The kernel itself puts these, down and without address, into each new namespace of a host with such tunnels.
_FALLBACK = "tunl0 sit0 ip6tnl0 gre0 gretap0 erspan0 ip_vti0 ip6_vti0 ip6gre0"


def _check_network(look: _Look) -> Iterator[str]:
    if look.spec.network.reach is Reach.OUTSIDE:
        return
    names = parse_interfaces(look.seen.interfaces)
    yield from _strangers("network interfaces", ("lo", *_FALLBACK.split()), names)
    yield from _differs("routes", (), parse_routes(look.seen.routes))


def _check_descriptors(look: _Look) -> Iterator[str]:
    inlet = "socket" if look.spec.role is Role.GATEWAY else "pipe"
    kinds = {name: (link or "").partition(":")[0] for name, link in look.seen.descriptors.items()}
    yield from _differs("descriptors", {"0": inlet, "1": "pipe", "2": "pipe"}, kinds)


_API = ("/dev/", "/proc/", "/run/systemd/", "/sys/")
_SYSTEM = ("/", "/dev", "/etc/alternatives", "/etc/ld.so.cache", "/proc", "/run", "/sys", "/usr")
_NEVER_READ_ONLY = ("/proc", "/dev/pts")


def _check_mounts(look: _Look) -> Iterator[str]:
    writable = promised_writable(look.spec, look.place)
    shown = {*_SYSTEM, *MASKED, LAUNCHER_TARGET, WORKSPACE_ROOT, *(target for _, target in look.place.mounts)}
    if look.spec.network.reach is Reach.OUTSIDE:
        shown |= {"/etc/ssl", "/etc/resolv.conf", "/etc/hosts"}
    for target in sorted({*shown, *writable} - set(look.mounts)):
        yield f"mount {target}: promised, not there"
    for target, mount in sorted(look.mounts.items()):
        if target not in shown and target not in writable and not target.startswith(_API):
            yield f"mount {target}: never promised, seen {mount.kind}"
        if "nosuid" not in mount.options:
            yield f"mount {target}: promised nosuid, seen {sorted(mount.options)}"
        if target in writable and "nodev" not in mount.options:
            yield f"mount {target}: promised nodev, seen {sorted(mount.options)}"
        if target not in writable and target not in _NEVER_READ_ONLY and "ro" not in mount.options:
            yield f"mount {target}: promised read-only, seen {sorted(mount.options)}"


def _check_proc(look: _Look) -> Iterator[str]:
    proc = look.mounts.get("/proc")
    options = proc.super_options if proc is not None and proc.kind == "proc" else frozenset()
    if not {"hidepid=invisible", "subset=pid"} <= options:
        yield f"/proc: promised other accounts' processes and the host hidden, seen {sorted(options)}"
    own = (str(look.seen.pid), "self", "thread-self")
    yield from _strangers("/proc", own, look.seen.listings.get("/proc"))


_REFUSALS = frozenset({errno.EPERM, errno.ENOENT, errno.EACCES, errno.ENOTDIR, errno.EROFS})
_NOT_TRIED = -1
"""The launcher's answer for what is neither folder nor file."""


def _check_writing(look: _Look) -> Iterator[str]:
    writable = promised_writable(look.spec, look.place)
    for path in ("/", "/etc", "/home", "/opt", "/usr/bin", "/var", *look.mounts):
        answer = look.seen.writing.get(path)
        if path.startswith("/proc/"):
            continue
        if path in writable:
            if answer != 0:
                yield f"{path}: promised writable, the kernel answered {_named(answer)}"
        elif answer not in _REFUSALS and answer != _NOT_TRIED:
            yield f"{path}: promised unwritable, the kernel answered {_named(answer)}"
    yield from _strangers(
        "written places", writable, [path for path, got in look.seen.writing.items() if got == 0]
    )


def _check_sizes(look: _Look) -> Iterator[str]:
    files = look.spec.limits.disk_inodes
    most_files = files + max(files // 8, _PAGE)  # A file system rounds up to whole blocks of its table.
    for target, promised in promised_writable(look.spec, look.place).items():
        size = look.seen.sizes.get(target)
        if size is None or len(size) != 2:  # noqa: PLR2004 - bytes and files
            yield f"size of {target}: could not be seen"
        elif not 0 < size[0] <= promised + promised // 32 + _TABLES or not 0 < size[1] <= most_files:
            yield f"size of {target}: promised {promised} bytes, {files} files, seen {size[0]}, {size[1]}"


_LISTINGS = {
    "/": "bin dev etc home lib lib32 lib64 libx32 opt proc root run sbin sys tmp usr var work",
    "/dev": "char core fd full hugepages log mqueue null ptmx pts random shm stderr stdin stdout tty "
    "urandom zero",
    "/etc": "alternatives group hostname hosts ld.so.cache nsswitch.conf passwd resolv.conf ssl",
    "/home": "agent",
    "/run": "systemd",
    "/run/systemd": "incoming",
    **dict.fromkeys(MASKED, ""),
}
_SHUT = ("/sys", "/dev/mqueue")


def _check_listings(look: _Look) -> Iterator[str]:
    for path, names in _LISTINGS.items():
        yield from _strangers(f"what is in {path}", names.split(), look.seen.listings.get(path))
    for path in _SHUT:
        if look.seen.listings.get(path, ["unseen"]):
            yield f"{path}: promised inaccessible, seen {look.seen.listings.get(path)}"


def _check_environment(look: _Look) -> Iterator[str]:
    yield from _differs(
        "environment", sorted(promised_environment(look.spec, look.place)), look.seen.environment
    )


def _check_limits(look: _Look) -> Iterator[str]:
    limits, seen = look.spec.limits, parse_limits(look.seen.limits)
    for name, most in (
        ("Max file size", limits.file_bytes),
        ("Max open files", limits.descriptors),
        ("Max processes", limits.tasks),
        ("Max core file size", 0),
    ):
        yield from _differs(name, (str(most), str(most)), seen.get(name))


def _check_group(look: _Look) -> Iterator[str]:
    paths = parse_groups(look.seen.cgroup)
    hybrid = "memory" in paths
    for controller in ("memory", "pids", "cpu") if hybrid else ("",):
        path = paths.get(controller)
        if path is None or not path.endswith(f"/{look.place.slice}/{look.place.unit}.service"):
            yield f"control group {controller or '(unified)'}: promised the unit's own, seen {path}"


def _named(answer: int | None) -> str:
    if answer is None:
        return "nothing"
    return "yes" if answer == 0 else errno.errorcode.get(answer, str(answer))


_CHECKS: tuple[Callable[[_Look], Iterator[str]], ...] = (
    _check_launcher,
    _check_identity,
    _check_privilege,
    _check_calls,
    _check_families,
    _check_namespaces,
    _check_network,
    _check_descriptors,
    _check_mounts,
    _check_proc,
    _check_writing,
    _check_sizes,
    _check_listings,
    _check_environment,
    _check_limits,
    _check_group,
)
