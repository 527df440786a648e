"""A pilot that survives the terminal: it is started on its own, stands in line, and says all it says into its log."""

import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex

from runner.documents.ticket import Ticket
from runner.errors import RunnerError
from runner.running.line import Line
from runner.settings import Settings
from sandbox.detached import Detached, detach

LOGS = "pilots"
"""Below the state: the logs of detached pilots."""

_POLL_SECONDS = 0.2
_LAST_WORDS = 2_000


@dataclass(slots=True, kw_only=True, eq=False)
class DetachedError(RunnerError):
    """A detached pilot ended before it stood in line, or did not come so far in time."""

    log: str
    said: str

    def __str__(self) -> str:
        said = f"; its last words: {self.said}" if self.said else ""
        return f"{self.log}: found no pilot in line; expected the one that was started; look into its log{said}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Apart:
    """A pilot on its own."""

    ticket: Ticket
    name: str
    """The unit or the process that it is."""
    log: Path


def detach_pilot(settings: Settings, state: Path, release: str, options: tuple[str, ...], line: Line) -> Apart:
    """Start a pilot on its own, and wait until it stands in line.

    Raises:
        DetachedError: it never did.
        BusError: the machine's manager does not start it.
    """
    token = token_hex(8)
    log = state / LOGS / f"{release}-{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}-{token[:6]}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    config = str(Path.cwd() / settings.config)
    argv = (sys.executable, "-I", "-m", "runner", "--config", config, "pilot", *options, "--in-line", token)
    written = os.open(log, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        started = detach((*argv, "--log", str(log)), settings.environ, log=written, name=f"cleanroom-pilot-{token}")
    finally:
        os.close(written)
    ticket = _standing(line, token, started)
    if ticket is None:
        raise DetachedError(log=str(log), said=_last_words(log))
    return Apart(ticket=ticket, name=started.name, log=log)


def _standing(line: Line, token: str, started: Detached, sleep: Callable[[float], None] = time.sleep) -> Ticket | None:
    """Wait until a pilot stands in line; None once it has ended without."""
    while True:
        has_ended = started.ended()
        for ticket in line.living():
            if ticket.token == token:
                return ticket
        if has_ended:
            return None
        sleep(_POLL_SECONDS)


def _last_words(log: Path) -> str:
    lines = log.read_bytes()[-_LAST_WORDS:].decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else ""
