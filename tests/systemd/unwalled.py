"""A keeper whose units lack chosen directives, for tests alone: `python -I unwalled.py FILE`.

FILE is read anew for each unit: JSON of `edits` (see `edited`) and of `guards`, the keeper's own that stand aside. It
is the production keeper, speaks its protocol, and is told nothing over it.
"""

import json
import socket
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from sandbox import keeper, keeping, service, units
from sandbox.boot import TARGET
from sandbox.bus import Bus, UnitState
from sandbox.image import Bounds
from sandbox.properties import Property, PropertyValue, UnitPlace, unit_properties
from sandbox.requests import Open
from sandbox.spec import UnitSpec

Edit = Sequence[Any]
"""`drop NAME`, `put NAME VALUE`, `add NAME SIGNATURE VALUE`, `omit NAME ENTRY`, `move NAME ENTRY OTHER`, or, for an
option of a mount's, `set NAME ENTRY OPTION NEW`."""

_BOOT = Path("/run/systemd/system/sysinit.target")
_PRIVATE = Path("/run/systemd/system", TARGET)
"""What only a private manager boots to."""
_DAY = 86_400.0


def edited(properties: Sequence[Property], edits: Sequence[Edit]) -> tuple[Property, ...]:
    """Apply edits to a list of properties.

    Raises:
        ValueError: an edit changes nothing, so whatever is seen after it says nothing.
    """
    found = tuple(properties)
    for kind, name, *rest in edits:
        before = found
        if kind == "add":
            found = (*found, Property(name=name, signature=rest[0], value=_deep(rest[1]), why="a test needs it"))
            continue
        if kind == "move":
            found = _moved(found, name, *rest)
            continue
        found = tuple(new for each in found for new in (_KINDS[kind](each, *rest) if each.name == name else (each,)))
        if found == before:
            raise ValueError(f"{kind} {name} {rest} changes nothing")
    return found


def _moved(properties: Sequence[Property], name: str, entry: str, other: str) -> tuple[Property, ...]:
    """Take an entry out of one list and put it into another, as it is."""
    lists = {each.name: _items(each) for each in properties if each.name in {name, other}}
    (taken,) = (item for item in lists[name] if isinstance(item, tuple) and entry in item)
    lists = {name: tuple(item for item in lists[name] if item != taken), other: (*lists[other], taken)}
    return tuple(replace(each, value=lists.get(each.name, each.value)) for each in properties)


def _drop(_: Property) -> tuple[Property, ...]:
    return ()


def _put(each: Property, value: object) -> tuple[Property, ...]:
    return (replace(each, value=_deep(value)),)


def _omit(each: Property, entry: str) -> tuple[Property, ...]:
    kept = tuple(item for item in _items(each) if item != entry and not (isinstance(item, tuple) and entry in item))
    return (replace(each, value=kept),)


def _set(each: Property, entry: str, option: str, new: str) -> tuple[Property, ...]:
    rows: list[PropertyValue] = []
    for item in _items(each):
        target, options = (str(part) for part in item) if isinstance(item, tuple) else ("", "")
        words = options.split(",")
        if target == entry:
            words = [new if word.partition("=")[0] == option else word for word in words]
        rows.append((target, ",".join(word for word in words if word)))
    return (replace(each, value=tuple(rows)),)


def _items(each: Property) -> tuple[PropertyValue, ...]:
    if not isinstance(each.value, tuple):
        raise TypeError(f"{each.name} is no list")
    return each.value


def _deep(value: object) -> PropertyValue:
    if isinstance(value, list):
        return tuple(_deep(each) for each in value)
    if isinstance(value, (bool, int, str)):
        return value
    raise TypeError(f"{value!r} is no value of a property")


_KINDS: dict[str, Callable[..., tuple[Property, ...]]] = {"drop": _drop, "put": _put, "omit": _omit, "set": _set}


def main(file: Path) -> int:
    """Serve as the keeper does, without what the file names."""

    def told(part: str) -> list[Any]:
        parts: dict[str, list[Any]] = json.loads(file.read_bytes())
        return parts[part]

    def properties(spec: UnitSpec, place: UnitPlace) -> tuple[Property, ...]:
        edits = told("edits")
        if ["drop", "DefaultDependencies"] in edits and _PRIVATE.exists() and not _BOOT.is_symlink():
            raise ValueError("sysinit.target is not masked here: it would really be started")
        return edited(unit_properties(spec, place), edits)

    keeping.unit_properties = properties
    keeping.mark_dirty = _tell_left
    _guards_stand_aside(lambda guard: guard in told("guards"))
    _mask_boot()
    return keeper.main()


def _tell_left(_: Path, left: tuple[str, ...]) -> None:
    """Tell what a unit left: this keeper's own doing, and no reason to refuse the host's next run."""
    sys.stderr.write(f"unwalled keeper: left behind: {', '.join(left)}\n")


def _guards_stand_aside(is_out: Callable[[str], bool]) -> None:
    """Have each of the keeper's own guards do nothing while it is named."""
    going, leaving = units.Units._go, units.leftovers
    counting, bounding = units.UnitGroup.oom_kills, units.UnitGroup.bound_swap
    sharing, buffering = units.bound_shares, units.UnitGroup.bound_sockets

    def go(self: units.Units, unit: units.Unit) -> None:
        going(self, unit)
        if is_out("wall"):
            unit.deadline += _DAY

    def bounds(*, disk_bytes: int, disk_inodes: int) -> Bounds:
        return Bounds(
            disk_bytes=disk_bytes * (4 if is_out("disk_bytes") else 1),
            disk_inodes=disk_inodes * (4 if is_out("disk_inodes") else 1),
        )

    units.Units._go = go
    units.bound_shares = lambda process: is_out("shares") or sharing(process)
    units.UnitGroup.bound_sockets = lambda self, most: is_out("sockets") or buffering(self, most)
    units.UnitGroup.bound_swap = lambda self: None if is_out("swap") else bounding(self)
    units.UnitGroup.oom_kills = lambda self: None if is_out("memory") else counting(self)
    units.leftovers = lambda account: () if is_out("kill") or is_out("leftovers") else leaving(account)
    keeping.Bounds = bounds
    _the_kill_stands_aside(is_out)
    _signals_stand_aside(is_out)


def _the_kill_stands_aside(is_out: Callable[[str], bool]) -> None:
    killing, tidying = units.Units._kill, units.Units.tidy

    def kill(self: units.Units, unit: units.Unit) -> None:
        if not is_out("kill"):
            killing(self, unit)

    def tidy(self: units.Units) -> None:
        for group in (unit.group for unit in self._ended.values()):
            for folder in (root / name for root in group._roots() for name in (group._unit, group._slice)):
                with suppress(OSError):  # The manager forgets a group in which something lived when it stopped.
                    folder.rmdir()
        tidying(self)

    units.Units._kill, units.Units.tidy = kill, tidy


def _signals_stand_aside(is_out: Callable[[str], bool]) -> None:
    looking, telling = units.Units._look_for_end, Bus.told

    def look(self: units.Units, unit: units.Unit, now: float) -> None:
        units._POLL_SECONDS = 0.1 if is_out("signals") else 2.0
        looking(self, unit, now)

    def told(self: Bus, unit: str) -> UnitState | None:
        return None if is_out("signals") or is_out("signals, slowly") else telling(self, unit)

    units.Units._look_for_end, Bus.told = look, told


def _mask_boot() -> None:
    """Have a unit that asks for sysinit.target fail, where the manager is private: it would clean a host it is not."""
    serving = keeper.serve

    def serve(channel: socket.socket, opening: Open, host_folder: Path, manager: str, outside: int) -> int:
        if manager == "private":
            service.await_manager()
            _BOOT.symlink_to("/dev/null")
            subprocess.run(["/usr/bin/systemctl", "daemon-reload"], check=True)
        return serving(channel, opening, host_folder, manager, outside)

    keeper.serve = serve


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
