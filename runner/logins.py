"""The login files of agents that bring their own: read when a run begins, kept nowhere."""

import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from runner.agents.registry import AGENTS
from runner.config import CleanRoom
from runner.documents.runtimes import RuntimeName
from runner.errors import DocumentError, HostError
from runner.roster import Candidate, NetworkMode
from runner.settings import Settings

LOGIN_BYTES = 1 << 20
AUTHORITIES = Path("/etc/ssl/certs/ca-certificates.crt")
"""Debian's package ca-certificates."""


def authorities() -> bytes:
    """Give the certificate authorities that programs with a login trust: this host's, which units do not see.

    Raises:
        HostError: the host has none.
    """
    try:
        return AUTHORITIES.read_bytes()
    except OSError as error:
        raise HostError(
            f"{AUTHORITIES}: found {(error.strerror or 'an error').lower()}; expected this host's certificate"
            " authorities; run: apt-get install ca-certificates"
        ) from error


def needed_logins(candidates: Iterable[Candidate]) -> tuple[RuntimeName, ...]:
    """Name the agents that some candidates need a login of, each once."""
    found = (AGENTS[each.agent].runtime for each in candidates if each.network is NetworkMode.DIRECT)
    return tuple(dict.fromkeys(name for name in found if name is not None))


def missing_logins(candidates: Iterable[Candidate], room: CleanRoom, settings: Settings) -> Iterator[str]:
    """Tell which logins are not there to be read, in a dry run's words."""
    for name in needed_logins(candidates):
        told = room.login_files.get(name)
        if told is None:
            yield f"clean_room.login_files.{name}: name the file of a login"
        elif not settings.path(told).is_file():
            yield f"{settings.path(told)}, the login of {name}: log in with {name}, and copy its file there"


def load_logins(
    candidates: Iterable[Candidate], room: CleanRoom, settings: Settings, file: str
) -> Mapping[RuntimeName, bytes]:
    """Read every login that is needed.

    Raises:
        DocumentError: one is not named, cannot be read, or can be read by others.
    """
    found: dict[RuntimeName, bytes] = {}
    for name in needed_logins(candidates):
        told = room.login_files.get(name)
        if told is None:
            raise _unfit(file, name, "nothing", "the file of a login", "name it, or write network: gateway")
        found[name] = _read(settings.path(told), file, name)
    return found


def _read(path: Path, file: str, name: RuntimeName) -> bytes:
    try:
        with path.open("rb") as opened:
            status = os.fstat(opened.fileno())
            content = opened.read(LOGIN_BYTES + 1)
    except OSError as error:
        found = f"{path}: {(error.strerror or 'an error').lower()}"
        raise _unfit(file, name, found, "a file that can be read", "log in, and copy its file there") from error
    if stat.S_IMODE(status.st_mode) & 0o077:
        mode = f"{path} of mode {stat.S_IMODE(status.st_mode):04o}"
        raise _unfit(file, name, mode, "a file that its owner alone can read", f"run: chmod 600 {path}")
    if not 0 < len(content) <= LOGIN_BYTES:
        raise _unfit(file, name, f"{path} of {status.st_size} bytes", "a login of at most 1 MiB", "copy it again")
    return content


def _unfit(file: str, name: str, found: str, expected: str, mend: str) -> DocumentError:
    return DocumentError(file=file, field=f"clean_room.login_files.{name}", found=found, expected=expected, mend=mend)
