"""Whether a unit stands behind the walls it was promised, decided from what its launcher saw. Pure.

Nothing here trusts that a directive was obeyed: systemd ignores many of them silently. A report that lacks
a part, or holds one of another type, is itself a broken wall. Every sentence names the wall, the promise and
what was seen instead.
"""

import errno
from collections.abc import Callable, Iterator
from typing import Protocol

from pydantic import ValidationError

from sandbox.api import LauncherReport
from sandbox.file_walls import FILE_CHECKS
from sandbox.look import OWN_NAMESPACES, HostView, Look, differs, named, strangers
from sandbox.properties import UnitPlace, has_internet_families, promised_capabilities, promised_environment
from sandbox.sightings import (
    Sighting,
    parse_groups,
    parse_interfaces,
    parse_limits,
    parse_mounts,
    parse_routes,
    parse_status,
)
from sandbox.spec import Limits, Reach, Role, UnitSpec

__all__ = ["CALLS", "OWN_NAMESPACES", "Held", "HostView", "broken_limits", "broken_walls"]

_PAGE = 4096


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

    @property
    def swap_bytes(self) -> int | None:
        """Most memory swapped out beside it; None where no control group bounds that."""


def broken_walls(report: LauncherReport, spec: UnitSpec, place: UnitPlace, host: HostView) -> tuple[str, ...]:
    """Name every wall that a unit was promised and its launcher did not see."""
    try:
        seen = Sighting.model_validate(report.seen)
    except ValidationError as error:
        return tuple(f"report: {'.'.join(str(part) for part in each['loc'])}: {each['msg']}" for each in error.errors())
    mounts = parse_mounts(seen.mounts)
    if mounts is None:
        return ("report: the mount table is garbled",)
    look = Look(seen=seen, status=parse_status(seen.status), mounts=mounts, spec=spec, place=place, host=host)
    return tuple(sentence for check in _CHECKS for sentence in check(look))


def broken_limits(held: Held, limits: Limits) -> tuple[str, ...]:
    """Name every limit that the unit's control group does not hold."""
    found = tuple(
        f"limit {name}: promised {promised}, the control group holds {seen}"
        for name, promised, seen, slack in (
            ("memory_bytes", limits.memory_bytes, held.memory_bytes, _PAGE),
            ("tasks", limits.tasks, held.tasks, 0),
            ("cpu_percent", limits.cpu_percent, held.cpu_percent, 1),
        )
        if seen is None or not promised - slack <= seen <= promised
    )
    if held.swap_bytes:
        found += (f"limit swap_bytes: promised none, the control group holds {held.swap_bytes}",)
    return found


def _check_launcher(look: Look) -> Iterator[str]:
    yield from differs("report version", 1, look.seen.version)
    if look.seen.program:
        yield f"program: {look.seen.program}"
    if not look.seen.cwd.startswith("/"):
        yield f"working directory: promised one inside the unit, seen {look.seen.cwd}"


def _check_identity(look: Look) -> Iterator[str]:
    number = str(look.place.uid)
    for wall, line in (("user", "Uid"), ("group", "Gid")):
        yield from differs(wall, " ".join([number] * 4), look.status.get(line))
    groups = look.status.get("Groups")
    yield from strangers("groups", {number}, None if groups is None else groups.split())


def _check_privilege(look: Look) -> Iterator[str]:
    held = f"{promised_capabilities(look.spec):016x}"
    for line in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
        yield from differs(f"capabilities ({line})", held, look.status.get(line))
    yield from differs("no new privileges", "1", look.status.get("NoNewPrivs"))
    yield from differs("system call filter", "2", look.status.get("Seccomp"))
    yield from differs("umask", "0022", look.status.get("Umask"))
    yield from differs("set-id bit", errno.EPERM, look.seen.set_id)
    yield from differs("device node", errno.EPERM, look.seen.device)
    yield from differs("out-of-memory score", "500", look.seen.oom_score_adj.strip())
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
    "personality",
    "pivot_root",
    "process_vm_readv",
    "ptrace",
    "setns",
    "unshare",
    "userfaultfd",
)
"""System calls that the launcher tries and every unit is refused."""


def _check_calls(look: Look) -> Iterator[str]:
    refusals = {errno.EPERM, errno.ENOSYS}
    for name in CALLS:
        answer = look.seen.calls.get(name)
        if answer not in refusals:
            yield f"system call {name}: promised a refusal, the kernel answered {named(answer)}"


def _check_families(look: Look) -> Iterator[str]:
    refused = ["AF_NETLINK", "AF_PACKET", "AF_ALG", "AF_VSOCK"]
    if not has_internet_families(look.spec):
        refused += ["AF_INET", "AF_INET6"]
    for name in refused:
        answer = look.seen.families.get(name)
        if answer != errno.EAFNOSUPPORT:
            yield f"sockets of {name}: promised a refusal, the kernel answered {named(answer)}"


def _check_namespaces(look: Look) -> Iterator[str]:
    outer = dict(look.host.namespaces)
    joined = look.host.network if look.spec.network.reach is not Reach.NOTHING else None
    for name in OWN_NAMESPACES:
        mine, theirs = look.seen.namespaces.get(name), outer.get(name)
        if mine is None or theirs is None:
            yield f"{name} namespace: could not be compared, seen {mine} inside and {theirs} outside"
        elif name == "net" and look.spec.network.reach is not Reach.NOTHING:
            yield from differs("network namespace", joined, mine)
        elif mine == theirs:
            yield f"{name} namespace: promised an own one, seen the keeper's {mine}"


# The kernel itself puts these, down and without address, into each new namespace of a host with such tunnels.
_FALLBACK = "tunl0 sit0 ip6tnl0 gre0 gretap0 erspan0 ip_vti0 ip6_vti0 ip6gre0"


def _check_network(look: Look) -> Iterator[str]:
    if look.spec.network.reach is Reach.OUTSIDE:
        return
    names = parse_interfaces(look.seen.interfaces)
    yield from strangers("network interfaces", ("lo", *_FALLBACK.split()), names if "lo" in names else None)
    yield from differs("routes", (), parse_routes(look.seen.routes))


def _check_descriptors(look: Look) -> Iterator[str]:
    inlet = "socket" if look.spec.role is Role.GATEWAY else "pipe"
    kinds = {name: (link or "").partition(":")[0] for name, link in look.seen.descriptors.items()}
    yield from differs("descriptors", {"0": inlet, "1": "pipe", "2": "pipe"}, kinds)


def _check_environment(look: Look) -> Iterator[str]:
    yield from differs("environment", sorted(promised_environment(look.spec, look.place)), look.seen.environment)


def _check_limits(look: Look) -> Iterator[str]:
    limits, seen = look.spec.limits, parse_limits(look.seen.limits)
    for name, most in (
        ("Max file size", limits.file_bytes),
        ("Max open files", limits.descriptors),
        ("Max processes", limits.tasks),
        ("Max core file size", 0),
    ):
        yield from differs(name, (str(most), str(most)), seen.get(name))


def _check_group(look: Look) -> Iterator[str]:
    paths = parse_groups(look.seen.cgroup)
    hybrid = "memory" in paths
    for controller in ("memory", "pids", "cpu") if hybrid else ("",):
        path = paths.get(controller)
        if path is None or not path.endswith(f"/{look.place.slice}/{look.place.unit}.service"):
            yield f"control group {controller or '(unified)'}: promised the unit's own, seen {path}"


_CHECKS: tuple[Callable[[Look], Iterator[str]], ...] = (
    _check_launcher,
    _check_identity,
    _check_privilege,
    _check_calls,
    _check_families,
    _check_namespaces,
    _check_network,
    _check_descriptors,
    *FILE_CHECKS,
    _check_environment,
    _check_limits,
    _check_group,
)
