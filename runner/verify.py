"""Verifying a release's evidence from the files alone: every byte, every bond, every derived word."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from runner.artifacts import TEMPORARY, leftovers
from runner.canonical import sha256
from runner.documents.controls import ControlsRecord
from runner.documents.evidence import Begun
from runner.documents.manifest import FrozenNomination, Manifest
from runner.documents.seal import SealKind, Trial
from runner.errors import UsageError, VerificationError
from runner.freezing import CONTROLS, RECORD
from runner.parsing import read_file
from runner.proof import PROOFS
from runner.release import MANIFEST_BYTES
from runner.reports.aggregate import planned
from runner.schedule import Action, Cell, Standing, Step, TryState, next_step
from runner.schemas import documents, schema_of
from runner.store import BEGUN, GRADING, GRADINGS, SUBMISSION, VOID, Store, grading_folders, state
from runner.verification.derived import check_grading, check_submission, check_void
from runner.verification.exchanges import check_submission_exchanges, check_void_exchanges
from runner.verification.folders import open_folder, read_one
from runner.verification.journal import check_journal
from runner.verification.model import Finding, Opened, Rebuild, Scope, differ
from runner.verification.proofs import Proven, check_host, read_proofs
from runner.verification.shots import check_shot_results, check_shots

LATER = frozenset({"judges", "manual-reviews"})
"""Folders that later phases put beside a submission."""

NOT_REBUILT = "base + patch were not put together again: the frozen bases were not at hand"


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyReport:
    """What was found, what was looked at, and what was not."""

    findings: tuple[Finding, ...]
    """Empty: all evidence is what it says it is."""
    folders: int
    """Sealed folders whose every byte was hashed again."""
    files: int
    unfinished: tuple[str, ...]
    """Attempts of the plan without an end, and why."""
    unchecked: tuple[str, ...]
    """What was not looked at, in words."""


@dataclass(slots=True, kw_only=True)
class _Verification:
    """One verification on its way."""

    store: Store
    scope: Scope
    proven: Proven
    findings: list[Finding] = field(default_factory=list)
    unfinished: list[str] = field(default_factory=list)
    unchecked: list[str] = field(default_factory=list)
    folders: int = 0
    files: int = 0

    def attempt(self, cell: Cell) -> None:
        """Verify all tries of one planned attempt, then their order."""
        before = len(self.findings)
        numbers = self.store.numbers(cell)
        folder = self.store.attempt_folder(cell)
        self.findings += differ(folder, "tries", numbers, tuple(range(1, len(numbers) + 1)))
        self._names(folder, {f"try-{number}" for number in numbers})
        for number in numbers:
            self.one_try(self.store.trial(cell, number))
        if len(self.findings) == before:
            self._order(cell)

    def one_try(self, trial: Trial) -> None:
        """Verify all that is kept of one try."""
        folder = self.store.folder(trial)
        self._begun(folder / BEGUN, trial)
        self._names(folder, {BEGUN, SUBMISSION, GRADINGS, VOID} | LATER)
        self.unchecked += (f"{folder / name}: a later phase's" for name in sorted(LATER) if (folder / name).exists())
        submitted = self._open(folder / SUBMISSION, SealKind.SUBMISSION, trial)
        void = self._open(folder / VOID, SealKind.VOID, trial)
        if submitted is not None:
            self.findings += check_submission(submitted, self.scope)
            self.findings += check_submission_exchanges(submitted)
            self.findings += check_shots(submitted, self.scope)
        if void is not None:
            self.findings += check_void(void, self.scope)
            self.findings += check_void_exchanges(void)
        if void is not None and submitted is not None:
            self.findings.append(Finding(file=str(folder), found="a submission and a void", expected="one of them"))
        self._gradings(folder, trial, submitted)

    def _gradings(self, folder: Path, trial: Trial, submitted: Opened | None) -> None:
        places = grading_folders(folder)
        self._names(folder / GRADINGS, {each.name for each in places})
        wanted = [f"{GRADING}{number}" for number in range(1, len(places) + 1)]
        self.findings += differ(folder / GRADINGS, "gradings", [each.name for each in places], wanted)
        for place in places:
            graded = self._open(place, SealKind.GRADING, trial)
            if submitted is None:
                found = Finding(file=str(place), found="a grading", expected="a submission that it judged")
                self.findings.append(found)
            elif graded is not None:
                self.findings += check_grading(graded, submitted, self.scope)
                self.findings += check_shot_results(graded, submitted, self.scope)

    def _open(self, place: Path, kind: SealKind, trial: Trial) -> Opened | None:
        if not place.exists():
            return None
        opened, findings = open_folder(place, kind, trial, self.scope.schemas)
        self.findings += findings
        if opened is not None:
            self.findings += check_host(opened, self.proven)
            self.folders += 1
            self.files += len(opened.sealed.seal.files) + 1
        return opened

    def _begun(self, file: Path, trial: Trial) -> None:
        try:
            data = read_file(file)
        except UsageError as error:
            self.findings.append(Finding(file=str(file), found=str(error), expected="the record of a begun try"))
            return
        begun, findings = read_one(Begun, data, file, self.scope.schemas)
        self.findings += findings
        self.files += 1
        if isinstance(begun, Begun):
            self.findings += differ(file, "trial", begun.trial, trial)

    def _names(self, folder: Path, known: set[str]) -> None:
        """Find what nobody knows there; what a killed runner left unfinished is told, not held against anyone."""
        if not folder.is_dir():
            return
        self.unchecked += (f"{each}: left unfinished by a killed runner" for each in leftovers(folder))
        for each in sorted(folder.iterdir()):
            if each.name not in known and not each.name.startswith(TEMPORARY):
                self.findings.append(Finding(file=str(each), found="something unknown", expected="nothing"))

    def _order(self, cell: Cell) -> None:
        """Each try after the first must be one that the release's rule allowed."""
        rules = self.scope.manifest.retry_policy
        try:
            states = tuple(state(each, rules.canonical_grading) for each in self.store.tries(cell))
        except (UsageError, VerificationError) as error:
            self.findings.append(Finding(file=str(cell), found=str(error), expected="evidence that can be read"))
            return
        for at in range(1, len(states)):
            step = next_step(cell, states[:at], rules, retry_unavailable=True)
            if step.action is not Action.RUN or step.lost is not None:
                file = self.store.folder(self.store.trial(cell, states[at].number))
                self.findings.append(Finding(file=str(file), found="another try", expected=_no_other(step)))
        if why := _unfinished(states):
            self.unfinished.append(f"{cell}: {why}")

    def controls(self, nomination: FrozenNomination) -> None:
        """Hold the record of a nomination's controls against the digest that the manifest froze."""
        if nomination.validation is None:
            return
        file = self.store.root / self.store.release / CONTROLS / nomination.validation / RECORD
        try:
            data = read_file(file, MANIFEST_BYTES)
        except UsageError as error:
            expected = f"the record of the controls of {nomination.id}"
            self.findings.append(Finding(file=str(file), found=str(error), expected=expected))
            return
        self.files += 1
        self.findings += differ(file, "sha256", sha256(data), nomination.validation)
        record, findings = read_one(ControlsRecord, data, file, self.scope.schemas)
        self.findings += findings
        if isinstance(record, ControlsRecord):
            self.findings += differ(file, "fixture_sha256", record.fixture_sha256, nomination.fixture_sha256)
            self.findings += differ(file, "nomination", record.nomination, nomination.id)

    def strangers(self) -> None:
        """Find evidence of attempts that nobody planned."""
        cells = planned(self.scope.manifest)
        wanted = {self.store.attempt_folder(cell) for cell in cells}
        above = {parent for each in wanted for parent in each.parents}
        for folder in self._folders():
            if folder not in wanted and folder not in above:
                found = Finding(file=str(folder), found="evidence", expected="only attempts of the plan")
                self.findings.append(found)

    def _folders(self) -> Iterator[Path]:
        """List the folders of candidates, nominations and attempts; nothing below a stranger."""
        top = self.store.root / self.store.release
        level = [top]
        for _ in range(3):
            below = (folder for each in level if each.is_dir() for folder in sorted(each.iterdir()))
            level = [folder for folder in below if folder.is_dir() and folder not in {top / CONTROLS, top / PROOFS}]
            yield from level


def verify_release(
    store: Store,
    manifest: Manifest,
    *,
    schemas: Mapping[str, Mapping[str, object]] | None = None,
    rebuild: Rebuild | None = None,
) -> VerifyReport:
    """Verify all evidence of a release; `schemas` defaults to what the models say."""
    scope = Scope(manifest=manifest, schemas=model_schemas() if schemas is None else schemas, rebuild=rebuild)
    proven = read_proofs(store.root / store.release / PROOFS, scope.schemas)
    verification = _Verification(store=store, scope=scope, proven=proven, files=len(proven.known))
    verification.findings += proven.findings
    verification.strangers()
    for nomination in manifest.nominations:
        verification.controls(nomination)
    for cell in planned(manifest):
        verification.attempt(cell)
    told = check_journal(store, planned(manifest))
    verification.findings += told.findings
    verification.unchecked += told.unchecked
    if rebuild is None:
        verification.unchecked.append(NOT_REBUILT)
    return VerifyReport(
        findings=tuple(verification.findings),
        folders=verification.folders,
        files=verification.files,
        unfinished=tuple(verification.unfinished),
        unchecked=tuple(verification.unchecked),
    )


def read_schemas(folder: Path) -> dict[str, Mapping[str, object]]:
    """Read the committed schemas, by name."""
    return {path.stem: json.loads(path.read_bytes()) for path in sorted(folder.glob("*.json"))}


def model_schemas() -> dict[str, Mapping[str, object]]:
    """Give the schemas that the models say."""
    return {model.SCHEMA_NAME: schema_of(model) for model in documents()}


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
