"""Grading sealed submissions again, without model and key: what is sealed stays, a new grading stands beside it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from evaluators.model import Verdict
from runner.artifacts import read_sealed
from runner.documents.evidence import Grading
from runner.documents.journal import State
from runner.documents.seal import Trial
from runner.errors import UnknownNameError, UsageError
from runner.evaluation import reopen
from runner.freezer import Frozen
from runner.journal import sole_writer
from runner.keyless import keyless_room
from runner.naming import name_of, named_try
from runner.pilot import kept_store, kept_table, store_of
from runner.recovering import counted
from runner.release import PreparedNomination
from runner.reports.aggregate import planned
from runner.staging import roomy
from runner.store import SUBMISSION, Store, choose

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Regraded:
    """A new grading, and whether it is the one that the release counts."""

    trial: Trial
    grading: Grading
    counts: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruled:
    """What one evaluator says now of a submission. Nothing is written of it."""

    trial: Trial
    evaluator: str
    verdict: Verdict


def submitted_tries(store: Store, frozen: Frozen, wanted: tuple[str, ...]) -> tuple[Trial, ...]:
    """Give the tries that names mean, or all that left a submission where there is no name.

    Raises:
        UnknownNameError: a name means nothing that was begun.
        UsageError: one left no submission, or none did.
    """
    if wanted:
        trials = tuple(named_try(store, frozen.manifest, each) for each in wanted)
    else:
        cells = planned(frozen.manifest)
        every = (store.trial(cell, number) for cell in cells for number in store.numbers(cell)[-1:])
        trials = tuple(each for each in every if _has_submission(store, each))
    for trial in trials:
        if not _has_submission(store, trial):
            raise UsageError(f"{name_of(trial)} left no submission: there is nothing to grade; name another try")
    if not trials:
        raise UsageError("no attempt of this release has left a submission yet; run: runner pilot")
    return trials


def _has_submission(store: Store, trial: Trial) -> bool:
    return (store.folder(trial) / SUBMISSION).exists()


def regrade(frozen: Frozen, wanted: tuple[str, ...], tell: Tell) -> Iterator[Regraded]:
    """Grade submissions again, each as a new grading beside the others.

    Raises:
        UsageError: a name means nothing that can be graded.
        VerificationError: the evidence is not what was sealed.
        SandboxError: a fault.
    """
    trials = submitted_tries(store_of(frozen), frozen, wanted)
    store = kept_store(frozen, tell)
    with (
        keyless_room(frozen, store, tell) as attempts,
        sole_writer(store.root / store.release, wait=True),
    ):
        table = kept_table(frozen, store, tell)
        for trial in trials:
            staged = attempts.stages.staged(_prepared(frozen, trial.nomination))
            attempts.grade(trial, frozen.manifest.candidate(trial.candidate), staged)
            yield _told(store, frozen, trial)
            table.meanwhile()
        table.finish()


def _told(store: Store, frozen: Frozen, trial: Trial) -> Regraded:
    rule = frozen.manifest.retry_policy.canonical_grading
    found = store.read(trial)
    if (digest := counted(found, rule)) is not None:
        store.note(trial, State.SEALED, digest)
    last = found.gradings[-1]
    return Regraded(trial=trial, grading=last.grading, counts=choose(found.gradings, rule) is last)


def look_again(frozen: Frozen, wanted: tuple[str, ...], evaluators: tuple[str, ...], tell: Tell) -> Iterator[Ruled]:
    """Let some evaluators judge submissions again, to be looked at: a grading has all of them, so nothing is sealed.

    Raises:
        UsageError: a name means nothing, or an evaluator is not of the nomination.
        VerificationError, EvaluatorError, SandboxError: a fault.
    """
    store = store_of(frozen)
    trials = submitted_tries(store, frozen, wanted)
    for trial in trials:
        _check_names(frozen, trial.nomination, evaluators)
    with keyless_room(frozen, store, tell) as attempts:
        for trial in trials:
            staged = attempts.stages.staged(_prepared(frozen, trial.nomination))
            sealed = read_sealed(store.folder(trial) / SUBMISSION)
            judged = reopen(sealed, staged, frozen.workbench.repository).judged
            for each in staged.prepared.evaluators:
                if each.id in evaluators:
                    verdict = each.judge(judged, roomy(staged.bench, judged))
                    yield Ruled(trial=trial, evaluator=each.id, verdict=verdict)


def _check_names(frozen: Frozen, nomination: str, evaluators: tuple[str, ...]) -> None:
    known = [each.id for each in frozen.manifest.nomination(nomination).evaluators]
    for wanted in evaluators:
        if wanted not in known:
            raise UnknownNameError(
                noun=f"evaluator of {nomination}", wanted=wanted[:200], near=tuple(known), known=len(known)
            )


def _prepared(frozen: Frozen, nomination: str) -> PreparedNomination:
    return next(each for each in frozen.prepared.nominations if each.nomination.id == nomination)
