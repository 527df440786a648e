"""What runs here: this code and the machine below it, for whoever reports a problem; systemd alone is asked."""

import os
import platform
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from runner import __version__
from runner.settings import own_checkout
from sandbox.host import init_name, machine_runs_systemd

_SYSTEMD = "/lib/systemd/systemd"
_SECONDS = 10
_COMMIT = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")
_REF = re.compile(r"refs/[A-Za-z0-9._/-]+")
_UNKNOWN = "unknown"


def versions() -> Iterator[tuple[str, str]]:
    """Say what runs here, a fact a line; what cannot be seen is unknown."""
    checkout = own_checkout()
    yield "runner", __version__
    yield "checkout", f"{checkout}, commit {commit_of(checkout) or _UNKNOWN}"
    yield "python", f"{platform.python_version()} ({platform.python_implementation()})"
    yield "kernel", f"{os.uname().release} on {os.uname().machine}"
    yield "systemd", _systemd()
    yield "PID 1", _init()


def _systemd() -> str:
    try:
        done = subprocess.run(
            [_SYSTEMD, "--version"],
            env={"LC_ALL": "C"},
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_SECONDS,
            check=False,
        )
    except FileNotFoundError:
        return "not installed"
    except (OSError, subprocess.SubprocessError):
        return _UNKNOWN
    first = next(iter(done.stdout.splitlines()), "")
    return first.removeprefix("systemd ") or _UNKNOWN


def _init() -> str:
    try:
        name, is_manager = init_name(), machine_runs_systemd()
    except OSError:
        return _UNKNOWN
    used = "its units are used" if is_manager else "a private systemd is booted for units"
    return f"{name}: {used}"


def commit_of(checkout: Path) -> str | None:
    """Give the commit that a checkout stands at, read from git's own files; None where there is none."""
    try:
        folder = _git_folder(checkout / ".git")
        head = (folder / "HEAD").read_text().strip()
        name = head.removeprefix("ref: ")
        found = head if name == head else _resolved(folder, name)
    except (OSError, ValueError):
        return None
    return found if found is not None and _COMMIT.fullmatch(found) else None


def _git_folder(place: Path) -> Path:
    """Give where git keeps a work tree's HEAD: the folder `.git`, or what a file of that name says."""
    if place.is_dir():
        return place
    return place.parent / place.read_text().strip().removeprefix("gitdir: ")


def _resolved(folder: Path, name: str) -> str | None:
    """Give what a branch stands at, whether it has a file of its own or a line among the packed."""
    if not _REF.fullmatch(name) or ".." in name:
        return None
    common = folder / "commondir"
    home = folder / common.read_text().strip() if common.is_file() else folder
    if (home / name).is_file():
        return (home / name).read_text().strip()
    lines = (line.split() for line in (home / "packed-refs").read_text().splitlines())
    return next((line[0] for line in lines if line[1:] == [name]), None)
