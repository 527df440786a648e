"""Laws of hidden controls: made as their kind says, and enough of each."""

import ast

import pytest

from runner.documents.judging import Cell, Choice, ControlKind, FlagKind, View
from runner.judges import ControlBounds
from runner.judging.altering import null, truncated, with_comments
from runner.judging.changes import Content, FileChange
from runner.judging.hidden_controls import (
    EXPECTED,
    INJECTIONS,
    Control,
    Source,
    plan_controls,
)
from tests.unit.judging.showing import change, shown

KEY = b"release-1"
OLD = "def total(values):\n    result = 0\n    return result\n"
NEW = "def total(values):\n    result = 0\n    for value in values:\n        result += value\n    return result\n"
WORK = (change("total.py", OLD, NEW), change("log.md", "a\n", "b\n"))
CELL = Cell(candidate="c", nomination="n", attempt=1, try_=1, submission_sha256="0" * 64)
SOURCES = (
    Source(nomination="n", cell=CELL, changes=WORK),
    Source(nomination="n", cell=None, changes=WORK, loser=(change("total.py", OLD, OLD + "x = 1\n"),)),
)
CONTROLS = plan_controls(SOURCES, 100, 5, "j", KEY)


def of(kind: ControlKind) -> list[Control]:
    return [control for control in CONTROLS if control.item.control is kind]


def text(changes: tuple[FileChange, ...]) -> str:
    after = changes[0].after
    assert after is not None
    return after.data.decode()


def test_there_are_at_least_five_percent_of_every_kind_each_with_its_right_verdict() -> None:
    assert {kind: len(of(kind)) for kind in ControlKind} == dict.fromkeys(ControlKind, 5)
    assert {control.item.control: control.item.expected for control in CONTROLS} == EXPECTED
    assert {kind for kind, choice in EXPECTED.items() if choice is Choice.TIE} == {
        ControlKind.IDENTICAL,
        ControlKind.PADDED,
        ControlKind.INJECTED,
    }


@pytest.mark.parametrize(("askings", "count"), [(0, 0), (1, 1), (20, 1), (21, 2), (400, 20)])
def test_their_number_follows_the_askings(askings: int, count: int) -> None:
    assert len(plan_controls(SOURCES, askings, 5, "j", KEY)) == count * len(ControlKind)


def test_they_are_the_same_for_the_same_release_and_others_for_another_judge() -> None:
    assert plan_controls(SOURCES, 100, 5, "j", KEY) == CONTROLS
    assert plan_controls(SOURCES, 100, 5, "k", KEY) != CONTROLS


def test_both_sides_come_first_somewhere() -> None:
    many = plan_controls(SOURCES, 1000, 5, "j", KEY)
    for kind in ControlKind:
        assert {control.item.shown_a for control in many if control.item.control is kind} == {"first", "second"}


def test_an_identical_pair_is_the_same_change_twice() -> None:
    assert all(control.first == control.second == WORK for control in of(ControlKind.IDENTICAL))


@pytest.mark.parametrize("kind", [ControlKind.PADDED, ControlKind.INJECTED])
def test_padded_and_injected_copies_are_longer_and_the_same_program(kind: ControlKind) -> None:
    for control in of(kind):
        assert control.second[1:] == control.first[1:]
        assert len(text(control.second)) > len(text(control.first))
        assert ast.dump(ast.parse(text(control.second))) == ast.dump(ast.parse(text(control.first)))
        assert shown(*control.first, view=View.BARE).lines == shown(*control.second, view=View.BARE).lines


def test_every_injection_of_ours_is_found_by_the_scan() -> None:
    for line in INJECTIONS:
        altered = with_comments(WORK, [line])
        assert altered is not None
        assert shown(*altered).flagged(FlagKind.INJECTION), line


def test_the_known_winner_stands_beside_what_is_known_to_be_wrong() -> None:
    assert {(control.first, control.second) for control in of(ControlKind.KNOWN_WINNER)} == {
        (SOURCES[1].changes, SOURCES[1].loser)
    }


@pytest.mark.parametrize("comment", ["", ":", "Thought process:"])
def test_a_null_patch_changes_no_code(comment: str) -> None:
    idle = null(WORK, comment)
    assert len(idle) == (1 if comment else 0)
    assert all(ast.dump(ast.parse(text((each,)))) == ast.dump(ast.parse(OLD)) for each in idle)
    assert shown(*idle, view=View.BARE).lines in {(), ("@ total.py: changed",)}


@pytest.mark.parametrize(
    ("changes", "left"),
    [
        pytest.param(WORK, {"log.md": "b\n"}, id="two-files"),
        pytest.param(WORK[:1], {"total.py": OLD.replace("= 0\n", "= 0\n    for value in values:\n")}, id="one-file"),
        pytest.param((change("a.py", None, "a\nb\nc\nd\n"),), {"a.py": "a\nb\n"}, id="new-file"),
        pytest.param((change("a.py", "x\n", "y\n"),), {"a.py": ""}, id="one-line"),
        pytest.param((change("a.py", None, "a\n"),), {}, id="one-new-line"),
        pytest.param((change("a.py", "x\n", None), change("b.py", "x\n", None)), {"a.py": None}, id="removals"),
        pytest.param((), {}, id="nothing"),
    ],
)
def test_a_truncated_patch_is_the_beginning_of_one(
    changes: tuple[FileChange, ...], left: dict[str, str | None]
) -> None:
    cut = truncated(changes)
    assert {each.path.decode(): each.after and each.after.data.decode() for each in cut} == left
    assert cut != changes or not changes


def test_a_binary_file_or_a_link_is_kept_or_cut_whole() -> None:
    binary = FileChange(path=b"a.bin", before=None, after=Content(data=b"\0"))
    link = FileChange(path=b"b", before=None, after=Content(data=b"c", link=True))
    assert truncated((binary, link)) == (binary,)
    assert with_comments((binary, link), ["x"]) is None


def test_where_nothing_can_be_commented_no_such_control_is_made() -> None:
    source = Source(nomination="n", cell=CELL, changes=(change("a.json", "1\n", "2\n"),))
    kinds = {control.item.control for control in plan_controls((source,), 100, 5, "j", KEY)}
    assert kinds == {ControlKind.IDENTICAL, ControlKind.NULL_PATCH, ControlKind.TRUNCATED_PATCH}


def test_each_kind_has_its_own_bound() -> None:
    assert {kind: ControlBounds(**{str(kind): 7}).of(kind) for kind in ControlKind} == dict.fromkeys(ControlKind, 7)
