"""The walls of a unit's tree: what is mounted, written, how large it is, and what can be seen in it. Pure."""

import errno
from collections.abc import Callable, Iterator

from sandbox.look import Look, named, strangers
from sandbox.properties import MASKED, MOST_TERMINALS, promised_writable
from sandbox.spec import WORKSPACE_ROOT, Reach, Role

_PAGE = 4096
_TABLES = 2 << 20
"""An image's own tables count in its size: this, and a thirty-second of what was promised, may be on top."""
_API = ("/dev/", "/proc/", "/run/systemd/", "/sys/")
_SYSTEM = ("/", "/dev", "/proc", "/run", "/sys", "/usr")
_WHERE_THERE_IS_ONE = ("/usr/lib/modules",)
"""ProtectKernelModules shuts it; a host in a container has none."""
_NEVER_READ_ONLY = ("/proc",)


def _check_mounts(look: Look) -> Iterator[str]:
    writable = promised_writable(look.spec, look.place)
    shown = _promised_mounts(look)
    for target in sorted({*shown, *writable} - set(look.mounts)):
        yield f"mount {target}: promised, not there"
    shown |= set(_WHERE_THERE_IS_ONE)
    for target, mount in sorted(look.mounts.items()):
        if target not in shown and target not in writable and not target.startswith(_API):
            yield f"mount {target}: never promised, seen {mount.kind}"
        if "nosuid" not in mount.options:
            yield f"mount {target}: promised nosuid, seen {sorted(mount.options)}"
        if (target in writable or target == "/run") and "nodev" not in mount.options:
            yield f"mount {target}: promised nodev, seen {sorted(mount.options)}"
        if target not in writable and target not in _NEVER_READ_ONLY and "ro" not in mount.options:
            yield f"mount {target}: promised read-only, seen {sorted(mount.options)}"


def _promised_mounts(look: Look) -> set[str]:
    shown = {*_SYSTEM, *MASKED, *(target for _, target in look.place.mounts)}
    if look.place.workspace is not None:
        shown.add(WORKSPACE_ROOT)
    if look.spec.network.reach is Reach.OUTSIDE:
        shown |= {"/etc/ssl", "/etc/resolv.conf", "/etc/hosts"}
    return shown


def _check_proc(look: Look) -> Iterator[str]:
    proc = look.mounts.get("/proc")
    options = proc.super_options if proc is not None and proc.kind == "proc" else frozenset()
    if not {"hidepid=invisible", "subset=pid"} <= options:
        yield f"/proc: promised other accounts' processes and the host hidden, seen {sorted(options)}"
    own = (str(look.seen.pid), "self", "thread-self")
    yield from strangers("/proc", own, look.seen.listings.get("/proc"))


def _check_terminals(look: Look) -> Iterator[str]:
    seen = look.mounts.get("/dev/pts")
    options = seen.super_options if seen is not None and seen.kind == "devpts" else frozenset()
    if f"max={MOST_TERMINALS}" not in options:
        yield f"/dev/pts: promised {MOST_TERMINALS} terminals of all units together, seen {sorted(options)}"


_READERS = (Role.INSPECTION, Role.JUDGE)
"""Roles that never write where they look. Told here once more: whatever is promised of binds, this stands beside it."""


def _check_reading(look: Look) -> Iterator[str]:
    if look.spec.role not in _READERS or look.place.workspace is None:
        return
    mount, answer = look.mounts.get(WORKSPACE_ROOT), look.seen.writing.get(WORKSPACE_ROOT)
    options = frozenset() if mount is None else mount.options
    if "ro" not in options or answer not in {errno.EROFS, errno.EACCES}:
        found = f"seen {sorted(options)}, the kernel answered {named(answer)}"
        yield f"{WORKSPACE_ROOT}: promised to be read alone, {found}"


_REFUSALS = frozenset({errno.EPERM, errno.ENOENT, errno.EACCES, errno.ENOTDIR, errno.EROFS})
_NOT_TRIED = -1
"""The launcher's answer for what is neither folder nor file."""


def _check_writing(look: Look) -> Iterator[str]:
    writable = promised_writable(look.spec, look.place)
    for path in ("/", "/etc", "/home", "/opt", "/usr/bin", "/var", *look.mounts):
        answer = look.seen.writing.get(path)
        if path.startswith("/proc/"):
            continue
        if path in writable:
            if answer != 0:
                yield f"{path}: promised writable, the kernel answered {named(answer)}"
        elif answer not in _REFUSALS and answer != _NOT_TRIED:
            yield f"{path}: promised unwritable, the kernel answered {named(answer)}"
    yield from strangers("written places", writable, [path for path, got in look.seen.writing.items() if got == 0])


def _check_sizes(look: Look) -> Iterator[str]:
    files = look.spec.limits.disk_inodes
    most_files = files + max(files // 8, _PAGE)  # A file system rounds up to whole blocks of its table.
    for target, promised in promised_writable(look.spec, look.place).items():
        size = look.seen.sizes.get(target)
        if size is None or len(size) != 2:  # noqa: PLR2004 - bytes and files
            yield f"size of {target}: could not be seen"
        elif not 0 < size[0] <= promised + promised // 32 + _TABLES or not 0 < size[1] <= most_files:
            yield f"size of {target}: promised {promised} bytes, {files} files, seen {size[0]}, {size[1]}"


_LISTINGS = {
    "/": "bin dev etc home lib lib32 lib64 libx32 opt proc root run sbin sys tmp usr var work",
    "/dev": "char core fd full hugepages log mqueue null ptmx pts random shm stderr stdin stdout tty urandom zero",
    "/etc": "alternatives group hostname hosts ld.so.cache nsswitch.conf passwd resolv.conf ssl",
    "/home": "agent",
    "/run": "systemd",
    "/run/systemd": "incoming",
    **dict.fromkeys(MASKED, ""),
}
_SHUT = ("/sys", "/dev/mqueue")


def _check_listings(look: Look) -> Iterator[str]:
    for path, names in _LISTINGS.items():
        yield from strangers(f"what is in {path}", names.split(), look.seen.listings.get(path))
    shown = ("launcher", *(target.removeprefix("/opt/") for _, target in look.place.mounts))
    yield from strangers("what is in /opt", shown, look.seen.listings.get("/opt"))
    for path in _SHUT:
        if look.seen.listings.get(path, ["unseen"]):
            yield f"{path}: promised inaccessible, seen {look.seen.listings.get(path)}"


FILE_CHECKS: tuple[Callable[[Look], Iterator[str]], ...] = (
    _check_mounts,
    _check_proc,
    _check_terminals,
    _check_reading,
    _check_writing,
    _check_sizes,
    _check_listings,
)
