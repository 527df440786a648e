"""One grading of a sealed submission: policy, public tests, evaluators, each on what was sealed."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from evaluators.errors import BaselineError, EvaluatorError, NoisyHostError
from evaluators.model import Evaluator, VerdictCause
from evaluators.model import Submission as Judgeable
from evaluators.norm_counts import Asked
from evaluators.norms import measure
from evaluators.public_tests import TestsResult, run_public_tests
from runner import norms
from runner.artifacts import Sealed
from runner.canonical import canonical, sha256
from runner.documents import writing
from runner.documents.capture import Capture, CaptureFinding
from runner.documents.evidence import Policy, PublicTests, Ruling, Submission
from runner.documents.facts import Blame, Phase, Phases, Spent, VoidFact, path_bytes
from runner.documents.norms import Norms
from runner.documents.telemetry import Telemetry
from runner.documents.writing import printable
from runner.grading import Parts
from runner.kept import FIRST, LOGS, NORMS
from runner.policy import Change, as_fact, check_policy, rules_of
from runner.spending import add_up
from runner.staging import Staged, roomy
from sandbox.api import LauncherReport, Pack
from sandbox.errors import KeeperError, SandboxError
from sandbox.findings import Finding
from sandbox.patch import Repository
from sandbox.termination import Cause
from sandbox.tree import lookup

_ENDED_FROM_OUTSIDE = frozenset({Cause.TIMEOUT, Cause.OOM, Cause.SIGNAL, Cause.OUTPUT_LIMIT})
"""Ends of public tests that may be the nomination's fault: the solution is asked too before anyone is blamed."""

_NO_RESULT = frozenset({VerdictCause.TIMEOUT, VerdictCause.CRASHED})
"""As above, for evaluators."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reopened:
    """A sealed submission, put together again from its sealed bytes alone."""

    document: Submission
    change: Change
    judged: Judgeable


@dataclass(slots=True, kw_only=True)
class Evaluation:
    """A grading on its way. What was found before a fault stays."""

    staged: Staged
    reopened: Reopened
    policy: Policy
    tests: PublicTests | None = None
    rulings: list[Ruling] = field(default_factory=list)
    logs: dict[str, bytes] = field(default_factory=dict)
    walls: dict[str, LauncherReport] = field(default_factory=dict)
    """What the launcher of each unit saw."""
    fault: VoidFact | None = None
    norms: Norms | None = None
    """How the change is made, where the release asks; nothing of the outcome follows from it."""
    first: "Evaluation | None" = None
    """That of the first of two shots."""
    phases: Phases = field(default_factory=Phases)

    def parts(self) -> Parts:
        """Give what the grading's document is made of."""
        evaluators = self.staged.prepared.evaluators
        return Parts(
            policy=self.policy,
            tests=self.tests,
            rulings=tuple(self.rulings),
            evaluators=tuple((each.id, each.digest()) for each in evaluators),
            fault=self.fault,
        )

    def files(self) -> dict[str, bytes]:
        """Give the files that are sealed beside grading.json."""
        files = {"policy.json": canonical(self.policy)}
        if self.tests is not None:
            files["public-tests.json"] = canonical(self.tests)
        files |= {f"evaluators/{each.id}.json": canonical(each) for each in self.rulings}
        if self.norms is not None:
            files[NORMS] = canonical(self.norms)
        if self.walls:
            files["launcher.json"] = writing.walls(self.walls)
        if self.first is not None:
            files[f"{FIRST}/policy.json"] = canonical(self.first.policy)
            files |= {f"{FIRST}/evaluators/{each.id}.json": canonical(each) for each in self.first.rulings}
        return files | {f"{LOGS}/{digest}": log for digest, log in self.logs.items()}

    def add_first(self, first: "Evaluation") -> None:
        """Take in the grading of a first shot: a grading is whole, or has a fault."""
        self.first = first
        self.fault = self.fault or first.fault
        self.logs |= first.logs
        self.walls |= {f"shot-1/{name}": report for name, report in first.walls.items()}
        both = [each.phases.evaluators for each in (first, self) if each.phases.evaluators is not None]
        if both:
            self.phases = self.phases.model_copy(update={"evaluators": add_up(both)})

    def keep(self, log: bytes) -> None:
        """Keep what a unit printed, by its digest."""
        self.logs[sha256(log)] = log


def reopen(sealed: Sealed, staged: Staged, repository: Repository) -> Reopened:
    """Put a sealed submission together again: what is judged is what was sealed.

    Raises:
        PatchError: the patch does not apply to the frozen base.
        SealBrokenError, DocumentError: the evidence is not as it was sealed.
    """
    document = sealed.document(Submission, "submission.json")
    patch = sealed.bytes("candidate.diff")
    findings = sealed.document(Capture, "capture.json").findings
    message = sealed.document(Telemetry, "telemetry.json").final_message
    applied = repository.apply(staged.base.commit, patch)
    pack = Pack(entries=applied.changes, blobs=applied.contents.get)
    return Reopened(
        document=document,
        change=Change(
            entries=applied.changes, findings=tuple(_finding(each) for each in findings), patch_bytes=len(patch)
        ),
        judged=staged.submission(pack, document.tree_sha256, message),
    )


def _finding(found: CaptureFinding) -> Finding:
    return Finding(kind=found.kind, path=path_bytes(found.path), mode=found.mode, size=found.size, detail=found.detail)


def evaluate(staged: Staged, reopened: Reopened, tests: PublicTests | None = None) -> Evaluation:
    """Run one grading. A fault ends it, is blamed, and is never a verdict; `tests` are those that were run already.

    Raises:
        KeeperError: the keeper is gone; nothing can be said.
    """
    spec = staged.prepared.nomination.spec
    base = staged.base
    violations = check_policy(reopened.change, lambda path: lookup(base.digest, path, base.listings), rules_of(spec))
    policy = Policy(tree_sha256=reopened.document.tree_sha256, violations=tuple(as_fact(each) for each in violations))
    evaluation = Evaluation(staged=staged, reopened=reopened, policy=policy, tests=tests)
    if tests is None:
        with _blamed(evaluation, Phase.PUBLIC_TESTS):
            _test(evaluation)
    if evaluation.fault is None:
        with _blamed(evaluation, Phase.EVALUATORS):
            for evaluator in staged.prepared.evaluators:
                _judge(evaluation, evaluator)
    if evaluation.fault is None and staged.norms is not None:
        _measure(evaluation, staged.norms)
    return evaluation


def _measure(evaluation: Evaluation, asked: Asked) -> None:
    """Measure how the change is made. Whatever comes of it, the grading is what it was."""
    judged, bench = evaluation.reopened.judged, evaluation.staged.bench
    measured = measure(asked, judged, bench)
    if measured.lint_log:
        evaluation.keep(measured.lint_log)
    evaluation.norms = norms.document(measured, evaluation.policy.tree_sha256)


@contextmanager
def _blamed(evaluation: Evaluation, phase: Phase) -> Iterator[None]:
    """Turn a fault of ours into a fact with a blame."""
    try:
        yield
    except KeeperError:
        raise
    except EvaluatorError as error:
        evaluation.fault = VoidFact(blame=blame_of(error), phase=phase, reason=printable(str(error)))
    except SandboxError as error:
        evaluation.fault = VoidFact(blame=Blame.HOST, phase=phase, reason=printable(str(error)))


def blame_of(error: EvaluatorError) -> Blame:
    """Say whose fault it is that an evaluator gives no verdict. Pure."""
    if isinstance(error, NoisyHostError):
        return Blame.HOST
    return Blame.NOMINATION if isinstance(error, BaselineError) else Blame.EVALUATOR


def _test(evaluation: Evaluation) -> None:
    staged, judged = evaluation.staged, evaluation.reopened.judged
    result = run_public_tests(staged.tests, judged, roomy(staged.tests_bench, judged))
    for log in (result.stdout, result.stderr):
        evaluation.keep(log)
    if result.report is not None:
        evaluation.walls["public-tests"] = result.report
    evaluation.tests = writing.public_tests(result, tree=evaluation.policy.tree_sha256)
    evaluation.phases = evaluation.phases.model_copy(update={"public_tests": writing.spent(result.termination)})
    if result.termination.cause in _ENDED_FROM_OUTSIDE:
        control = run_public_tests(staged.tests, staged.solution(), roomy(staged.tests_bench, staged.solution()))
        if control.termination.cause is result.termination.cause:
            why = f"the public tests end by {_cause(result)} with the solution too"
            evaluation.fault = VoidFact(blame=Blame.NOMINATION, phase=Phase.PUBLIC_TESTS, reason=why)


def _cause(result: TestsResult) -> str:
    return result.termination.cause.value


def _judge(evaluation: Evaluation, evaluator: Evaluator) -> None:
    """Let one evaluator judge, and the solution beside it where the unit gave no result."""
    if evaluation.fault is not None:
        return
    staged, judged = evaluation.staged, evaluation.reopened.judged
    verdict = evaluator.judge(judged, roomy(staged.bench, judged))
    if verdict.cause in _NO_RESULT:
        control = evaluator.judge(staged.solution(), roomy(staged.bench, staged.solution()))
        if control.cause is verdict.cause:
            why = f"evaluator {evaluator.id} ends by {verdict.cause} with the solution too"
            evaluation.fault = VoidFact(blame=Blame.NOMINATION, phase=Phase.EVALUATORS, reason=why)
            return
    evaluation.keep(verdict.private_log)
    if verdict.report is not None:
        evaluation.walls[f"evaluators/{evaluator.id}"] = verdict.report
    if verdict.driver_report is not None:
        evaluation.walls[f"drivers/{evaluator.id}"] = verdict.driver_report
    evaluation.rulings.append(
        writing.ruling(
            verdict,
            evaluator=evaluator.id,
            digest=evaluator.digest(),
            tree=evaluation.policy.tree_sha256,
        )
    )
    evaluation.phases = evaluation.phases.model_copy(
        update={"evaluators": Spent(wall_ms=_so_far(evaluation) + verdict.duration_ms)}
    )


def _so_far(evaluation: Evaluation) -> int:
    spent = evaluation.phases.evaluators
    return 0 if spent is None or spent.wall_ms is None else spent.wall_ms
