"""Paths of a published release that every tool on every system reads alike. Pure."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from runner.errors import UsageError
from runner.signing.layout import NAMES

PLAIN_PATH = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)*")
"""No blank, no backslash, no leading dot or dash: `sha256sum` never has to escape, and no tool takes one for more."""

LONGEST = 200
"""Bytes of a path."""


@dataclass(slots=True, kw_only=True, eq=False)
class NamesError(UsageError):
    """Names of a release that cannot be published as they are."""

    found: tuple[str, ...]

    def __str__(self) -> str:
        lines = (f"  {each}" for each in self.found)
        told = "the release cannot be published under its names; expected plain paths that nothing else has"
        return "\n".join((f"{told}; give candidate or nomination another id, in a new release", *lines))


def check_names(paths: Iterable[str]) -> None:
    """Say nothing if the paths can be published together.

    Raises:
        NamesError: one is no plain path, is too long, or stands in the way of another.
    """
    whole = tuple(paths)
    if found := odd_names(whole):
        raise NamesError(found=found)


def odd_names(paths: Iterable[str]) -> tuple[str, ...]:
    """Say of each path what is wrong with it; nothing where all is well."""
    found: list[str] = []
    seen = {name.casefold(): (name, True) for name in NAMES}
    for path in sorted(paths):
        if not PLAIN_PATH.fullmatch(path) or len(path) > LONGEST:
            found.append(f"{path!r}: no plain path of at most {LONGEST} bytes")
        for here in _steps(path):
            before = seen.setdefault(here[0].casefold(), here)
            if before != here:
                found.append(f"{path}: {before[0]} is in its way")
    return tuple(found)


def _steps(path: str) -> tuple[tuple[str, bool], ...]:
    """Give the folders above a path, the highest first, and the path: each with whether it is a file."""
    parts = path.split("/")
    return tuple(("/".join(parts[:at]), at == len(parts)) for at in range(1, len(parts) + 1))
