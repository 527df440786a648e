"""What can be said of an attempt from the evidence there is: gaps become facts, never scores."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from runner.agents.traffic import sum_traffic
from runner.artifacts import Sealed, inspect_sealed, parse
from runner.documents.evidence import Begun, Grading, ShotResult, Submission, Void
from runner.documents.facts import Facts, Origin, Phases, Spent
from runner.documents.ledger import LedgerLine
from runner.documents.norms import Norms, NormsShort
from runner.documents.seal import Trial
from runner.documents.telemetry import Telemetry, Traffic
from runner.errors import UsageError, VerificationError
from runner.kept import FIRST, NORMS, required
from runner.norms import short
from runner.outcome import COUNTED, Outcome, outcome
from runner.parsing import read_file
from runner.schedule import Cell
from runner.spending import add_up, add_up_phases
from runner.store import BEGUN, SUBMISSION, VOID, SealedGrading, Store, choose, grading_folders, is_result

_NEVER_RUN = "a try: it was never run"


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """One try, as far as its evidence goes."""

    facts: Facts
    origin: Origin | None = None
    phases: Phases = field(default_factory=Phases)
    traffic: Traffic | None = None
    shots: tuple[ShotResult, ...] = ()
    changed: bool | None = None
    """Whether a change was captured; None where nothing was."""
    norms: NormsShort | None = None
    submission_sha256: str | None = None
    grading_sha256: str | None = None
    void_sha256: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Observer:
    """Looks at one planned attempt of a store after another; pickles."""

    store: Store
    rule: str
    """Which grading counts."""

    def __call__(self, cell: Cell) -> "Observed":
        """Look at all tries of an attempt."""
        return observe(self.store, cell, self.rule)


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """One planned attempt: the try that counts, and what the others took."""

    cell: Cell
    tries: int
    counted: Look
    voids: Spent | None
    number: int | None = None
    """The try that counts; None where the attempt was never run."""


def observe(store: Store, cell: Cell, rule: str) -> Observed:
    """Look at all tries of an attempt; `rule` says which grading counts."""
    numbers = store.numbers(cell)
    looks = tuple(look(store, store.trial(cell, number), rule) for number in numbers)
    if not looks:
        return Observed(cell=cell, tries=0, counted=Look(facts=Facts(missing=(_NEVER_RUN,))), voids=None)
    at = next((at for at, each in enumerate(looks) if outcome(each.facts) in COUNTED), len(looks) - 1)
    wasted = [add_up_phases(each.phases) for each in looks if outcome(each.facts) in _WASTED]
    return Observed(
        cell=cell,
        tries=len(looks),
        counted=looks[at],
        voids=add_up(wasted) if wasted else None,
        number=numbers[at],
    )


def look(store: Store, trial: Trial, rule: str) -> Look:
    """Look at one try."""
    folder = store.folder(trial)
    lacks: list[str] = []
    submission = _open(folder / SUBMISSION, folder, trial, lacks)
    void = _open(folder / VOID, folder, trial, lacks)
    if not _has_begun(folder / BEGUN, trial):
        lacks.append(BEGUN)
    if submission is not None:
        return _graded(_Graded(folder=folder, trial=trial, submission=submission), rule, lacks)
    if void is not None:
        return _voided(void, lacks)
    lacks.append("the seal of a try that is running, or was lost with its runner")
    return Look(facts=Facts(missing=tuple(lacks)))


_WASTED = frozenset({Outcome.VOID, Outcome.UNAVAILABLE})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Graded:
    folder: Path
    trial: Trial
    submission: Sealed


def _graded(graded: _Graded, rule: str, lacks: list[str]) -> Look:
    gradings = tuple(_gradings(graded, lacks))
    counted = choose(gradings, rule)
    if counted is None:
        lacks.append("a grading")
    elif counted.grading.submission_sha256 != graded.submission.digest:
        lacks.append(f"the submission that {counted.grading.id} judged")
    if lacks or counted is None:
        return Look(facts=Facts(missing=tuple(lacks)), submission_sha256=graded.submission.digest)
    made = graded.submission.document(Submission, "submission.json")
    own = counted.grading.phases
    tests = [each for each in (made.phases.public_tests, own.public_tests) if each is not None]
    return Look(
        facts=counted.grading.facts,
        origin=counted.grading.origin,
        phases=made.phases.model_copy(
            update={"public_tests": add_up(tests) if tests else None, "evaluators": own.evaluators}
        ),
        traffic=_traffic(graded.submission),
        shots=counted.grading.shots,
        changed=made.base_sha256 != made.tree_sha256 if counted.grading.facts.captured else None,
        norms=_norms(counted.sealed),
        submission_sha256=graded.submission.digest,
        grading_sha256=counted.sealed.digest,
    )


def _norms(sealed: Sealed) -> NormsShort | None:
    return short(sealed.document(Norms, NORMS)) if sealed.holds(NORMS) else None


def _gradings(graded: _Graded, lacks: list[str]) -> Iterator[SealedGrading]:
    for place in grading_folders(graded.folder):
        sealed = _open(place, graded.folder, graded.trial, lacks)
        if sealed is None:
            continue
        try:
            yield SealedGrading(sealed=sealed, grading=sealed.document(Grading, "grading.json"))
        except (UsageError, VerificationError):
            lacks.append(f"{place.relative_to(graded.folder)}/grading.json")


def _voided(void: Sealed, lacks: list[str]) -> Look:
    try:
        document = void.document(Void, "void.json")
    except (UsageError, VerificationError):
        lacks.append("void/void.json")
        return Look(facts=Facts(missing=tuple(lacks)), void_sha256=void.digest)
    facts = document.facts.model_copy(update={"missing": tuple(lacks)})
    return Look(
        facts=facts,
        origin=document.origin,
        phases=document.phases,
        traffic=None if lacks else _traffic(void),
        void_sha256=void.digest,
    )


def _traffic(sealed: Sealed) -> Traffic | None:
    """Add up what the gateway counted of a solution, both shots of it; None where no model was to be asked by it."""
    if sealed.holds("telemetry.json") and sealed.document(Telemetry, "telemetry.json").traffic is None:
        return None
    files = [name for name in (f"{FIRST}/ledger.jsonl", "ledger.jsonl") if sealed.holds(name)]
    return sum_traffic(line for name in files for line in sealed.documents(LedgerLine, name)) if files else None


def _open(place: Path, folder: Path, trial: Trial, lacks: list[str]) -> Sealed | None:
    """Open a sealed folder, adding what it lacks; None where there is nothing that could be opened."""
    if not place.exists():
        return None
    sealed, flaws = inspect_sealed(place, is_result)
    lacks += _names((flaw.file for flaw in flaws), folder)
    if sealed is None:
        return None
    if sealed.seal.trial != trial:
        lacks.append(f"{place.relative_to(folder)} of this try")
    names = (place / name for name in required(sealed.seal.kind) if not sealed.holds(name))
    lacks += _names(names, folder)
    return sealed


def _names(files: Iterable[Path], folder: Path) -> list[str]:
    return [str(file.relative_to(folder)) for file in files]


def _has_begun(file: Path, trial: Trial) -> bool:
    try:
        return parse(Begun, read_file(file), str(file)).trial == trial
    except UsageError:
        return False
