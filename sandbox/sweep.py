"""What a killed keeper left behind where nothing took it along: found, ended, removed, and told.

A private manager dies with its keeper, and its mounts with it. On a machine whose own systemd starts the units,
units, mounts and account records stay until the next keeper comes; the host's lock says that nobody needs them.
"""

import json
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sandbox.bus import Bus
from sandbox.errors import HostUnfitError
from sandbox.groups import Layout, slice_path
from sandbox.mounts import mount_points_below, unmount
from sandbox.room import USERDB, AccountRange

_UNIT = re.compile(r"job-[0-9a-f]{16}\.service")
_SLICE = re.compile(r"job(?:-[0-9a-f]{16})?\.slice")
_RECORD = re.compile(r"u?([0-9]{6,10})\.(?:user|group)")
_SECONDS, _STEP_SECONDS = 10.0, 0.02


def sweep_units(bus: Bus, span: AccountRange, where: Layout) -> tuple[str, ...]:
    """End every unit of an account of ours, and take empty slices away; nobody else's, whatever its name.

    Raises:
        HostUnfitError: the manager does not let go of one.
    """
    units = [name for name in bus.listed("job-*.service") if _UNIT.fullmatch(name) and _is_ours(bus.user(name), span)]
    for unit in units:
        bus.kill(unit)
        bus.stop(unit)
    deadline = time.monotonic() + _SECONDS
    while left := [unit for unit in units if not bus.state(unit).is_over]:
        _wait(deadline, left)
    for unit in units:
        if bus.active(unit) == "failed":
            bus.reset_failed(unit)
    slices = [name for name in bus.listed("job*.slice") if _SLICE.fullmatch(name) and not _is_populated(name, where)]
    for name in sorted(slices, key=len, reverse=True):
        bus.stop(name)
    while left := [name for name in bus.listed("job*.slice") if name in slices]:
        _wait(deadline, left)
    return tuple(f"unit {unit}" for unit in units)


def _is_ours(user: str, span: AccountRange) -> bool:
    number = user.removeprefix("u")
    return number.isdecimal() and span.first <= int(number) <= span.last


def _is_populated(name: str, where: Layout) -> bool:
    events = where.unified / slice_path(name).lstrip("/") / "cgroup.events"
    return events.exists() and "populated 1" in events.read_text(encoding="ascii")


def _wait(deadline: float, left: list[str]) -> None:
    if time.monotonic() > deadline:
        raise HostUnfitError(
            f"a clean room: {', '.join(left)}, left by an earlier run, cannot be stopped",
            f"run: systemctl kill -s KILL {left[0]}, or reboot",
        )
    time.sleep(_STEP_SECONDS)


def sweep_records(span: AccountRange, folder: Path = USERDB) -> tuple[str, ...]:
    """Remove the records of accounts of ours."""
    if not folder.is_dir():
        return ()
    found = [(each, matched[1]) for each in folder.iterdir() if (matched := _RECORD.fullmatch(each.name))]
    ours = [(path, number) for path, number in found if _is_ours(number, span)]
    for path, _ in ours:
        path.unlink(missing_ok=True)
    return tuple(f"account {number}" for number in sorted({number for _, number in ours}))


def sweep_mounts(run: Path) -> tuple[str, ...]:
    """Unmount whatever is mounted below a folder, last mounted first; what is busy is detached."""
    points = list(reversed(mount_points_below(run))) if run.exists() else []
    for point in points:
        try:
            unmount(point)
        except OSError:
            unmount(point, detach=True)
    return tuple(f"mount {point}" for point in points)


@contextmanager
def run_noted(host_folder: Path, run: Path) -> Iterator[Path | None]:
    """Note where mounts are made while the block lasts, and give the folder that a killed keeper had noted."""
    note = host_folder / "run.json"
    earlier = None
    with suppress(FileNotFoundError, ValueError, KeyError, TypeError):
        earlier = Path(json.loads(note.read_bytes())["run"])
    note.write_text(json.dumps({"run": str(run)}), encoding="utf-8")
    yield earlier
    note.unlink(missing_ok=True)
