"""What a killed keeper left behind where nothing took it along: found, ended, removed, and told.

A private manager dies with its keeper, and its mounts with it. On a machine whose own systemd starts the units,
units, mounts and account records stay until the next keeper comes; the host's lock says that nobody needs them.
"""

import json
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sandbox.beneath import FOLDER, remove
from sandbox.bus import Bus
from sandbox.errors import HostUnfitError
from sandbox.groups import Layout, slice_path
from sandbox.mounts import mount_points_below, refusals_told, unmount
from sandbox.room import USERDB, AccountRange

_UNIT = re.compile(r"job-[0-9a-f]{16}\.service")
_SLICE = re.compile(r"job(?:-[0-9a-f]{16})?\.slice")
_RECORD = re.compile(r"u?([0-9]{6,10})\.(?:user|group)")
NOTE = "run.json"
"""File in the host's folder that says where a keeper makes its mounts."""
_SECONDS, _STEP_SECONDS = 10.0, 0.02


def sweep_units(bus: Bus, span: AccountRange, where: Layout) -> tuple[str, ...]:
    """End every unit of an account of ours, and take empty slices away; nobody else's, whatever its name.

    Raises:
        HostUnfitError: the manager does not let go of one.
    """
    units = own_units(bus, span)
    for unit in units:
        bus.kill(unit)
        bus.stop(unit)
    deadline = time.monotonic() + _SECONDS
    while left := [unit for unit in units if not bus.state(unit).is_over]:
        _wait(deadline, left)
    for unit in units:
        if bus.active(unit) == "failed":
            bus.reset_failed(unit)
    slices = [name for name in own_slices(bus) if not _is_populated(name, where)]
    for name in sorted(slices, key=len, reverse=True):
        bus.stop(name)
    while left := [name for name in bus.listed("job*.slice") if name in slices]:
        _wait(deadline, left)
    return tuple(f"unit {unit}" for unit in units)


def own_units(bus: Bus, span: AccountRange) -> list[str]:
    """Name the units of accounts of ours."""
    return [name for name in bus.listed("job-*.service") if _UNIT.fullmatch(name) and _is_ours(bus.user(name), span)]


def own_slices(bus: Bus) -> list[str]:
    """Name the slices that stand for our units."""
    return [name for name in bus.listed("job*.slice") if _SLICE.fullmatch(name)]


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
    ours = own_records(span, folder)
    for path in ours:
        path.unlink(missing_ok=True)
    return tuple(f"account {number}" for number in sorted(set(ours.values())))


def own_records(span: AccountRange, folder: Path = USERDB) -> dict[Path, str]:
    """Give the files that make accounts of ours known, each with its account's number."""
    names = ((path, _RECORD.fullmatch(path.name)) for path in folder.iterdir()) if folder.is_dir() else ()
    return {path: found[1] for path, found in names if found and _is_ours(found[1], span)}


def sweep_mounts(run: Path) -> tuple[str, ...]:
    """Unmount whatever is mounted below a folder, last mounted first; what is busy is detached."""
    points = list(reversed(mount_points_below(run))) if run.exists() else []
    for point in points:
        try:
            unmount(point)
        except OSError:
            unmount(point, detach=True)
    return tuple(f"mount {point}" for point in points)


def passing(state: Path) -> list[Path]:
    """List what is in a state for a time alone: mount points, what was tried, what was being made."""
    found = [state / "run", state / "objects.new", *state.glob("probe-*"), *(state / "objects").glob("building-*")]
    found += [path for path in (state / "templates").glob("*") if path.suffix != ".ext4"]
    return [path for path in found if path.exists()]


def remove_passing(state: Path) -> tuple[str, ...]:
    """Remove what was in a state for a time alone, once nothing is mounted there, and name it."""
    found = passing(state)
    for path in found:
        with refusals_told(f"{path} cannot be removed"):
            remove_path(path)
    return tuple(str(path) for path in found)


def remove_path(path: Path) -> None:
    """Remove a file, or a folder and all beneath it, following no link."""
    folder = os.open(path.parent, FOLDER)
    try:
        remove(folder, os.fsencode(path.name))
    finally:
        os.close(folder)


def sweep_host(folder: Path) -> tuple[str, ...]:
    """Remove what was being written in the host's folder when its writer was killed, and name it."""
    found = tuple(folder.glob("*.tmp-*"))
    for path in found:
        path.unlink()
    return tuple(str(path) for path in found)


@contextmanager
def run_noted(host_folder: Path, run: Path) -> Iterator[Path | None]:
    """Note where mounts are made while the block lasts, and give the folder that a killed keeper had noted."""
    note = host_folder / NOTE
    earlier = noted_run(host_folder)
    note.write_text(json.dumps({"run": str(run)}), encoding="utf-8")
    yield earlier
    note.unlink(missing_ok=True)


def noted_run(host_folder: Path) -> Path | None:
    """Give the folder that a keeper which was killed had noted."""
    with suppress(FileNotFoundError, ValueError, KeyError, TypeError):
        return Path(json.loads((host_folder / NOTE).read_bytes())["run"])
    return None
