"""A release as it runs: its journal and store are read, nothing else is asked, and nothing is written."""

from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from runner.artifacts import open_sealed
from runner.documents.journal import Entry
from runner.documents.ledger import LedgerLine
from runner.documents.manifest import Manifest
from runner.documents.ticket import Ticket
from runner.journal import read_journal
from runner.reports.aggregate import planned
from runner.running.progress import Progress, durations, last_at_work, results, spending, time_left
from runner.schedule import Action, Cell, TryState, schedule
from runner.store import Store, Try, cell_of, spent_of, state
from runner.trail import LEDGER, left_lines

_Read = tuple[tuple[TryState, ...], tuple[LedgerLine, ...]]


@dataclass(slots=True, kw_only=True)
class Watch:
    """Looks at one release again and again; what the journal tells nothing new of is not read again."""

    store: Store
    manifest: Manifest
    _read: dict[Cell, tuple[int, _Read]] = field(default_factory=dict)
    """Of each attempt: how many lines the journal had of it, and what was found then."""

    def look(self, pilot: Ticket | None, cells: tuple[Cell, ...], now_ms: int) -> Progress:
        """Say how far the release has come; `pilot` is the one at work in it, `cells` what it was asked for.

        Raises:
            VerificationError: evidence is not what was sealed.
        """
        entries = read_journal(self.store.journal)
        found = self._found(entries)
        states = {cell: tries for cell, (tries, _) in found.items()}
        left = [
            step.cell
            for step in schedule(states, states, self.manifest.retry_policy, resume=True)
            if step.action is not Action.SKIP or step.lost is not None
        ]
        at_work = last_at_work(entries) if pilot is not None else None
        coming = [cell for cell in left if cell in cells]
        return Progress(
            release=self.manifest.release,
            planned=len(states),
            left=len(left),
            results=results(states[cell] for cell in states if cell not in left),
            at_work=at_work,
            left_ms=None if pilot is None else time_left(coming, durations(entries), at_work, now_ms),
            spent=spending(line for _, lines in found.values() for line in lines),
        )

    def _found(self, entries: tuple[Entry, ...]) -> Mapping[Cell, _Read]:
        told = Counter(cell_of(entry.trial) for entry in entries)
        latest = cell_of(entries[-1].trial) if entries else None
        for cell in planned(self.manifest):
            known = self._read.get(cell)
            if known is None or known[0] != told[cell] or cell == latest:
                self._read[cell] = told[cell], self._tries(cell)
        return {cell: read for cell, (_, read) in self._read.items()}

    def _tries(self, cell: Cell) -> _Read:
        tries = self.store.tries(cell, open_sealed)
        rule = self.manifest.retry_policy.canonical_grading
        return tuple(state(each, rule) for each in tries), tuple(line for each in tries for line in self._lines(each))

    def _lines(self, trial: Try) -> tuple[LedgerLine, ...]:
        """Give the requests of a try, also of one that is on its way."""
        if trial.submission is None and trial.void is None:
            with suppress(FileNotFoundError):  # It is sealed in this very moment; the next look sees it.
                return left_lines(self.store.folder(trial.trial) / LEDGER)
            return ()
        return spent_of(trial)[0]
