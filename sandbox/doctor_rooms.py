"""The doctor's lines on what rooms are made of: disk, folders, accounts, programs. Pure."""

from collections.abc import Iterator
from dataclasses import replace

from sandbox.check import Check, Line
from sandbox.sight import Folder, HostSight, Storage, Tool
from sandbox.tools import TOOLS

FREE_BYTES, FREE_INODES = 4 << 30, 50_000
"""Below these a host is warned of: toolchains and evidence grow."""
LEAST_BYTES, LEAST_INODES = 256 << 20, 2_000
"""Beside what a workspace may take, as little as a run can begin with."""
LEAST_PYTHON = (3, 11)
_GIB = 1 << 30

_OVERLAY = Line(
    topic="storage",
    name="overlay",
    expected="one can be mounted over the state folder's file system, with renamed folders",
    lost="workspaces: a frozen tree that a unit can change without changing it",
    mend="use a kernel with overlayfs, and a state folder on ext4, xfs or btrfs (clean_room.state_dir)",
)
_LAYERS = Line(
    topic="storage",
    name="frozen trees",
    expected="owners are mapped, nothing is copied",
    lost="speed, not safety: each workspace copies its tree, and the copy belongs to the unit's account",
    mend="put the state folder on ext4, xfs or btrfs with Linux 5.19 or newer (clean_room.state_dir)",
)
_IMAGE = Line(
    topic="storage",
    name="loop devices",
    expected="a workspace is a sparse file on one, bounded in bytes and files",
    lost="disk as the place of workspaces: they lie in memory (tmpfs), bounded all the same",
    mend="run: modprobe loop; in a container, pass /dev/loop-control and the loop devices in",
)
_HIDDEN = Line(
    topic="storage",
    name="place",
    expected="a folder that the service manager sees",
    lost="every unit's files: a private systemd has folders of its own in place of /tmp, /var/tmp, /run and /var/log",
    mend="set clean_room.state_dir to a folder elsewhere, such as /var/lib/cleanroom",
)
_SPACE = Line(
    topic="storage",
    name="free space",
    expected="",
    lost="runs that end: a full disk stops them, though it never makes a result",
    mend="free space on the state's file system, or set clean_room.state_dir to another",
)


_HOW_LAYERS = {
    "idmap": "mapped in place (idmap)",
    "idmap-loop": "mapped in an image of their own (idmap-loop): the state's file system itself cannot do it",
}
_HOW_IMAGE = {"loop": "workspaces are sparse files on them (loop)"}


def _known(line: Line, found: str | None, best: dict[str, str]) -> Check:
    if found is None:
        return line.unseen()
    return line.holds(best[found]) if found in best else line.warns(f"what stands in is used: {found}")


def check_storage(sight: HostSight) -> Iterator[Check]:
    """Judge the state folder's file system."""
    storage = sight.storage
    yield _OVERLAY.tried(storage.overlay, "one was mounted")
    yield _known(_LAYERS, storage.layers, _HOW_LAYERS)
    yield _known(_IMAGE, storage.image, _HOW_IMAGE)
    private = not sight.system_manager
    yield _HIDDEN.fails("hidden by a private systemd") if storage.hidden and private else _HIDDEN.holds("in sight")
    yield _check_space(storage)


def _check_space(storage: Storage) -> Check:
    least = storage.needed_bytes + LEAST_BYTES
    enough = max(FREE_BYTES, least)
    expected = f"{_gib(enough)} GiB and {FREE_INODES} files; at least {_gib(least)} GiB and {LEAST_INODES} files"
    line = replace(_SPACE, expected=expected)
    if storage.free_bytes is None:
        return line.unseen()
    inodes = FREE_INODES if storage.free_inodes is None else storage.free_inodes
    files = "files without a fixed number" if storage.free_inodes is None else f"{inodes} files"
    found = f"{_gib(storage.free_bytes)} GiB, {files}"
    if storage.free_bytes < least or inodes < LEAST_INODES:
        return line.fails(found)
    return line.warns(found) if storage.free_bytes < enough or inodes < FREE_INODES else line.holds(found)


def _gib(size: int) -> str:
    return f"{size / _GIB:.1f}"


_ROOM = Line(
    topic="clean room",
    name="room",
    expected="nothing of an earlier run is left",
    lost="a clean start: what an earlier unit left could meet the next one",
    mend="look at what is named, then run: runner host clear",
)


def check_room(sight: HostSight) -> Iterator[Check]:
    """Judge what the last run left."""
    room = sight.room
    if room.left is None:
        yield _ROOM.unseen()
    elif room.left:
        yield _ROOM.fails(f"unclean: {room.left}")
    elif room.held:
        yield _ROOM.warns("in use by a run", lost="nothing: this run's turn comes when that one ends", mend="wait")
    else:
        yield _ROOM.holds("clean and free" if room.held is False else "clean")


_FOLDER = Line(
    topic="clean room",
    name="",
    expected="its owner's alone to write, as is every folder on the way to it",
    lost="",
    mend="",
)
_LOST = {
    "host folder": "the lock and the accounts: who can write here can have two runs at once, or an account twice",
    "state": "everything: who can write here can change what units are made of, and what they leave",
    "objects": "frozen trees and programs of ours: who can write here changes what every unit runs",
    "store": "evidence: who can write here can forge it, who can read it sees hidden tests and private logs",
    "code": "everything: who can write the code that root runs is root",
    "environment": "everything: who can write the Python packages that root runs is root",
}
_OTHERS_WRITE, _OTHERS = 0o022, 0o077


def check_folders(sight: HostSight) -> Iterator[Check]:
    """Judge whose the folders are."""
    for folder in sight.folders:
        yield _check_folder(replace(_FOLDER, name=folder.name, lost=_LOST[folder.name]), folder)


def _check_folder(line: Line, folder: Folder) -> Check:
    if folder.exists is None:
        return line.unseen(f"{folder.path} could not be seen", mend=f"run: ls -ld {folder.path}, as root")
    if folder.exposed:
        found = f"{folder.path}: other accounts can write {', '.join(folder.exposed)}"
        return line.fails(found, mend=f"run: chmod go-w {' '.join(folder.exposed)}")
    owner = [f"chown root:root {folder.path}"] if folder.owner and folder.name in _ROOTS else []
    mode = [f"chmod go-w {folder.path}"] if folder.mode & _OTHERS_WRITE else []
    if folder.exists and (owner or mode):
        return line.fails(_found(folder), mend=f"run: {'; '.join(owner + mode)}")
    if folder.strangers:
        return _strange(line, folder)
    return _private(line, folder)


def _private(line: Line, folder: Folder) -> Check:
    """Judge a folder that nobody else can write."""
    if not folder.exists:
        return line.holds(f"{folder.path} is not there yet; the first run makes it")
    if folder.name == "store" and folder.mode & _OTHERS:
        lost = "secrecy: other accounts can read hidden tests and private logs"
        return line.warns(_found(folder), lost=lost, mend=f"run: chmod go-rwx {folder.path}")
    return line.holds(_found(folder))


def _found(folder: Folder) -> str:
    return f"{folder.path} of account {folder.owner}, mode {folder.mode:04o}"


_ROOTS = frozenset({"host folder", "objects"})
"""What is root's alone, whoever runs a release."""


def _strange(line: Line, folder: Folder) -> Check:
    """Judge what another account owns, or has on the way: it can be that of who runs a release."""
    accounts = ", ".join(map(str, folder.strangers))
    found = f"{folder.path}: it, or a folder on the way to it, belongs to account {accounts}"
    if folder.name == "host folder":
        return line.fails(found, mend=f"run: chown root:root {folder.path}, and the folders on the way to it")
    mend = "let only those own it who may be root here, or keep it in a folder of root's"
    return line.warns(found, mend=mend)


_RANGE = Line(
    topic="accounts",
    name="range",
    expected="no user or group of this host's",
    lost="accounts of units that nobody else is: this one could read, signal and be read",
    mend="set clean_room.accounts to a range that nobody has",
)
_DELEGATED = Line(
    topic="accounts",
    name="subordinate ids",
    expected="no range of /etc/subuid or /etc/subgid within that of units",
    lost="accounts of units that nobody else can be: the one named can become them in a user namespace",
    mend="set clean_room.accounts to another range, or take the lines out of /etc/subuid and /etc/subgid",
)
_LOOKUP = Line(
    topic="accounts",
    name="look-up",
    expected="names are asked of systemd (libnss-systemd)",
    lost="accounts for units: systemd would not find them, and no unit would start",
    mend="run: apt-get install libnss-systemd, and name 'systemd' after 'files' in the lines passwd and group of"
    " /etc/nsswitch.conf",
)


def check_accounts(sight: HostSight) -> Iterator[Check]:
    """Judge who else units' accounts may be, and whether they are found."""
    accounts = sight.accounts
    span = f"{accounts.span.first} to {accounts.span.last}"
    for line, strangers in ((_RANGE, accounts.taken), (_DELEGATED, accounts.delegated)):
        if strangers is None:
            yield line.unseen()
        else:
            yield line.fails(f"{span}: {', '.join(strangers)}") if strangers else line.holds(f"{span}: none")
    if not accounts.library:
        yield _LOOKUP.fails("libnss-systemd is not installed")
    elif not sight.system_manager:
        yield _LOOKUP.holds("libnss-systemd is there; a private systemd has an nsswitch.conf of its own")
    elif accounts.unasked is None:
        yield _LOOKUP.unseen("/etc/nsswitch.conf could not be read")
    elif accounts.unasked:
        yield _LOOKUP.fails(f"/etc/nsswitch.conf does not ask systemd for {' and '.join(accounts.unasked)}")
    else:
        yield _LOOKUP.holds("systemd is asked for users and groups")


_TOOL = Line(topic="programs", name="", expected="installed", lost="", mend="")
_USES = {
    "/usr/bin/python3": "what runs our own programs inside units",
    "/lib/systemd/systemd": "the service manager",
    "/usr/bin/dbus-daemon": "the private systemd's bus",
    "/usr/bin/setpriv": "the private systemd's end with its keeper",
    "/usr/bin/unshare": "the private systemd's namespaces",
    "/usr/bin/mount": "the private systemd's mounts",
    "/usr/sbin/mkfs.ext4": "workspaces bounded on disk",
    "/usr/bin/git": "trees and patches",
}
LEAST_GIT = (2, 36)


def check_tools(sight: HostSight) -> Iterator[Check]:
    """Judge the programs that rooms are made with."""
    for tool in sight.tools:
        mend = f"run: apt-get install --no-install-recommends {TOOLS[tool.path]}"
        line = replace(_TOOL, name=tool.path.rpartition("/")[2], lost=_USES[tool.path], mend=mend)
        if not tool.there:
            yield line.fails(f"{tool.path} is not there")
        elif tool.path == "/usr/bin/git":
            yield _check_git(line, tool)
        else:
            yield line.holds(tool.version or f"{tool.path}, which does not tell its version")
    yield _check_python(sight)


def _check_git(line: Line, tool: Tool) -> Check:
    least = ".".join(map(str, LEAST_GIT))
    line = replace(line, expected=f"{least} or newer", lost="bases and patches that outlive a power cut (core.fsync)")
    words = (tool.version or "").removeprefix("git version ").split(".")
    if len(words) < len(LEAST_GIT) or not all(word.isdigit() for word in words[:2]):
        return line.unseen(f"{tool.path}, which does not tell its version")
    found = tool.version or ""
    return line.holds(found) if tuple(map(int, words[:2])) >= LEAST_GIT else line.fails(found)


_PYTHON = Line(
    topic="programs",
    name="units' Python",
    expected=f"/usr/bin/python3 is Python {'.'.join(map(str, LEAST_PYTHON))} or newer below /usr, and not /usr/local",
    lost="the launcher's look around in every unit: no program gets its go without it",
    mend="run: apt-get install --no-install-recommends python3, and let /usr/bin/python3 lead to it",
)


def _check_python(sight: HostSight) -> Check:
    python = sight.python
    if python is None or (python.version is None and not python.refusal):
        return _PYTHON.unseen()
    if python.refusal or python.version is None:
        return _PYTHON.fails(f"it cannot run the launcher: {python.refusal}")
    found = f"Python {'.'.join(map(str, python.version))}, {python.real}"
    inside = python.real.startswith("/usr/") and not python.real.startswith("/usr/local/")
    return _PYTHON.holds(found) if inside and python.version >= LEAST_PYTHON else _PYTHON.fails(found)
