"""The kernel's mount calls that Python lacks, by ctypes. Each raises OSError about the path it was given."""

import ctypes
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from enum import IntFlag
from pathlib import Path

from sandbox.errors import WorkspaceError

_LIBC = ctypes.CDLL(None, use_errno=True)

# Since number 424 a system call has one number on every architecture.
_OPEN_TREE, _MOVE_MOUNT, _MOUNT_SETATTR = 428, 429, 442
_FSOPEN, _FSCONFIG, _FSMOUNT = 430, 431, 432
_SET_FLAG, _SET_STRING, _CREATE = 0, 1, 6
_FS_CLOEXEC = 1
_AT_FDCWD = -100
_AT_EMPTY_PATH = 0x1000
_AT_SYMLINK_NOFOLLOW = 0x100
_OPEN_TREE_CLONE = 1
_MOVE_MOUNT_F_EMPTY_PATH = 4
_ATTR_RDONLY, _ATTR_NOSUID, _ATTR_NODEV, _ATTR_IDMAP = 0x1, 0x2, 0x4, 0x100000
_UMOUNT_NOFOLLOW, _MNT_DETACH = 8, 2
_CLONE_NEWUSER, _CLONE_VM = 0x10000000, 0x100
_STACK_BYTES = 1 << 16


class Flag(IntFlag):
    """Flags of mount(2)."""

    NONE = 0
    RDONLY = 1
    NOSUID = 2
    NODEV = 4
    NOEXEC = 8
    NOSYMFOLLOW = 256


class _Attributes(ctypes.Structure):
    """The kernel's struct mount_attr."""

    _fields_ = (
        ("attr_set", ctypes.c_uint64),
        ("attr_clr", ctypes.c_uint64),
        ("propagation", ctypes.c_uint64),
        ("userns_fd", ctypes.c_uint64),
    )


def system_call(number: int, *arguments: int | bytes | ctypes.Structure, about: str) -> int:
    """Make one system call and give its result; `about` is the path an error names."""
    converted = [
        ctypes.c_long(each)
        if isinstance(each, int)
        else ctypes.c_char_p(each)
        if isinstance(each, bytes)
        else ctypes.byref(each)
        for each in arguments
    ]
    result = int(_LIBC.syscall(ctypes.c_long(number), *converted))
    if result < 0:
        _fail(about)
    return result


def mount(source: str, target: Path, kind: str, flags: Flag, options: str) -> None:
    """Mount a file system."""
    data = options.encode()
    if _LIBC.mount(source.encode(), os.fsencode(target), kind.encode(), ctypes.c_ulong(flags), data) < 0:
        _fail(str(target))


def unmount(target: Path, *, detach: bool = False) -> None:
    """Unmount `target` itself, never what a link there points at."""
    flags = _UMOUNT_NOFOLLOW | (_MNT_DETACH if detach else 0)
    if _LIBC.umount2(os.fsencode(target), flags) < 0:
        _fail(str(target))


def detached(kind: str, flags: tuple[str, ...], options: dict[str, str]) -> int:
    """Mount a file system nowhere, and give the descriptor that it lives as long as."""
    context = system_call(_FSOPEN, kind.encode(), _FS_CLOEXEC, about=kind)
    try:
        for flag in flags:
            system_call(_FSCONFIG, context, _SET_FLAG, flag.encode(), 0, 0, about=flag)
        for name, value in options.items():
            system_call(_FSCONFIG, context, _SET_STRING, name.encode(), value.encode(), 0, about=name)
        system_call(_FSCONFIG, context, _CREATE, 0, 0, 0, about=kind)
        return system_call(_FSMOUNT, context, _FS_CLOEXEC, 0, about=kind)
    finally:
        os.close(context)


def attach_idmapped(source: Path, target: Path, namespace: int) -> None:
    """Show `source` read-only at `target` with the owners that the user namespace maps its owners to."""
    flags = _OPEN_TREE_CLONE | os.O_CLOEXEC | _AT_SYMLINK_NOFOLLOW
    tree = system_call(_OPEN_TREE, _AT_FDCWD, os.fsencode(source), flags, about=str(source))
    try:
        attributes = _Attributes(attr_set=_ATTR_IDMAP | _ATTR_RDONLY | _ATTR_NOSUID | _ATTR_NODEV, userns_fd=namespace)
        size = ctypes.sizeof(attributes)
        system_call(_MOUNT_SETATTR, tree, b"", _AT_EMPTY_PATH, attributes, size, about=str(source))
        place = os.fsencode(target)
        system_call(_MOVE_MOUNT, tree, b"", _AT_FDCWD, place, _MOVE_MOUNT_F_EMPTY_PATH, about=str(target))
    finally:
        os.close(tree)


def user_namespace(inside: int, outside: int) -> int:
    """Make a user namespace that maps one id to one id, users and groups alike, and give its descriptor.

    A child that does nothing but pause() holds it meanwhile. It shares our memory, so nothing is copied, and
    it runs no Python. The caller is single-threaded.
    """
    stack = ctypes.create_string_buffer(_STACK_BYTES)
    top = (ctypes.addressof(stack) + _STACK_BYTES) & ~0xF
    pause = ctypes.cast(_LIBC.pause, ctypes.c_void_p)
    flags = _CLONE_VM | _CLONE_NEWUSER | signal.SIGCHLD
    child = int(_LIBC.clone(pause, ctypes.c_void_p(top), ctypes.c_int(flags), None))
    if child < 0:
        _fail("user namespace")
    try:
        for name in ("uid_map", "gid_map"):
            Path(f"/proc/{child}/{name}").write_text(f"{inside} {outside} 1", encoding="ascii")
        return os.open(f"/proc/{child}/ns/user", os.O_RDONLY | os.O_CLOEXEC)
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def sync_file_system(descriptor: int) -> None:
    """Write out the whole file system that a descriptor lies on: one call for any number of files."""
    if _LIBC.syncfs(descriptor) < 0:
        _fail("syncfs")


@contextmanager
def refusals_told(what: str) -> Iterator[None]:
    """Turn the kernel's refusals into ours.

    Raises:
        WorkspaceError: the kernel refused something; the message begins with `what`.
    """
    try:
        yield
    except OSError as error:
        raise WorkspaceError(f"{what}: {error}") from error


@contextmanager
def standing_in(folder: Path) -> Iterator[None]:
    """Work with paths relative to `folder`.

    An overlay then shows `lowerdir=l0` in its options instead of the host's paths, and no colon or comma of a
    path can be read as syntax.
    """
    before = os.open(".", os.O_PATH | os.O_CLOEXEC)
    try:
        os.chdir(folder)
        yield
    finally:
        os.fchdir(before)
        os.close(before)


def mount_points_below(folder: Path) -> list[Path]:
    """List what is mounted at or below `folder`, in the order of mounting."""
    prefix = os.path.realpath(folder)
    return [Path(point) for point in _mount_points("self") if point == prefix or point.startswith(prefix + "/")]


def mount_points_of(pid: int) -> list[Path]:
    """List what is mounted anywhere as a process sees it, in the order of mounting."""
    return [Path(point) for point in _mount_points(str(pid))]


def _mount_points(process: str) -> list[str]:
    table = Path(f"/proc/{process}/mountinfo").read_text(encoding="utf-8", errors="surrogateescape")
    return [_unescaped(line.split(" ")[4]) for line in table.split("\n")[:-1]]


def mount_point_exists(point: Path) -> bool:
    """Tell whether something is mounted at exactly this path."""
    with suppress(FileNotFoundError):
        return os.path.realpath(point) in {str(each) for each in mount_points_below(point)}
    return False


def _unescaped(text: str) -> str:
    for octal, character in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        text = text.replace(octal, character)
    return text


def _fail(about: str) -> None:
    number = ctypes.get_errno()
    raise OSError(number, os.strerror(number), about)
