"""What of the facts may be told in public: the runner's own words, and nobody else's. Pure.

An error that an agent told, an answer that a model gave, and whatever an evaluator said may hold a key, an account's
name or a hidden test. They stay in the private evidence; outcome and reason are derived again without them.
"""

from runner.documents.evidence import ShotResult
from runner.documents.facts import AgentFailure, Blame, Facts, FailureCause, Phase, Unavailable, VoidFact
from runner.preflight import SENTENCES
from runner.reason import reason

PRIVATE = "what failed is told in the private evidence"
"""Stands for the words of a fault that came up where hidden checks were at work, or that name files of this host."""

_QUOTING = frozenset({FailureCause.AGENT_ERROR, FailureCause.MALFORMED_ANSWER})
_NEAR_HIDDEN_CHECKS = frozenset({Phase.PUBLIC_TESTS, Phase.EVALUATORS})
_HIDDEN_BLAMES = frozenset({Blame.EVALUATOR, Blame.NOMINATION})


def public_facts(facts: Facts) -> Facts:
    """Give the same facts without the words of others; the outcome that follows is the same."""
    return facts.model_copy(
        update={
            "unavailable": None if facts.unavailable is None else _unavailable(facts.unavailable),
            "failure": None if facts.failure is None else _failure(facts.failure),
            "void": None if facts.void is None else _void(facts.void),
        }
    )


def public_shot(shot: ShotResult) -> ShotResult:
    """Give what a shot came to, likewise."""
    facts = public_facts(shot.facts)
    return shot.model_copy(update={"facts": facts, "reason": reason(facts)})


def _unavailable(found: Unavailable) -> Unavailable:
    return found.model_copy(update={"detail": SENTENCES[found.reason]})


def _failure(found: AgentFailure) -> AgentFailure:
    return found.model_copy(update={"detail": ""}) if found.cause in _QUOTING else found


def _void(found: VoidFact) -> VoidFact:
    hidden = found.phase in _NEAR_HIDDEN_CHECKS or found.blame in _HIDDEN_BLAMES or "/" in found.reason
    return found.model_copy(update={"reason": PRIVATE}) if hidden else found
