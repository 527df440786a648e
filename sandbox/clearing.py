"""Cleaning this machine of what runs left: what nobody can be using is removed, and the rest is named."""

import ctypes
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from sandbox import loop
from sandbox.bus import open_bus
from sandbox.errors import WorkspaceError
from sandbox.groups import layout
from sandbox.host import machine_runs_systemd, sweep_groups
from sandbox.inventory import Kind, Scope, Thing, inventory, left
from sandbox.room import MARK, locked
from sandbox.sweep import noted_run, remove_path, sweep_mounts, sweep_records, sweep_units

_SECONDS, _STEP_SECONDS = 6.0, 0.05
_REMOVE = 0
"""IPC_RMID."""
_LIBC = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleared:
    """What came of it."""

    marked: bool
    """Whether the room was refused until now."""
    removed: tuple[Thing, ...]
    left: tuple[Thing, ...]
    """What only an operator can deal with; the room stays refused then, if it was."""


def clear(scope: Scope) -> Cleared:
    """Remove what earlier runs left, and the mark of an unclean room if nothing stays.

    Raises:
        BusyError: a run holds this host's clean room.
        HostUnfitError: the machine's own systemd does not let go of a unit.
    """
    with locked(scope.host, even_marked=True):
        noted = noted_run(scope.host)
        wider = scope if noted is None else replace(scope, states=tuple({*scope.states, noted.parent}))
        before = inventory(wider)
        after = _left_after_removal(wider)
        marked = (scope.host / MARK).exists()
        if not after:
            (scope.host / MARK).unlink(missing_ok=True)
        return Cleared(marked=marked, removed=left(after, before), left=after)


def _left_after_removal(scope: Scope) -> tuple[Thing, ...]:
    """Remove what can be until nothing is left, or for a while: keys outlive their processes for seconds."""
    deadline = time.monotonic() + _SECONDS
    while True:
        _remove(inventory(scope), scope)
        found = tuple(thing for thing in inventory(scope) if thing.kind is not Kind.NAMED_NAMESPACE)
        if not found or time.monotonic() > deadline:
            return found
        time.sleep(_STEP_SECONDS)


def _remove(found: tuple[Thing, ...], scope: Scope) -> None:
    """Remove what can be; whatever does not go is found again afterwards."""
    if machine_runs_systemd():
        with open_bus() as bus:
            sweep_units(bus, scope.accounts, layout())
    sweep_records(scope.accounts)
    sweep_groups(scope.groups)
    for thing in (*_of_kind(found, Kind.MOUNT), *_of_kind(found, Kind.DEVICE, Kind.FILE, Kind.IPC)):
        with suppress(OSError, WorkspaceError):
            _remove_thing(thing)


def _of_kind(found: tuple[Thing, ...], *kinds: Kind) -> tuple[Thing, ...]:
    return tuple(thing for thing in reversed(found) if thing.kind in kinds)


def _remove_thing(thing: Thing) -> None:
    if thing.kind is Kind.DEVICE:
        loop.release(thing.name)
    elif thing.kind is Kind.IPC and not thing.name.startswith("/"):
        table, _, number = thing.name.partition(" ")
        _remove_object(table, int(number))
    elif thing.kind is Kind.MOUNT:
        if not thing.note:  # One that another process sees goes with that process.
            sweep_mounts(Path(thing.name))
    else:
        remove_path(Path(thing.name))


def _remove_object(table: str, number: int) -> None:
    """Remove a System V object; one in use is gone for everybody else, and for good with its last user."""
    if table == "sem":
        _LIBC.semctl(number, 0, _REMOVE)
    else:
        getattr(_LIBC, f"{table}ctl")(number, _REMOVE, None)
