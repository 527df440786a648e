"""Laws of the store: what is sealed decides where a try stands, whatever happened to its runner."""

from dataclasses import replace
from pathlib import Path

import pytest

from runner.config import RetryPolicy
from runner.documents.facts import Blame, Phase, Unavailable, VoidFact
from runner.documents.journal import State
from runner.errors import SealBrokenError, SealTakenError
from runner.outcome import Outcome
from runner.schedule import Action, Standing, Step, TryState, schedule
from runner.store import Store, choose, state
from sandbox.termination import Cause, Termination, Usage
from tests.unit.runner.evidence_maker import (
    IDLER,
    SOLVER,
    Run,
    a_manifest,
    a_store,
    attempt,
    begin,
    end_void,
    grade,
    submit,
)

LOST = VoidFact(blame=Blame.RUNNER, phase=Phase.SOLUTION, reason="the runner was killed", interrupted=True)
OUTAGE = VoidFact(blame=Blame.PROVIDER, phase=Phase.SOLUTION, reason="503 three times")
FAULT = VoidFact(blame=Blame.HOST, phase=Phase.EVALUATORS, reason="the disk was full")
LOST_UNIT = Termination(cause=Cause.MANAGER, status=None, usage=Usage(wall_ms=1), detail="the unit was lost")
MANIFEST = a_manifest()


def test_evidence_is_its_owners_alone_to_look_at(tmp_path: Path) -> None:
    begin(a_store(tmp_path / "state/store", MANIFEST), SOLVER)
    assert (tmp_path / "state/store").stat().st_mode & 0o777 == 0o700
    shared = tmp_path / "shared"
    shared.mkdir(mode=0o750)
    begin(a_store(shared, MANIFEST), SOLVER)
    assert shared.stat().st_mode & 0o777 == 0o750


def test_a_begun_try_stands_open_until_something_is_sealed(tmp_path: Path) -> None:
    store = a_store(tmp_path, MANIFEST)
    assert store.tries(SOLVER) == ()
    trial = begin(store, SOLVER)
    (found,) = store.tries(SOLVER)
    assert state(found) == TryState(number=1, standing=Standing.OPEN)
    assert found.begun.trial == trial
    with pytest.raises(SealTakenError):
        begin(store, SOLVER)


def test_a_try_that_was_cut_before_its_model_worked_is_closed_and_the_next_one_runs(tmp_path: Path) -> None:
    store = a_store(tmp_path, MANIFEST)
    trial = begin(store, SOLVER)
    store.note(trial, State.PROBING)
    (store.folder(trial) / ".tmp-submission-1").mkdir()
    step = next_of(store)
    assert (step.action, step.number, step.lost) == (Action.RUN, 2, 1)
    assert step.why == "try 1 was cut before a model worked"
    end_void(store, trial, LOST.model_copy(update={"phase": Phase.PREFLIGHT}))
    step = next_of(store)
    assert (step.action, step.number, step.lost) == (Action.RUN, 2, None)
    attempt(store, SOLVER, Run(), number=2)
    step = next_of(store)
    assert (step.action, step.why) == (Action.SKIP, "completed in try 2")
    assert (store.folder(trial) / ".tmp-submission-1").exists()


def next_of(store: Store, rules: RetryPolicy = MANIFEST.retry_policy) -> Step:
    (step,) = schedule((SOLVER,), store.states((SOLVER,), "first"), rules, resume=True)
    return step


def test_a_try_that_was_cut_while_its_model_worked_is_closed_and_the_rule_decides_about_another(tmp_path: Path) -> None:
    store, twice = a_store(tmp_path, MANIFEST), RetryPolicy(void_tries=2)
    trial = begin(store, SOLVER)
    store.note(trial, State.RUNNING)
    why = "try 1 was cut while its model worked"
    step = next_of(store)
    assert (step.action, step.lost, step.why) == (Action.SKIP, 1, f"{why}; the release allows one try")
    step = next_of(store, twice)
    assert (step.action, step.number, step.lost) == (Action.RUN, 2, 1)
    assert step.why == f"{why}, by the runner; the release allows 2 tries"
    end_void(store, trial, LOST)
    step = next_of(store)
    assert (step.action, step.lost, step.why) == (Action.SKIP, None, f"{why}; the release allows one try")
    assert next_of(store, twice).action is Action.RUN


def test_where_the_journal_says_nothing_of_a_try_a_model_may_have_worked(tmp_path: Path) -> None:
    store = a_store(tmp_path, MANIFEST)
    begin(store, SOLVER)
    store.journal.unlink()
    assert next_of(store).action is Action.SKIP


def test_a_control_that_was_cut_runs_again_for_no_model_worked(tmp_path: Path) -> None:
    store = replace(a_store(tmp_path, MANIFEST), asking=frozenset())
    trial = begin(store, SOLVER)
    store.note(trial, State.RUNNING)
    assert (next_of(store).action, next_of(store).lost) == (Action.RUN, 1)
    end_void(store, trial, LOST)
    assert (next_of(store).action, next_of(store).lost) == (Action.RUN, None)


def test_a_submission_without_a_grading_is_graded_again_and_never_run_again(tmp_path: Path) -> None:
    store = a_store(tmp_path, MANIFEST)
    made, digest = submit(store, begin(store, SOLVER), Run())
    assert store.states((SOLVER,), "first")[SOLVER][0].standing is Standing.CAPTURED
    grade(store, made, digest, Run(fault=FAULT))
    (found,) = store.states((SOLVER,), "first")[SOLVER]
    assert (found.standing, found.blame, found.gradings) == (Standing.UNGRADED, Blame.HOST, 1)
    grade(store, made, digest, Run())
    (found,) = store.states((SOLVER,), "first")[SOLVER]
    assert (found.standing, found.outcome) == (Standing.DONE, Outcome.COMPLETED)


def test_a_void_of_the_run_itself_stays_void_however_often_it_is_graded(tmp_path: Path) -> None:
    store = a_store(tmp_path, MANIFEST)
    run = Run(termination=LOST_UNIT)
    made, digest = submit(store, begin(store, SOLVER), run)
    grade(store, made, digest, run)
    (found,) = store.states((SOLVER,), "first")[SOLVER]
    assert (found.standing, found.outcome, found.blame) == (Standing.VOID, Outcome.VOID, Blame.HOST)


@pytest.mark.parametrize(
    ("fact", "standing", "blame"),
    [
        (OUTAGE, Standing.VOID, Blame.PROVIDER),
        (Unavailable(reason="wrong_answer"), Standing.UNAVAILABLE, None),
    ],
)
def test_a_try_without_a_submission_stands_as_its_void_says(
    tmp_path: Path, fact: VoidFact | Unavailable, standing: Standing, blame: Blame | None
) -> None:
    store = a_store(tmp_path, MANIFEST)
    end_void(store, begin(store, IDLER), fact)
    (found,) = store.states((IDLER,), "first")[IDLER]
    assert (found.standing, found.blame, found.interrupted) == (standing, blame, False)


def test_gradings_are_numbered_in_the_order_they_were_made(tmp_path: Path) -> None:
    store = a_store(tmp_path, MANIFEST)
    made, digest = submit(store, begin(store, SOLVER), Run())
    for _ in range(11):
        grade(store, made, digest, Run())
    (found,) = store.tries(SOLVER)
    assert [each.grading.id for each in found.gradings] == [f"grading-{number}" for number in range(1, 12)]
    first, latest = choose(found.gradings, "first"), choose(found.gradings, "latest")
    assert (first, latest) == (found.gradings[0], found.gradings[10])


def test_evidence_of_another_try_is_refused(tmp_path: Path) -> None:
    store = a_store(tmp_path, MANIFEST)
    attempt(store, SOLVER, Run())
    other = store.attempt_folder(IDLER)
    other.parent.mkdir(parents=True)
    store.attempt_folder(SOLVER).rename(other)
    with pytest.raises(SealBrokenError, match="solver"):
        store.tries(IDLER)
