"""The store of one release's evidence: what was begun, what is sealed, and where it stands. Crash-safe.

Whoever writes into it keeps its journal: each sealed folder gets its line there (`runner/journal.py`).
"""

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from runner.artifacts import (
    Bond,
    Files,
    Sealed,
    canonical,
    make_private,
    new_folder,
    parse,
    read_sealed,
    seal_folder,
)
from runner.disk import DISK, Disk
from runner.documents.evidence import Begun, Grading, Submission, Void
from runner.documents.facts import Facts, Phase, VoidFact
from runner.documents.journal import State
from runner.documents.ledger import LedgerLine
from runner.documents.manifest import Manifest
from runner.documents.seal import SEAL_NAME, SealKind, Trial
from runner.errors import SealBrokenError
from runner.journal import JOURNAL, Scribe, Told, reached, read_journal
from runner.kept import FIRST
from runner.manifests import manifest_digest
from runner.outcome import Outcome, outcome
from runner.parsing import read_file
from runner.schedule import Cell, Standing, TryState

BEGUN = "begun.json"
SUBMISSION = "submission"
GRADINGS = "gradings"
GRADING = "grading-"
VOID = "void"

_RESULTS = frozenset({"submission.json", "grading.json", "void.json"})
_AFTER_CAPTURE = frozenset({Phase.PUBLIC_TESTS, Phase.EVALUATORS})
_BEFORE_WORK = frozenset({Phase.PREFLIGHT, Phase.WORKSPACE})


Opened = Callable[[Path], Sealed]
"""How a sealed folder is opened: `read_whole` hashes every byte, `open_sealed` what is read."""


def is_result(path: str) -> bool:
    """Whether a sealed file says what came of a try; it is read once, and stays in memory."""
    return path in _RESULTS


def read_whole(folder: Path) -> Sealed:
    """Open a sealed folder; every byte is hashed again.

    Raises:
        SealBrokenError: something is not as it was sealed.
    """
    return read_sealed(folder, is_result)


@dataclass(frozen=True, slots=True, kw_only=True)
class SealedGrading:
    """A grading and the folder that it is sealed in."""

    sealed: Sealed
    grading: Grading


@dataclass(frozen=True, slots=True, kw_only=True)
class Try:
    """One try, as the store has it."""

    trial: Trial
    begun: Begun
    submission: Sealed | None
    gradings: tuple[SealedGrading, ...]
    """In the order in which they were made."""
    void: Sealed | None
    asks_model: bool
    """Whether its candidate asks a model as soon as it works."""
    reached: tuple[State, ...]
    """What the journal says of it, where nothing of it is sealed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Store:
    """The evidence of one release under one manifest, below `root`/<release>."""

    root: Path
    release: str
    manifest_sha256: str
    asking: frozenset[str]
    """The candidates that ask a model."""
    scribe: Scribe | None = None
    """Who keeps the journal; None: nothing is written."""
    disk: Disk = DISK

    @property
    def journal(self) -> Path:
        """Give the journal's file."""
        return self.root / self.release / JOURNAL

    def note(self, trial: Trial, reached: State, sealed: str | None = None, *, recovered: bool = False) -> None:
        """Write down what a try has reached, for good.

        Raises:
            StorageError: the disk failed or is full.
        """
        if self.scribe is None:
            raise ValueError(f"{self.journal}: the store was opened to be read")
        make_private(self.root, disk=self.disk)
        told = Told(trial=trial, state=reached, sealed_sha256=sealed, recovered=recovered)
        self.scribe.write(self.journal, told, disk=self.disk)

    def trial(self, cell: Cell, number: int) -> Trial:
        """Name one try."""
        return Trial(
            release=self.release,
            manifest_sha256=self.manifest_sha256,
            candidate=cell.candidate,
            nomination=cell.nomination,
            attempt=cell.attempt,
            try_=number,
        )

    def attempt_folder(self, cell: Cell) -> Path:
        """Give the folder that holds the tries of an attempt."""
        return Path(self.attempt_path(cell))

    def attempt_path(self, cell: Cell) -> str:
        """Give the same as a text, of which very many are made sooner."""
        return f"{self.root}/{self.release}/{cell.candidate}/{cell.nomination}/attempt-{cell.attempt}"

    def folder(self, trial: Trial) -> Path:
        """Give the folder of a try."""
        return self.attempt_folder(cell_of(trial)) / f"try-{trial.try_}"

    def begin(self, trial: Trial, *, runner: str, started_ms: int) -> None:
        """Record that a try starts, before anything is done for it."""
        self.note(trial, State.PLANNED)
        begun = Begun(trial=trial, runner=runner, started_ms=started_ms)
        folder = self.folder(trial)
        new_folder(folder.parent, folder.name, {BEGUN: canonical(begun)}, disk=self.disk)

    def seal_submission(self, trial: Trial, files: Files) -> str:
        """Seal what was captured; gives the digest that gradings are bound to."""
        bond = Bond(kind=SealKind.SUBMISSION, trial=trial)
        digest = seal_folder(self.folder(trial), SUBMISSION, files, bond, disk=self.disk)
        self.note(trial, State.CAPTURED, digest)
        return digest

    def seal_grading(self, grading: Grading, files: Files) -> str:
        """Append a grading beside its submission; `files` do not hold grading.json."""
        bond = Bond(
            kind=SealKind.GRADING,
            trial=grading.trial,
            grading=grading.id,
            submission_sha256=grading.submission_sha256,
        )
        whole = {**files, "grading.json": canonical(grading)}
        digest = seal_folder(self.folder(grading.trial) / GRADINGS, grading.id, whole, bond, disk=self.disk)
        self.note(grading.trial, State.GRADED, digest)
        return digest

    def seal_void(self, void: Void, files: Files) -> str:
        """Seal the end of a try that left no submission; `files` are what evidence there is."""
        whole = {**files, "void.json": canonical(void)}
        bond = Bond(kind=SealKind.VOID, trial=void.trial)
        digest = seal_folder(self.folder(void.trial), VOID, whole, bond, disk=self.disk)
        self.note(void.trial, State.VOID, digest)
        return digest

    def tries(self, cell: Cell, opened: Opened = read_whole) -> tuple[Try, ...]:
        """Read all tries of an attempt; every sealed byte is hashed again, unless `opened` says otherwise.

        Raises:
            SealBrokenError: something is not as it was sealed.
        """
        return tuple(self.read(self.trial(cell, number), opened) for number in self.numbers(cell))

    def numbers(self, cell: Cell) -> tuple[int, ...]:
        """List the tries that were begun."""
        folder = self.attempt_folder(cell)
        if not folder.is_dir():
            return ()
        names = (each.name.removeprefix("try-") for each in os.scandir(folder) if each.name.startswith("try-"))
        return tuple(sorted(int(name) for name in names if name.isdecimal()))

    def states(self, cells: Iterable[Cell], rule: str) -> dict[Cell, tuple[TryState, ...]]:
        """Say how all tries of the attempts stand: what `schedule` works on."""
        return {cell: tuple(state(each, rule) for each in self.tries(cell)) for cell in cells}

    def next_grading(self, trial: Trial) -> str:
        """Give the id of the next grading of a submission."""
        return f"{GRADING}{len(grading_folders(self.folder(trial))) + 1}"

    def read(self, trial: Trial, opened: Opened = read_whole) -> Try:
        """Read one try; every sealed byte is hashed again, unless `opened` says otherwise.

        Raises:
            SealBrokenError: something is not as it was sealed.
        """
        folder = self.folder(trial)
        begun = parse(Begun, read_file(folder / BEGUN), str(folder / BEGUN))
        _check_bond(begun.trial, trial, folder / BEGUN)
        submission, void = _sealed(folder / SUBMISSION, trial, opened), _sealed(folder / VOID, trial, opened)
        is_open = submission is None and void is None
        return Try(
            trial=trial,
            begun=begun,
            submission=submission,
            gradings=tuple(_grading(each, trial, opened) for each in grading_folders(folder)),
            void=void,
            asks_model=trial.candidate in self.asking,
            reached=reached(read_journal(self.journal), trial) if is_open else (),
        )


def store_for(
    root: Path, manifest: Manifest, scribe: Scribe | None = None, *, manifest_sha256: str | None = None
) -> Store:
    """Give the store of a frozen release; without a scribe it is only read. A known digest is not made again."""
    return Store(
        root=root,
        release=manifest.release,
        manifest_sha256=manifest_sha256 or manifest_digest(manifest),
        asking=frozenset(each.id for each in manifest.candidates if not each.is_control),
        scribe=scribe,
    )


def grading_folders(folder: Path) -> tuple[Path, ...]:
    """List the gradings of a try, in the order in which they were made."""
    gradings = folder / GRADINGS
    found = gradings.iterdir() if gradings.is_dir() else ()
    named = [each for each in found if each.name.removeprefix(GRADING).isdecimal()]
    return tuple(sorted(named, key=lambda each: int(each.name.removeprefix(GRADING))))


def spent_of(trial: Try) -> tuple[tuple[LedgerLine, ...], int]:
    """Give the requests that a try made, probe included, and the milliseconds that its agent worked."""
    sealed = trial.submission or trial.void
    if sealed is None:
        return (), 0
    files = (name for name in ("ledger.jsonl", "preflight.jsonl", f"{FIRST}/ledger.jsonl") if sealed.holds(name))
    lines = tuple(line for name in files for line in sealed.documents(LedgerLine, name))
    is_void = trial.submission is None
    phases = (sealed.document(Void, "void.json") if is_void else sealed.document(Submission, "submission.json")).phases
    walls = [each.wall_ms for each in (phases.preflight, phases.solution) if each is not None]
    return lines, sum(wall or 0 for wall in walls)


def cell_of(trial: Trial) -> Cell:
    """Give the planned attempt that a try belongs to."""
    return Cell(candidate=trial.candidate, nomination=trial.nomination, attempt=trial.attempt)


def choose(gradings: tuple[SealedGrading, ...], rule: str) -> SealedGrading | None:
    """Give the grading that counts: the first or latest without a fault of its own, else the last."""
    sound = [each for each in gradings if not is_faulty(each.grading.facts)]
    if sound:
        return sound[-1] if rule == "latest" else sound[0]
    return gradings[-1] if gradings else None


def is_faulty(facts: Facts) -> bool:
    """Whether a grading failed by itself, so that the same submission may be graded again."""
    return facts.void is not None and facts.void.phase in _AFTER_CAPTURE


def state(trial: Try, rule: str = "first") -> TryState:
    """Say how a try stands; the outcome is derived from its facts."""
    number = trial.trial.try_
    if trial.submission is not None:
        return _state_of_submission(number, trial, trial.submission, rule)
    if trial.void is None:
        return TryState(number=number, standing=Standing.OPEN, worked=trial.asks_model and may_have_run(trial.reached))
    facts = trial.void.document(Void, "void.json").facts
    if outcome(facts) is Outcome.UNAVAILABLE:
        return TryState(number=number, standing=Standing.UNAVAILABLE, outcome=Outcome.UNAVAILABLE)
    return _void_state(trial, Standing.VOID, facts.void)


def may_have_run(reached: tuple[State, ...]) -> bool:
    """Whether an agent may have been let to work, from what the journal says; where it says nothing, it may."""
    return not reached or State.RUNNING in reached


def never_worked(void: VoidFact) -> bool:
    """Whether a void came about before its agent was let to work."""
    return void.phase in _BEFORE_WORK


def _state_of_submission(number: int, trial: Try, submission: Sealed, rule: str) -> TryState:
    counted = choose(trial.gradings, rule)
    if counted is None:
        return TryState(number=number, standing=Standing.CAPTURED)
    facts = counted.grading.facts
    found = outcome(facts)
    if found is not Outcome.VOID:
        return TryState(number=number, standing=Standing.DONE, outcome=found, gradings=len(trial.gradings))
    own = submission.document(Submission, "submission.json").void
    standing = Standing.UNGRADED if own is None and is_faulty(facts) else Standing.VOID
    return _void_state(trial, standing, facts.void)


def _void_state(trial: Try, standing: Standing, void: VoidFact | None) -> TryState:
    return TryState(
        number=trial.trial.try_,
        standing=standing,
        outcome=Outcome.VOID,
        blame=None if void is None else void.blame,
        interrupted=void is not None and void.interrupted,
        worked=trial.asks_model and (void is None or not never_worked(void)),
        gradings=len(trial.gradings),
    )


def _sealed(folder: Path, trial: Trial, opened: Opened) -> Sealed | None:
    if not folder.exists():
        return None
    sealed = opened(folder)
    _check_bond(sealed.seal.trial, trial, folder / SEAL_NAME)
    return sealed


def _grading(folder: Path, trial: Trial, opened: Opened) -> SealedGrading:
    sealed = opened(folder)
    _check_bond(sealed.seal.trial, trial, folder / SEAL_NAME)
    return SealedGrading(sealed=sealed, grading=sealed.document(Grading, "grading.json"))


def _check_bond(found: Trial, expected: Trial, file: Path) -> None:
    if found != expected:
        raise SealBrokenError(file=str(file), found=f"evidence of {found}", expected=f"evidence of {expected}")
