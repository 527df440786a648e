"""From a spec to systemd's properties: the one list of every directive, each with its reason. Pure.

It starts from nothing: an empty root with binds into it, an allow list of system calls, an environment of
four names. `TemporaryFileSystem=/`, `DynamicUser` and `PrivateTmp` are never used: beside the rest they
silently show the host's tree or lift a size (facts/systemd.md 2). Nor are `MemoryDenyWriteExecute` and
`LimitAS`: V8 and other just-in-time engines die of them. What really holds is what the launcher sees
(sandbox/walls.py).
"""

import re
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeAlias

from sandbox.errors import SandboxError
from sandbox.spec import AGENT_HOME, PYTHON, WORKSPACE_ROOT, Reach, Role, UnitSpec
from sandbox.syscalls import ALLOWED_CALLS

PropertyValue: TypeAlias = "bool | int | str | bytes | tuple[PropertyValue, ...]"

LAUNCHER = "/opt/launcher/launcher.py"
"""Where the launcher stands in every unit's root."""

CAP_DAC_READ_SEARCH = 1 << 2
BACKSTOP = timedelta(seconds=10)
"""How much longer than its time systemd leaves a unit whose keeper should have ended it."""

_TMP, _VAR_TMP, _SHM = "/tmp", "/var/tmp", "/dev/shm"  # noqa: S108 - the unit's own
_TERMINALS = "/dev/pts"
_STOP_USEC = 500_000
_START_USEC = 20_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitPlace:
    """What the keeper resolved for one unit. Every source path lies below folders only root can write."""

    unit: str
    """Name without its suffix; opaque, for a unit can read it."""
    slice: str
    """Name with its suffix."""
    account: str
    uid: int
    """The account's user and group number."""
    root: str
    """The folder that becomes `/`: links into /usr, mount points, the generated /etc, the launcher."""
    empty: str
    """An empty folder, shown where the host's own must not be."""
    terminals: str
    """A file system of the keeper's for pseudo-terminals, at most MOST_TERMINALS."""
    workspace: str | None = None
    home: str | None = None
    tmp: str | None = None
    vartmp: str | None = None
    mounts: tuple[tuple[str, str], ...] = ()
    """(source, target), in the order of the spec's mounts."""
    namespace_path: str | None = None
    """The network namespace to join, for every reach but NOTHING."""
    report_seconds: int = 5
    """How long the launcher may take to report."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Property:
    """One property of a transient unit, with its D-Bus signature; arrays and structures are tuples."""

    name: str
    signature: str
    value: PropertyValue
    why: str


_Row = tuple[str, str, PropertyValue, str]
"""Name, signature, value, why."""
_Rows = tuple[_Row, ...]

_LIFE: _Rows = (
    ("DefaultDependencies", "b", False, "no sysinit.target, which would clean and remount a private host"),
    ("Type", "s", "exec", "a start that fails before the launcher runs is told apart"),
    ("RemainAfterExit", "b", True, "an ended unit stays readable until the keeper stops it"),
    ("CollectMode", "s", "inactive", "a failed unit stays readable until the keeper resets it"),
    ("Restart", "s", "no", "one run; a restart would also lift RuntimeMaxUSec"),
    ("NotifyAccess", "s", "none", "no notification extends the time or changes the state"),
    ("KillMode", "s", "control-group", "whatever the unit forked ends with it"),
    ("SendSIGKILL", "b", True, "ignoring SIGTERM gains nothing"),
    ("TimeoutStartUSec", "t", _START_USEC, "a start that hangs is a fault soon"),
    ("TimeoutStopUSec", "t", _STOP_USEC, "the keeper kills the group itself; this is for what it missed"),
    ("Delegate", "b", False, "no control group of its own to lift limits in"),
    ("OOMPolicy", "s", "kill", "one process out of memory ends the whole unit"),
    ("OOMScoreAdjust", "i", 500, "the host's memory killer takes a unit first"),
)

_PRIVILEGE: _Rows = (
    ("NoNewPrivileges", "b", True, "set-id programs and file capabilities give nothing"),
    ("PrivateUsers", "b", True, "other accounts' files, processes and keys are nobody's"),
    ("SupplementaryGroups", "as", (), "no group of the host's"),
    ("RestrictSUIDSGID", "b", True, "no set-id file is left for a later reader"),
    ("RestrictNamespaces", "t", 0, "no namespace can be made or entered"),
    ("RestrictRealtime", "b", True, "no scheduling above others"),
    ("LockPersonality", "b", True, "no other execution domain"),
    ("SystemCallArchitectures", "as", ("native",), "no second system call table beside the filter"),
    ("SystemCallFilter", "(bas)", (True, ALLOWED_CALLS), "an allow list; see sandbox/syscalls.py"),
    ("SystemCallErrorNumber", "i", 1, "a refused call is EPERM, which programs survive"),
    ("UMask", "u", 0o022, "modes of new files do not depend on the host"),
)

_PRIVATE: _Rows = (
    ("MountAPIVFS", "b", True, "own /proc, /sys and /dev in the empty root"),
    ("ProtectSystem", "s", "strict", "everything but the writable binds is read-only, the root too"),
    ("ProtectHome", "s", "read-only", "ProtectSystem leaves /home and /root out"),
    ("PrivateMounts", "b", True, "no mount spreads out of the unit"),
    ("PrivateDevices", "b", True, "a /dev of the harmless devices alone"),
    ("DevicePolicy", "s", "closed", "the control group refuses other devices too"),
    ("PrivateIPC", "b", True, "own System V IPC and message queues"),
    ("RemoveIPC", "b", True, "what is left of them goes with the unit"),
    ("KeyringMode", "s", "private", "an own session key ring, though key calls are refused too"),
    ("ProtectProc", "s", "invisible", "other accounts' processes are not listed"),
    ("ProcSubset", "s", "pid", "/proc holds processes alone: nothing of the host or its other runs"),
    ("ProtectHostname", "b", True, "own UTS namespace"),
    ("ProtectClock", "b", True, "the clock cannot be set"),
    ("ProtectControlGroups", "b", True, "no control group file can be written"),
    ("ProtectKernelLogs", "b", True, "no kernel log"),
    ("ProtectKernelModules", "b", True, "no module can be loaded"),
    ("ProtectKernelTunables", "b", True, "/proc/sys and /sys are read-only"),
    (
        "InaccessiblePaths",
        "as",
        ("+/sys", "+/dev/mqueue", "+/dev/hugepages"),
        "the host's devices, control groups and shared queues; '+' counts from the unit's root",
    ),
)

_ACCOUNTING: _Rows = (
    ("MemoryAccounting", "b", True, "the peak is read from the group"),
    ("TasksAccounting", "b", True, "the limit needs the controller"),
    ("CPUAccounting", "b", True, "processor time is read from the group"),
    ("MemorySwapMax", "t", 0, "memory is memory: no swapping beyond the limit"),
    ("LimitCORE", "t", 0, "no core file, no host helper started by a crash"),
)

_Bind = tuple[str, str]
"""Source, target."""

_ANYWHERE = ((2, bytes(4), 0), (10, bytes(16), 0))
_LOOPBACK = ((2, bytes((127, 0, 0, 0)), 8), (10, bytes(15) + b"\x01", 128))

_SYSTEM_BINDS = (("/usr", "/usr"),)
_OUTSIDE_BINDS = (
    ("/etc/ssl", "/etc/ssl"),
    ("/etc/resolv.conf", "/etc/resolv.conf"),
    ("/etc/hosts", "/etc/hosts"),
)
MASKED = ("/usr/local", "/usr/lib/python3/dist-packages")
"""What an operator installed on the host: an empty folder in every unit."""

MOST_TERMINALS = 256
"""Pseudo-terminals of all units together. Those of the host are one number for the whole machine."""

_MOUNT_TARGET = re.compile(r"/opt/[a-z0-9][a-z0-9_-]*")
"""A folder of its own: never over the system, below a workspace's links, or inside another stored folder."""

_MANAGER_NAMES = ("INVOCATION_ID", "JOURNAL_STREAM", "LOGNAME", "SHELL", "SYSTEMD_EXEC_PID", "USER")


def unit_properties(spec: UnitSpec, place: UnitPlace) -> tuple[Property, ...]:
    """List every property a unit is started with, but for its three streams, which the keeper adds.

    Raises:
        SandboxError: spec and place do not fit together.
    """
    rows = (
        *_LIFE,
        *_PRIVILEGE,
        *_PRIVATE,
        *_ACCOUNTING,
        *_identity(spec, place),
        *_ceilings(spec, place),
        *_network(spec, place),
        *_tree(spec, place),
        *_program(spec, place),
    )
    return tuple(Property(name=name, signature=kind, value=value, why=why) for name, kind, value, why in rows)


def promised_environment(spec: UnitSpec, place: UnitPlace) -> dict[str, str]:
    """Give the whole environment a unit's program is started with."""
    return {
        "PATH": "/usr/bin:/bin",
        "HOME": _TMP if place.home is None else AGENT_HOME,
        "LANG": "C.UTF-8",
        "TMPDIR": _TMP,
        **dict(spec.environment),
    }


def promised_writable(spec: UnitSpec, place: UnitPlace) -> dict[str, int]:
    """Give every folder a unit can write to, with the bytes its file system may hold at most."""
    kept = {target: spec.limits.disk_bytes for _, target in _kept(spec, place)}
    return {_SHM: spec.limits.tmp_bytes, _TMP: spec.limits.tmp_bytes, _VAR_TMP: spec.limits.tmp_bytes, **kept}


def promised_capabilities(spec: UnitSpec) -> int:
    """Give the capabilities a unit's program holds, as a mask."""
    return CAP_DAC_READ_SEARCH if spec.role is Role.INSPECTION else 0


def reads_only(spec: UnitSpec) -> bool:
    """Tell whether a unit may look at its workspace and change nothing there."""
    return spec.role in {Role.INSPECTION, Role.JUDGE}


def has_internet_families(spec: UnitSpec) -> bool:
    """Tell whether a unit may open IP sockets."""
    return spec.role in {Role.CANDIDATE, Role.JUDGE, Role.GATEWAY}


def _identity(spec: UnitSpec, place: UnitPlace) -> _Rows:
    held = promised_capabilities(spec)
    why = "reads what a candidate made unreadable, and nothing else" if held else "no capability at all"
    return (
        ("Slice", "s", place.slice, "what it used can be read after its end"),
        ("User", "s", place.account, "an account of its own"),
        ("Group", "s", place.account, "a group of its own"),
        ("CapabilityBoundingSet", "t", held, why),
        ("AmbientCapabilities", "t", held, why),
    )


def _ceilings(spec: UnitSpec, place: UnitPlace) -> _Rows:
    limits = spec.limits
    longest = (limits.wall + timedelta(seconds=place.report_seconds) + BACKSTOP) // timedelta(microseconds=1)
    return (
        ("MemoryMax", "t", limits.memory_bytes, "memory of all its processes, tmpfs too"),
        ("TasksMax", "t", limits.tasks, "processes and threads together"),
        ("CPUQuotaPerSecUSec", "t", limits.cpu_percent * 10_000, "processor time a second"),
        ("RuntimeMaxUSec", "t", longest, "ends what outlived the keeper's own clock"),
        ("LimitFSIZE", "t", limits.file_bytes, "one file"),
        ("LimitNOFILE", "t", limits.descriptors, "open descriptors a process"),
        ("LimitNPROC", "t", limits.tasks, "as TasksMax, without a control group"),
    )


def _network(spec: UnitSpec, place: UnitPlace) -> _Rows:
    reach = spec.network.reach
    if (reach is Reach.NOTHING) != (place.namespace_path is None):
        raise SandboxError(f"a unit that reaches {reach} got the namespace {place.namespace_path}")
    ip = has_internet_families(spec)
    if reach is not Reach.NOTHING and not ip:
        raise SandboxError(f"role {spec.role} has no network to reach {reach} by")
    families = ("AF_UNIX", "AF_INET", "AF_INET6") if ip else ("AF_UNIX",)
    found: list[_Row] = [
        ("RestrictAddressFamilies", "(bas)", (True, families), "no netlink, packet, vsock or alg sockets")
    ]
    if place.namespace_path is None:
        found.append(("PrivateNetwork", "b", True, "an own namespace with loopback alone"))
    else:
        found.append(("NetworkNamespacePath", "s", place.namespace_path, f"the one that reaches {reach}"))
    if reach is not Reach.OUTSIDE:
        found.append(("IPAddressDeny", "a(iayu)", _ANYWHERE, "a second wall behind the namespace"))
        if ip:
            found.append(("IPAddressAllow", "a(iayu)", _LOOPBACK, "the gate listens on loopback"))
    return tuple(found)


def _tree(spec: UnitSpec, place: UnitPlace) -> _Rows:
    rows: list[_Row] = [
        ("RootDirectory", "s", place.root, "an empty root: what is not bound does not exist"),
        ("TemporaryFileSystem", "a(ss)", tuple(_sized(spec, place)), "sized, with a bound on files"),
        ("BindReadOnlyPaths", "a(ssbt)", _binds(_shown(spec, place)), "the system and what the spec names"),
    ]
    # An empty list would mean 'forget all binds' to systemd, the read-only ones too.
    if kept := _kept(spec, place):
        rows.append(("BindPaths", "a(ssbt)", _binds(kept), "the only places that keep what is written"))
    return tuple(rows)


def _shown(spec: UnitSpec, place: UnitPlace) -> list[_Bind]:
    refuse_targets(tuple(target for _, target in place.mounts))
    shown = [*_SYSTEM_BINDS, *((place.empty, masked) for masked in MASKED), (place.terminals, _TERMINALS)]
    if spec.network.reach is Reach.OUTSIDE:
        shown += _OUTSIDE_BINDS
    if place.workspace is not None and reads_only(spec):
        shown.append((place.workspace, WORKSPACE_ROOT))
    return [*shown, *place.mounts]


def _kept(spec: UnitSpec, place: UnitPlace) -> list[_Bind]:
    workspace = None if reads_only(spec) else place.workspace
    places = (
        (workspace, WORKSPACE_ROOT),
        (place.home, AGENT_HOME),
        (place.tmp, _TMP),
        (place.vartmp, _VAR_TMP),
    )
    return [(source, target) for source, target in places if source is not None]


def _sized(spec: UnitSpec, place: UnitPlace) -> list[PropertyValue]:
    size, files = spec.limits.tmp_bytes, spec.limits.disk_inodes
    scratch = f"mode=1777,size={size},nr_inodes={files},nosuid,nodev"
    without_image = [target for source, target in ((place.tmp, _TMP), (place.vartmp, _VAR_TMP)) if source is None]
    return [
        ("/run", "ro,nosuid,nodev"),
        (_SHM, scratch),
        *((target, scratch) for target in without_image),
    ]


def _binds(pairs: list[_Bind]) -> PropertyValue:
    """Each source must exist (False) and is bound without what is mounted below it (0)."""
    return tuple((source, target, False, 0) for source, target in pairs)


def refuse_targets(targets: tuple[str, ...]) -> None:
    """Refuse what a mount point would have to be made for in somebody else's folder.

    Raises:
        SandboxError: a target is none, or stands twice.
    """
    for target in targets:
        if LAUNCHER.startswith(f"{target}/") or not _MOUNT_TARGET.fullmatch(target) or targets.count(target) > 1:
            raise SandboxError(f"nothing can be mounted at {target}; use a folder of its own right below /opt")


def _program(spec: UnitSpec, place: UnitPlace) -> _Rows:
    given = promised_environment(spec, place)
    argv = (PYTHON, "-I", "-S", "-B", LAUNCHER, *spec.argv)
    return (
        (
            "ExecStartEx",
            "a(sasas)",
            ((PYTHON, argv, ("no-env-expand",)),),
            "the launcher first; nothing is expanded",
        ),
        ("WorkingDirectory", "s", spec.working_directory, "where the program starts"),
        (
            "Environment",
            "as",
            tuple(f"{name}={value}" for name, value in given.items()),
            "built from nothing",
        ),
        (
            "UnsetEnvironment",
            "as",
            tuple(name for name in _MANAGER_NAMES if name not in given),
            "what systemd itself would add",
        ),
    )
