"""Why each directive and each limit is there: what notices its removal, or which walls it stands behind. Pure.

Contracts 8: each names its probe, which runs with and without it (tests/systemd/test_removal.py does, in real units).
A directive whose removal nobody notices stands behind others: its removal alone changes nothing, with those gone it
still holds, and without it too that is noticed. What neither can be said of has no place in sandbox/properties.py.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from sandbox.properties import Property, PropertyValue


class Probe(StrEnum):
    """What is looked at with a directive and without it; from BUFFERS on, a program of sandbox/probes/directives.py."""

    LAUNCHER = "launcher's report"
    """Judged by sandbox/walls.py; no go is given."""
    GROUP = "control group read back"
    """By the keeper; no go is given."""
    START = "start"
    """Whether a launcher's report comes at all."""
    END = "end"
    """How and when the unit ends, as its runner is told."""
    BUFFERS = "buffers"
    CLOCK = "clock"
    DEVICES = "devices"
    FIND_MEMORY = "find_memory"
    FOLDER = "folder"
    GROUPS = "groups"
    KERNEL_LOG = "kernel_log"
    KEYRING = "keyring"
    LOOPBACK = "loopback"
    OWN_GROUP = "own_group"
    REALTIME = "realtime"
    SECOND_TABLE = "second_table"
    SHARES = "shares"
    TUNABLES = "tunables"
    WORDS = "words"


class Need(StrEnum):
    """What a host must have for a removal to be noticed there; elsewhere the test shows that it has not."""

    NOTHING = ""
    V2 = "control groups v2"
    V1 = "control groups v1"
    PRIVATE_MANAGER = "a private systemd"
    TABLE_OF_32_BITS = "x86_64"


@dataclass(frozen=True, slots=True, kw_only=True)
class Justification:
    """How the removal of one directive is noticed: alone, or once those it stands behind are gone."""

    by: Probe
    seen: str
    """What is seen without it (and them)."""
    behind: tuple[str, ...] = ()
    """What it stands behind: other names, each noticed when it is removed."""
    needs: Need = Need.NOTHING


_ENTRIES = ("BindPaths", "BindReadOnlyPaths", "InaccessiblePaths", "TemporaryFileSystem")
MOUNTS = "/opt/*"
"""What the mounts of a spec are called here."""


def names_of(properties: tuple[Property, ...]) -> frozenset[str]:
    """Name everything in a list of properties that has to be justified: directives, and entries of some."""
    return frozenset(name for each in properties for name in _names(each))


def _names(each: Property) -> Iterator[str]:
    yield each.name
    if each.name == "ExecStartEx":
        yield "ExecStartEx no-env-expand"
    if each.name in _ENTRIES and isinstance(each.value, tuple):
        for entry in each.value:
            yield from _entry_names(each.name, entry)


def _entry_names(name: str, entry: PropertyValue) -> Iterator[str]:
    if not isinstance(entry, tuple):
        yield f"{name} {entry!s}"
        return
    target = str(entry[0] if name == "TemporaryFileSystem" else entry[1])
    yield f"{name} {MOUNTS if target.startswith('/opt/') else target}"
    if name == "TemporaryFileSystem":
        yield from (f"{name} ({option.partition('=')[0]})" for option in str(entry[1]).split(","))


LIMITS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "wall": ("limit wall", "RuntimeMaxUSec"),
        "memory_bytes": ("MemoryMax",),
        "tasks": ("TasksMax", "LimitNPROC"),
        "cpu_percent": ("CPUQuotaPerSecUSec",),
        "file_bytes": ("LimitFSIZE",),
        "descriptors": ("LimitNOFILE",),
        "output_bytes": ("limit output_bytes",),
        "tmp_bytes": ("TemporaryFileSystem (size)",),
        "disk_bytes": ("limit disk_bytes",),
        "disk_inodes": ("limit disk_inodes", "TemporaryFileSystem (nr_inodes)"),
    }
)
"""What holds each limit of sandbox.spec.Limits: directives, and what we enforce ourselves."""

OURS = (
    "limit wall",
    "limit output_bytes",
    "limit disk_bytes",
    "limit disk_inodes",
    "keeper: memory watch",
    "keeper: kill",
    "keeper: signals",
    "keeper: no swap",
    "keeper: shares of root's",
    "keeper: socket buffers",
)
"""What is no directive: limits that we enforce, and the keeper's own guards that directives stand behind."""


def _by(by: Probe, seen: str, *behind: str, needs: Need = Need.NOTHING) -> Justification:
    return Justification(by=by, seen=seen, behind=behind, needs=needs)


_OURS_NOTICED = {
    "limit wall": _by(Probe.END, "the program runs to its own end"),
    "limit output_bytes": _by(Probe.END, "a flood is kept whole, and its unit goes on"),
    "limit disk_bytes": _by(Probe.LAUNCHER, "size of /work"),
    "limit disk_inodes": _by(Probe.LAUNCHER, "size of /work"),
    "keeper: memory watch": _by(Probe.END, "a unit lives on whose child was out of memory"),
    "keeper: kill": _by(Probe.END, "a child that ignores SIGTERM outlives its unit"),
    "keeper: no swap": _by(Probe.GROUP, "limit swap_bytes", needs=Need.V1),
    "keeper: shares of root's": _by(Probe.SHARES, "as many queued signals and message queues as root may have"),
    "keeper: socket buffers": _by(Probe.BUFFERS, "connections take more than their bound", needs=Need.V1),
    "keeper: signals": _by(Probe.END, "the end is told seconds late"),
}

_LIFE = {
    "DefaultDependencies": _by(Probe.START, "sysinit.target is asked for", needs=Need.PRIVATE_MANAGER),
    "Type": _by(Probe.END, "as oneshot, RuntimeMaxUSec counts no longer", "limit wall"),
    "RemainAfterExit": _by(Probe.END, "a successful end is not told as one", "keeper: signals"),
    "CollectMode": _by(Probe.END, "a failed end is not told as one", "keeper: signals"),
    "Restart": _by(Probe.END, "the launcher starts again, and the first end is lost"),
    "NotifyAccess": _by(Probe.LAUNCHER, "environment: promised"),
    "KillMode": _by(Probe.END, "a child outlives its unit", "keeper: kill"),
    "SendSIGKILL": _by(Probe.END, "a child that ignores SIGTERM outlives its unit", "keeper: kill"),
    "TimeoutStartUSec": _by(Probe.END, "a start that is never over lasts to the wall", "Type"),
    "TimeoutStopUSec": _by(Probe.END, "a child that ignores SIGTERM lives on for long", "keeper: kill"),
    "Delegate": _by(
        Probe.OWN_GROUP, "a group is made below the unit's own", "InaccessiblePaths", "ProtectControlGroups"
    ),
    "OOMPolicy": _by(Probe.END, "a unit lives on whose child was out of memory", "keeper: memory watch", needs=Need.V2),
    "OOMScoreAdjust": _by(Probe.LAUNCHER, "out-of-memory score"),
}

_PRIVILEGE = {
    "NoNewPrivileges": _by(Probe.LAUNCHER, "mount /usr: promised nosuid"),
    "PrivateUsers": _by(Probe.LAUNCHER, "user namespace"),
    "SupplementaryGroups": _by(Probe.LAUNCHER, "groups"),
    "RestrictSUIDSGID": _by(Probe.LAUNCHER, "set-id bit"),
    "RestrictNamespaces": _by(Probe.LAUNCHER, "system call unshare"),
    "RestrictRealtime": _by(Probe.REALTIME, "the kernel looks at what was asked", "SystemCallFilter"),
    "LockPersonality": _by(Probe.LAUNCHER, "system call personality"),
    "SystemCallArchitectures": _by(Probe.SECOND_TABLE, "a 32-bit call is answered", needs=Need.TABLE_OF_32_BITS),
    "SystemCallFilter": _by(Probe.LAUNCHER, "system call mount"),
    "SystemCallErrorNumber": _by(Probe.START, "the launcher is killed at its first refused call"),
    "UMask": _by(Probe.LAUNCHER, "umask"),
}

_MAKE_MOUNTS = (
    "RootDirectory",
    "BindReadOnlyPaths",
    "TemporaryFileSystem",
    "InaccessiblePaths",
    "MountAPIVFS",
    "PrivateDevices",
    "PrivateIPC",
    "PrivateNetwork",
    "ProcSubset",
    "ProtectControlGroups",
    "ProtectHome",
    "ProtectHostname",
    "ProtectKernelLogs",
    "ProtectKernelModules",
    "ProtectKernelTunables",
    "ProtectProc",
    "ProtectSystem",
)
"""Each of these gives a unit a mount namespace of its own too."""

_PRIVATE = {
    "MountAPIVFS": _by(
        Probe.START, "no /proc", "ProtectProc", "ProcSubset", "ProtectControlGroups", "ProtectKernelTunables"
    ),
    "ProtectSystem": _by(Probe.LAUNCHER, "mount /: promised read-only"),
    "ProtectHome": _by(Probe.LAUNCHER, "mount /home: never promised"),
    "PrivateMounts": _by(Probe.LAUNCHER, "the keeper's own mnt namespace", *_MAKE_MOUNTS),
    "PrivateDevices": _by(Probe.LAUNCHER, "what is in /dev"),
    "DevicePolicy": _by(Probe.DEVICES, "root's devices can be opened by root", "PrivateDevices", "User"),
    "PrivateIPC": _by(Probe.LAUNCHER, "ipc namespace"),
    "RemoveIPC": _by(Probe.FIND_MEMORY, "the next unit finds what the last one left", "PrivateIPC"),
    "KeyringMode": _by(Probe.KEYRING, "its account's common key ring instead of a new one", "SystemCallFilter"),
    "ProtectProc": _by(Probe.LAUNCHER, "/proc: promised other accounts' processes and the host hidden"),
    "ProcSubset": _by(Probe.LAUNCHER, "/proc: promised other accounts' processes and the host hidden"),
    "ProtectHostname": _by(Probe.LAUNCHER, "uts namespace"),
    "ProtectClock": _by(Probe.CLOCK, "the kernel looks at what was asked", "SystemCallFilter"),
    "ProtectControlGroups": _by(Probe.GROUPS, "control groups are there and not read-only", "InaccessiblePaths"),
    "ProtectKernelLogs": _by(Probe.KERNEL_LOG, "/proc/kmsg is there", "ProcSubset"),
    "ProtectKernelModules": _by(Probe.LAUNCHER, "capabilities (CapBnd): CAP_SYS_MODULE", "CapabilityBoundingSet"),
    "ProtectKernelTunables": _by(Probe.TUNABLES, "/proc/sys is there and not read-only", "ProcSubset"),
    "InaccessiblePaths": _by(Probe.LAUNCHER, "/sys: promised inaccessible"),
    "InaccessiblePaths +/sys": _by(Probe.LAUNCHER, "/sys: promised inaccessible"),
    "InaccessiblePaths +/dev/mqueue": _by(Probe.LAUNCHER, "mount /dev/mqueue: promised read-only"),
    "InaccessiblePaths +/dev/hugepages": _by(Probe.LAUNCHER, "mount /dev/hugepages: promised read-only"),
}

_ACCOUNTING = {
    "MemoryAccounting": _by(Probe.GROUP, "the control group holds None", "MemoryMax", "MemorySwapMax"),
    "TasksAccounting": _by(Probe.GROUP, "the control group holds None", "TasksMax"),
    "CPUAccounting": _by(Probe.GROUP, "the control group holds None", "CPUQuotaPerSecUSec", needs=Need.V1),
    "MemorySwapMax": _by(Probe.GROUP, "limit swap_bytes", needs=Need.V2),
    "LimitCORE": _by(Probe.LAUNCHER, "Max core file size"),
}

_IDENTITY = {
    "Slice": _by(Probe.LAUNCHER, "control group"),
    "User": _by(Probe.LAUNCHER, "user: promised"),
    "Group": _by(Probe.LAUNCHER, "group: promised"),
    "CapabilityBoundingSet": _by(Probe.LAUNCHER, "capabilities (CapBnd)"),
    "AmbientCapabilities": _by(Probe.LAUNCHER, "capabilities (CapEff)"),
}

_CEILINGS = {
    "MemoryMax": _by(Probe.GROUP, "limit memory_bytes"),
    "TasksMax": _by(Probe.GROUP, "limit tasks"),
    "CPUQuotaPerSecUSec": _by(Probe.GROUP, "limit cpu_percent"),
    "RuntimeMaxUSec": _by(Probe.END, "the program runs to its own end", "limit wall"),
    "LimitFSIZE": _by(Probe.LAUNCHER, "Max file size"),
    "LimitNOFILE": _by(Probe.LAUNCHER, "Max open files"),
    "LimitNPROC": _by(Probe.LAUNCHER, "Max processes"),
}

_NETWORK = {
    "RestrictAddressFamilies": _by(Probe.LAUNCHER, "sockets of AF_NETLINK"),
    "PrivateNetwork": _by(Probe.LAUNCHER, "net namespace"),
    "NetworkNamespacePath": _by(Probe.LAUNCHER, "network namespace"),
    "IPAddressDeny": _by(Probe.LOOPBACK, "a datagram is sent", "RestrictAddressFamilies"),
    "IPAddressAllow": _by(Probe.LOOPBACK, "not even loopback answers"),
}

_TREE = {
    "RootDirectory": _by(Probe.START, "the launcher is not there"),
    "TemporaryFileSystem": _by(Probe.LAUNCHER, "mount /tmp: promised, not there"),
    "TemporaryFileSystem /run": _by(Probe.LAUNCHER, "mount /run: promised read-only"),
    "TemporaryFileSystem /dev/shm": _by(Probe.LAUNCHER, "size of /dev/shm"),
    "TemporaryFileSystem /tmp": _by(Probe.LAUNCHER, "mount /tmp: promised, not there"),
    "TemporaryFileSystem /var/tmp": _by(Probe.LAUNCHER, "mount /var/tmp: promised, not there"),
    "TemporaryFileSystem (ro)": _by(Probe.LAUNCHER, "promised read-only"),
    "TemporaryFileSystem (mode)": _by(Probe.LAUNCHER, "promised writable"),
    "TemporaryFileSystem (size)": _by(Probe.LAUNCHER, "size of"),
    "TemporaryFileSystem (nr_inodes)": _by(Probe.LAUNCHER, "size of"),
    "TemporaryFileSystem (nosuid)": _by(Probe.LAUNCHER, "promised nosuid", "NoNewPrivileges"),
    "TemporaryFileSystem (nodev)": _by(Probe.LAUNCHER, "promised nodev"),
    "BindReadOnlyPaths": _by(Probe.START, "there is no Python"),
    "BindReadOnlyPaths /usr": _by(Probe.START, "there is no Python"),
    "BindReadOnlyPaths /usr/local": _by(Probe.LAUNCHER, "mount /usr/local: promised, not there"),
    "BindReadOnlyPaths /usr/lib/python3/dist-packages": _by(
        Probe.LAUNCHER, "mount /usr/lib/python3/dist-packages: promised, not there"
    ),
    "BindReadOnlyPaths /dev/pts": _by(Probe.LAUNCHER, "/dev/pts: promised"),
    "BindReadOnlyPaths /work": _by(Probe.LAUNCHER, "mount /work: promised, not there"),
    "BindReadOnlyPaths /etc/ssl": _by(Probe.LAUNCHER, "mount /etc/ssl: promised, not there"),
    "BindReadOnlyPaths /etc/resolv.conf": _by(Probe.LAUNCHER, "mount /etc/resolv.conf: promised, not there"),
    "BindReadOnlyPaths /etc/hosts": _by(Probe.LAUNCHER, "mount /etc/hosts: promised, not there"),
    f"BindReadOnlyPaths {MOUNTS}": _by(Probe.LAUNCHER, "mount /opt/extra: promised, not there"),
    "BindPaths": _by(Probe.LAUNCHER, "mount /work: promised, not there"),
    "BindPaths /work": _by(Probe.LAUNCHER, "mount /work: promised, not there"),
    "BindPaths /home/agent": _by(Probe.LAUNCHER, "mount /home/agent: promised, not there"),
    "BindPaths /tmp": _by(Probe.LAUNCHER, "mount /tmp: promised, not there"),
    "BindPaths /var/tmp": _by(Probe.LAUNCHER, "mount /var/tmp: promised, not there"),
}

_PROGRAM = {
    "ExecStartEx": _by(Probe.START, "no launcher, no report"),
    "ExecStartEx no-env-expand": _by(Probe.WORDS, "$HOME in an argument is replaced"),
    "WorkingDirectory": _by(Probe.FOLDER, "the program starts in /"),
    "Environment": _by(Probe.LAUNCHER, "environment"),
    "UnsetEnvironment": _by(Probe.LAUNCHER, "environment"),
}

JUSTIFIED: Mapping[str, Justification] = MappingProxyType(
    {
        **_LIFE,
        **_PRIVILEGE,
        **_PRIVATE,
        **_ACCOUNTING,
        **_IDENTITY,
        **_CEILINGS,
        **_NETWORK,
        **_TREE,
        **_PROGRAM,
        **_OURS_NOTICED,
    }
)
"""Every name, in the order of sandbox/properties.py, and how its removal is noticed."""
