"""What a run could leave on this machine: one list of all of it, and the difference between two lists.

Processes, namespaces and control groups that a keeper at work accounts for are left out; with the host's lock in hand
none of ours is at work. A private manager takes its units, their account records and their mounts with it, so these
are looked for with the machine's own systemd alone; all else is looked for everywhere.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from itertools import product
from pathlib import Path

from sandbox import loop
from sandbox.bus import open_bus
from sandbox.host import machine_runs_systemd, own_groups
from sandbox.mounts import mount_points_below, mount_points_of
from sandbox.processes import Process, at_work, namespaces, read_processes
from sandbox.room import HOST_FOLDER, USERDB, AccountRange
from sandbox.roots import ROOTS
from sandbox.scratch import abandoned
from sandbox.sweep import NOTE, own_records, own_slices, own_units, passing

QUEUES = Path("/dev/mqueue")
_SHARED = tuple(Path(place) for place in ("/dev/shm", "/tmp", "/var/tmp"))  # noqa: S108 - looked at, not used
_TABLES = ("shm", "sem", "msg")


class Kind(StrEnum):
    """What sort of thing it is."""

    PROCESS = "process"
    UNIT = "unit"
    GROUP = "control group"
    MOUNT = "mount"
    DEVICE = "loop device"
    NAMESPACE = "namespace"
    NAMED_NAMESPACE = "named network namespace"
    """Nothing of ours is called so: it counts in a difference alone."""
    FILE = "file or folder"
    RECORD = "account record"
    IPC = "IPC object"
    KEYS = "kernel keys"


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Thing:
    """One thing that is there."""

    kind: Kind
    name: str
    """What it is found by: a number, a path, a name."""
    note: str = ""
    """What else is known of it."""

    def __str__(self) -> str:
        return f"{self.kind} {self.name}" + (f" ({self.note})" if self.note else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Where to look: at which accounts, below which state folders."""

    accounts: AccountRange
    states: tuple[Path, ...]
    host: Path = HOST_FOLDER
    groups: tuple[Path, ...] | None = None
    """Control groups below which to look for keepers, private systemds and their groups; all where nothing is said."""


def left(before: Iterable[Thing], after: Iterable[Thing]) -> tuple[Thing, ...]:
    """Give what is there afterwards and was not before, in order. Pure."""
    return tuple(sorted(set(after) - set(before)))


def looked_at(scope: Scope, *, own_systemd: bool) -> str:
    """Say in words what an inventory looks at. Pure."""
    places = ", ".join(map(str, scope.states))
    manager = (
        "units, slices and account records of the machine's own systemd"
        if own_systemd
        else "no units: PID 1 is no systemd, and a private one takes its units and account records with it"
    )
    accounts = f"{scope.accounts.first} to {scope.accounts.last}"
    return (
        f"processes, files in shared folders, IPC objects, queues and kernel keys of accounts {accounts}; "
        "keepers, private systemds, their namespaces and control groups; "
        f"mounts, loop devices and passing files below {places}; scratch folders and notes of killed runs; {manager}"
    )


def inventory(scope: Scope) -> tuple[Thing, ...]:
    """List what is there that no keeper at work accounts for."""
    processes = read_processes()
    busy = at_work(processes)
    idle = {pid: each for pid, each in processes.items() if pid not in busy}
    used = {name for pid in busy for name in processes[pid].groups}
    groups = [each for each in own_groups(scope.groups) if each.name not in used]
    names = {each.name for each in groups}
    members = idle.keys() if scope.groups is None else _members(scope.groups)
    ours = [
        each
        for pid, each in idle.items()
        if _is_within(each.account, scope.accounts) or names & set(each.groups) or (each.is_keeper and pid in members)
    ]
    looks = (
        _processes(ours),
        (Thing(kind=Kind.GROUP, name=str(each)) for each in groups),
        _mounts(idle, scope.states),
        _devices(scope.states),
        _named_namespaces(),
        _files(scope),
        _ipc(scope.accounts),
        _queues(scope.accounts),
        _keys(scope.accounts),
        _of_the_manager(scope.accounts),
    )
    return tuple(sorted({thing for look in looks for thing in look}))


def _members(groups: tuple[Path, ...]) -> frozenset[int]:
    """Give the processes below some control groups."""
    texts = (file.read_text(encoding="ascii") for group in groups for file in group.rglob("cgroup.procs"))
    return frozenset(int(pid) for text in texts for pid in text.split())


def _processes(ours: Iterable[Process]) -> Iterator[Thing]:
    """List processes, and the namespaces that they are in or hold open."""
    own = namespaces(os.getpid())
    for each in ours:
        yield Thing(kind=Kind.PROCESS, name=str(each.pid), note=f"{each.name} of account {each.account}")
        for name in namespaces(each.pid) - own:
            yield Thing(kind=Kind.NAMESPACE, name=name, note=f"held by process {each.pid}")


def _mounts(idle: Mapping[int, Process], states: tuple[Path, ...]) -> Iterator[Thing]:
    """List mounts below the states: in our own namespace, and in those of processes that no keeper accounts for."""
    seen = {_mount_namespace(os.getpid())}
    for state in states:
        for point in mount_points_below(state):
            if _is_passing(point, state):
                yield Thing(kind=Kind.MOUNT, name=str(point))
    for pid in idle:
        with suppress(OSError):
            namespace = _mount_namespace(pid)
            if namespace not in seen:
                seen.add(namespace)
                for point, state in product(mount_points_of(pid), states):
                    if _is_passing(point, state):
                        yield Thing(kind=Kind.MOUNT, name=str(point), note=f"as process {pid} sees it")


def _mount_namespace(pid: int) -> str:
    return os.fsdecode(Path(f"/proc/{pid}/ns/mnt").readlink())


def _is_passing(place: Path, state: Path) -> bool:
    """Tell whether a mount point, or a device's file, in a state is one of ours: a state may hold others in it."""
    below = place.parts[len(state.parts) :] if place.is_relative_to(state) else ()
    return bool(below) and (below[0] in {"run", "objects", "objects.ext4"} or below[0].startswith("probe-"))


def _devices(states: tuple[Path, ...]) -> Iterator[Thing]:
    for (number, file), state in product(loop.backing_files().items(), states):
        if _is_passing(Path(file), state):
            yield Thing(kind=Kind.DEVICE, name=loop.node(number), note=file)


def _named_namespaces() -> Iterator[Thing]:
    for line in Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="surrogateescape").splitlines():
        first, _, kind = line.partition(" - ")
        if kind.startswith("nsfs "):
            yield Thing(kind=Kind.NAMED_NAMESPACE, name=first.split(" ")[4], note=first.split(" ")[3])


def _files(scope: Scope) -> Iterator[Thing]:
    """List what is meant to be there for a time alone."""
    places = [ROOTS, *(path for folder in scope.states for path in passing(folder))]
    places += [scope.host / NOTE, *scope.host.glob("*.tmp-*"), *abandoned()]
    for path in places:
        if os.path.lexists(path):
            yield Thing(kind=Kind.FILE, name=str(path))
    for folder in _SHARED:
        for path in folder.iterdir() if folder.is_dir() else ():
            with suppress(FileNotFoundError):
                if _is_within(path.lstat().st_uid, scope.accounts):
                    yield Thing(kind=Kind.FILE, name=str(path), note="an account's of ours")


def _ipc(span: AccountRange) -> Iterator[Thing]:
    for table in _TABLES:
        head, *lines = Path("/proc/sysvipc", table).read_text(encoding="ascii").splitlines()
        for line in lines:
            row = dict(zip(head.split(), map(int, line.split()), strict=True))
            owner = next((row[name] for name in ("uid", "cuid") if _is_within(row[name], span)), None)
            if owner is not None:
                yield Thing(kind=Kind.IPC, name=f"{table} {line.split()[1]}", note=f"of account {owner}")


def _queues(span: AccountRange) -> Iterator[Thing]:
    for path in QUEUES.iterdir() if QUEUES.is_dir() else ():
        with suppress(FileNotFoundError):
            if _is_within(path.stat().st_uid, span):
                yield Thing(kind=Kind.IPC, name=str(path), note=f"of account {path.stat().st_uid}")


def _keys(span: AccountRange) -> Iterator[Thing]:
    for line in Path("/proc/key-users").read_text(encoding="ascii").splitlines():
        owner, _, counts = line.partition(":")
        if _is_within(int(owner), span) and int(counts.split()[1].partition("/")[0]) > 0:
            yield Thing(kind=Kind.KEYS, name=f"of account {owner.strip()}")


def _of_the_manager(span: AccountRange) -> Iterator[Thing]:
    """List what the machine's own systemd has of ours; a private one takes all of it with it."""
    for path in own_records(span, USERDB):
        yield Thing(kind=Kind.RECORD, name=str(path))
    if machine_runs_systemd():
        with open_bus() as bus:
            for name in (*own_units(bus, span), *own_slices(bus)):
                yield Thing(kind=Kind.UNIT, name=name)


def _is_within(number: int, span: AccountRange) -> bool:
    return span.first <= number <= span.last
