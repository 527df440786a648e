"""How each directive and each limit is taken away, and what is looked at then: the table of test_removal.py."""

import errno
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sandbox.justification import JUSTIFIED, Probe
from sandbox.properties import LAUNCHER
from sandbox.shares import MOST_SIGNALS, QUEUE_BYTES
from sandbox.spec import PYTHON, Role
from sandbox.termination import Cause
from sandbox.units import SOCKET_BYTES
from tests.systemd.removals import Edits, Seen

_NEVER = (1 << 64) - 1
_CAP_SYS_MODULE = 1 << 16
_SCRATCH = ("/dev/shm", "/tmp", "/var/tmp")

Look = Callable[[Seen], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Removal:
    """How one name is taken away, and what is looked at; without `edits` the directive of that name is dropped."""

    name: str
    edits: Edits = ()
    guards: tuple[str, ...] = ()
    role: str = Role.DRIVER
    scaled: Edits = ()
    """What every unit of this removal is given, so that a difference shows within a test's time."""
    scaled_guards: tuple[str, ...] = ()
    code: str = ""
    wall: float = 5.0
    words: tuple[str, ...] = ()
    look: Look | None = None
    alone: object = None
    """What is seen while everything stands, and without this one alone; as `held` if not told."""
    held: object = False
    gone: object = True

    @property
    def without(self) -> Edits:
        """Tell the edits that take it away."""
        return self.edits or (() if self.guards else (("drop", self.name),))

    def sees(self, seen: Seen) -> object:
        """Give what is looked at."""
        justification = JUSTIFIED[self.name]
        if self.look is not None:
            return self.look(seen)
        if justification.by is Probe.LAUNCHER:
            return told(justification.seen)(seen)
        if justification.by is Probe.GROUP:
            return justification.seen in seen.error
        if justification.by is Probe.START:
            return seen.error.startswith("UnitStartError")
        return seen.said[justification.by]


def has_module_capability(seen: Seen) -> object:
    status = dict(line.split(":\t", 1) for line in seen.report["status"].splitlines() if ":\t" in line)
    return bool(int(status["CapBnd"], 16) & _CAP_SYS_MODULE)


def ends(seen: Seen) -> object:
    return seen.cause, None if seen.termination is None else seen.termination.status


def told(words: str) -> Look:
    return lambda seen: any(words in sentence for sentence in seen.broken)


def is_told_late(seen: Seen) -> object:
    return seen.termination is not None and seen.termination.usage.wall_ms > 800


def ends_by_itself(seen: Seen) -> object:
    return seen.output.endswith(b"own end")


def lives(seconds: float, *, first: str = "pass") -> str:
    """Give a program that does something, lives for a while, and says that it came to its own end."""
    return f"{first}\nimport time\ntime.sleep({seconds})\nprint('own end', end='', flush=True)"


def with_child(seconds: float, *, first: str = "pass") -> str:
    """Give a program that leaves a child of which the same is true."""
    child = f"{lives(seconds, first=first)}\nos._exit(0)".replace("\n", "\n    ")
    return f"import os, signal\nif os.fork() == 0:\n    {child}"


_DEAF = "signal.signal(signal.SIGTERM, signal.SIG_IGN)"
_ISOLATED = (PYTHON, "-I", "-S", "-B")
_EXIT = (Cause.EXIT.value, 0)
_HUNGRY = "import os\nif os.fork() == 0: x = bytearray(400 << 20)\nos.wait()"
_RUNTIME = ("put", "RuntimeMaxUSec", 800_000)


def launched(argv: Sequence[str], *flags: str) -> Edits:
    return [["put", "ExecStartEx", [[PYTHON, list(argv), list(flags)]]]]


REMOVALS = (
    # Life
    Removal(name="DefaultDependencies"),
    Removal(
        name="Type", edits=(("put", "Type", "oneshot"),), scaled=(_RUNTIME,), code=lives(1.4), wall=0.4,
        look=ends_by_itself,
    ),
    Removal(name="RemainAfterExit", code="pass", look=lambda seen: ends(seen) == _EXIT, held=True, gone=False),
    Removal(
        name="CollectMode", edits=(("put", "CollectMode", "inactive-or-failed"),), code="raise SystemExit(3)",
        look=lambda seen: ends(seen) == (Cause.EXIT.value, 3), held=True, gone=False,
    ),
    Removal(
        name="Restart", edits=(("put", "Restart", "always"),), scaled_guards=("signals, slowly",),
        scaled=(("add", "RestartUSec", "t", 900_000),), code="raise SystemExit(3)",
        look=lambda seen: ends(seen) == (Cause.EXIT.value, 3), held=True, gone=False,
    ),
    Removal(name="NotifyAccess", edits=(("put", "NotifyAccess", "all"),)),
    Removal(name="KillMode", edits=(("put", "KillMode", "process"),), code=with_child(1.0), look=ends_by_itself),
    Removal(
        name="SendSIGKILL", edits=(("put", "SendSIGKILL", False),), code=with_child(1.4, first=_DEAF),
        look=ends_by_itself,
    ),
    Removal(
        name="TimeoutStopUSec", edits=(("put", "TimeoutStopUSec", 6_000_000),), code=with_child(1.4, first=_DEAF),
        look=ends_by_itself,
    ),
    Removal(
        name="TimeoutStartUSec", edits=(("put", "TimeoutStartUSec", 60_000_000),),
        scaled=(("put", "TimeoutStartUSec", 900_000),), code=lives(1.4), look=ends_by_itself,
        alone=True, held=False, gone=True,
    ),
    Removal(name="Delegate", edits=(("put", "Delegate", True),)),
    Removal(
        name="OOMPolicy", edits=(("put", "OOMPolicy", "continue"),), code=lives(1.0, first=_HUNGRY),
        look=ends_by_itself,
    ),
    Removal(name="OOMScoreAdjust"),
    # Privilege
    Removal(name="NoNewPrivileges"),
    Removal(name="PrivateUsers"),
    Removal(name="SupplementaryGroups", edits=(("put", "SupplementaryGroups", ["adm"]),)),
    Removal(name="RestrictSUIDSGID"),
    Removal(name="RestrictNamespaces"),
    Removal(name="RestrictRealtime", held=errno.EPERM, gone=errno.EINVAL),
    Removal(name="LockPersonality"),
    Removal(name="SystemCallArchitectures", held="signal 31", gone="answered"),
    Removal(name="SystemCallFilter"),
    Removal(name="SystemCallErrorNumber"),
    Removal(name="UMask", edits=(("put", "UMask", 0),)),
    # Private
    Removal(name="MountAPIVFS", edits=(("put", "MountAPIVFS", False),)),
    Removal(name="ProtectSystem"),
    Removal(name="ProtectHome"),
    Removal(name="PrivateDevices"),
    Removal(name="DevicePolicy", look=lambda seen: 0 in seen.said[Probe.DEVICES].values()),
    Removal(name="PrivateIPC"),
    Removal(
        name="KeyringMode", edits=(("put", "KeyringMode", "inherit"),),
        look=lambda seen: "_uid_ses" in str(seen.said[Probe.KEYRING]),
    ),
    Removal(name="ProtectProc"),
    Removal(name="ProcSubset"),
    Removal(name="ProtectHostname"),
    Removal(name="ProtectClock", held=errno.EPERM, gone=errno.EFAULT),
    Removal(name="ProtectControlGroups"),
    Removal(name="ProtectKernelLogs"),
    Removal(name="ProtectKernelModules", look=has_module_capability),
    Removal(name="ProtectKernelTunables"),
    Removal(name="InaccessiblePaths"),
    *(
        Removal(name=f"InaccessiblePaths {path}", edits=(("omit", "InaccessiblePaths", path),))
        for path in ("+/sys", "+/dev/mqueue", "+/dev/hugepages")
    ),
    # Accounting
    Removal(name="MemoryAccounting", edits=(("put", "MemoryAccounting", False),)),
    Removal(name="TasksAccounting", edits=(("put", "TasksAccounting", False),)),
    Removal(name="CPUAccounting", edits=(("put", "CPUAccounting", False),)),
    Removal(name="MemorySwapMax"),
    Removal(name="LimitCORE"),
    # Identity
    Removal(name="Slice"),
    Removal(name="User"),
    Removal(name="Group", edits=(("put", "Group", "root"),)),
    Removal(name="CapabilityBoundingSet"),
    Removal(name="AmbientCapabilities", role=Role.INSPECTION),
    # Ceilings
    Removal(name="MemoryMax"),
    Removal(name="TasksMax"),
    Removal(name="CPUQuotaPerSecUSec"),
    Removal(
        name="RuntimeMaxUSec", edits=(("put", "RuntimeMaxUSec", 60_000_000),), scaled=(_RUNTIME,), code=lives(1.4),
        wall=0.4, look=ends_by_itself,
    ),
    Removal(name="LimitFSIZE"),
    Removal(name="LimitNOFILE"),
    Removal(name="LimitNPROC"),
    # Network
    Removal(name="RestrictAddressFamilies"),
    Removal(name="PrivateNetwork"),
    Removal(name="NetworkNamespacePath", role=Role.CANDIDATE),
    Removal(name="IPAddressDeny", alone=errno.EAFNOSUPPORT, held=errno.EPERM, gone=0),
    Removal(name="IPAddressAllow", role=Role.CANDIDATE, held=0, gone=errno.EPERM),
    # Tree
    Removal(name="RootDirectory"),
    Removal(name="TemporaryFileSystem"),
    *(
        Removal(name=f"TemporaryFileSystem {target}", edits=(("omit", "TemporaryFileSystem", target),))
        for target in ("/run", *_SCRATCH)
    ),
    Removal(name="TemporaryFileSystem (ro)", edits=(("set", "TemporaryFileSystem", "/run", "ro", ""),)),
    *(
        Removal(
            name=f"TemporaryFileSystem ({option})", edits=(("set", "TemporaryFileSystem", target, option, ""),),
            look=told(f"{'' if option == 'mode' else 'size of '}{target}: promised"),
        )
        for option in ("mode", "size", "nr_inodes")
        for target in _SCRATCH
    ),
    *(
        Removal(
            name=f"TemporaryFileSystem ({option})", edits=(("set", "TemporaryFileSystem", target, option, option[2:]),),
            look=told(f"mount {target}: promised {option}"),
        )
        for option in ("nosuid", "nodev")
        for target in ("/run", *_SCRATCH)
    ),
    Removal(name="BindReadOnlyPaths"),
    *(
        Removal(name=f"BindReadOnlyPaths {path}", edits=(("omit", "BindReadOnlyPaths", path),), role=role)
        for role, path in (
            (Role.DRIVER, "/usr"),
            (Role.DRIVER, "/usr/local"),
            (Role.DRIVER, "/usr/lib/python3/dist-packages"),
            (Role.DRIVER, "/dev/pts"),
            (Role.INSPECTION, "/work"),
            (Role.GATEWAY, "/etc/ssl"),
            (Role.GATEWAY, "/etc/resolv.conf"),
            (Role.GATEWAY, "/etc/hosts"),
        )
    ),
    Removal(
        name="BindReadOnlyPaths /opt/*", edits=(("omit", "BindReadOnlyPaths", "/opt/extra"),), role=Role.CANDIDATE,
    ),
    Removal(name="BindPaths", role=Role.CANDIDATE),
    *(
        Removal(name=f"BindPaths {path}", edits=(("omit", "BindPaths", path),), role=Role.CANDIDATE)
        for path in ("/work", "/home/agent", "/tmp", "/var/tmp")
    ),
    # Program
    Removal(name="ExecStartEx", edits=launched((PYTHON, "-c", "pass"))),
    Removal(
        name="ExecStartEx no-env-expand",
        edits=launched((*_ISOLATED, LAUNCHER, *_ISOLATED, "/opt/probes/directives.py", "words", "--", "$HOME")),
        words=("--", "$HOME"), held=["$HOME"], gone=["/tmp"],
    ),
    Removal(name="WorkingDirectory", held="/work", gone="/"),
    Removal(name="Environment"),
    Removal(name="UnsetEnvironment"),
    # Ours
    Removal(name="limit wall", guards=("wall",), code=lives(1.5), wall=0.5, look=ends_by_itself),
    Removal(
        name="keeper: memory watch", guards=("memory",), scaled=(("put", "OOMPolicy", "continue"),),
        code=lives(1.0, first=_HUNGRY), look=ends_by_itself,
    ),
    Removal(
        name="keeper: kill", guards=("kill",), scaled=(("put", "TimeoutStopUSec", 5_000_000),),
        code=with_child(1.0, first=_DEAF), look=ends_by_itself,
    ),
    Removal(
        name="keeper: shares of root's", guards=("shares",),
        look=lambda seen: seen.said[Probe.SHARES] != [MOST_SIGNALS, QUEUE_BYTES],
    ),
    Removal(
        name="keeper: socket buffers", guards=("sockets",), role=Role.CANDIDATE,
        look=lambda seen: bool(seen.output) and seen.said[Probe.BUFFERS] > SOCKET_BYTES * 3 // 2,
    ),
    Removal(name="keeper: no swap", guards=("swap",)),
    Removal(name="keeper: signals", guards=("signals, slowly",), code="pass", look=is_told_late),
)  # fmt: skip


FRONTS: dict[str, Edits] = {
    "RestrictAddressFamilies": [["put", "RestrictAddressFamilies", [True, ["AF_UNIX", "AF_INET"]]]],
    "TasksMax": [["put", "TasksMax", _NEVER]],
    "Type": [["put", "Type", "notify"]],
    "User": [["drop", "User"], ["drop", "Group"]],
}
"""How a front is taken away, where not by dropping it: as far as what stands behind it needs."""
GUARDS = {"limit wall": "wall", "keeper: memory watch": "memory", "keeper: kill": "kill", "keeper: signals": "signals"}
