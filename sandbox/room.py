"""What a host has once: its lock, its accounts, and the check that nothing of a unit is left."""

import fcntl
import grp
import json
import os
import pwd
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sandbox.errors import BusyError, HostUnfitError, SandboxError

HOST_FOLDER = Path("/var/lib/cleanroom/host")
USERDB = Path("/run/userdb")
MARK = "dirty.json"
"""File in the host's folder that says what a room was left unclean by."""
_BLOCK = 200
_LOWEST, _HIGHEST = 100_000, (1 << 31) - 1
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountRange:
    """Numeric accounts that belong to clean rooms alone, both ends included."""

    first: int = 1_900_000_000
    last: int = 1_900_999_999

    def __post_init__(self) -> None:
        if not _LOWEST <= self.first <= self.last <= _HIGHEST:
            raise SandboxError(f"accounts {self.first} to {self.last} are no usable range")


@contextmanager
def locked(folder: Path = HOST_FOLDER, *, even_marked: bool = False) -> Iterator[Path]:
    """Hold the host's one clean room; the kernel's lock, not a recorded pid, says whether its owner lives.

    Raises:
        BusyError: another run holds it.
        HostUnfitError: an earlier room could not be cleaned, and is not to be opened `even_marked`.
    """
    folder.mkdir(parents=True, exist_ok=True, mode=0o755)
    descriptor = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise BusyError(
                f"another run holds this host's clean room ({folder / 'lock'}); wait for it, or end it: runner stop"
            ) from error
        if not even_marked:
            refuse_dirty(folder)
        yield folder
    finally:
        os.close(descriptor)


def refuse_dirty(folder: Path) -> None:
    """Refuse a room whose last unit left something behind in this very boot."""
    mark = folder / MARK
    try:
        found = json.loads(mark.read_bytes())
    except FileNotFoundError:
        return
    except ValueError:
        found = {}
    if isinstance(found, dict) and found.get("boot") not in {None, _boot_id()}:
        mark.unlink()
        return
    what = found.get("left") if isinstance(found, dict) else None
    raise HostUnfitError(
        f"a clean room: the last one left {what or 'something'} behind ({mark})", "run: runner host clear"
    )


def mark_dirty(folder: Path, left: tuple[str, ...]) -> None:
    """Have the next run refused until somebody has looked."""
    _replace(folder / MARK, {"boot": _boot_id(), "left": list(left)})


class Accounts:
    """Fresh account numbers, none of them used twice before the next boot, whichever ranges there were meanwhile."""

    def __init__(self, folder: Path, span: AccountRange) -> None:
        self._file = folder / "accounts.json"
        self._span = span
        self._next = self._reserved = 0

    def take(self) -> int:
        """Give a number that no unit of this boot has had.

        Raises:
            HostUnfitError: the range is used up.
        """
        if self._next >= self._reserved:
            self._reserve()
        number = self._next
        self._next += 1
        return number

    def _reserve(self) -> None:
        used = _used(self._file)
        start, end = free_numbers(used, self._span)
        if start >= end:
            raise HostUnfitError("a fresh account", f"widen clean_room.accounts or reboot ({self._file})")
        self._next, self._reserved = start, end
        _replace(self._file, {"boot": _boot_id(), "used": merged((*used, (start, end)))})


def _used(file: Path) -> tuple[tuple[int, int], ...]:
    """Read which numbers this boot has used, as pairs of a first one and the one after the last."""
    try:
        known = json.loads(file.read_bytes())
        if known["boot"] != _boot_id():
            return ()
        pairs = [(known["first"], known["next"])] if "first" in known else known["used"]
        return merged((int(first), int(end)) for first, end in pairs)
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return ()


def merged(pairs: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Join intervals that touch or overlap, in order."""
    found: list[tuple[int, int]] = []
    for first, end in sorted(pairs):
        if found and first <= found[-1][1]:
            found[-1] = found[-1][0], max(end, found[-1][1])
        else:
            found.append((first, end))
    return tuple(found)


def free_numbers(used: Iterable[tuple[int, int]], span: AccountRange) -> tuple[int, int]:
    """Give the first free numbers of a range, a block at most, as a first one and the one after the last."""
    start, limit = span.first, span.last + 1
    for first, end in used:
        if first > start:
            limit = min(limit, first)
            break
        start = max(start, end)
    return start, min(start + _BLOCK, limit)


def account_name(number: int) -> str:
    """Give the name an account number goes by inside its unit; it tells nothing else."""
    return f"u{number}"


class AccountRecords:
    """Accounts known to the service manager for as long as a unit of theirs is there."""

    def __init__(self, folder: Path = USERDB) -> None:
        self._folder = folder
        self._units: dict[int, int] = {}

    @contextmanager
    def record(self, number: int) -> Iterator[str]:
        """Make an account known for the time of a unit, and give its name."""
        if number not in self._units:
            self._write(number)
        self._units[number] = self._units.get(number, 0) + 1
        try:
            yield account_name(number)
        finally:
            self._units[number] -= 1
            if not self._units[number]:
                del self._units[number]
                for path in self._paths(number):
                    path.unlink(missing_ok=True)

    def prove(self, number: int) -> None:
        """Make sure that whoever looks an account of ours up finds it: else no unit could be started as it.

        Raises:
            HostUnfitError: this host does not ask systemd for accounts.
        """
        with self.record(number) as name:
            try:
                found = pwd.getpwnam(name).pw_uid == grp.getgrnam(name).gr_gid == number
            except KeyError:
                found = False
        if not found:
            raise HostUnfitError(
                "accounts for units (names are looked up without asking systemd)",
                "run: apt-get install libnss-systemd, and see that /etc/nsswitch.conf names 'systemd' after"
                " 'passwd: files' and 'group: files'",
            )

    def _write(self, number: int) -> None:
        name = account_name(number)
        user = {"userName": name, "uid": number, "gid": number, "homeDirectory": "/home/agent", "shell": "/bin/sh"}
        group = {"groupName": name, "gid": number}
        self._folder.mkdir(exist_ok=True, mode=0o755)
        for path, record in zip(self._paths(number), (user, None, group, None), strict=True):
            if record is None:
                path.symlink_to(f"{name}{path.suffix}")
            else:
                path.write_text(json.dumps(record), encoding="ascii")

    def _paths(self, number: int) -> list[Path]:
        stems = account_name(number), str(number)
        return [self._folder / f"{stem}.{kind}" for kind in ("user", "group") for stem in stems]


def leftovers(number: int) -> tuple[str, ...]:
    """Name every process and System V object of an account that is still there. Empty after a clean end."""
    found = [f"process {pid}" for pid in _processes() if _owner(pid) == number]
    for table in ("shm", "sem", "msg"):
        lines = Path("/proc/sysvipc", table).read_text(encoding="ascii").splitlines()[1:]
        found += [f"System V {table} of account {number}" for line in lines if str(number) in line.split()]
    return tuple(found)


def keys_left(number: int) -> tuple[str, ...]:
    """Name an account's kernel keys. They outlive its processes for a moment: seconds, after an out-of-memory kill."""
    for line in Path("/proc/key-users").read_text(encoding="ascii").splitlines():
        owner, _, counts = line.partition(":")
        if owner.strip() == str(number) and int(counts.split()[1].partition("/")[0]) > 0:
            return (f"keys of account {number}",)
    return ()


def _processes() -> Iterator[int]:
    with os.scandir("/proc") as entries:
        for entry in entries:
            if entry.name.isdigit():
                yield int(entry.name)


def _owner(pid: int) -> int | None:
    try:
        return os.stat(f"/proc/{pid}").st_uid  # noqa: PTH116 - for every process, after every unit
    except (FileNotFoundError, ProcessLookupError):
        return None


def _boot_id() -> str:
    return _BOOT_ID.read_text(encoding="ascii").strip()


def _replace(path: Path, value: dict[str, object]) -> None:
    temporary = path.with_name(f"{path.name}.tmp-{os.getpid()}")
    with temporary.open("wb") as stream:
        stream.write(json.dumps(value).encode())
        stream.flush()
        os.fsync(stream.fileno())
    temporary.replace(path)
