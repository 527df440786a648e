"""The table of a release, kept while its evidence grows, so that nobody waits for it when they ask.

Reading an attempt takes some milliseconds, running it a second at least. Whoever seals attempts therefore reads them as
it goes, now and then, and what comes of it is remembered (`runner/reports/remembering.py`).
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from runner.documents.manifest import Manifest
from runner.errors import RunnerError
from runner.reports.remembering import YOUNG_NS, Clock, gather_table
from runner.store import Store

_SHARE = 100
"""Of the time that passes, one part in so many is spent here."""
_SOONEST_S = 60.0
_LONG_S = 10.0
"""What takes longer than this is told."""
_MANY = 1_000
"""Planned attempts whose table takes longer to make than what was sealed last takes to be old enough for it."""


@dataclass(slots=True, kw_only=True)
class KeptTable:
    """A release's table, made now and then while attempts are sealed; whoever uses it is the store's only writer.

    A table is made again by whoever asks for one: what goes wrong here is told, and ends no run.
    """

    store: Store
    manifest: Manifest
    folder: Path
    """Where the release's tables lie."""
    clock: Clock
    """Nanoseconds since 1970, by the clock of the evidence's file system."""
    monotonic: Callable[[], float]
    """Seconds."""
    sleep: Callable[[float], None]
    tell: Callable[[str], None]
    _due: float = field(init=False)
    """When it is next worth the time, by the monotonic clock; infinite after something went wrong."""

    def __post_init__(self) -> None:
        self._due = self.monotonic() + _SOONEST_S

    def meanwhile(self) -> None:
        """Make the table, if that takes no more than a hundredth of the time since it was made last."""
        if self.monotonic() >= self._due:
            self.make()

    def finish(self) -> None:
        """Make the table at the end; a large one holds what was sealed last too, so that then nothing is read again."""
        if len(self.manifest.planned) >= _MANY:
            self.sleep(YOUNG_NS / 1e9)
        self.make()

    def make(self) -> None:
        """Make the table."""
        began = self.monotonic()
        try:
            found = gather_table(self.store, self.manifest, self.folder, clock=self.clock)
        except (RunnerError, OSError) as error:
            self._due = float("inf")
            self.tell(f"no table was made of what is sealed so far: {error}; ask for it: runner aggregate")
            return
        took = self.monotonic() - began
        self._due = self.monotonic() + max(_SOONEST_S, took * (_SHARE - 1))
        if took > _LONG_S:
            self.tell(f"made the table of what is sealed so far, in {took:.0f} s: {found.read} attempts read")
