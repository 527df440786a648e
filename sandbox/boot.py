"""First program of a private systemd: run by path, with the standard library alone.

Stage `outside` makes control groups and new namespaces; stage `inside` moves into the groups, hides what a systemd
would touch, shows the control groups as seen from there, and becomes systemd.
The order is that of facts/systemd.md: without the tmpfs mounts a private systemd empties the machine's real /tmp.
"""

# ruff: noqa: S606 - becoming another program is what this one is for

import ctypes
import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

HIDDEN = (("/tmp", "1777"), ("/var/tmp", "1777"), ("/run", "0755"), ("/var/log", "0755"))  # noqa: S108 - hidden, not used
GROUPS = "/sys/fs/cgroup"
V1_CONTROLLERS = ("cpu", "cpuacct", "cpuset", "memory", "devices", "freezer", "blkio", "pids")
_CLONE_NEWCGROUP = 0x02000000
_PR_SET_PDEATHSIG = 1
_MOVES = 16
"""How often processes are moved away: new ones may come meanwhile."""
ASIDE = "cleanroom-outer"
"""The v2 group that processes move to where a group with controllers below it may hold none."""
TARGET = "cleanroom.target"
UNITS = {
    TARGET: (
        "[Unit]\nDescription=Clean room\nDefaultDependencies=no\n"
        "Wants=systemd-journald.service systemd-journald.socket dbus.socket\nAllowIsolate=yes\n"
    ),
    "dbus.socket": "[Unit]\nDefaultDependencies=no\n[Socket]\nListenStream=/run/dbus/system_bus_socket\n",
    "dbus.service": (
        "[Unit]\nDefaultDependencies=no\nRequires=dbus.socket\n[Service]\nType=notify\nNotifyAccess=main\n"
        "ExecStart=/usr/bin/dbus-daemon --system --address=systemd: --nofork --nopidfile --systemd-activation"
        " --syslog-only\nExecReload=/bin/true\n"
    ),
}


SWITCH = "passwd: files systemd\ngroup: files systemd\ninitgroups: files\nshadow: files\nhosts: files\n"
"""Our accounts are records of systemd's; they are in no further group, so nobody is asked for one."""


def run(*argv: str) -> None:
    """Run one program of the system's, with nothing inherited but its descriptors."""
    subprocess.run(argv, check=True, env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}, stdin=subprocess.DEVNULL)


def hierarchies() -> list[tuple[str, str, Path]]:
    """Give every hierarchy as (controllers, own path in it, mount point)."""
    mounts: dict[str, Path] = {}
    for line in Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines():
        left, right = line.split(" - ", 1)
        kind, _, options = right.split(" ", 2)
        if not left.split()[4].startswith(GROUPS):
            continue  # Somebody's own second mount, which what we hide may cover.
        if kind == "cgroup2":
            mounts[""] = Path(left.split()[4])
        elif kind == "cgroup":
            named = {option for option in options.split(",") if option in V1_CONTROLLERS or option.startswith("name=")}
            for name in named:
                mounts[name] = Path(left.split()[4])
    found = []
    for line in Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines():
        _, controllers, path = line.split(":", 2)
        mount = mounts.get(controllers.split(",")[0])
        if mount is not None:
            found.append((controllers, path, mount))
    return found


def base(path: str, mount: Path) -> Path:
    """Give the group ours are made in: the one a process is in, or was in before it was moved aside."""
    group = mount / path.lstrip("/")
    return group.parent if group.name == ASIDE else group


def make_groups(name: str) -> None:
    """Make a group `name` where this process is, in every hierarchy; processes may need to move aside for it."""
    for controllers, path, mount in hierarchies():
        parent = base(path, mount)
        group = parent / name
        if controllers == "" and (parent / "cgroup.controllers").read_text(encoding="ascii").strip():
            delegate(parent)
        group.mkdir(exist_ok=True)
        if "cpuset" in controllers.split(","):
            for setting in ("cpuset.cpus", "cpuset.mems"):
                (group / setting).write_bytes((parent / setting).read_bytes())


def join_groups(name: str) -> None:
    """Move this process into those groups, which it is alone in, and have it see them as the roots.

    With another one in there, even one it cannot see, a systemd on v2 could hand no controller on to its units.
    """
    for _, path, mount in hierarchies():
        (base(path, mount) / name / "cgroup.procs").write_text("0", encoding="ascii")
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(_CLONE_NEWCGROUP) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), "a control group namespace")


def delegate(parent: Path) -> None:
    """Hand a v2 group's controllers to its sub-groups; its own processes move aside, as the kernel demands."""
    wanted = {"cpu", "cpuset", "io", "memory", "pids"} & set((parent / "cgroup.controllers").read_text().split())
    missing = wanted - set((parent / "cgroup.subtree_control").read_text().split())
    if not missing:
        return
    order = " ".join(f"+{controller}" for controller in sorted(missing))
    try:
        (parent / "cgroup.subtree_control").write_text(order, encoding="ascii")
    except OSError:
        aside = parent / ASIDE
        aside.mkdir(exist_ok=True)
        for _ in range(_MOVES):
            for pid in (parent / "cgroup.procs").read_text(encoding="ascii").split():
                if pid != "0":  # A process of another pid namespace, which we cannot name: 0 would mean us.
                    with suppress(ProcessLookupError):  # It ended meanwhile.
                        (aside / "cgroup.procs").write_text(pid, encoding="ascii")
        (parent / "cgroup.subtree_control").write_text(order, encoding="ascii")


def outside(plan: dict[str, str]) -> None:
    """Become `unshare`, whose one child is the stage inside; the keeper's death ends both, from now on."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != int(plan["keeper"]):
        sys.exit("the keeper is gone")
    make_groups(plan["group"])
    os.execv(
        "/usr/bin/setpriv",
        [
            "setpriv", "--pdeathsig", "KILL", "unshare", "--fork", "--kill-child=KILL", "--pid", "--mount",
            "--ipc", "--uts", "--net", "--mount-proc", "--propagation", "private",
            sys.executable, "-I", "-S", "-B", __file__, "inside", json.dumps(plan),
        ],
    )  # fmt: skip


def inside(plan: dict[str, str]) -> None:
    """Hide, show, and become systemd."""
    groups = hierarchies()
    join_groups(plan["group"])
    for target, mode in HIDDEN:
        run("mount", "-t", "tmpfs", "-o", f"mode={mode},nosuid,nodev", "tmpfs", target)
    show_groups(groups)
    private_etc(plan)
    units = Path("/run/systemd/system")
    units.mkdir(parents=True)
    for name, text in UNITS.items():
        (units / name).write_text(text, encoding="ascii")
    Path("/run/lock").mkdir()
    Path("/run/userdb").mkdir(mode=0o755)
    os.execve(
        "/lib/systemd/systemd",
        ["/lib/systemd/systemd", "--system", f"--unit={TARGET}", "--log-target=journal", "--show-status=no",
         "--default-standard-output=null", "--default-standard-error=null", "--dump-core=no"],
        {"container": "cleanroom", "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8"},
    )  # fmt: skip


def show_groups(groups: list[tuple[str, str, Path]]) -> None:
    """Mount every hierarchy again, so that it is seen from the new control group namespace."""
    for controllers, _, mount in groups:
        run("umount", "-l", str(mount))
        if controllers == "":
            run("mount", "-t", "cgroup2", "-o", "nosuid,nodev,noexec", "cgroup2", str(mount))
        else:
            run("mount", "-t", "cgroup", "-o", f"nosuid,nodev,noexec,{controllers}", "cgroup", str(mount))


def private_etc(plan: dict[str, str]) -> None:
    """Lay a throw-away layer over /etc: name lookups ask systemd, and the machine id is ours."""
    for name in ("upper", "work"):
        Path("/run/etc", name).mkdir(parents=True)
    layers = "lowerdir=/etc,upperdir=/run/etc/upper,workdir=/run/etc/work"
    run("mount", "-t", "overlay", "-o", layers, "overlay", "/etc")
    for name, text in (
        ("nsswitch.conf", SWITCH),
        ("machine-id", plan["machine_id"] + "\n"),
    ):
        path = Path("/etc", name)
        path.unlink(missing_ok=True)
        path.write_text(text, encoding="ascii")


if __name__ == "__main__":
    {"outside": outside, "inside": inside}[sys.argv[1]](json.loads(sys.argv[2]))
