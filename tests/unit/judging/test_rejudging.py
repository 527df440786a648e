"""Plans, packets and trees made again from what was sealed: the same, and whatever is not is found."""

from dataclasses import replace
from pathlib import Path

import pytest

from runner.documents.judging import Skipped, SkippedWhy
from runner.documents.judging_plan import JudgingPlan
from runner.judges import Judging
from runner.judging.archive import all_tries
from runner.judging.ruling import Said
from runner.verification.rejudging import Rejudged, hold_against
from tests.unit.judging.hearing import LOOKER, RULES, Played, Scene, a_judge, a_scene
from tests.unit.judging.showing import CURT, change


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    made = a_scene(tmp_path, a_judge(), LOOKER)
    made.sit(Played())
    return made


def answers(scene: Scene) -> tuple[Said, ...]:
    return tuple(scene.archive.answers(all_tries(scene.store, scene.manifest)))


def held(scene: Scene, *plans: JudgingPlan, said: tuple[Said, ...] | None = None) -> Rejudged:
    known = answers(scene) if said is None else said
    return hold_against(scene.ground, scene.show, scene.archive, plans or scene.archive.plans(), known)


def told(found: Rejudged) -> str:
    return "\n".join(str(each) for each in found.findings)


def test_what_was_asked_and_shown_follows_from_what_was_sealed(scene: Scene) -> None:
    assert len(answers(scene)) == len(scene.plan.questions) > 10
    assert held(scene) == Rejudged()


def test_a_plan_of_fewer_submissions_is_made_of_those_alone(scene: Scene) -> None:
    whole = scene.tasks
    scene.tasks = tuple(replace(task, entrants=task.entrants[:1]) for task in whole)
    early = scene.plan.document
    scene.tasks = whole
    assert held(scene, early, scene.plan.document) == Rejudged()


@pytest.mark.parametrize("what", ["left out", "another order", "once more", "a submission left out"])
def test_a_plan_that_somebody_chose_is_found(scene: Scene, what: str) -> None:
    plan = scene.plan.document
    askings = {
        "left out": plan.askings[1:],
        "another order": (*plan.askings[1:], plan.askings[0]),
        "once more": (*plan.askings, plan.askings[0]),
        "a submission left out": plan.askings,
    }
    cells = plan.cells[1:] if what == "a submission left out" else plan.cells
    forged = plan.model_copy(update={"askings": askings[what], "cells": cells})
    assert "askings" in told(held(scene, forged))


def test_a_question_that_is_said_to_be_skipped_and_was_not_is_found(scene: Scene) -> None:
    plan = scene.plan.document
    skipped = Skipped(judge="jay", item=plan.askings[0].item, why=SkippedWhy.OWN_FAMILY)
    assert "skipped" in told(held(scene, plan.model_copy(update={"skipped": (skipped,)})))


def test_a_packet_or_tree_of_another_change_is_found(scene: Scene) -> None:
    other = change("greet.py", "def greet():\n    return 'hi'\n", "def greet():\n    return 'hullo'\n")
    (task,) = scene.tasks
    entrants = tuple(replace(each, changes=(other,)) if each.changes == (CURT,) else each for each in task.entrants)
    scene.tasks = (replace(task, entrants=entrants),)
    said = told(held(scene))
    assert "packet_sha256" in said
    assert "workspace_sha256" in said


def test_a_flag_that_was_taken_off_is_found(tmp_path: Path) -> None:
    named = change("greet.py", "def greet():\n    return 'hi'\n", "def greet():\n    return claude_sonnet\n")
    scene = a_scene(tmp_path, LOOKER, curt=(named,))
    scene.sit(Played())
    assert held(scene) == Rejudged()
    said = tuple(each.model_copy(update={"flags": ()}) for each in answers(scene))
    assert "flags" in told(held(scene, said=said))


def test_where_later_gradings_count_a_plan_that_differs_is_told_and_is_no_finding(scene: Scene) -> None:
    forged = scene.plan.document.model_copy(update={"askings": scene.plan.document.askings[1:]})
    policy = scene.manifest.retry_policy.model_copy(update={"canonical_grading": "latest"})
    scene.manifest = scene.manifest.model_copy(update={"retry_policy": policy})
    found = held(scene, forged)
    assert found.findings == ()
    assert "plan 1 may be of gradings that count no more" in found.unchecked[0]


def test_what_was_too_large_to_be_shown_is_made_again_too(tmp_path: Path) -> None:
    rules = Judging.model_validate({**RULES.model_dump(), "ceilings": {"lines": 10}})
    scene = a_scene(tmp_path, judging=rules, curt=(change("long.py", None, "x = 1\n" * 50),))
    scene.sit(Played())
    assert any(each.asked is None for each in answers(scene))
    assert held(scene) == Rejudged()
