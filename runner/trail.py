"""What there is of a try while it runs: what a fault, or a killed runner, leaves as its evidence."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from runner.agents.traffic import sum_traffic
from runner.canonical import canonical, canonical_lines, parse
from runner.documents import writing
from runner.documents.facts import Phase, Phases, Spent
from runner.documents.ledger import LedgerLine
from runner.documents.seal import Trial
from runner.durable import TEMPORARY, append_file, settle_file
from runner.errors import StorageError, UsageError
from runner.gateway.client import Tapes
from runner.gateway.errors import GatewayError
from runner.kept import EXCHANGES, FIRST, TOLD
from runner.roster import Candidate
from runner.runtime import Asked, Ran
from runner.shots import Shot, Tested, run_files
from runner.spending import add_up
from sandbox.api import LauncherReport

_PROBES = "preflight"

FIRST_WALLS = "shot-1/"
"""How units of a first shot are called among those whose launchers saw the walls."""

LEDGER = f"{TEMPORARY}ledger.jsonl"
"""Lines as they come, beside what is sealed: a killed runner loses none that was acknowledged."""

SOLUTION = "solution"
"""The recording of the work itself; those of the probe are `preflight-1` and so on."""

_GROWING = f"{TEMPORARY}{EXCHANGES}-"
_FIRST_SHOT = "shot-1"


@dataclass(slots=True, kw_only=True)
class Trail:
    """What there is of a try so far; a fault seals it as partial evidence."""

    trial: Trial
    candidate: Candidate
    started_ms: int
    ledger: Path
    played: Path | None = None
    """A sealed folder whose recordings are played in the provider's place."""
    phase: Phase = Phase.PREFLIGHT
    asked: Asked | None = None
    ran: Ran | None = None
    taken: list[LedgerLine] = field(default_factory=list)
    unsaved: StorageError | None = None
    """Why a ledger line could not be kept, if so; the gateway's thread cannot raise it."""
    walls: dict[str, LauncherReport] = field(default_factory=dict)
    told: str | None = None
    """What a single-shot candidate is told at first."""
    tested: Tested | None = None
    """The public tests of a first shot."""
    first: Shot | None = None
    """The first shot, once a second was begun."""
    _before: int = 0
    """How many lines had come before the second."""

    def take(self, line: LedgerLine) -> None:
        """Keep a ledger line for good, and the exchange before it, before it is acknowledged.

        Raises:
            GatewayError: it cannot be kept; `unsaved` says why.
        """
        try:
            for recording in left_recordings(self.ledger.parent).values():
                settle_file(recording)
            append_file(self.ledger, canonical(line) + b"\n")
        except StorageError as error:
            self.unsaved = error
            raise GatewayError("a ledger line cannot be kept") from error
        self.taken.append(line)

    def shoot_again(self, first: Shot) -> None:
        """Go on to the second shot."""
        self.first, self.ran, self._before = first, None, len(self.taken)
        kept = _growing(self.ledger.parent, SOLUTION)
        if kept.exists():
            kept.rename(_growing(self.ledger.parent, _FIRST_SHOT))
        self.walls = {_named(name): seen for name, seen in self.walls.items()}

    def tapes(self, run: str) -> Tapes:
        """Say where the exchanges of a run of the agent are kept."""
        kept, name = _growing(self.ledger.parent, run), f"{EXCHANGES}/{run}.gz"
        if self.played is None:
            return Tapes(kept=kept)
        first = self.played / FIRST / name
        return Tapes(kept=kept, played=first if self.first is None and first.exists() else self.played / name)

    def lines(self) -> tuple[LedgerLine, ...]:
        """Give the lines of the work itself; of all that came so far, or of the probe, where it did not end."""
        if self.ran is not None:
            return self.ran.lines
        if self.first is not None:
            return tuple(self.taken[self._before :])
        if self.taken:
            return tuple(self.taken)
        return self.asked.lines if self.asked is not None else ()

    def phases(self) -> Phases:
        """Tell what the phases took so far."""
        tests = None if self.tested is None else writing.spent(self.tested.result.termination)
        parts = [part for part in (self._first_spent(), self._spent()) if part is not None]
        solution = add_up(parts) if parts else None
        return Phases(preflight=_probe_spent(self.asked), solution=solution, public_tests=tests)

    def _first_spent(self) -> Spent | None:
        return None if self.first is None else _ran_spent(self.first.ran)

    def _spent(self) -> Spent | None:
        if self.ran is not None:
            return _ran_spent(self.ran)
        probed = len(self.asked.lines) if self.asked is not None and self.asked.fresh else 0
        cut = tuple(self.taken[max(probed, self._before) :])
        return Spent(cost_usd=cost_of(cut)) if cut else None

    def files(self) -> dict[str, bytes | Path]:
        """Give what evidence there is, under the names that sealed folders know."""
        files: dict[str, bytes | Path] = {**left_recordings(self.ledger.parent)}
        if self.asked is not None:
            files["preflight.json"] = canonical(self.asked.preflight)
        if self.lines():
            files["ledger.jsonl"] = canonical_lines(self.lines())
        if self.walls:
            files["launcher.json"] = writing.walls(self.walls)
        files |= self._shot_files()
        if self.ran is not None:
            files |= run_files(self.ran)
        worked = self.ran is not None or self.first is not None
        if worked and self.asked is not None and self.asked.fresh and self.asked.lines:
            files["preflight.jsonl"] = canonical_lines(self.asked.lines)
        return files

    def _shot_files(self) -> dict[str, bytes]:
        """Give what a single-shot attempt has beside: what was told, and its first shot."""
        files = {} if self.told is None else {TOLD: self.told.encode()}
        files |= {} if self.tested is None else self.tested.files()
        first = {} if self.first is None else self.first.files()
        return files | {f"{FIRST}/{name}": data for name, data in first.items()}


def cost_of(lines: tuple[LedgerLine, ...]) -> str | None:
    """Give what requests cost together; None where nobody said."""
    return sum_traffic(lines).cost if lines else None


def left_lines(ledger: Path) -> tuple[LedgerLine, ...]:
    """Read the lines that a killed runner had acknowledged."""
    return tuple(_whole_lines(ledger)) if ledger.exists() else ()


def left_recordings(folder: Path) -> dict[str, Path]:
    """Give the recordings of a try that is not sealed yet, by the names that sealed folders know."""
    found = (path.name.removeprefix(_GROWING).removesuffix(".gz") for path in folder.glob(f"{_GROWING}*.gz"))
    return {_sealed_name(run): _growing(folder, run) for run in sorted(found)}


def _growing(folder: Path, run: str) -> Path:
    return folder / f"{_GROWING}{run}.gz"


def _sealed_name(run: str) -> str:
    return f"{FIRST}/{EXCHANGES}/{SOLUTION}.gz" if run == _FIRST_SHOT else f"{EXCHANGES}/{run}.gz"


def discard(folder: Path) -> None:
    """Remove what grew beside a try and is sealed now."""
    for path in (folder / LEDGER, *left_recordings(folder).values()):
        path.unlink(missing_ok=True)


def _whole_lines(file: Path) -> Iterator[LedgerLine]:
    """Read the lines that were written whole, up to the first that was not: the kill may have cut it."""
    for line in file.read_bytes().split(b"\n")[:-1]:
        try:
            yield parse(LedgerLine, line, str(file))
        except UsageError:
            return


def _probe_spent(asked: Asked | None) -> Spent | None:
    if asked is None or not asked.runs or not asked.fresh:
        return None
    wall = sum(ran.result.termination.usage.wall_ms for ran in asked.runs)
    return Spent(wall_ms=wall, cost_usd=cost_of(asked.lines))


def _ran_spent(ran: Ran) -> Spent:
    return writing.spent(ran.result.termination, cost_usd=cost_of(ran.lines))


def _named(name: str) -> str:
    return name if name.startswith((_PROBES, FIRST_WALLS)) else f"{FIRST_WALLS}{name}"
