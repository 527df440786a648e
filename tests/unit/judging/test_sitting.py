"""Questions put to judges: what is kept, what is asked again, what is never asked twice."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from runner.artifacts import read_sealed
from runner.canonical import sha256
from runner.documents.judging import ControlItem, PairVerdict, RubricVerdict, Unscored, UnscoredWhy
from runner.gateway.errors import GatewayError
from runner.judges import Ceilings, Judging
from runner.judging.archive import ANSWER, LEDGER, OPEN, all_tries
from runner.judging.sitting import KILLED
from runner.judging.tables import judged
from runner.judging.terms import terms_of
from tests.unit.judging.hearing import LOOKER, Played, Scene, a_fixture, a_judge, a_scene, even
from tests.unit.judging.showing import CURT, change
from tests.unit.runner.evidence_maker import GREET


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return a_scene(tmp_path)


def said(scene: Scene) -> list[RubricVerdict | PairVerdict | Unscored]:
    return list(scene.archive.answers(all_tries(scene.store, scene.manifest)))


def test_every_question_gets_its_document_and_sealed_folders_stay(scene: Scene) -> None:
    sealed = [path.parent for path in scene.store.root.rglob("SEAL.json")]
    digests = {folder: read_sealed(folder).digest for folder in sealed}
    judges = Played()
    tally = scene.sit(judges).tally
    plan = scene.plan.document
    assert (tally.calls, tally.verdicts) == (len(plan.askings), len(plan.askings))
    assert {folder: read_sealed(folder).digest for folder in sealed} == digests
    kinds = {each.item.kind for each in said(scene)}
    assert kinds == {"rubric", "pairwise", "control"}
    points = [each for each in said(scene) if isinstance(each, RubricVerdict)]
    assert [each.points for each in points] == [{"scope": 7}] * 2
    assert all(scene.archive.folder(each).parent.name == "judges" for each in points)


def test_a_judge_that_looks_around_gets_a_tree_for_points_and_packets_for_controls(tmp_path: Path) -> None:
    scene = a_scene(tmp_path, LOOKER)
    judges = Played()
    scene.sit(judges)
    points = [each for each in said(scene) if isinstance(each, RubricVerdict)]
    assert (len(points), {each.item.kind for each in said(scene)}) == (2, {"rubric", "control"})
    trees = [tree for tree in judges.trees if tree is not None]
    assert len(trees) == len(points)
    for (_, prompt), tree in zip(judges.asked, judges.trees, strict=True):
        assert ("lies in the folder `/work`" in prompt) is (tree is not None)
    told = {each.asked.workspace_sha256 for each in said(scene) if each.asked is not None}
    records = {path.parent.name: path.read_bytes() for path in scene.archive.top.glob("workspaces/*/record.json")}
    assert told == {None, *records}
    assert all(sha256(data) == name for name, data in records.items())


def test_what_was_asked_of_another_tree_is_asked_again(tmp_path: Path) -> None:
    scene = a_scene(tmp_path, LOOKER)
    scene.sit(Played())
    again = Played()
    scene.sit(again)
    assert again.asked == []
    fixture = a_fixture({"greet.py": GREET, "more.py": b"more = 1\n"})
    scene.tasks = tuple(replace(task, fixture=fixture) for task in scene.tasks)
    scene.sit(again)
    assert [tree is not None for tree in again.trees] == [True, True]


def test_a_change_with_a_name_in_its_code_is_shown_in_a_tree_and_counts_in_no_blind_mean(tmp_path: Path) -> None:
    named = change("greet.py", GREET.decode(), "def greet():\n    return claude_sonnet\n")
    scene = a_scene(tmp_path, LOOKER, curt=(named,))
    scene.sit(Played())
    points = {each.item.cell.candidate: each for each in said(scene) if isinstance(each, RubricVerdict)}
    assert {name: each.blind for name, each in points.items()} == {"solver": True, "idler": False}


def test_what_a_call_took_stands_in_its_document_and_its_ledger_beside(scene: Scene) -> None:
    scene.sit(Played())
    one = next(each for each in said(scene) if isinstance(each, PairVerdict))
    assert one.asked.cost == "0.01"
    assert (one.asked.tokens.input, one.asked.tokens.output) == (100, 20)
    assert one.asked.model == "m/jay"
    folders = [path.parent for path in scene.store.root.rglob(LEDGER) if "judg" in str(path)]
    assert len(folders) == len(said(scene))


def test_no_document_holds_what_a_judge_wrote_and_it_is_kept_beside(scene: Scene) -> None:
    scene.sit(Played(nature=lambda _prompt, _calls: "I think they are SPLENDID"))
    documents = list(scene.store.root.rglob("unscored.json"))
    assert documents
    assert all(b"SPLENDID" not in path.read_bytes() for path in documents)
    assert all(b"SPLENDID" in path.with_name(ANSWER).read_bytes() for path in documents)


def test_a_garbled_answer_is_asked_for_again_under_the_next_number(scene: Scene) -> None:
    judges = Played(nature=lambda prompt, calls: "well" if calls == 1 else even(prompt, calls))
    tally = scene.sit(judges).tally
    assert tally.calls == len(scene.plan.questions) + 1
    assert not tally.unscored
    none = [each for each in said(scene) if isinstance(each, Unscored)]
    assert [(each.why, each.asked.number) for each in none if each.asked] == [(UnscoredWhy.UNPARSABLE, 1)]
    again = [each for each in said(scene) if each.item == none[0].item and not isinstance(each, Unscored)]
    assert [each.asked.number for each in again] == [2]
    first, second = (prompt for _, prompt in judges.asked[:2])
    assert first != second


def test_answers_to_one_asking_are_bounded_and_none_is_a_zero(scene: Scene) -> None:
    tally = scene.sit(Played(nature=lambda _prompt, _calls: "")).tally
    assert tally.calls == 2 * len(scene.plan.questions)
    assert tally.unscored == {UnscoredWhy.UNPARSABLE: len(scene.plan.questions)}
    assert all(isinstance(each, Unscored) for each in said(scene))


def test_nothing_is_asked_twice(scene: Scene) -> None:
    scene.sit(Played())
    again = Played()
    assert scene.sit(again).tally.calls == 0
    assert again.asked == []


def test_a_silent_judge_is_left_alone_and_the_rest_is_asked_later(scene: Scene) -> None:
    silent = Played(nature=lambda _prompt, _calls: None)
    tally = scene.sit(silent).tally
    assert len(silent.asked) == 3
    assert tally.left > 0
    late = scene.sit(Played()).tally
    assert late.left == 0
    assert late.verdicts == len(scene.plan.questions) - 1
    none = [each for each in said(scene) if isinstance(each, Unscored)]
    assert {each.why for each in none} == {UnscoredWhy.PROVIDER}


def test_a_call_that_was_killed_counts_as_an_answer_and_keeps_its_ledger(scene: Scene) -> None:
    with pytest.raises(GatewayError):
        scene.sit(Played(dies_at=2))
    assert len(list((scene.archive.top / OPEN).iterdir())) == 1
    scene.sit(Played())
    lost = [each for each in said(scene) if isinstance(each, Unscored)]
    assert [each.detail for each in lost] == [KILLED]
    assert lost[0].asked is not None
    assert lost[0].asked.cost == "0.01"
    assert list((scene.archive.top / OPEN).iterdir()) == []


def test_nobody_is_asked_about_what_is_too_large(tmp_path: Path) -> None:
    many = change("greet.py", "", "".join(f"x = {number}\n" for number in range(40)))
    judging = Judging(second_view="never", ceilings=Ceilings(lines=20))
    scene = a_scene(tmp_path, a_judge(), judging=judging, curt=(many,))
    judges = Played()
    scene.sit(judges)
    large = [each for each in said(scene) if isinstance(each, Unscored)]
    assert {each.why for each in large} == {UnscoredWhy.TOO_LARGE}
    assert all(each.asked is None for each in large)
    assert not any("x = 39" in prompt for _, prompt in judges.asked)
    assert scene.sit(Played()).tally.calls == 0


def test_a_summary_is_made_of_what_the_last_plan_asks_for(scene: Scene) -> None:
    scene.sit(Played())
    told = judged(scene.store, scene.manifest)
    assert len(told.documents) == len(scene.plan.questions)
    digest = scene.tasks[0].entrants[0].cell.submission_sha256
    assert told.lengths[digest] == 2
    assert terms_of(scene.manifest).manifest_sha256 == scene.store.manifest_sha256


def test_what_judges_are_asked_holds_no_name_and_no_hidden_result(scene: Scene) -> None:
    judges = Played()
    scene.sit(judges)
    words = json.dumps([prompt for _, prompt in judges.asked])
    assert not any(word in words for word in ("solver", "idler", "hidden", "completed", "0.25"))
    assert sum(isinstance(each.item, ControlItem) for each in said(scene)) == 6
    assert CURT.path.decode() in words
