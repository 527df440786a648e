"""What a launcher reported, as typed values: strict shapes, and parsers of the kernel's own texts. Pure."""

import re
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict


class Sighting(BaseModel):
    """A launcher's report (sandbox/launcher.py), before anybody believes it. None: it could not be seen."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    version: int
    pid: int
    status: str
    limits: str
    mounts: str
    cgroup: str
    oom_score_adj: str
    interfaces: str
    routes: str
    namespaces: dict[str, str | None]
    descriptors: dict[str, str | None]
    listings: dict[str, list[str] | None]
    sizes: dict[str, list[int] | None]
    writing: dict[str, int]
    set_id: int
    device: int
    terminal: int
    environment: list[str]
    cwd: str
    calls: dict[str, int | None]
    families: dict[str, int | None]
    program: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Mounted:
    """One line of a mount table: where, how this mount is set, and the file system behind it."""

    target: str
    options: frozenset[str]
    kind: str
    super_options: frozenset[str]


_OCTAL = re.compile(r"\\([0-7]{3})")


def parse_mounts(text: str) -> dict[str, Mounted] | None:
    """Read /proc/self/mountinfo; of mounts on one place the last covers the others. None: it is garbled."""
    found: dict[str, Mounted] = {}
    for line in text.splitlines():
        left, dash, right = line.partition(" - ")
        own, behind = left.split(" "), right.split(" ")
        if not dash or len(own) < 6 or len(behind) < 3:  # noqa: PLR2004 - the kernel's own columns
            return None
        target = _OCTAL.sub(lambda match: chr(int(match[1], 8)), own[4])
        found[target] = Mounted(
            target=target,
            options=frozenset(own[5].split(",")),
            kind=behind[0],
            super_options=frozenset(behind[2].split(",")),
        )
    return found


def parse_status(text: str) -> dict[str, str]:
    """Read /proc/self/status; words are parted by one space."""
    lines = (line.partition(":") for line in text.splitlines())
    return {name: " ".join(value.split()) for name, _, value in lines}


_LIMIT = re.compile(r"(Max [a-z ]+?) {2,}(\S+) +(\S+) *(\S*) *")


def parse_limits(text: str) -> dict[str, tuple[str, str]]:
    """Read /proc/self/limits: name to soft and hard limit."""
    found = (_LIMIT.fullmatch(line) for line in text.splitlines())
    return {match[1]: (match[2], match[3]) for match in found if match}


def parse_groups(text: str) -> dict[str, str]:
    """Read /proc/self/cgroup: controller to path; the unified hierarchy's name is empty."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        found |= dict.fromkeys(controllers.split(","), path)
    return found


def parse_interfaces(text: str) -> tuple[str, ...]:
    """Read the names in /proc/self/net/dev; its first two lines are a heading."""
    return tuple(line.partition(":")[0].strip() for line in text.splitlines()[2:])


def parse_routes(text: str) -> tuple[str, ...] | None:
    """Read /proc/self/net/route. None: its heading is not there."""
    lines = text.splitlines()
    return tuple(lines[1:]) if lines and lines[0].startswith("Iface") else None
