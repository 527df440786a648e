"""From the facts of an attempt to its outcome, verdict and score, by one table (contracts 5). Pure."""

from decimal import Decimal
from enum import StrEnum

from runner.documents.facts import Facts


class Outcome(StrEnum):
    """The typed end of an attempt, in the order in which the first that holds is taken."""

    MISSING_ARTIFACTS = "missing_artifacts"
    UNAVAILABLE = "unavailable"
    FORBIDDEN_CHANGES = "forbidden_changes"
    VOID = "void"
    AGENT_FAILURE = "agent_failure"
    TESTS_FAILED = "tests_failed"
    COMPLETED = "completed"


COUNTED = frozenset({Outcome.FORBIDDEN_CHANGES, Outcome.AGENT_FAILURE, Outcome.TESTS_FAILED, Outcome.COMPLETED})
"""What stands in a denominator: the candidate had its chance, and we know how it ended."""


def outcome(facts: Facts) -> Outcome:
    """Give the first outcome that holds."""
    if facts.missing:
        return Outcome.MISSING_ARTIFACTS
    if facts.unavailable is not None:
        return Outcome.UNAVAILABLE
    if facts.captured and facts.violations:
        return Outcome.FORBIDDEN_CHANGES
    if is_void(facts):
        return Outcome.VOID
    if facts.failure is not None:
        return Outcome.AGENT_FAILURE
    return Outcome.COMPLETED if facts.tests_passed else Outcome.TESTS_FAILED


def is_void(facts: Facts) -> bool:
    """Whether somebody else's fault, or a gap in what is known, keeps the try from saying anything."""
    judged = tuple(each.id for each in facts.evaluators)
    complete = facts.captured and facts.tests_passed is not None and judged == facts.planned_evaluators
    return facts.void is not None or not complete


def verdict(facts: Facts) -> bool | None:
    """Whether every evaluator passed; None where nothing may be said about it, or nothing judged it."""
    if facts.missing or facts.unavailable is not None or is_void(facts) or not facts.evaluators:
        return None
    return all(each.passed for each in facts.evaluators)


def solved(facts: Facts) -> bool:
    """Whether the attempt completed and every evaluator passed."""
    return outcome(facts) is Outcome.COMPLETED and verdict(facts) is True


def score(facts: Facts) -> Decimal | None:
    """Give the lowest score of the evaluators; None where there is no verdict or one gave none."""
    if verdict(facts) is None:
        return None
    scores = [Decimal(each.score) for each in facts.evaluators if each.score is not None]
    return min(scores) if len(scores) == len(facts.evaluators) else None
