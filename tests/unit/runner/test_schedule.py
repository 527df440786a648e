"""Laws of what runs next, from what is sealed already."""

from dataclasses import dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.config import RetryPolicy
from runner.documents.facts import Blame
from runner.errors import BegunError
from runner.outcome import Outcome
from runner.schedule import (
    GRADINGS,
    INTERRUPTIONS,
    Action,
    Cell,
    Standing,
    TryState,
    left_to_do,
    next_step,
    plan,
    schedule,
)

CELL = Cell(candidate="oracle", nomination="slugs", attempt=1)
OTHER = Cell(candidate="nop", nomination="slugs", attempt=1)
DONE = TryState(number=1, standing=Standing.DONE, outcome=Outcome.COMPLETED)
UNAVAILABLE = TryState(number=1, standing=Standing.UNAVAILABLE, outcome=Outcome.UNAVAILABLE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """A release's re-run rule."""

    void_tries: int = 1
    void_blames: tuple[str, ...] = ("provider", "host", "runner")
    unavailable_tries: int = 1


def void(number: int = 1, blame: Blame = Blame.PROVIDER, *, interrupted: bool = False) -> TryState:
    return TryState(number=number, standing=Standing.VOID, outcome=Outcome.VOID, blame=blame, interrupted=interrupted)


def test_a_releases_retry_policy_is_a_rule() -> None:
    assert next_step(CELL, (void(),), RetryPolicy(void_tries=2)).action is Action.RUN


def test_what_was_never_begun_runs_in_the_order_given() -> None:
    steps = schedule((CELL, OTHER), {}, Rules())
    assert [(each.cell, each.action, each.number) for each in steps] == [
        (CELL, Action.RUN, 1),
        (OTHER, Action.RUN, 1),
    ]


def test_without_resume_evidence_is_refused_and_the_way_out_is_named() -> None:
    with pytest.raises(BegunError, match=r"oracle/slugs/attempt-1.*--resume"):
        schedule((CELL, OTHER), {CELL: (DONE,)}, Rules())


def test_evidence_of_attempts_that_are_not_asked_for_does_not_matter() -> None:
    (step,) = schedule((OTHER,), {CELL: (DONE,)}, Rules())
    assert step.action is Action.RUN


def test_resume_skips_what_is_done_and_says_why() -> None:
    (step,) = schedule((CELL,), {CELL: (DONE,)}, Rules(), resume=True)
    assert (step.action, step.why) == (Action.SKIP, "completed in try 1")


@pytest.mark.parametrize("standing", [Standing.OPEN, Standing.VOID])
def test_a_try_that_was_cut_before_a_model_worked_is_followed_by_the_next_whatever_the_rule_says(
    standing: Standing,
) -> None:
    cut = replace(void(blame=Blame.RUNNER, interrupted=True), standing=standing)
    (step,) = schedule((CELL,), {CELL: (cut,)}, Rules(void_blames=()), resume=True)
    lost = 1 if standing is Standing.OPEN else None
    assert (step.action, step.number, step.lost) == (Action.RUN, 2, lost)


@pytest.mark.parametrize("standing", [Standing.OPEN, Standing.VOID])
@pytest.mark.parametrize(
    ("rules", "action"),
    [
        (Rules(), Action.SKIP),
        (Rules(void_tries=2), Action.RUN),
        (Rules(void_tries=2, void_blames=("provider",)), Action.SKIP),
    ],
)
def test_the_rule_decides_about_a_try_that_was_cut_while_a_model_worked(
    standing: Standing, rules: Rules, action: Action
) -> None:
    cut = replace(void(blame=Blame.RUNNER, interrupted=True), worked=True, standing=standing)
    step = next_step(CELL, (cut,), rules)
    assert (step.action, step.lost) == (action, 1 if standing is Standing.OPEN else None)


@pytest.mark.parametrize("standing", [Standing.OPEN, Standing.VOID])
def test_what_cuts_every_try_of_an_attempt_is_no_accident(standing: Standing) -> None:
    cut = [void(number, Blame.RUNNER, interrupted=True) for number in range(1, INTERRUPTIONS + 1)]
    assert next_step(CELL, tuple(cut[:-1]), Rules()).action is Action.RUN
    assert next_step(CELL, (*cut[:-1], replace(cut[-1], standing=standing)), Rules()).action is Action.SKIP


def test_a_captured_submission_is_graded_without_a_model_run() -> None:
    captured = TryState(number=1, standing=Standing.CAPTURED)
    (step,) = schedule((CELL,), {CELL: (captured,)}, Rules(), resume=True)
    assert (step.action, step.number) == (Action.GRADE, 1)


@pytest.mark.parametrize(
    ("blame", "gradings", "action"),
    [
        (Blame.HOST, 1, Action.GRADE),
        (Blame.HOST, GRADINGS, Action.SKIP),
        (Blame.EVALUATOR, 1, Action.SKIP),
    ],
)
def test_a_faulty_grading_is_repeated_a_few_times_never_the_run(blame: Blame, gradings: int, action: Action) -> None:
    ungraded = TryState(number=1, standing=Standing.UNGRADED, blame=blame, gradings=gradings)
    step = next_step(CELL, (ungraded,), Rules(void_tries=9))
    assert (step.action, step.number) == (action, 1)


def test_by_default_a_void_is_not_repeated() -> None:
    step = next_step(CELL, (void(),), Rules())
    assert (step.action, step.why) == (Action.SKIP, "void in try 1; the release allows one try")


def test_a_void_is_repeated_as_often_as_the_release_allows() -> None:
    rules = Rules(void_tries=2)
    assert next_step(CELL, (void(),), rules).action is Action.RUN
    assert next_step(CELL, (void(), void(2)), rules).action is Action.SKIP


def test_a_void_that_would_happen_again_is_not_repeated() -> None:
    assert next_step(CELL, (void(blame=Blame.NOMINATION),), Rules(void_tries=5)).action is Action.SKIP


def test_unavailable_waits_for_its_own_option_and_the_rule() -> None:
    rules = Rules(unavailable_tries=2)
    (kept,) = schedule((CELL,), {CELL: (UNAVAILABLE,)}, rules, resume=True)
    assert (kept.action, kept.why) == (
        Action.SKIP,
        "unavailable in try 1; --retry-unavailable tries again",
    )
    (again,) = schedule((CELL,), {CELL: (UNAVAILABLE,)}, rules, retry_unavailable=True)
    assert (again.action, again.number) == (Action.RUN, 2)
    (used_up,) = schedule((CELL,), {CELL: (UNAVAILABLE,)}, Rules(), retry_unavailable=True)
    assert used_up.action is Action.SKIP


def test_a_plan_has_a_line_for_each_step_and_counts_what_is_left_alone() -> None:
    cut = TryState(number=1, standing=Standing.OPEN, worked=True)
    third = replace(CELL, attempt=2)
    tries = {CELL: (DONE,), third: (DONE,), OTHER: (cut,)}
    free = Cell(candidate="free", nomination="slugs", attempt=1)
    tries[free] = (replace(cut, worked=False),)
    steps = schedule((CELL, third, OTHER, free), tries, Rules(), resume=True)
    why = "try 1 was cut while its model worked; the release allows one try"
    assert list(plan(steps)) == [
        f"to do: nop/slugs/attempt-1: close try 1 as void ({why})",
        "to do: free/slugs/attempt-1: close try 1 as void, run try 2 (try 1 was cut before a model worked)",
        "nothing to do for 2 attempts: completed in try 1",
    ]
    assert [step.cell for step in left_to_do(steps)] == [OTHER, free]


STATES = st.builds(
    TryState,
    number=st.just(1),
    standing=st.sampled_from(list(Standing)),
    outcome=st.just(Outcome.VOID),
    blame=st.sampled_from([None, *Blame]),
    interrupted=st.booleans(),
    worked=st.booleans(),
    gradings=st.integers(0, 5),
)


@given(tries=st.lists(STATES, max_size=5), retry=st.booleans(), allowed=st.integers(1, 4))
def test_no_finished_attempt_ever_runs_again_and_no_try_is_overwritten(
    tries: list[TryState], allowed: int, *, retry: bool
) -> None:
    numbered = tuple(replace(each, number=number) for number, each in enumerate(tries, 1))
    step = next_step(CELL, numbered, Rules(void_tries=allowed), retry_unavailable=retry)
    if step.action is Action.RUN:
        assert step.number == len(numbered) + 1
        assert not numbered or numbered[-1].standing in {Standing.OPEN, Standing.VOID, Standing.UNAVAILABLE}
    else:
        assert step.number == len(numbered)
    assert step.why
