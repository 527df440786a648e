"""Our corpus of what candidates may write to be known, or to win: tests/unit/judging/corpus, over attacks 131 to 153.

Each case is a change. `gone` texts must not be shown, `kept` ones must; `replaced` and `left` are the traces found,
`labels` what speaks to a judge, `flags` what else must be seen. Nothing that was written is ever dropped.
"""

import io
import json
import tokenize
from pathlib import Path
from typing import Any

import pytest

from runner.documents.judging import FlagKind, View
from runner.judging.changes import Content, FileChange
from runner.judging.languages import Language, language_of, prose, without
from runner.judging.letters import shown as visible
from runner.judging.render import Shown
from tests.unit.judging.showing import TASK, change, shown

CORPUS = Path(__file__).parent / "corpus"
Case = dict[str, Any]


def cases(*names: str) -> list[Any]:
    read = [each for name in names for each in json.loads((CORPUS / f"{name}.json").read_bytes())]
    return [pytest.param(each, id=f"{'-'.join(map(str, each['items']))}-{each['id']}") for each in read]


EVERY = cases("identity", "injection", "characters")


def changed(case: Case) -> FileChange:
    if "link" in case:
        target = Content(data=case["link"].encode(), link=True)
        return FileChange(path=case["path"].encode(), before=None, after=target)
    return change(case["path"], case["before"] or None, case["after"])


def rendered(case: Case, view: View = View.FULL) -> Shown:
    return shown(changed(case), view=view, task=case.get("task", TASK))


def added(page: Shown) -> list[str]:
    return [line[1:] for line in page.lines if line.startswith("+")]


@pytest.mark.parametrize("case", EVERY)
def test_what_must_not_be_seen_is_not_and_the_rest_is(case: Case) -> None:
    text = "\n".join(rendered(case).lines)
    assert [each for each in case.get("gone", ()) if each in text] == []
    assert [each for each in case.get("kept", ()) if each not in text] == []


@pytest.mark.parametrize("case", cases("identity"))
def test_traces_are_replaced_or_left_and_listed(case: Case) -> None:
    page = rendered(case)
    assert [each.trace for each in page.replaced] == case.get("replaced", [])
    assert [each.trace for each in page.left] == case.get("left", [])
    assert page.flagged(FlagKind.IDENTITY_LEFT) is bool(case.get("left"))
    for each in (*page.replaced, *page.left):
        assert 1 <= each.line <= len(page.lines)
        assert each.text


@pytest.mark.parametrize("case", cases("injection"))
def test_what_speaks_to_a_judge_is_labelled(case: Case) -> None:
    page = rendered(case)
    assert sorted({each.label for each in page.spoken}) == sorted(case["labels"])
    assert page.flagged(FlagKind.INJECTION) is bool(case["labels"])
    assert all(1 <= each.line <= len(page.lines) for each in page.spoken)


@pytest.mark.parametrize("case", cases("injection", "characters"))
def test_odd_characters_are_flagged(case: Case) -> None:
    odd = {FlagKind.HIDDEN_CHARACTERS, FlagKind.LOOKALIKES}
    assert sorted(kind for kind, _ in rendered(case).seen if kind in odd) == case.get("flags", [])


@pytest.mark.parametrize("case", EVERY)
def test_no_line_that_was_written_is_dropped(case: Case) -> None:
    page = rendered(case)
    if "agent_file" in case.get("replaced", ()) or "link" in case:
        return
    before = case["before"].split("\n")[:-1]
    wanted = [line for line in case["after"].split("\n")[:-1] if line not in before]
    assert len(added(page)) == len(wanted)
    if not page.replaced:
        assert added(page) == [visible(line)[0] for line in wanted]


def code_tokens(text: str) -> list[str]:
    bare = without(text, prose(Language.PYTHON, text))
    try:
        return [token.string for token in tokenize.generate_tokens(io.StringIO(bare).readline)]
    except (tokenize.TokenError, SyntaxError):
        return bare.split()


@pytest.mark.parametrize("case", [each for each in EVERY if language_of(each.values[0]["path"]) is Language.PYTHON])
def test_scrubbing_changes_no_token_of_code(case: Case) -> None:
    told = "\n".join((*added(rendered({**case, "before": ""})), ""))
    assert code_tokens(told) == code_tokens(
        "\n".join((*(visible(line)[0] for line in case["after"].split("\n")[:-1]), ""))
    )


@pytest.mark.parametrize("case", EVERY)
def test_the_view_without_comments_shows_no_more_of_it(case: Case) -> None:
    text = "\n".join(rendered(case, View.BARE).lines)
    assert [each for each in case.get("gone", ()) if each in text] == []


def test_in_the_view_without_comments_most_injections_are_gone() -> None:
    left = [
        each.id
        for each in cases("injection")
        if each.values[0]["labels"] and rendered(each.values[0], View.BARE).spoken
    ]
    assert {name.split("-", 1)[1] for name in left} <= IN_CODE


IN_CODE = {
    "in-a-string",
    "in-a-file-name",
    "in-a-name",
    "in-a-link",
    "winner-in-code",
    "refusal-string",
}
"""What stands in strings and names is code, and stays in every view."""


def test_the_corpus_is_as_large_as_it_should_be() -> None:
    items = {number for each in EVERY for number in each.values[0]["items"]}
    assert len(EVERY) >= 40
    assert {131, 132, 134, 135, 139, 140, 141, 142, 144, 146, 147, 148} <= items
