"""Ending a pilot in good order: who may ask for it, and how the units at work are ended.

A pilot calls a `ShouldStop` before each try, and a few times a second while one is at work. What it answers is looked
at from another thread, so it must not change anything; `any_of` joins several. `AFTER_CURRENT` lets the try come to its
end. `NOW` ends the units at work, seals what there is, and lets a capture that has begun come to its end: what a model
made and was paid for is not thrown away for a few seconds.
"""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from types import FrameType

from runner.errors import RunnerError
from sandbox.api import Changes, Gate, HostFacts, LauncherReport, Pack, Running, Sandbox, WorkspaceRequest
from sandbox.errors import UnitStartError
from sandbox.spec import ObjectId, Role, UnitSpec, WorkspaceId
from sandbox.termination import Cause, Stop, Termination

_LOOK_SECONDS = 0.25
_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_AGAIN = b"runner: ended at once; what was sealed is kept\n"


class When(StrEnum):
    """How soon a run is to end."""

    AFTER_CURRENT = "after-current"
    NOW = "now"


ShouldStop = Callable[[], When | None]
"""Says whether a run is to end; None: not."""


class StopRequestedError(RunnerError):
    """Somebody asked for the end of the run while a unit was at work."""

    def __str__(self) -> str:
        return "the run was stopped by whoever ran it"


def never() -> When | None:
    """Ask for nothing."""
    return None


def after_current(is_asked: Callable[[], bool]) -> ShouldStop:
    """Ask for the end after the current try, as soon as somebody has asked for it."""
    return lambda: When.AFTER_CURRENT if is_asked() else None


def any_of(*asked: ShouldStop) -> ShouldStop:
    """Give what answers with the most urgent of several answers; all are asked each time."""

    def most_urgent() -> When | None:
        answers = {each() for each in asked}
        return next((when for when in (When.NOW, When.AFTER_CURRENT) if when in answers), None)

    return most_urgent


@dataclass(slots=True)
class Signals:
    """A `ShouldStop` that hears SIGINT (Ctrl-C) and SIGTERM; made by `heard_signals`.

    Until it is first called a signal is raised as KeyboardInterrupt: nothing is at work yet that had to be sealed. A
    second signal ends the process on the spot, which leaves the store as a kill does.
    """

    heard: str | None = None
    _is_asked: bool = False

    def __call__(self) -> When | None:
        """Say whether a signal has come."""
        self._is_asked = True
        return None if self.heard is None else When.NOW

    def hear(self, number: int, _frame: FrameType | None) -> None:
        """Take a signal."""
        if self.heard is not None:
            os.write(2, _AGAIN)
            os._exit(1)
        self.heard = signal.Signals(number).name
        os.write(2, f"runner: {self.heard}: ending in good order; once more ends at once\n".encode())
        if not self._is_asked:
            raise KeyboardInterrupt


@contextmanager
def heard_signals() -> Iterator[Signals]:
    """Hear the signals that ask for the end; only the main thread can."""
    signals = Signals()
    before = {number: signal.signal(number, signals.hear) for number in _SIGNALS}
    try:
        yield signals
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@dataclass(slots=True, kw_only=True)
class _Watched:
    """A unit that can be ended for the whole run's end, and then gives no termination that could be graded."""

    report: LauncherReport
    stdin: int
    stdout: int
    stderr: int
    handle: int
    unit: Running
    is_ended: bool = False

    def go(self) -> None:
        """Let the program start."""
        try:
            self.unit.go()
        except UnitStartError as error:
            if self.is_ended:
                raise StopRequestedError from error
            raise

    def stop(self, why: Stop) -> None:
        """End the whole unit at once."""
        self.unit.stop(why)

    def end(self) -> None:
        """End it for good, because the run ends."""
        self.is_ended = True
        self.unit.stop(Stop.KILLED)

    def used_us(self) -> int | None:
        """Tell the processor time that it has used so far."""
        return self.unit.used_us()

    def close_stdin(self) -> None:
        """Let the program read the end of its input."""
        self.unit.close_stdin()

    def termination(self) -> Termination:
        """Wait for the end and say how it came.

        Raises:
            StopRequestedError: it came because the run ends.
        """
        ended = self.unit.termination()
        if self.is_ended and ended.cause is Cause.KILLED:
            raise StopRequestedError
        return ended


@dataclass(slots=True, kw_only=True)
class StoppableSandbox:
    """A `Sandbox` whose units can all be ended; after that it starts no more, but those that a capture needs."""

    sandbox: Sandbox
    _units: list[_Watched] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _is_ended: bool = False

    def end_units(self) -> None:
        """End every unit that is at work."""
        with self._lock:
            self._is_ended = True
            for unit in self._units:
                unit.end()

    def facts(self) -> HostFacts:
        """Tell what the machine is."""
        return self.sandbox.facts()

    def store(self, pack: Pack) -> ObjectId:
        """Keep a tree."""
        return self.sandbox.store(pack)

    def workspace(self, request: WorkspaceRequest) -> AbstractContextManager[WorkspaceId]:
        """Mount a workspace."""
        return self.sandbox.workspace(request)

    def changes(self, workspace: WorkspaceId) -> AbstractContextManager[tuple[WorkspaceId, Changes]]:
        """Show a workspace to an inspection."""
        return self.sandbox.changes(workspace)

    def gate(self) -> AbstractContextManager[Gate]:
        """Make a network namespace with a listening socket in it."""
        return self.sandbox.gate()

    @contextmanager
    def start(self, spec: UnitSpec) -> Iterator[Running]:
        """Start a unit as far as its launcher's report.

        Raises:
            StopRequestedError: the run ends.
        """
        if spec.role is Role.INSPECTION:
            with self.sandbox.start(spec) as unit:
                yield unit
            return
        self._check_going()
        with self.sandbox.start(spec) as unit:
            watched = _Watched(
                report=unit.report,
                stdin=unit.stdin,
                stdout=unit.stdout,
                stderr=unit.stderr,
                handle=unit.handle,
                unit=unit,
            )
            with self._lock:
                self._units.append(watched)
            try:
                self._check_going()
                yield watched
            finally:
                with self._lock:
                    self._units.remove(watched)

    def _check_going(self) -> None:
        if self._is_ended:
            raise StopRequestedError


@contextmanager
def looking(should_stop: ShouldStop, end: Callable[[], None]) -> Iterator[None]:
    """While this lasts, look a few times a second whether to stop now, and then end what is at work, once."""
    done = threading.Event()

    def look() -> None:
        while not done.wait(_LOOK_SECONDS):
            if should_stop() is When.NOW:
                end()
                return

    watcher = threading.Thread(target=look, name="stopping", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()
