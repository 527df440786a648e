"""Whether a host can hold clean rooms, line by line, from what was seen of it. Pure.

A line that fails names the protection that is lost and what mends it. What could not be seen is not there.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from sandbox.check import Check, Line, State
from sandbox.doctor_rooms import check_accounts, check_folders, check_room, check_storage, check_tools
from sandbox.needs import (
    CAPABILITIES,
    CONTROLLERS,
    LEAST_SYSTEMD,
    mend_controllers,
    mend_layout,
    missing_capabilities,
    systemd_number,
)
from sandbox.sight import HostSight

MACHINES = ("aarch64", "x86_64")
"""Machines whose system call numbers the launcher knows."""

_ROOTS_OWN = "run it as root with root's capabilities (in a container: docker run --privileged, or use a VM)"
_NEWER = f"use a system with systemd {LEAST_SYSTEMD} or newer (Debian 12, Ubuntu 24.04, Fedora 37)"


def diagnose(sight: HostSight) -> tuple[Check, ...]:
    """Judge all that was seen."""
    checks = [check for rule in _RULES for check in rule(sight)]
    if sight.account == 0:
        return tuple(checks)
    return tuple(_for_root(check) if check.state is State.UNKNOWN else check for check in checks)


def is_fit(checks: tuple[Check, ...]) -> bool:
    """Tell whether clean rooms can be held."""
    return bool(checks) and all(check.ok for check in checks)


def _for_root(check: Check) -> Check:
    return replace(check, found=f"{check.found} by account other than root", mend="run the doctor as root")


_ROOT = Line(
    topic="machine",
    name="root",
    expected="account 0 with the capabilities that a keeper needs",
    lost="every wall: only root can build one",
    mend=_ROOTS_OWN,
)
_MACHINE = Line(
    topic="machine",
    name="kernel",
    expected=f"Linux on {' or '.join(MACHINES)}",
    lost="the proof that system calls are refused: the launcher knows no numbers to try them by",
    mend="use such a machine",
)
_SYSTEMD = Line(
    topic="machine",
    name="systemd",
    expected=f"{LEAST_SYSTEMD} or newer, built with seccomp",
    lost="the walls as they are built and were proven; older ones ignore some of them silently",
    mend=_NEWER,
)
_MANAGER = Line(
    topic="machine",
    name="service manager",
    expected="PID 1, or a private systemd in namespaces of its own",
    lost="whoever builds the walls and ends units",
    mend="mend what the lines on systemd and namespaces name: that is what a private one lacks",
)


def _check_machine(sight: HostSight) -> Iterator[Check]:
    yield _check_root(sight)
    known = f"{sight.kernel} on {sight.machine}"
    yield _MACHINE.holds(known) if sight.machine in MACHINES else _MACHINE.fails(known)
    yield _check_systemd(sight.systemd)
    yield _check_manager(sight)


def _check_root(sight: HostSight) -> Check:
    if sight.account != 0:
        return _ROOT.fails(f"account {sight.account}")
    if sight.capabilities is None:
        return _ROOT.unseen()
    missing = missing_capabilities(sight.capabilities)
    if missing:
        return _ROOT.fails(f"account 0 without {', '.join(missing)}", lost=_lost_with(missing))
    return _ROOT.holds("account 0, and nothing is withheld that a keeper needs")


def _lost_with(missing: tuple[str, ...]) -> str:
    return "; ".join(f"{CAPABILITIES[name][1]} ({name})" for name in missing)


def _check_systemd(said: str | None) -> Check:
    if said is None:
        return _SYSTEMD.fails("none is installed", mend="run: apt-get install --no-install-recommends systemd")
    number, shown = systemd_number(said), said.partition("\n")[0][:80]
    if number is None or number < LEAST_SYSTEMD:
        return _SYSTEMD.fails(shown)
    if "+SECCOMP" not in said:
        lost = "every filter on system calls: this systemd skips them and starts units all the same"
        return _SYSTEMD.fails(f"{shown}, built without seccomp", lost=lost, mend="use a systemd built with seccomp")
    return _SYSTEMD.holds(shown)


def _check_manager(sight: HostSight) -> Check:
    if sight.system_manager:
        return _MANAGER.holds("the machine's own systemd, PID 1")
    answers = {name: answer for name, answer in sight.namespaces if name in _PRIVATE}
    refused = [name for name, answer in answers.items() if answer]
    if None in answers.values():
        return _MANAGER.unseen("whether a private one can be made could not be seen")
    if sight.systemd is None or refused:
        what = f"a private one cannot be made here: {', '.join(refused) or 'there is no systemd'}"
        return _MANAGER.fails(f"none: PID 1 is {sight.init or 'unknown'}, and {what}")
    return _MANAGER.holds(f"a private systemd, started for each run: PID 1 is {sight.init}")


_LAYOUT = Line(
    topic="control groups",
    name="layout",
    expected="v2, or hybrid: v1 controllers beside a v2 tree",
    lost="the end of a unit as a whole, and the account of what it used",
    mend=mend_layout(),
)
_CONTROLLER = Line(
    topic="control groups",
    name="",
    expected="a limit set in a group made for it is there when it is read back",
    lost="",
    mend="",
)


def _check_groups(sight: HostSight) -> Iterator[Check]:
    groups = sight.groups
    if groups is None:
        yield _LAYOUT.unseen()
    else:
        yield _LAYOUT.holds(groups.layout) if groups.layout in {"v2", "hybrid"} else _LAYOUT.fails(groups.layout)
    tried = {} if groups is None else dict(groups.tried)
    is_v2 = groups is not None and groups.layout == "v2"
    for name, lost in CONTROLLERS.items():
        mend = mend_controllers((name,), v2=is_v2)
        line = replace(_CONTROLLER, name=f"controller {name}", lost=lost, mend=mend)
        if groups is not None and name in groups.ready:
            yield line.holds("offered; the manager hands it on when the first unit starts, and the go waits for that")
        else:
            yield line.tried(tried.get(name), "live: a limit was set and read back")


_PRIVATE = frozenset({"mount", "pid", "net", "ipc", "uts", "cgroup"})
_NAMESPACES = {
    "user": "other accounts' files, processes and keys being nobody's",
    "mount": "the empty root: a unit would see the host's tree",
    "pid": "the private systemd's own processes, which end with it",
    "net": "the empty network: a unit would reach what the host reaches",
    "ipc": "own System V objects and message queues",
    "uts": "an own host name",
    "cgroup": "the private systemd's own control groups",
}
_NAMESPACE = Line(topic="namespaces", name="", expected="one can be made", lost="", mend="")


def _check_namespaces(sight: HostSight) -> Iterator[Check]:
    tried = dict(sight.namespaces)
    withheld = sight.capabilities is not None and "CAP_SYS_ADMIN" in missing_capabilities(sight.capabilities)
    for name, lost in _NAMESPACES.items():
        setting = f"user.max_{'mnt' if name == 'mount' else name}_namespaces"
        mend = _ROOTS_OWN if withheld else f"run: sysctl -w {setting}=10000; in a container, allow unshare"
        yield replace(_NAMESPACE, name=name, lost=lost, mend=mend).tried(tried.get(name), "one was made")


_SECCOMP = Line(
    topic="filters",
    name="seccomp",
    expected="the kernel takes filters",
    lost="every filter on system calls, address families, namespaces and set-id bits; systemd skips them silently",
    mend="use a kernel with CONFIG_SECCOMP_FILTER, and start the runner outside of whatever forbids seccomp to it",
)
_BPF = Line(
    topic="filters",
    name="cgroup BPF",
    expected="a program can be loaded and attached to a control group",
    lost="IPAddressDeny= and, on v2, DevicePolicy=; before them stand a network namespace with nothing in it but "
    "loopback, and a unit that may make no device",
    mend="use a kernel with CONFIG_CGROUP_BPF, and start the runner with CAP_BPF and CAP_NET_ADMIN",
    needed=False,
)


def _check_filters(sight: HostSight) -> Iterator[Check]:
    yield _SECCOMP.tried(sight.seccomp, "the kernel takes filters")
    yield _BPF.tried(sight.bpf, "a program was loaded and attached")


_KEEPER = Line(
    topic="programs",
    name="keeper",
    expected="all that it imports is there",
    lost="the one process that builds rooms",
    mend="run: scripts/setup",
)


def _check_keeper(sight: HostSight) -> Iterator[Check]:
    yield _KEEPER.tried(sight.keeper, "all that it imports is there")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Hint:
    """A setting of the kernel's that leaves something open beside the walls."""

    is_well: Callable[[str], bool]
    expected: str
    lost: str
    mend: str
    without: str = ""
    """What it means that a kernel has no such setting; empty: nothing."""
    needed: bool = False
    """Whether nothing runs without it, because a wall that is proven before each run falls with it."""


_HINTS = {
    "dev.tty.legacy_tiocsti": _Hint(
        is_well=lambda value: value == "0",
        expected="0",
        lost="the operator's terminal: what shares it can type into it. Units have none; what you start by hand has",
        mend="run: sysctl -w dev.tty.legacy_tiocsti=0",
        without="not there: this kernel always lets a program type into its terminal",
    ),
    "kernel.core_pattern": _Hint(
        is_well=lambda value: not value.startswith("|"),
        expected="no pipe",
        lost="quiet crashes: one in a unit starts this helper as root, whatever the unit's limit on core files",
        mend="run: sysctl -w kernel.core_pattern=core",
        needed=True,
    ),
    "fs.suid_dumpable": _Hint(
        is_well=lambda value: value == "0",
        expected="0",
        lost="secrets of the host's set-id programs, whose memory a crash may leave in a file",
        mend="run: sysctl -w fs.suid_dumpable=0",
    ),
    "kernel.unprivileged_bpf_disabled": _Hint(
        is_well=lambda value: value != "0",
        expected="1 or 2",
        lost="a smaller kernel: every account may load BPF programs. Units may not, their filter refuses it",
        mend="run: sysctl -w kernel.unprivileged_bpf_disabled=2",
    ),
    "user.max_user_namespaces": _Hint(
        is_well=lambda value: value != "0",
        expected="more than 0",
        lost="user namespaces; see the line on them",
        mend="run: sysctl -w user.max_user_namespaces=10000",
    ),
    "kernel.unprivileged_userns_clone": _Hint(
        is_well=lambda _: True, expected="0 or 1: units may make no namespace either way", lost="", mend=""
    ),
}


def _check_hints(sight: HostSight) -> Iterator[Check]:
    for name, value in sight.hints:
        hint = _HINTS[name]
        line = Line(
            topic="kernel settings",
            name=name,
            expected=hint.expected,
            lost=hint.lost,
            mend=hint.mend,
            needed=hint.needed,
        )
        if value is None and hint.without:
            yield line.fails(hint.without, mend="use a kernel from 6.2 on, and set it to 0")
        elif value is None:
            yield line.holds("not there, and not needed")
        else:
            yield line.holds(value) if hint.is_well(value) else line.fails(value)


HINTS = tuple(_HINTS)
"""Settings of the kernel's that are looked at."""

_RULES: tuple[Callable[[HostSight], Iterator[Check]], ...] = (
    _check_machine,
    _check_groups,
    _check_namespaces,
    _check_filters,
    check_storage,
    check_room,
    check_folders,
    check_accounts,
    check_tools,
    _check_keeper,
    _check_hints,
)
