"""A nomination's controls: the solution must pass everything, the base must fail. Run when it is frozen."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

from evaluators.errors import EvaluatorError
from evaluators.model import Bench, Evaluator, Submission, Verdict
from evaluators.options import read_texts
from evaluators.packing import NOTHING
from evaluators.pytest_suite import EXPECTATIONS
from evaluators.registry import build
from runner.canonical import canonical, parse, sha256
from runner.documents.controls import CalibratedEvaluator, Control, ControlsRecord, ControlVerdict
from runner.documents.writing import decimal_text
from runner.errors import ControlError, DocumentErrors
from runner.fixture import Fixture
from runner.nomination import PROBES, Nomination, nomination_digest
from runner.solution import Solution, patched
from sandbox.api import Pack
from sandbox.patch import Repository
from sandbox.spec import ObjectId

ControlKind = Literal["base", "solution", "unrelated", "wrong", "half", "alternative"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One change whose outcome is known before it is judged."""

    name: str
    kind: ControlKind
    change: Pack
    tree_sha256: str
    below: Pack = NOTHING
    """The fixture."""
    message: str | None = None
    """The final message that goes with it."""

    def submission(self, base: tuple[ObjectId, ...]) -> Submission:
        """Give it as if a candidate had left it behind."""
        return Submission(
            base=base,
            change=self.change,
            tree_digest=self.tree_sha256,
            final_message=self.message,
            below=self.below,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Graded:
    """What public tests and evaluators said of one submission."""

    public_tests: bool
    verdicts: Mapping[str, Verdict]
    """By evaluator id, every one of them."""


class Grade(Protocol):
    """Runs public tests and evaluators over a submission, as in an attempt."""

    def __call__(self, submission: Submission, evaluators: tuple[Evaluator, ...]) -> Graded:
        """Grade one submission.

        Raises:
            SandboxError, EvaluatorError: a fault.
        """


@runtime_checkable
class Calibrates(Protocol):
    """An evaluator that must see the solution before it can judge."""

    def calibrate(self, solution: Submission, bench: Bench) -> dict[str, object]:
        """Learn from the solution; the answer builds the evaluator that judges."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibrated:
    """A nomination's evaluators, ready to judge, and what they learned."""

    evaluators: tuple[Evaluator, ...]
    learned: tuple[CalibratedEvaluator, ...]


def trials(nomination: Nomination, fixture: Fixture, solution: Solution, repository: Repository) -> tuple[Trial, ...]:
    """List what is judged when a nomination is frozen: base, solution, and its probes.

    Raises:
        FixtureError: a probe's patch does not fit the fixture.
    """
    kinds: Mapping[str, ControlKind] = {"wrong": "wrong", "half": "half", "alternative": "alternative"}
    nothing = Solution(change=NOTHING, digest=fixture.digest)
    known = [_trial("base", "base", nothing, fixture), _trial("solution", "solution", solution, fixture)]
    for folder in PROBES:
        known += (
            _trial(file.path, kinds[folder], patched(fixture, file, repository), fixture)
            for file in nomination.below(folder)
        )
    return tuple(known)


def _trial(name: str, kind: ControlKind, made: Solution, fixture: Fixture) -> Trial:
    return Trial(
        name=name,
        kind=kind,
        change=made.change,
        tree_sha256=made.digest,
        below=fixture.pack,
        message=made.message,
    )


def calibrate(nomination: Nomination, solution: Submission, bench: Bench) -> Calibrated:
    """Let each evaluator that must see the solution first learn from it.

    Raises:
        DocumentErrors: evaluators that do not work on the solution, all of them together.
        SandboxError: a fault.
    """
    built: list[Evaluator] = []
    learned: list[CalibratedEvaluator] = []
    problems: list[ControlError] = []
    for spec in nomination.evaluators:
        try:
            evaluator = build(spec)
            calibration = None
            if isinstance(evaluator, Calibrates):
                calibration = evaluator.calibrate(solution, bench)
                evaluator = build(spec, calibration)
            learned.append(
                CalibratedEvaluator.model_validate_json(
                    canonical(
                        {
                            "id": spec.id,
                            "kind": spec.kind,
                            "sha256": evaluator.digest(),
                            "cases": list(evaluator.expected_cases()),
                            "calibration": calibration,
                        }
                    )
                )
            )
            built.append(evaluator)
        except EvaluatorError as error:
            problems.append(_unmet(nomination, spec.id, str(error), "one that works on the solution"))
    if problems:
        raise DocumentErrors(errors=tuple(problems))
    return Calibrated(evaluators=tuple(built), learned=tuple(learned))


def run_controls(
    nomination: Nomination,
    known: tuple[Trial, ...],
    base: tuple[ObjectId, ...],
    calibrated: Calibrated,
    grade: Grade,
) -> ControlsRecord:
    """Judge every trial and give the record, if each ended as it must.

    Raises:
        DocumentErrors: with everything that did not.
        SandboxError, EvaluatorError: a fault.
    """
    controls: list[Control] = []
    problems: list[ControlError] = []
    for trial in known:
        graded = grade(trial.submission(base), calibrated.evaluators)
        controls.append(_control(trial, graded, calibrated))
        problems += _broken(nomination, controls[-1])
        if trial.kind == "base":
            problems += _unexpected(nomination, graded)
    if problems:
        raise DocumentErrors(errors=tuple(problems))
    return ControlsRecord(
        nomination=nomination.id,
        nomination_sha256=nomination_digest(nomination),
        fixture_sha256=next(trial.tree_sha256 for trial in known if trial.kind == "base"),
        evaluators=calibrated.learned,
        controls=tuple(controls),
    )


def read_record(data: bytes, file: str, validation: str) -> ControlsRecord:
    """Read a record back; it must be the one whose digest the manifest holds.

    Raises:
        ControlError: it is another one.
        DocumentError: it is none.
    """
    if sha256(data) != validation:
        raise ControlError(
            file=file,
            field="",
            found=f"a record with the digest {sha256(data)}",
            expected=f"the frozen one, {validation}",
            mend="restore it from a copy, or freeze a release with a new id",
        )
    return parse(ControlsRecord, data, file)


def _control(trial: Trial, graded: Graded, calibrated: Calibrated) -> Control:
    verdicts = ((each.id, graded.verdicts[each.id]) for each in calibrated.learned)
    return Control(
        name=trial.name,
        kind=trial.kind,
        tree_sha256=trial.tree_sha256,
        public_tests=graded.public_tests,
        verdicts=tuple(
            ControlVerdict(
                id=name,
                passed=verdict.passed,
                cause=verdict.cause,
                assurance=verdict.assurance,
                score=None if verdict.score is None else decimal_text(verdict.score),
            )
            for name, verdict in verdicts
        ),
    )


def _broken(nomination: Nomination, control: Control) -> Iterator[ControlError]:
    """Yield what is wrong with how a control ended."""
    failed = [verdict for verdict in control.verdicts if not verdict.passed]
    if nomination.spec.is_free_text and control.kind in {"base", "wrong", "half"}:
        # Nothing but its public tests can refuse an answer, and a wrong one is for judges to find.
        if control.kind == "base" and control.public_tests:
            yield _unmet(nomination, None, "base passes the public tests", "public tests that ask for an answer")
        return
    if control.kind in {"base", "wrong", "half"}:
        if not failed:
            found = f"{control.name} passes every evaluator" if control.verdicts else "no evaluator"
            yield _unmet(nomination, None, found, "at least one evaluator that fails it")
        return
    if not control.public_tests:
        yield _unmet(nomination, None, f"{control.name} fails the public tests", "public tests that pass")
    for verdict in failed:
        found = f"{control.name} ends as {verdict.cause}"
        yield _unmet(nomination, verdict.id, found, "an evaluator that passes it")


def _unexpected(nomination: Nomination, graded: Graded) -> Iterator[ControlError]:
    """Yield the cases of the base that do not end as the nomination's `fail_to_pass` and `pass_to_pass` say."""
    ends = {True: "passes the base", False: "fails the base", None: "no such case"}
    for spec in nomination.evaluators:
        verdict = graded.verdicts.get(spec.id)
        ended = {case.id: case.passed for case in (() if verdict is None else verdict.cases)}
        for field, wanted in zip(EXPECTATIONS, (False, True), strict=True):
            for name in read_texts(spec, field):
                if ended.get(name) is not wanted:
                    found = f"{field}: {name}: {ends[ended.get(name)]}"
                    yield _unmet(nomination, spec.id, found, f"a case that {ends[wanted]}")


def _unmet(nomination: Nomination, evaluator: str | None, found: str, expected: str) -> ControlError:
    return ControlError(
        file=nomination.file,
        field="controls" if evaluator is None else f"evaluators[{evaluator}]",
        found=found,
        expected=expected,
        mend="mend the solution, the tests or the evaluator, then freeze again",
    )
