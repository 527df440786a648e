"""What is lacking is named, with the protection lost and what mends it; what nobody saw is not there."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.check import Check, State
from sandbox.doctor import HINTS, MACHINES, diagnose, is_fit
from sandbox.launcher import _NUMBERS
from sandbox.needs import CAPABILITIES
from sandbox.sight import Folder, Groups, HostSight, Interpreter, Room, Tool
from tests.unit.sandbox.sights import ACCOUNTS, GROUPS, STORAGE, WELL

SYS_ADMIN = CAPABILITIES["CAP_SYS_ADMIN"][0]


def named(checks: tuple[Check, ...], *states: State) -> dict[str, Check]:
    return {f"{check.topic}: {check.name}": check for check in checks if check.state in states}


def storage(**changed: object) -> HostSight:
    return replace(WELL, storage=replace(STORAGE, **changed))  # type: ignore[arg-type]


def accounts(**changed: object) -> HostSight:
    return replace(WELL, accounts=replace(ACCOUNTS, **changed))  # type: ignore[arg-type]


def folder(name: str, **changed: object) -> HostSight:
    one = Folder(name=name, path=f"/var/{name}", exists=True, owner=0, mode=0o700)
    return replace(WELL, folders=(replace(one, **changed),))  # type: ignore[arg-type]


def tool(path: str, *, there: bool = True, version: str | None = None) -> HostSight:
    return replace(WELL, tools=(Tool(path=path, there=there, version=version),))


def without_controller(name: str, kind: str = "hybrid") -> HostSight:
    tried = tuple((each, "it is not mounted" if each == name else "") for each, _ in GROUPS.tried)
    return replace(WELL, groups=Groups(layout=kind, tried=tried))


UNFIT = [
    (replace(WELL, account=1000), "machine: root", "account 1000", "run it as root"),
    (replace(WELL, capabilities=~(1 << SYS_ADMIN)), "machine: root", "CAP_SYS_ADMIN", "--privileged"),
    (replace(WELL, machine="riscv64"), "machine: kernel", "riscv64", "use such a machine"),
    (replace(WELL, systemd="systemd 249 (249.11)\n+SECCOMP"), "machine: systemd", "249", "252 or newer"),
    (replace(WELL, systemd="systemd 252\n-SECCOMP"), "machine: systemd", "without seccomp", "built with seccomp"),
    (replace(WELL, systemd="a joke"), "machine: systemd", "a joke", "252 or newer"),
    (replace(WELL, systemd=None), "machine: systemd", "none is installed", "apt-get install"),
    (replace(WELL, systemd=None), "machine: service manager", "there is no systemd", "mend what"),
    (replace(WELL, groups=Groups(layout="v1", tried=GROUPS.tried)), "control groups: layout", "v1", "unified"),
    (replace(WELL, groups=Groups(layout="none", tried=())), "control groups: layout", "none", "unified"),
    (without_controller("memory"), "control groups: controller memory", "not mounted", "mount -t cgroup -o memory"),
    (without_controller("pids"), "control groups: controller pids", "not mounted", "mount -t cgroup -o pids"),
    (without_controller("cpu", "v2"), "control groups: controller cpu", "not mounted", "cgroup_disable"),
    (replace(WELL, namespaces=(("user", "ENOSPC"),)), "namespaces: user", "ENOSPC", "user.max_user_namespaces"),
    (replace(WELL, namespaces=(("mount", "EPERM"),)), "namespaces: mount", "EPERM", "user.max_mnt_namespaces"),
    (replace(WELL, namespaces=(("net", "EPERM"),)), "machine: service manager", "net", "mend what"),
    (replace(WELL, seccomp="EINVAL"), "filters: seccomp", "EINVAL", "CONFIG_SECCOMP_FILTER"),
    (storage(overlay="ENODEV"), "storage: overlay", "ENODEV", "overlayfs"),
    (storage(hidden=True), "storage: place", "hidden", "clean_room.state_dir"),
    (storage(free_bytes=1 << 30, needed_bytes=1 << 30), "storage: free space", "1.0 GiB", "free space"),
    (storage(free_inodes=10), "storage: free space", "10 files", "free space"),
    (replace(WELL, room=Room(left="process 7", held=False)), "clean room: room", "process 7", "runner host clear"),
    (folder("state", mode=0o777), "clean room: state", "mode 0777", "chmod go-w /var/state"),
    (folder("host folder", strangers=(33,)), "clean room: host folder", "account 33", "chown root:root"),
    (folder("objects", owner=1000), "clean room: objects", "account 1000", "chown"),
    (folder("host folder", mode=0o775), "clean room: host folder", "mode 0775", "chmod"),
    (folder("code", exposed=("/opt",)), "clean room: code", "can write /opt", "chmod go-w /opt"),
    (folder("store", exists=False, exposed=("/x",)), "clean room: store", "can write /x", "chmod go-w /x"),
    (accounts(taken=("user anna (1900000000)",)), "accounts: range", "anna", "clean_room.accounts"),
    (accounts(delegated=("bob has 1 to 2",)), "accounts: subordinate ids", "bob", "clean_room.accounts"),
    (accounts(library=False), "accounts: look-up", "not installed", "libnss-systemd"),
    (tool("/usr/bin/git", there=False), "programs: git", "not there", "apt-get install --no-install-recommends git"),
    (tool("/usr/bin/git", version="git version 2.30.2"), "programs: git", "2.30.2", "apt-get install"),
    (tool("/usr/sbin/mkfs.ext4", there=False), "programs: mkfs.ext4", "not there", "e2fsprogs"),
    (
        replace(WELL, python=Interpreter(version=(3, 9, 2), real="/usr/bin/python3.9", refusal="")),
        "programs: units' Python",
        "3.9.2",
        "python3",
    ),
    (
        replace(WELL, python=Interpreter(version=(3, 12), real="/usr/local/bin/python3.12", refusal="")),
        "programs: units' Python",
        "/usr/local",
        "python3",
    ),
    (
        replace(WELL, python=Interpreter(version=None, real="", refusal="No module named '_ctypes'")),
        "programs: units' Python",
        "_ctypes",
        "python3",
    ),
    (replace(WELL, keeper="ImportError: libsystemd.so.0"), "programs: keeper", "libsystemd", "scripts/setup"),
    (replace(WELL, hints=(("kernel.core_pattern", "|/x"),)), "kernel settings: kernel.core_pattern", "|/x", "sysctl"),
]


def test_a_host_that_lacks_nothing_is_fit_and_has_nothing_to_mend() -> None:
    checks = diagnose(WELL)
    assert is_fit(checks)
    assert named(checks, State.UNFIT, State.UNKNOWN, State.WARNING) == {}
    assert [check for check in checks if check.lost or check.mend or not check.found] == []


def test_no_line_at_all_is_no_fit_host() -> None:
    assert not is_fit(())


@pytest.mark.parametrize(("sight", "line", "found", "mend"), UNFIT)
def test_what_is_lacking_is_named_with_what_is_lost_and_what_mends_it(
    sight: HostSight, line: str, found: str, mend: str
) -> None:
    checks = diagnose(sight)
    assert not is_fit(checks)
    check = named(checks, State.UNFIT)[line]
    assert found in check.found
    assert mend in check.mend
    assert check.lost
    assert check.expected


WARNED = [
    (replace(WELL, bpf="EPERM"), "filters: cgroup BPF", "network namespace"),
    (storage(layers="copy"), "storage: frozen trees", "copies its tree"),
    (storage(image="tmpfs"), "storage: loop devices", "memory"),
    (storage(free_bytes=1 << 30, needed_bytes=1 << 20), "storage: free space", "a full disk"),
    (storage(free_inodes=9_000), "storage: free space", "a full disk"),
    (replace(WELL, room=Room(left="", held=True)), "clean room: room", "this run's turn"),
    (folder("store", mode=0o755), "clean room: store", "secrecy"),
    (folder("state", owner=33, strangers=(33,)), "clean room: state", "what units are made of"),
    (folder("code", strangers=(1000,)), "clean room: code", "is root"),
    (replace(WELL, hints=(("dev.tty.legacy_tiocsti", "1"),)), "kernel settings: dev.tty.legacy_tiocsti", "terminal"),
    (replace(WELL, hints=(("dev.tty.legacy_tiocsti", None),)), "kernel settings: dev.tty.legacy_tiocsti", "terminal"),
    (replace(WELL, hints=(("fs.suid_dumpable", "2"),)), "kernel settings: fs.suid_dumpable", "set-id"),
]


@pytest.mark.parametrize(("sight", "line", "lost"), WARNED)
def test_what_something_stands_in_for_is_warned_of_and_the_host_is_fit(sight: HostSight, line: str, lost: str) -> None:
    checks = diagnose(sight)
    assert is_fit(checks)
    check = named(checks, State.WARNING)[line]
    assert lost in check.lost
    assert check.mend


def test_a_machine_whose_own_systemd_is_used_must_ask_it_for_accounts_and_hides_nothing() -> None:
    system = replace(WELL, system_manager=True, accounts=replace(ACCOUNTS, unasked=("group",)))
    assert "for group" in named(diagnose(system), State.UNFIT)["accounts: look-up"].found
    assert is_fit(diagnose(replace(WELL, system_manager=True, storage=replace(STORAGE, hidden=True))))


def test_a_controller_that_is_offered_counts_for_the_go_waits_until_it_is_live() -> None:
    groups = Groups(layout="v2", tried=(("memory", ""), ("pids", "ENOENT"), ("cpu", "")), ready=frozenset({"pids"}))
    assert is_fit(diagnose(replace(WELL, groups=groups)))


UNSEEN = [
    ({"capabilities": None}, "machine: root"),
    ({"groups": None}, "control groups: controller memory"),
    ({"namespaces": (("user", None),)}, "namespaces: user"),
    ({"namespaces": ()}, "namespaces: net"),
    ({"seccomp": None}, "filters: seccomp"),
    ({"bpf": None}, "filters: cgroup BPF"),
    ({"storage": replace(STORAGE, layers=None)}, "storage: frozen trees"),
    ({"storage": replace(STORAGE, overlay=None)}, "storage: overlay"),
    ({"storage": replace(STORAGE, free_bytes=None)}, "storage: free space"),
    ({"accounts": replace(ACCOUNTS, taken=None)}, "accounts: range"),
    ({"accounts": replace(ACCOUNTS, delegated=None)}, "accounts: subordinate ids"),
    ({"room": Room(left=None, held=None)}, "clean room: room"),
    ({"folders": (Folder(name="state", path="/x", exists=None),)}, "clean room: state"),
    ({"tools": (Tool(path="/usr/bin/git", there=True, version=None),)}, "programs: git"),
    ({"python": None}, "programs: units' Python"),
    ({"keeper": None}, "programs: keeper"),
]


@pytest.mark.parametrize(("unseen", "line"), UNSEEN)
def test_what_could_not_be_seen_counts_as_lacking(unseen: dict[str, object], line: str) -> None:
    checks = diagnose(replace(WELL, **unseen))  # type: ignore[arg-type]
    assert not is_fit(checks)
    assert named(checks, State.UNKNOWN)[line].lost


def test_whoever_is_not_root_is_told_that_root_sees_more() -> None:
    checks = diagnose(replace(WELL, account=7, seccomp=None, keeper=None))
    told = named(checks, State.UNKNOWN)
    assert set(told) == {"filters: seccomp", "programs: keeper"}
    assert {check.mend for check in told.values()} == {"run the doctor as root"}


ODD = st.one_of(st.none(), st.text(max_size=20))


@given(
    seccomp=ODD,
    systemd=ODD,
    machine=st.text(max_size=10),
    version=ODD,
    hint=ODD,
    layers=ODD,
    capabilities=st.one_of(st.none(), st.integers(min_value=0, max_value=1 << 41)),
    layout=st.text(max_size=8),
)
def test_whatever_is_seen_it_judges_and_every_bad_line_says_what_mends_it(**seen: Any) -> None:  # noqa: ANN401
    sight = replace(
        WELL,
        seccomp=seen["seccomp"],
        systemd=seen["systemd"],
        machine=seen["machine"],
        capabilities=seen["capabilities"],
        tools=(Tool(path="/usr/bin/git", there=True, version=seen["version"]),),
        hints=tuple((name, seen["hint"]) for name in HINTS),
        storage=replace(STORAGE, layers=seen["layers"], image=seen["layers"]),
        groups=Groups(layout=seen["layout"], tried=()),
    )
    checks = diagnose(sight)
    assert [check for check in checks if not check.ok and not (check.lost and check.mend)] == []
    assert not is_fit(checks)


def test_the_machines_are_those_whose_calls_the_launcher_knows() -> None:
    assert set(MACHINES) == set(_NUMBERS)
