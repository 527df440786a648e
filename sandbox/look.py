"""One launcher's report beside all that was promised about it, and the words for a difference. Pure."""

import errno
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sandbox.properties import UnitPlace
from sandbox.sightings import Mounted, Sighting
from sandbox.spec import UnitSpec

OWN_NAMESPACES = ("ipc", "mnt", "net", "user", "uts")
"""Namespaces a unit has for itself; systemd 252 has no own process or control group namespace for one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostView:
    """What the keeper saw of itself, to compare with: links of /proc/PID/ns, like `net:[4026531840]`."""

    namespaces: tuple[tuple[str, str], ...] = ()
    """The keeper's own, by name; all of OWN_NAMESPACES."""
    network: str | None = None
    """The network namespace the unit was to join, for every reach but NOTHING."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """One report beside all that was promised about it."""

    seen: Sighting
    status: dict[str, str]
    mounts: dict[str, Mounted]
    spec: UnitSpec
    place: UnitPlace
    host: HostView


def differs(wall: str, promised: object, seen: object) -> Iterator[str]:
    """Say so if something else was seen than was promised."""
    if promised != seen:
        yield f"{wall}: promised {promised}, seen {seen}"


def strangers(wall: str, promised: Iterable[str], seen: Iterable[str] | None) -> Iterator[str]:
    """Say so if anything was seen beside what was promised, or nothing could be."""
    if seen is None:
        yield f"{wall}: could not be seen"
    elif beside := sorted(set(seen) - set(promised)):
        yield f"{wall}: promised nothing but {sorted(promised)}, seen {beside} as well"


def named(answer: int | None) -> str:
    """Name the kernel's answer to what was tried."""
    if answer is None:
        return "nothing"
    return "yes" if answer == 0 else errno.errorcode.get(answer, str(answer))
