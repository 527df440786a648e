"""A host on which all is well, for tests to take something from."""

from sandbox.needs import CAPABILITIES, CONTROLLERS
from sandbox.room import AccountRange
from sandbox.sight import AccountsSight, Folder, Groups, HostSight, Interpreter, Room, Storage, Tool
from sandbox.tools import TOOLS

STORAGE = Storage(layers="idmap", image="loop", overlay="", hidden=False, free_bytes=100 << 30, free_inodes=5_000_000)
ACCOUNTS = AccountsSight(span=AccountRange(), taken=(), delegated=(), unasked=(), library=True)
GROUPS = Groups(layout="hybrid", tried=tuple((name, "") for name in CONTROLLERS))
FOLDERS = tuple(
    Folder(name=name, path=f"/var/lib/{name}", exists=True, owner=0, mode=0o700)
    for name in ("code", "environment", "host folder", "state", "objects", "store")
)
WELL = HostSight(
    account=0,
    capabilities=sum(1 << number for number, _ in CAPABILITIES.values()),
    kernel="6.1.0",
    machine="x86_64",
    init="sh",
    system_manager=False,
    systemd="systemd 252 (252.39-1~deb12u2)\n+PAM +SECCOMP +BLKID",
    groups=GROUPS,
    namespaces=tuple((name, "") for name in ("user", "mount", "pid", "net", "ipc", "uts", "cgroup")),
    bpf="",
    seccomp="",
    storage=STORAGE,
    accounts=ACCOUNTS,
    room=Room(left="", held=False),
    folders=FOLDERS,
    tools=tuple(Tool(path=path, there=True, version="git version 2.39.5") for path in TOOLS),
    python=Interpreter(version=(3, 11, 2), real="/usr/bin/python3.11", refusal=""),
    keeper="",
    hints=(("dev.tty.legacy_tiocsti", "0"), ("kernel.core_pattern", "core"), ("fs.suid_dumpable", None)),
)
