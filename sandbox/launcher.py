"""The first program in every unit: tells what it sees from in there, waits for the go, becomes the program.

Run by path (`python3 -I -S -B launcher.py PROGRAM ARGUMENT...`), standard library alone, never importing
our packages. It judges nothing: it reports raw texts and error numbers, and sandbox/walls.py decides. Every
unit pays for every import and probe: the report is written without `json`, sockets are made without `socket`.

On standard output: four bytes big-endian length, then JSON. From standard input: one byte, `G`. The rest of
both belongs to the program. Exit 254: no go came. Exit 203: the program could not be executed after all.
"""

# pathlib costs more than the whole look around:
# ruff: noqa: PTH123

import _ctypes  # its C half alone: ctypes itself costs as much as the whole look around
import _stat
import posix  # what os is made of, without what os adds
import sys

_NO_GO, _NO_PROGRAM = 254, 203
_SIG_DFL, _SIGPIPE, _SIGXFSZ = 0, 13, 25  # Python ignores these two, and what is ignored stays so over an exec.
_DESCRIPTORS = 1 << 20

_TEXTS = {
    "status": "/proc/self/status",
    "limits": "/proc/self/limits",
    "mounts": "/proc/self/mountinfo",
    "cgroup": "/proc/self/cgroup",
    "oom_score_adj": "/proc/self/oom_score_adj",
    "interfaces": "/proc/self/net/dev",
    "routes": "/proc/self/net/route",
}
_LISTED = (
    "/",
    "/dev",
    "/dev/mqueue",
    "/etc",
    "/home",
    "/opt",
    "/proc",
    "/run",
    "/run/systemd",
    "/sys",
    "/usr/lib/python3/dist-packages",
    "/usr/local",
)
_TRIED = ("/", "/etc", "/home", "/home/agent", "/opt", "/usr/bin", "/var", "/work")

# What each call is asked is harmless and, unfiltered, fails otherwise than by EPERM: unshare names a user
# namespace beside a flag that no kernel knows; the rest are bad pointers, numbers and descriptors. Only
# personality would succeed, and a unit in which it does is refused.
_CALLS = {
    "add_key": (),
    "bpf": (-1,),
    "chroot": (),
    "clone3": (),
    "init_module": (),
    "io_uring_setup": (),
    "kcmp": (0, 0, 99),
    "keyctl": (9999,),
    "mount": (),
    "name_to_handle_at": (-1,),
    "perf_event_open": (),
    "personality": (8,),
    "pivot_root": (),
    "process_vm_readv": (0, 0, 0, 0, 0, 9),
    "ptrace": (9999,),
    "setns": (-1, 0),
    "unshare": (0x1000_0001,),
    "userfaultfd": (-1,),
}
_FAMILIES = {
    "AF_UNIX": 1,
    "AF_INET": 2,
    "AF_INET6": 10,
    "AF_NETLINK": 16,
    "AF_PACKET": 17,
    "AF_ALG": 38,
    "AF_VSOCK": 40,
}
_NUMBERS = {
    "x86_64": {
        "add_key": 248,
        "bpf": 321,
        "chroot": 161,
        "clone3": 435,
        "init_module": 175,
        "io_uring_setup": 425,
        "kcmp": 312,
        "keyctl": 250,
        "mount": 165,
        "name_to_handle_at": 303,
        "perf_event_open": 298,
        "personality": 135,
        "pivot_root": 155,
        "process_vm_readv": 310,
        "ptrace": 101,
        "setns": 308,
        "socket": 41,
        "unshare": 272,
        "userfaultfd": 323,
    },
    "aarch64": {
        "add_key": 217,
        "bpf": 280,
        "chroot": 51,
        "clone3": 435,
        "init_module": 105,
        "io_uring_setup": 425,
        "kcmp": 272,
        "keyctl": 219,
        "mount": 40,
        "name_to_handle_at": 264,
        "perf_event_open": 241,
        "personality": 92,
        "pivot_root": 41,
        "process_vm_readv": 270,
        "ptrace": 117,
        "setns": 268,
        "socket": 198,
        "unshare": 97,
        "userfaultfd": 282,
    },
}


class Long(_ctypes._SimpleCData):  # type: ignore[type-arg]  # noqa: SLF001 - it takes no parameter when it runs
    """A C long."""

    _type_ = "l"


class Function(_ctypes.CFuncPtr):
    """A function of the C library's that gives a long and sets errno."""

    _flags_ = _ctypes.FUNCFLAG_CDECL | _ctypes.FUNCFLAG_USE_ERRNO
    _restype_ = Long


def main(argv: list[str]) -> None:
    """Report, wait, become `argv`."""
    libc = _ctypes.dlopen(None, 0)  # type: ignore[arg-type]  # None: what is loaded already
    report = quoted(look_around(Function(_ctypes.dlsym(libc, "syscall")), argv)).encode("ascii")
    write_all(1, len(report).to_bytes(4, "big") + report)
    if posix.read(0, 1) != b"G":
        posix._exit(_NO_GO)  # noqa: SLF001 - public in os
    handle = Function(_ctypes.dlsym(libc, "signal"))
    for number in (_SIGPIPE, _SIGXFSZ):
        handle(Long(number), Long(_SIG_DFL))
    posix.closerange(3, _DESCRIPTORS)
    try:
        posix.execv(argv[0], argv)
    except OSError as error:
        write_all(2, f"launcher: {argv[0]}: {error.strerror}\n".encode(errors="replace"))
        posix._exit(_NO_PROGRAM)  # noqa: SLF001 - public in os


def look_around(syscall: Function, argv: list[str]) -> dict[str, object]:
    """Gather everything that sandbox/walls.py asks for."""
    mounts = text("/proc/self/mountinfo")
    targets = mount_targets(mounts or "")
    numbers = _NUMBERS.get(posix.uname().machine, {})
    return {
        "version": 1,
        "pid": posix.getpid(),
        **{name: text(path) for name, path in _TEXTS.items()},
        "namespaces": {name: link(f"/proc/self/ns/{name}") for name in sorted(listing("/proc/self/ns") or ())},
        "descriptors": {name: link(f"/proc/self/fd/{name}") for name in open_descriptors()},
        "listings": {path: listing(path) for path in _LISTED},
        "sizes": {target: size(target) for target in targets},
        "writing": {path: writing(path) for path in sorted({*_TRIED, *targets})},
        "set_id": set_id(),
        "device": device(),
        "terminal": opening("/dev/tty"),
        "environment": sorted(name.decode("utf-8", "surrogateescape") for name in posix.environ),
        "cwd": posix.getcwd(),
        "calls": {name: call(syscall, numbers.get(name), *given) for name, given in _CALLS.items()},
        "families": {name: family(syscall, numbers.get("socket"), number) for name, number in _FAMILIES.items()},
        "program": program(argv),
    }


def text(path: str) -> str | None:
    """Read a file of the kernel's."""
    try:
        with open(path, "rb", buffering=0) as stream:
            return stream.readall().decode("utf-8", "surrogateescape")
    except OSError:
        return None


def link(path: str) -> str | None:
    """Read where a link of the kernel's leads; None for one that is gone."""
    try:
        return posix.readlink(path)
    except OSError:
        return None


def listing(path: str) -> list[str] | None:
    """List a folder."""
    try:
        return sorted(posix.listdir(path))
    except OSError:
        return None


def open_descriptors() -> list[str]:
    """List the descriptors that are open, without the one that listing takes."""
    return [name for name in listing("/proc/self/fd") or () if link(f"/proc/self/fd/{name}") is not None]


def mount_targets(mounts: str) -> list[str]:
    """Pick where something is mounted, /proc's inner places apart."""
    fields = [line.split(" ") for line in mounts.splitlines()]
    targets = {each[4].replace("\\040", " ") for each in fields if len(each) > 4}  # noqa: PLR2004 - the fifth field
    return sorted(target for target in targets if not target.startswith("/proc/"))


def size(path: str) -> list[int] | None:
    """Tell bytes and files that the file system at `path` can hold."""
    try:
        found = posix.statvfs(path)
    except OSError:
        return None
    return [found.f_blocks * found.f_frsize, found.f_files]


def writing(path: str) -> int:
    """Try to make a file in a folder, or to open a file for writing; 0 if it worked, else its error."""
    try:
        mode = posix.stat(path).st_mode
        if _stat.S_ISREG(mode):
            posix.close(posix.open(path, posix.O_WRONLY))
        elif _stat.S_ISDIR(mode):
            # Submitted files may lie here: no name of theirs can be this one.
            tried = f"{path}/.{posix.urandom(8).hex()}"
            posix.close(posix.open(tried, posix.O_WRONLY | posix.O_CREAT | posix.O_EXCL, 0o600))
            posix.unlink(tried)
        else:
            return -1
    except OSError as error:
        return error.errno or -1
    return 0


def set_id() -> int:
    """Try to make a set-user-id program."""
    tried = f"/dev/shm/.{posix.getpid()}"  # noqa: S108 - the unit's own
    try:
        posix.close(posix.open(tried, posix.O_WRONLY | posix.O_CREAT | posix.O_EXCL, 0o600))
        try:
            posix.chmod(tried, 0o4700)
        finally:
            posix.unlink(tried)
    except OSError as error:
        return error.errno or -1
    return 0


def device() -> int:
    """Try to make a device."""
    tried = f"/dev/shm/.{posix.getpid()}"  # noqa: S108 - the unit's own
    try:
        posix.mknod(tried, 0o600 | _stat.S_IFCHR, posix.makedev(1, 3))
        posix.unlink(tried)
    except OSError as error:
        return error.errno or -1
    return 0


def opening(path: str) -> int:
    """Try to open a file for reading and writing."""
    try:
        posix.close(posix.open(path, posix.O_RDWR | posix.O_NOCTTY))
    except OSError as error:
        return error.errno or -1
    return 0


def call(syscall: Function, number: int | None, *given: int) -> int | None:
    """Make a system call and give its error number; None where this machine's number is not known."""
    if number is None:
        return None
    words = [Long(word) for word in (number, *given, *(0,) * (6 - len(given)))]
    return _ctypes.get_errno() if syscall(*words) == -1 else 0


def family(syscall: Function, number: int | None, domain: int) -> int | None:
    """Try to make a socket of an address family."""
    if number is None:
        return None
    kind = 1 if domain == _FAMILIES["AF_UNIX"] else 2
    made = syscall(*[Long(word) for word in (number, domain, kind, 0)])
    if made == -1:
        return _ctypes.get_errno()
    posix.close(int(made))
    return 0


def program(argv: list[str]) -> str:
    """Say why the program cannot be executed; empty if it can, as far as can be told before."""
    if not argv:
        return "no program was given"
    path = argv[0]
    if not is_file(path) or not posix.access(path, posix.X_OK):
        return f"{path} is no executable file in here"
    head = beginning(path)
    if head is None or head.startswith(b"\x7fELF"):
        return ""
    words = head[2:].split(b"\n")[0].split() if head.startswith(b"#!") else []
    if not words or not posix.access(words[0], posix.X_OK):
        return f"{path} is no program, and no script whose interpreter is in here"
    return ""


def is_file(path: str) -> bool:
    """Tell whether a path leads to a file."""
    try:
        return _stat.S_ISREG(posix.stat(path).st_mode)
    except OSError:
        return False


def beginning(path: str) -> bytes | None:
    """Read a file's first bytes; None if it may be executed but not read."""
    try:
        with open(path, "rb", buffering=0) as stream:
            return stream.read(256)
    except OSError:
        return None


def quoted(value: object) -> str:
    """Write a value as JSON of ASCII alone."""
    if isinstance(value, str):
        plain = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
        if plain.isascii() and plain.isprintable():
            return f'"{plain}"'
        return '"' + "".join(letter if " " <= letter <= "~" else escaped(letter) for letter in plain) + '"'
    if isinstance(value, dict):
        return "{" + ",".join(f"{quoted(key)}:{quoted(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join([quoted(each) for each in value]) + "]"
    return "null" if value is None else str(int(value)) if isinstance(value, int) else quoted(str(value))


def escaped(letter: str) -> str:
    """Write one character as JSON escapes of UTF-16 units; bytes that were no UTF-8 stay lone surrogates."""
    units = letter.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[place] << 8 | units[place + 1]:04x}" for place in range(0, len(units), 2))


def write_all(descriptor: int, data: bytes) -> None:
    """Write all of it: a pipe may take less at once."""
    while data:
        data = data[posix.write(descriptor, data) :]


if __name__ == "__main__":
    main(sys.argv[1:])
