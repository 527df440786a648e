"""The line of pilots that want this host's clean room: first come, first served, and the kernel says who still lives.

Each pilot has a ticket, a file that it holds locked until it ends, however it ends. A file is given its name only once
it is locked, so an unlocked one is a dead pilot's and is swept. Numbers are given, and requests to stop are laid
beside tickets, by one process at a time, which holds the folder's own lock.
"""

import fcntl
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from runner.canonical import canonical, parse
from runner.documents.ticket import Selection, Ticket
from runner.durable import read_regular
from runner.errors import HostError, UsageError
from sandbox.room import HOST_FOLDER

LINE = HOST_FOLDER / "line"

_TICKET, _STOP = ".json", ".stop"
_POLL_SECONDS = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What a pilot says of itself when it takes a place."""

    token: str
    release: str
    store: Path
    selection: Selection
    asked_ms: int
    log: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """This host's line."""

    folder: Path = LINE

    @contextmanager
    def place(self, draft: Draft) -> Iterator["Place"]:
        """Take the last place, and keep it until the block is left.

        Raises:
            HostError: this account may not.
        """
        with self._numbering():
            self._sweep()
            number = 1 + max((each.number for each in self._tickets()), default=0)
            ticket = _ticket(draft, number)
            held = self._locked(ticket)
        try:
            yield Place(line=self, ticket=ticket)
        finally:
            with suppress(FileNotFoundError):
                self._file(number, _TICKET).unlink()
            with suppress(FileNotFoundError):
                self._file(number, _STOP).unlink()
            os.close(held)

    def living(self) -> tuple[Ticket, ...]:
        """Give the tickets of all pilots that live, in their order; the first has the clean room, or is next."""
        return tuple(ticket for ticket in self._tickets() if _is_held(self._file(ticket.number, _TICKET)))

    def is_stopped(self, ticket: Ticket) -> bool:
        """Whether somebody asked the pilot to end after what it is at."""
        return self._file(ticket.number, _STOP).exists()

    def stop(self, ticket: Ticket, *, now: bool) -> bool:
        """Ask a pilot to end, after what it is at or at once; false where it had ended already.

        Raises:
            HostError: this account may not.
        """
        with self._numbering():
            file = self._file(ticket.number, _TICKET)
            # Of a process that was there before its lock was seen held, the number is its own as long as we hold this.
            process = _process(ticket.process)
            try:
                if ticket not in self._tickets() or not _is_held(file):
                    return False
                self._file(ticket.number, _STOP).touch()
                if now and process is not None:
                    _interrupt(process, ticket)
                return True
            finally:
                if process is not None:
                    os.close(process)

    @contextmanager
    def _numbering(self) -> Iterator[None]:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            folder = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except PermissionError as error:
            raise _not_allowed(self.folder) from error
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)
            yield
        except PermissionError as error:
            raise _not_allowed(self.folder) from error
        finally:
            os.close(folder)

    def _locked(self, ticket: Ticket) -> int:
        """Write a ticket, lock it, and only then give it its name; gives the descriptor that holds it."""
        new = self.folder / f".{ticket.token}"
        held = os.open(new, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(held, fcntl.LOCK_EX)
            os.write(held, canonical(ticket))
            new.rename(self._file(ticket.number, _TICKET))
        except OSError:
            os.close(held)
            new.unlink(missing_ok=True)
            raise
        return held

    def _sweep(self) -> None:
        """Remove what pilots that were killed have left."""
        kept = {each.number for each in self.living()}
        for path in self.folder.iterdir():
            if not path.stem.isdecimal() or int(path.stem) not in kept:
                path.unlink(missing_ok=True)

    def _tickets(self) -> tuple[Ticket, ...]:
        names = self.folder.glob(f"*{_TICKET}") if self.folder.is_dir() else ()
        return tuple(sorted(filter(None, map(_read, names)), key=lambda each: each.number))

    def _file(self, number: int, kind: str) -> Path:
        return self.folder / f"{number:06}{kind}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A pilot's place in the line."""

    line: Line
    ticket: Ticket

    @property
    def is_stopped(self) -> bool:
        """Whether the pilot shall end after what it is at."""
        return self.line.is_stopped(self.ticket)

    def ahead(self) -> tuple[Ticket, ...]:
        """Give the pilots that come first."""
        return tuple(each for each in self.line.living() if each.number < self.ticket.number)

    def wait(self, tell: Callable[[str], None], sleep: Callable[[float], None] = time.sleep) -> bool:
        """Wait until no pilot is ahead; false where this one was asked to end meanwhile."""
        told: tuple[Ticket, ...] = ()
        while not self.is_stopped:
            ahead = self.ahead()
            if not ahead:
                return True
            if ahead != told:
                tell(f"waiting in line behind {described(ahead)}")
                told = ahead
            sleep(_POLL_SECONDS)
        return False


def described(tickets: tuple[Ticket, ...]) -> str:
    """Name pilots by number and release."""
    return ", ".join(f"pilot {each.number} ({each.release})" for each in tickets)


def _ticket(draft: Draft, number: int) -> Ticket:
    return Ticket(
        token=draft.token,
        number=number,
        release=draft.release,
        store=str(draft.store),
        selection=draft.selection,
        asked_ms=draft.asked_ms,
        process=os.getpid(),
        log=None if draft.log is None else str(draft.log),
    )


def _read(path: Path) -> Ticket | None:
    """Read a ticket; one that has just gone, or is none, is nobody's."""
    try:
        return parse(Ticket, read_regular(path), str(path))
    except (OSError, UsageError):
        return None


def _is_held(path: Path) -> bool:
    """Whether some process holds a ticket's lock."""
    try:
        opened = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(opened, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    else:
        return False
    finally:
        os.close(opened)


def _process(number: int) -> int | None:
    try:
        return os.pidfd_open(number)
    except OSError:
        return None


def _interrupt(process: int, ticket: Ticket) -> None:
    try:
        signal.pidfd_send_signal(process, signal.SIGINT)
    except ProcessLookupError:
        return
    except PermissionError as error:
        raise HostError(
            f"pilot {ticket.number} ({ticket.release}) is another account's; it ends after its current attempt; "
            "for less, stop it as that account or as root"
        ) from error


def _not_allowed(folder: Path) -> HostError:
    return HostError(
        f"{folder}: account {os.geteuid()} may not write there; expected root, or a member of the group that clean "
        "rooms were opened to; let root run 'scripts/host install --group GROUP' again"
    )
