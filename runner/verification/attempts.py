"""All evidence of one planned attempt: its tries, what is sealed of each, and their order."""

import os
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

from runner.artifacts import TEMPORARY
from runner.documents.evidence import Begun, Grading
from runner.documents.journal import State
from runner.documents.seal import SealKind, Trial
from runner.errors import UsageError
from runner.journal import reached, read_journal
from runner.judging.archive import JUDGES
from runner.judging.reviews import REVIEWS
from runner.parsing import read_file
from runner.recovering import SealedPart
from runner.schedule import Action, Cell, Standing, Step, TryState, next_step
from runner.store import (
    BEGUN,
    GRADING,
    GRADINGS,
    SUBMISSION,
    VOID,
    SealedGrading,
    Store,
    Try,
    grading_folders,
    state,
)
from runner.verification.derived import check_grading, check_submission, check_void, document
from runner.verification.exchanges import check_submission_exchanges, check_void_exchanges
from runner.verification.folders import Reader, open_folder
from runner.verification.journal import Excerpt, check_journal, parts_of
from runner.verification.model import Finding, Opened, Scope, differ
from runner.verification.proofs import Proven, check_host
from runner.verification.reviews import check_reviews
from runner.verification.shots import check_shot_results, check_shots

_STATES = {SealKind.SUBMISSION: State.CAPTURED, SealKind.GRADING: State.GRADED, SealKind.VOID: State.VOID}
"""What the journal calls a sealed folder of each kind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What was found about one attempt, and what was looked at."""

    findings: tuple[Finding, ...]
    unfinished: tuple[str, ...]
    unchecked: tuple[str, ...]
    folders: int
    files: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """A planned attempt, and what the journal says of it."""

    cell: Cell
    told: Excerpt


class AttemptVerifier:
    """Verifies attempts one by one; what it remembers of one spares work with the next, and changes nothing.

    `last` is the try of which the journal speaks last.
    """

    def __init__(self, store: Store, scope: Scope, proven: Proven, last: Trial | None) -> None:
        self._store = replace(store, scribe=None)
        self._given = (self._store, scope, proven, last)
        # A submission's patch is asked for once by its tree, once by its policy.
        rebuild = None if scope.rebuild is None else lru_cache(maxsize=16)(scope.rebuild)
        self._scope = replace(scope, rebuild=rebuild)
        self._proven = proven
        self._last = last
        self._reader = Reader(scope.schemas)

    def __reduce__(self) -> tuple[type["AttemptVerifier"], tuple[Store, Scope, Proven, Trial | None]]:
        return AttemptVerifier, self._given

    def __call__(self, planned: Planned) -> Checked:
        """Verify all tries of one planned attempt, then their order, then what the journal says of them."""
        work = _Attempt(store=self._store, scope=self._scope, proven=self._proven, reader=self._reader)
        work.attempt(planned.cell)
        told = check_journal(self._store, work.parts, planned.told, self._last)
        return Checked(
            findings=(*work.findings, *told.findings),
            unfinished=tuple(work.unfinished),
            unchecked=(*work.unchecked, *told.unchecked),
            folders=work.folders,
            files=work.files,
        )


@dataclass(slots=True, kw_only=True)
class _Attempt:
    """The verification of one attempt on its way."""

    store: Store
    scope: Scope
    proven: Proven
    reader: Reader
    findings: list[Finding] = field(default_factory=list)
    unfinished: list[str] = field(default_factory=list)
    unchecked: list[str] = field(default_factory=list)
    parts: dict[Trial, tuple[SealedPart, ...]] = field(default_factory=dict)
    """What is sealed of each try."""
    opened: list[SealedPart | None] = field(default_factory=list)
    """The sealed folders of the try in hand; None: it could not be opened."""
    folders: int = 0
    files: int = 0

    def attempt(self, cell: Cell) -> None:
        numbers = self.store.numbers(cell)
        folder = self.store.attempt_folder(cell)
        self.findings += differ(folder, "tries", numbers, tuple(range(1, len(numbers) + 1)))
        self._names(folder, {f"try-{number}" for number in numbers})
        tries = [self._try(self.store.trial(cell, number)) for number in numbers]
        if not self.findings:
            self._order(cell, [each for each in tries if each is not None])

    def _try(self, trial: Trial) -> Try | None:
        """Verify all that is kept of one try, and give it as the store would."""
        folder = self.store.folder(trial)
        begun = self._begun(folder / BEGUN, trial)
        names = self._names(folder, {BEGUN, SUBMISSION, GRADINGS, VOID, REVIEWS, JUDGES})
        submitted = self._open(folder / SUBMISSION, SealKind.SUBMISSION, trial) if SUBMISSION in names else None
        void = self._open(folder / VOID, SealKind.VOID, trial) if VOID in names else None
        if submitted is not None:
            self.findings += check_submission(submitted, self.scope)
            self.findings += check_submission_exchanges(submitted)
            self.findings += check_shots(submitted, self.scope)
        if void is not None:
            self.findings += check_void(void, self.scope)
            self.findings += check_void_exchanges(void)
        if void is not None and submitted is not None:
            self.findings.append(Finding(file=str(folder), found="a submission and a void", expected="one of them"))
        gradings = self._gradings(folder, trial, submitted) if GRADINGS in names else ()
        if REVIEWS in names:
            self._reviews(folder, trial, None if submitted is None else submitted.sealed.digest)
        self.parts[trial] = self._parts(folder)
        if begun is None:
            return None
        return Try(
            trial=trial,
            begun=begun,
            submission=None if submitted is None else submitted.sealed,
            gradings=gradings,
            void=None if void is None else void.sealed,
            asks_model=trial.candidate in self.store.asking,
            reached=self._reached(trial) if submitted is None and void is None else (),
        )

    def _parts(self, folder: Path) -> tuple[SealedPart, ...]:
        """Give what is sealed of the try in hand; what could not be opened may still have its digest."""
        opened, self.opened = self.opened, []
        if None in opened:
            return parts_of(folder)
        return tuple(sorted((each for each in opened if each is not None), key=lambda part: part.state is State.VOID))

    def _reached(self, trial: Trial) -> tuple[State, ...]:
        """Ask the journal about a try of which nothing is sealed."""
        try:
            return reached(read_journal(self.store.journal), trial)
        except UsageError as error:
            file = str(self.store.journal)
            self.findings.append(Finding(file=file, found=str(error), expected="a journal that can be read"))
            return ()

    def _gradings(self, folder: Path, trial: Trial, submitted: Opened | None) -> tuple[SealedGrading, ...]:
        places = grading_folders(folder)
        self._names(folder / GRADINGS, {each.name for each in places})
        wanted = [f"{GRADING}{number}" for number in range(1, len(places) + 1)]
        self.findings += differ(folder / GRADINGS, "gradings", [each.name for each in places], wanted)
        found = []
        for place in places:
            graded = self._open(place, SealKind.GRADING, trial)
            if submitted is None:
                self.findings.append(
                    Finding(file=str(place), found="a grading", expected="a submission that it judged")
                )
            elif graded is not None:
                self.findings += check_grading(graded, submitted, self.scope)
                self.findings += check_shot_results(graded, submitted, self.scope)
                grading = document(graded, Grading, "grading.json")
                found += [] if grading is None else [SealedGrading(sealed=graded.sealed, grading=grading)]
        return tuple(found)

    def _reviews(self, folder: Path, trial: Trial, submission_sha256: str | None) -> None:
        found = check_reviews(folder, trial, submission_sha256, self.scope.manifest, self.reader.one)
        self.findings += found.findings
        self.unchecked += found.unchecked
        self.files += found.files

    def _open(self, place: Path, kind: SealKind, trial: Trial) -> Opened | None:
        opened, findings = open_folder(place, kind, trial, self.reader)
        self.findings += findings
        digest = None if opened is None else opened.sealed.digest
        self.opened.append(None if digest is None else SealedPart(state=_STATES[kind], folder=place, sha256=digest))
        if opened is not None:
            self.findings += check_host(opened, self.proven)
            self.folders += 1
            self.files += len(opened.sealed.files) + 1
        return opened

    def _begun(self, file: Path, trial: Trial) -> Begun | None:
        try:
            data = read_file(file)
        except UsageError as error:
            self.findings.append(Finding(file=str(file), found=str(error), expected="the record of a begun try"))
            return None
        begun, findings = self.reader.one(Begun, data, file)
        self.findings += findings
        self.files += 1
        if not isinstance(begun, Begun):
            return None
        self.findings += differ(file, "trial", begun.trial, trial)
        return begun

    def _names(self, folder: Path, known: set[str]) -> set[str]:
        """List a folder, and find what nobody knows there.

        What a killed runner left unfinished is told, not held against anyone.
        """
        names = sorted(each.name for each in os.scandir(folder)) if folder.is_dir() else []
        for name in names:
            if name.startswith(TEMPORARY):
                self.unchecked.append(f"{folder / name}: left unfinished by a killed runner")
            elif name not in known:
                self.findings.append(Finding(file=str(folder / name), found="something unknown", expected="nothing"))
        return set(names)

    def _order(self, cell: Cell, tries: list[Try]) -> None:
        """Each try after the first must be one that the release's rule allowed."""
        rules = self.scope.manifest.retry_policy
        states = tuple(state(each, rules.canonical_grading) for each in tries)
        for at in range(1, len(states)):
            step = next_step(cell, states[:at], rules, retry_unavailable=True)
            if step.action is not Action.RUN or step.lost is not None:
                file = self.store.folder(self.store.trial(cell, states[at].number))
                self.findings.append(Finding(file=str(file), found="another try", expected=_no_other(step)))
        if why := _unfinished(states):
            self.unfinished.append(f"{cell}: {why}")


def _no_other(step: Step) -> str:
    return f"none before the lost try {step.lost} is sealed" if step.lost is not None else f"none: {step.why}"


def _unfinished(states: tuple[TryState, ...]) -> str | None:
    if not states:
        return "never run"
    last = states[-1]
    words = {
        Standing.OPEN: f"try {last.number} is running, or was lost with its runner",
        Standing.CAPTURED: f"try {last.number} was never graded",
        Standing.UNGRADED: f"every grading of try {last.number} ended in a fault",
    }
    return words.get(last.standing)
