"""A keeper for the time of a measurement, and a way into its service manager."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from secrets import token_hex

from sandbox.client import KeeperSandbox, open_sandbox
from sandbox.errors import BusyError

_STATES = Path("/var/lib/cleanroom")
_IMAGE_BYTES, _IMAGE_FILES = 16 << 30, 1_000_000
_PATIENCE_SECONDS, _PAUSE_SECONDS = 900, 0.5


@contextmanager
def state_folder() -> Iterator[Path]:
    """Give a state folder that a private service manager can see; it is gone afterwards.

    It lies on an ext4 of its own: to take away many files is then to take away one, whatever the disk below does.
    """
    folder = _STATES / f"bench-{token_hex(4)}"
    image = folder.with_suffix(".ext4")
    folder.mkdir(parents=True)
    try:
        with image.open("xb") as file:
            file.truncate(_IMAGE_BYTES)
        _run("mkfs.ext4", "-q", "-F", "-O", "^has_journal", "-N", str(_IMAGE_FILES), str(image))
        _run("mount", "-o", "loop,nosuid,nodev", str(image), str(folder))
        try:
            yield folder
        finally:
            _run("umount", str(folder))
    finally:
        folder.rmdir()
        image.unlink()


def _run(*argv: str) -> None:
    subprocess.run(argv, check=True, env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}, stdin=subprocess.DEVNULL)


@contextmanager
def patient_sandbox(state: Path, *, quick: bool = True) -> Iterator[KeeperSandbox]:
    """Open a clean room, waiting for another run to let go of the host's one.

    Raises:
        BusyError: it does not for a quarter of an hour.
    """
    deadline = time.monotonic() + _PATIENCE_SECONDS
    told = False
    with ExitStack() as stack:
        while True:
            try:
                sandbox = stack.enter_context(open_sandbox(state, quick=quick))
            except BusyError:
                if time.monotonic() > deadline:
                    raise
                if not told:
                    sys.stderr.write("bench: another run holds this host's clean room; waiting for it\n")
                    told = True
                time.sleep(_PAUSE_SECONDS)
            else:
                break
        yield sandbox


def manager_pid() -> int:
    """Find the service manager of this process's keeper, as seen from here: 1 where it is the machine's own."""
    waiting = [os.getpid()]
    while waiting:
        for child in _children(waiting.pop()):
            if Path(f"/proc/{child}/comm").read_text(encoding="utf-8").strip() == "systemd":
                return child
            waiting.append(child)
    return 1


def _children(pid: int) -> list[int]:
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return [int(child) for task in tasks for child in (task / "children").read_text(encoding="ascii").split()]
