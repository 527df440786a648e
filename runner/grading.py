"""From the parts of a grading to its facts, outcome and document. Pure; `runner verify` asks it again."""

from dataclasses import dataclass

from runner.documents.evidence import Grading, Policy, PublicTests, Ruling, ShotResult, Submission, Void
from runner.documents.facts import Facts, Judged, Origin, Phases, VoidFact
from runner.documents.seal import Trial
from runner.documents.writing import decimal_text
from runner.outcome import outcome, score, solved
from runner.reason import reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What a grading found. None: the step never came to its end."""

    policy: Policy
    tests: PublicTests | None
    rulings: tuple[Ruling, ...]
    """In the nomination's order."""
    evaluators: tuple[tuple[str, str], ...]
    """Id and digest of every evaluator of the nomination, in its order."""
    fault: VoidFact | None = None
    """What kept the grading from its end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """By what and when a document was made, and what that took."""

    origin: Origin
    started_ms: int
    ended_ms: int | None
    phases: Phases


def facts_of(submission: Submission, parts: Parts) -> Facts:
    """Give the facts of a graded submission. A fault of the run itself stands before one of the grading."""
    return Facts(
        captured=True,
        violations=parts.policy.violations,
        void=submission.void or parts.fault,
        failure=submission.failure,
        tests_passed=None if parts.tests is None else parts.tests.passed,
        planned_evaluators=tuple(name for name, _ in parts.evaluators),
        evaluators=tuple(judged(each) for each in parts.rulings),
    )


def judged(ruling: Ruling) -> Judged:
    """Give a verdict in short."""
    return Judged(
        id=ruling.id,
        passed=ruling.passed,
        cause=ruling.cause,
        assurance=ruling.assurance,
        score=ruling.score,
    )


def shot(number: int, submission: Submission, parts: Parts) -> ShotResult:
    """Give what one shot came to."""
    facts = facts_of(submission, parts)
    points = score(facts)
    return ShotResult(
        number=number,
        tree_sha256=submission.tree_sha256,
        facts=facts,
        outcome=outcome(facts),
        reason=reason(facts),
        solved=solved(facts),
        score=None if points is None else decimal_text(points),
    )


def grading(
    name: str, submission: Submission, digest: str, parts: Parts, made: Made, shots: tuple[ShotResult, ...] = ()
) -> Grading:
    """Give grading.json; `digest` is the sealed submission's."""
    facts = facts_of(submission, parts)
    points = score(facts)
    return Grading(
        id=name,
        trial=submission.trial,
        origin=made.origin,
        submission_sha256=digest,
        tree_sha256=submission.tree_sha256,
        evaluators=dict(parts.evaluators),
        facts=facts,
        outcome=outcome(facts),
        reason=reason(facts),
        solved=solved(facts),
        score=None if points is None else decimal_text(points),
        shots=shots,
        started_ms=made.started_ms,
        ended_ms=made.ended_ms if made.ended_ms is not None else made.started_ms,
        phases=made.phases,
    )


def void(trial: Trial, facts: Facts, made: Made) -> Void:
    """Give void.json of a try that left no submission."""
    return Void(
        trial=trial,
        origin=made.origin,
        facts=facts,
        outcome=outcome(facts),
        reason=reason(facts),
        started_ms=made.started_ms,
        ended_ms=made.ended_ms,
        phases=made.phases,
    )
