"""What commands say while they work: to standard error, so that results stay alone on standard output.

On a terminal a last line may stand below what was said, and change; elsewhere every line is said once, plainly.
"""

import shlex
import shutil
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

import click

_WIPE = "\r\x1b[K"


def tell(line: str) -> None:
    """Say how far something has come."""
    click.echo(line, err=True)


def hint(*commands: str) -> None:
    """Name the next commands, as they are called here, to a person at a terminal alone."""
    if sys.stderr.isatty():
        tell(f"next: {', or '.join(map(_called, commands))}")


def _called(command: str) -> str:
    """Spell a command with the configuration that this one was given."""
    config = click.get_current_context().find_root().params.get("config")
    words = ("runner",) if config is None else ("runner", "--config", shlex.quote(str(config)))
    return " ".join((*words, command))


@dataclass(slots=True, kw_only=True)
class Screen:
    """Standard error. Threads may speak at once."""

    is_live: bool
    """Whether a last line may change in its place."""
    _standing: str = ""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def tell(self, line: str) -> None:
        """Say a line for good; what changes stays below it."""
        with self._lock:
            self._wipe()
            tell(line)
            self._stand(self._standing)

    def stand(self, line: str) -> None:
        """Have a line stand below all others, in the last one's place; nothing wipes it."""
        with self._lock:
            self._wipe()
            self._stand(line)

    def _wipe(self) -> None:
        if self.is_live and self._standing:
            click.echo(_WIPE, err=True, nl=False, color=True)

    def _stand(self, line: str) -> None:
        self._standing = line
        if self.is_live and line:
            width = shutil.get_terminal_size().columns - 1
            click.echo(line[:width], err=True, nl=False)


@contextmanager
def standard_screen(environ: Mapping[str, str]) -> Iterator[Screen]:
    """Give standard error as a screen; at the end nothing stands there that could change."""
    screen = Screen(is_live=sys.stderr.isatty() and environ.get("TERM", "dumb") != "dumb")
    try:
        yield screen
    finally:
        screen.stand("")
