"""Whose a unit is and what it may: account, capabilities, privileged programs, limits, terminal."""

import errno
import fcntl
import os
import resource
import signal
import stat
import subprocess
import termios
from collections.abc import Callable

from .kernel import UNKNOWN, call, in_child, names, opened, text, tried
from .told import Told

_PATIENCE_S = 5.0
_SPOT = "/tmp"  # noqa: S108 - the unit's own
_SCORES = (-1, -1000)
"""Below what an ordinary process has; down to that a unit may go where its manager lacks CAP_SYS_RESOURCE."""


def status(_told: Told) -> object:
    """Read what the kernel says of this process."""
    lines = [line.partition(":") for line in text("/proc/self/status").splitlines()]
    wanted = ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs", "Seccomp")
    return {name: value.strip() for name, _, value in lines if name in wanted}


def account(told: Told) -> object:
    """Tell user, groups, and the accounts of neighbours."""
    return {
        "uids": list(os.getresuid()),
        "gids": list(os.getresgid()),
        "groups": sorted(os.getgroups()),
        "others": [each.uid for each in told.neighbours],
    }


def identity_changes(_told: Told) -> object:
    """Try to become somebody else."""
    return {
        "setuid(0)": in_child(lambda: tried(lambda: os.setuid(0))),
        "setgid(0)": in_child(lambda: tried(lambda: os.setgid(0))),
        "setgroups([0])": in_child(lambda: tried(lambda: os.setgroups([0]))),
        "setresuid(0, 0, 0)": in_child(lambda: tried(lambda: os.setresuid(0, 0, 0))),
    }


def set_id(_told: Told) -> object:
    """Try to leave something that gives its later user more than it has."""
    path = f"{_SPOT}/set-id"
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o755))
    capability = bytes.fromhex("0100000202000000000000000000000000000000")
    found = {
        "a set-user-id file": tried(lambda: os.chmod(path, 0o4755)),  # noqa: PTH101, S103 - whether it can be left is the question
        "a set-group-id file": tried(lambda: os.chmod(path, 0o2755)),  # noqa: PTH101, S103
        "file capabilities": tried(lambda: os.setxattr(path, "security.capability", capability)),
        "a character device": tried(lambda: os.mknod(f"{_SPOT}/char", 0o600 | stat.S_IFCHR, os.makedev(1, 1))),
        "a block device": tried(lambda: os.mknod(f"{_SPOT}/block", 0o600 | stat.S_IFBLK, os.makedev(7, 0))),
    }
    os.unlink(path)  # noqa: PTH108 - as everywhere in here
    return found


def privileged_programs(_told: Told) -> object:
    """Run programs that become root where they can."""
    return _runs(
        {
            "sudo": ("-n", "true"),
            "su": ("-c", "true"),
            "pkexec": ("true",),
            "mount": ("-t", "tmpfs", "none", _SPOT),
            "newuidmap": ("1", "0", "0", "1"),
            "unshare": ("-Ur", "true"),
            "chroot": ("/", "true"),
        }
    )


def manager_programs(_told: Told) -> object:
    """Ask the service manager for something, as its own programs do."""
    return _runs(
        {
            "systemctl": ("list-units",),
            "systemd-run": ("--no-ask-password", "--no-block", "true"),
            "systemd-notify": ("--ready",),
            "busctl": ("list",),
            "loginctl": ("list-users",),
            "machinectl": ("list",),
            "dbus-send": ("--system", "--dest=org.freedesktop.DBus", "/", "org.freedesktop.DBus.ListNames"),
        }
    )


def _runs(programs: dict[str, tuple[str, ...]]) -> dict[str, int | str]:
    return {name: _run(name, arguments) for name, arguments in programs.items()}


def _run(name: str, arguments: tuple[str, ...]) -> int | str:
    path = next((path for path in (f"/usr/bin/{name}", f"/usr/sbin/{name}") if os.access(path, os.X_OK)), None)
    if path is None:
        return "absent"
    null = subprocess.DEVNULL
    try:
        return subprocess.run(
            [path, *arguments], stdin=null, stdout=null, stderr=null, timeout=_PATIENCE_S, check=False
        ).returncode
    except subprocess.TimeoutExpired:
        return "no end"


def priority(_told: Told) -> object:
    """Try to be scheduled before others, and to be spared when memory runs out."""
    return {
        "a negative nice value": in_child(lambda: tried(lambda: os.setpriority(os.PRIO_PROCESS, 0, -5))),
        "real-time scheduling": in_child(
            lambda: tried(lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)))
        ),
        "real-time reads and writes": call("ioprio_set", 1, 0, 1 << 13),
        **{f"an out-of-memory score of {score}": _score(score) for score in _SCORES},
    }


def _score(wanted: int) -> int:
    def write() -> None:
        descriptor = os.open("/proc/self/oom_score_adj", os.O_WRONLY)
        try:
            os.write(descriptor, str(wanted).encode())
        finally:
            os.close(descriptor)

    return in_child(lambda: tried(write))


def limits_raised(_told: Told) -> object:
    """Try to raise each hard limit."""
    wanted = ("FSIZE", "NOFILE", "NPROC", "CORE")
    return {name: _raised(getattr(resource, f"RLIMIT_{name}")) for name in wanted}


def _raised(number: int) -> int:
    _, hard = resource.getrlimit(number)
    if hard == resource.RLIM_INFINITY:
        return 0
    try:
        resource.setrlimit(number, (hard, hard + 1))
    except (ValueError, OSError) as error:  # Python makes EPERM a ValueError that says so.
        return errno.EPERM if isinstance(error, ValueError) else error.errno or UNKNOWN
    return 0


def crash(_told: Told) -> object:
    """Crash, and see what a crash leaves."""
    before = names(_SPOT)
    child = os.fork()
    if child == 0:
        os.chdir(_SPOT)
        os.kill(os.getpid(), signal.SIGSEGV)
    _, ended = os.waitpid(child, 0)
    left = sorted(set(names(_SPOT) or ()) - set(before or ()))
    return {"signal": os.WTERMSIG(ended), "dumped": int(os.WCOREDUMP(ended)), "left": len(left)}


def terminal(_told: Told) -> object:
    """Look for a terminal to type into."""
    return {
        "open /dev/tty": opened("/dev/tty", os.O_RDWR),
        "open /dev/console": opened("/dev/console", os.O_RDWR),
        "type into standard input": tried(lambda: fcntl.ioctl(0, termios.TIOCSTI, b"\n")),
        "type into standard output": tried(lambda: fcntl.ioctl(1, termios.TIOCSTI, b"\n")),
        "type into standard error": tried(lambda: fcntl.ioctl(2, termios.TIOCSTI, b"\n")),
    }


PROBES: dict[str, Callable[[Told], object]] = {
    "status": status,
    "account": account,
    "identity-changes": identity_changes,
    "set-id": set_id,
    "privileged-programs": privileged_programs,
    "manager-programs": manager_programs,
    "priority": priority,
    "limits-raised": limits_raised,
    "crash": crash,
    "terminal": terminal,
}
