"""Norms of a submission, measured beside its evaluators and never part of a verdict."""

from dataclasses import dataclass

from evaluators.errors import EvaluatorError
from evaluators.lint_delta import lint
from evaluators.model import Bench, Submission
from evaluators.norm_counts import Asked, counted
from evaluators.norm_scale import Norm, NormId, Norms
from evaluators.text import clean
from evaluators.two_trees import changes_of
from sandbox.errors import KeeperError, SandboxError

NOTHING_CHANGED = "nothing is changed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """Norms, and what ruff said of both sides, kept privately."""

    norms: Norms
    lint_log: bytes = b""


def measure(asked: Asked, submission: Submission, bench: Bench) -> Measured:
    """Measure every norm of a submission; what cannot be measured says why.

    Raises:
        KeeperError: the keeper is gone; nothing can be said.
    """
    changes = changes_of(submission)
    if not changes:
        return Measured(norms=Norms(reason=NOTHING_CHANGED))
    try:
        linted, log = lint(changes, bench)
    except KeeperError:
        raise
    except (EvaluatorError, SandboxError) as fault:
        # Norms are no part of the outcome: a fault here leaves one of them unknown, and nothing void.
        linted, log = Norm(id=NormId.LINT, reason=clean(f"a fault: {fault}")), b""
    return Measured(norms=in_order((*counted(changes, asked), linted)), lint_log=log)


def in_order(norms: tuple[Norm, ...]) -> Norms:
    """Put norms into their order."""
    return Norms(norms=tuple(sorted(norms, key=lambda norm: list(NormId).index(norm.id))))
