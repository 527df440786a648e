"""What of one attempt's evidence is published: its patch, how tests and evaluators ended, and its run.json."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from runner.artifacts import Sealed
from runner.canonical import canonical, parse, sha256
from runner.documents.capture import Capture
from runner.documents.evidence import Grading, PublicTests, Ruling, Submission, Tree, UnitEnd, Void
from runner.documents.manifest import Manifest
from runner.documents.published import (
    Artifacts,
    EvaluatorName,
    Execution,
    FirstShot,
    Left,
    Objective,
    ObjectiveEvaluator,
    PublishedCase,
    PublishedFile,
    Run,
    TestResult,
)
from runner.documents.reviews import ManualReview
from runner.documents.telemetry import Preflight
from runner.judging.reviews import REVIEWS
from runner.kept import FIRST
from runner.observed import Observed, observe
from runner.parsing import read_file
from runner.publishing.run import Parts, execution, left, public, run_document, void_reason
from runner.schedule import Cell
from runner.store import Store, choose

DIFF = "candidate.diff"
TESTS = "test-result.json"
OBJECTIVE = "objective-evaluator.json"
RUN = "run.json"
FIRST_SHOT = "/shots/1"
"""Where the files of the first of two shots lie below."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """One attempt as it is published."""

    run: Run
    observed: Observed
    """What tables are made of."""
    files: dict[str, bytes]
    """By their paths below the release's folder."""
    preflight: Preflight | None
    """The probe that the attempt stands on; None where nothing is kept of one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Evidence:
    """The sealed folders of the try that counts."""

    submission: Sealed | None = None
    """None unless a grading counts."""
    grading: Sealed | None = None
    void: Sealed | None = None
    reviews: Mapping[str, Path] = field(default_factory=dict)
    """What people said of the attempt's submissions, by its name below the folder of reviews."""


def attempt_folder(cell: Cell) -> str:
    """Give an attempt's place below the release's folder."""
    return f"{cell.candidate}/{cell.nomination}/attempts/attempt-{cell.attempt}"


def publish_attempt(store: Store, manifest: Manifest, cell: Cell, incomplete: str | None) -> Published:
    """Make the files of one planned attempt; `incomplete` is why it is published without its end.

    Raises:
        SealBrokenError: its evidence is not what was sealed.
    """
    rule = manifest.retry_policy.canonical_grading
    observed = public(observe(store, cell, rule))
    evidence = _evidence(store, observed, rule)
    evaluators = tuple(each.id for each in manifest.nomination(cell.nomination).evaluators)
    folder = _Folder(path=attempt_folder(cell), evaluators=evaluators)
    parts = _parts(evidence, folder)
    artifacts = parts.artifacts.model_copy(update={"manual_reviews": folder.reviews(evidence.reviews)})
    void = incomplete or void_reason(observed.counted.facts)
    run = run_document(manifest, store.manifest_sha256, observed, replace(parts, artifacts=artifacts), void)
    files = {**folder.files, f"{folder.path}/{RUN}": canonical(run)}
    return Published(run=run, observed=observed, files=files, preflight=_preflight(evidence))


def _evidence(store: Store, observed: Observed, rule: str) -> _Evidence:
    if observed.number is None:
        return _Evidence()
    tried = next(each for each in store.tries(observed.cell) if each.trial.try_ == observed.number)
    counted = choose(tried.gradings, rule)
    reviews = dict(_reviews(store, observed.cell, observed.number))
    if tried.submission is None or counted is None:
        return _Evidence(void=tried.void, reviews=reviews)
    return _Evidence(submission=tried.submission, grading=counted.sealed, reviews=reviews)


def _reviews(store: Store, cell: Cell, number: int) -> Iterator[tuple[str, Path]]:
    """List the reviews of an attempt; those of a try that does not count lie in a folder of its own."""
    for tried in store.numbers(cell):
        place = "" if tried == number else f"try-{tried}/"
        for file in sorted((store.folder(store.trial(cell, tried)) / REVIEWS).glob("*.json")):
            yield f"{place}{file.name}", file


def _preflight(evidence: _Evidence) -> Preflight | None:
    sealed = evidence.submission or evidence.void
    if sealed is None or not sealed.holds("preflight.json"):
        return None
    return sealed.document(Preflight, "preflight.json")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Graded:
    """A submission, or the first shot of one, with what was said of it."""

    submission: Sealed
    grading: Sealed
    tests: PublicTests | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Folder:
    """An attempt's folder, as its files are gathered."""

    path: str
    evaluators: tuple[str, ...]
    """The nomination's, in its order."""
    files: dict[str, bytes] = field(default_factory=dict)

    def artifacts(self, graded: _Graded, below: str = "") -> Artifacts:
        """Add the files of a graded submission, and name each with its digest."""
        place = f"{self.path}{below}"
        tests = graded.tests
        return Artifacts(
            public_dir=place,
            candidate_diff=self._add(f"{place}/{DIFF}", graded.submission.bytes("candidate.diff")),
            test_result=None if tests is None else self._add(f"{place}/{TESTS}", canonical(_test_result(tests))),
            objective_evaluator=self._objective(f"{place}/{OBJECTIVE}", graded.grading),
        )

    def _objective(self, path: str, grading: Sealed) -> PublishedFile | None:
        rulings = tuple(_rulings(grading, self.evaluators))
        if not rulings:
            return None
        document = ObjectiveEvaluator(
            tree_sha256=rulings[0].tree_sha256,
            passed=all(each.passed for each in rulings),
            evaluators=tuple(_said(each) for each in rulings),
        )
        return self._add(path, canonical(document))

    def reviews(self, files: Mapping[str, Path]) -> tuple[PublishedFile, ...]:
        """Add what people said, as they said it."""
        documents = {name: parse(ManualReview, read_file(file), str(file)) for name, file in files.items()}
        return tuple(self._add(f"{self.path}/{REVIEWS}/{name}", canonical(each)) for name, each in documents.items())

    def _add(self, path: str, data: bytes) -> PublishedFile:
        self.files[path] = data
        return PublishedFile(path=path, sha256=sha256(data))


def _parts(evidence: _Evidence, folder: _Folder) -> Parts:
    """Gather an attempt's files, and give what its run.json tells of them."""
    if evidence.submission is None or evidence.grading is None:
        return _without_submission(evidence.void, folder)
    submission, grading = evidence.submission, evidence.grading
    made = submission.document(Submission, "submission.json")
    tests = grading.document(PublicTests, "public-tests.json") if grading.holds("public-tests.json") else None
    graded = _Graded(submission=submission, grading=grading, tests=tests)
    return Parts(
        artifacts=folder.artifacts(graded),
        started_at=made.started_ms,
        completed_at=grading.document(Grading, "grading.json").ended_ms,
        agent=_agent(submission),
        tests=None if tests is None else execution(tests.end),
        submission=_left(submission),
        first_shot=_first_shot(graded, folder) if submission.holds(f"{FIRST}/submission.json") else None,
    )


def _without_submission(void: Sealed | None, folder: _Folder) -> Parts:
    nothing = Artifacts(public_dir=folder.path, candidate_diff=None, test_result=None, objective_evaluator=None)
    if void is None:
        return Parts(artifacts=nothing)
    document = void.document(Void, "void.json")
    return Parts(
        artifacts=nothing,
        started_at=document.started_ms,
        completed_at=document.ended_ms,
        agent=_agent(void) if void.holds("termination.json") else None,
    )


def _first_shot(graded: _Graded, folder: _Folder) -> FirstShot:
    submission = graded.submission.below(FIRST)
    tests = submission.document(PublicTests, "public-tests.json")
    first = _Graded(submission=submission, grading=graded.grading.below(FIRST), tests=tests)
    return FirstShot(
        submission=_left(submission),
        artifacts=folder.artifacts(first, FIRST_SHOT),
        tests=execution(tests.end),
    )


def _agent(sealed: Sealed) -> Execution:
    return execution(sealed.document(UnitEnd, "termination.json").end)


def _left(submission: Sealed) -> Left:
    return left(submission.document(Tree, "tree.json"), submission.document(Capture, "capture.json"))


def _test_result(tests: PublicTests) -> TestResult:
    return TestResult(
        tree_sha256=tests.tree_sha256,
        passed=tests.passed,
        execution=execution(tests.end),
        stdout_sha256=tests.stdout_sha256,
        stderr_sha256=tests.stderr_sha256,
    )


def _rulings(grading: Sealed, evaluators: tuple[str, ...]) -> Iterator[Ruling]:
    """Give the verdicts that there are, in the nomination's order."""
    for name in evaluators:
        if grading.holds(f"evaluators/{name}.json"):
            yield grading.document(Ruling, f"evaluators/{name}.json")


def _said(ruling: Ruling) -> Objective:
    return Objective(
        evaluator=EvaluatorName(id=ruling.id, sha256=ruling.evaluator_sha256),
        passed=ruling.passed,
        cause=ruling.cause,
        assurance=ruling.assurance,
        score=ruling.score,
        cases=tuple(PublishedCase(passed=case.passed, ms=case.ms) for case in ruling.cases),
        duration_ms=ruling.duration_ms,
        verdict_sha256=sha256(canonical(ruling)),
    )
