"""Looks at what a clean room has of a host for longer than a run: its accounts, its lock and mark, its folders."""

import json
import os
import re
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

from sandbox.room import AccountRange, account_name
from sandbox.sight import AccountsSight, Folder, Room

_PATIENCE_S = 10.0
_NAMED = 5
"""How many strangers are named."""
_WRITABLE = 0o022
_LIBRARY = "libnss_systemd.so.2"
_LIBRARIES = ("lib/*", "lib64", "lib", "usr/lib64", "usr/lib/*", "usr/lib")


def see_accounts(span: AccountRange, etc: Path = Path("/etc")) -> AccountsSight:
    """Look who is, or may become, an account of units'."""
    return AccountsSight(
        span=span,
        taken=_taken(span),
        delegated=_delegated(span, etc),
        unasked=_unasked(etc / "nsswitch.conf"),
        library=any(True for folder in _LIBRARIES for _ in Path("/").glob(f"{folder}/{_LIBRARY}")),
    )


def _taken(span: AccountRange) -> tuple[str, ...] | None:
    found: list[str] = []
    for database, what in (("passwd", "user"), ("group", "group")):
        try:
            argv = ["/usr/bin/getent", database]
            done = subprocess.run(argv, env={}, capture_output=True, timeout=_PATIENCE_S, check=False)
        except (OSError, subprocess.TimeoutExpired):
            return None
        if done.returncode:
            return None
        for name, number in _numbered(done.stdout):
            if span.first <= number <= span.last and name != account_name(number):
                found.append(f"{what} {name} ({number})")
    return _few(found)


def _numbered(data: bytes) -> Iterator[tuple[str, int]]:
    """Give name and number of each line that has both."""
    for line in data.decode("utf-8", "replace").splitlines():
        words = line.split(":")
        if len(words) > 2 and re.fullmatch(r"[0-9]{1,10}", words[2]):  # noqa: PLR2004 - the third field
            yield printable(words[0]), int(words[2])


def _delegated(span: AccountRange, etc: Path) -> tuple[str, ...] | None:
    found: list[str] = []
    for name in ("subuid", "subgid"):
        try:
            data = (etc / name).read_bytes()
        except FileNotFoundError:
            continue
        except OSError:
            return None
        for line in data.decode("utf-8", "replace").splitlines():
            words = line.strip().split(":")
            if len(words) == 3 and all(re.fullmatch(r"[0-9]{1,10}", word) for word in words[1:]):  # noqa: PLR2004
                first, count = int(words[1]), int(words[2])
                if first <= span.last and first + count > span.first:
                    found.append(f"{printable(words[0])} has {first} to {first + count - 1} (/etc/{name})")
    return _few(found)


def _few(found: list[str]) -> tuple[str, ...]:
    more = len(found) - _NAMED
    return (*found[:_NAMED], f"and {more} more") if more > 0 else tuple(found)


def _unasked(switch: Path) -> tuple[str, ...] | None:
    """Name the databases for which systemd is not asked."""
    try:
        lines = switch.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    asked = {}
    for line in lines:
        name, colon, services = line.partition("#")[0].partition(":")
        if colon:
            asked[name.strip()] = services.split()
    return tuple(name for name in ("passwd", "group") if "systemd" not in asked.get(name, []))


def see_room(host: Path) -> Room:
    """Look whether the room was left unclean in this boot, and whether a run holds it; the lock is not touched."""
    return Room(left=_left(host / "dirty.json"), held=_is_held(host / "lock"))


def _left(mark: Path) -> str | None:
    try:
        data = mark.read_bytes()
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except FileNotFoundError:
        return ""
    except OSError:
        return None
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        return "something (its mark is garbled)"
    if found.get("boot") not in {None, boot}:
        return ""
    left = found.get("left")
    return printable(", ".join(map(str, left)) if isinstance(left, list) else str(left))[:300] or "something"


def _is_held(lock: Path) -> bool | None:
    """Look for the lock in the kernel's own list."""
    try:
        number = lock.stat().st_ino
        held = Path("/proc/locks").read_text(encoding="ascii", errors="replace")
    except FileNotFoundError:
        return False
    except OSError:
        return None
    return any(re.search(rf"FLOCK .*:{number} ", line) for line in held.splitlines())


def see_folder(name: str, path: Path) -> Folder:
    """Look whose a folder is, and who could replace it."""
    real = Path(os.path.realpath(path))
    shown = printable(str(path))
    try:
        ways = {each: each.stat() for each in (real, *real.parents) if each.exists()}
    except OSError:
        return Folder(name=name, path=shown, exists=None)
    exposed = tuple(str(way) for way, found in ways.items() if way != real and _is_shared(found.st_mode))
    strangers = tuple(sorted({found.st_uid for found in ways.values()} - {0, os.geteuid()}))
    if real not in ways:
        missing = next(iter(ways)).is_dir() and not real.is_symlink()
        return Folder(name=name, path=shown, exists=False if missing else None, exposed=exposed, strangers=strangers)
    return Folder(
        name=name,
        path=shown,
        exists=True,
        owner=ways[real].st_uid,
        mode=stat.S_IMODE(ways[real].st_mode),
        exposed=exposed,
        strangers=strangers,
    )


def _is_shared(mode: int) -> bool:
    """Tell whether a group or everybody may replace what lies in a folder."""
    return bool(mode & _WRITABLE) and not mode & stat.S_ISVTX


def printable(text: str) -> str:
    """Give a text without what a terminal would obey."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)
