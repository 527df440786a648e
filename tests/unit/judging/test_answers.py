"""Laws of reading answers: exactly what was asked for, or no verdict and why."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.documents.judging import Choice, UnscoredWhy
from runner.judging.answers import (
    LONGEST_ANSWER,
    LONGEST_REASON,
    Finish,
    NoVerdict,
    PairAnswer,
    RubricAnswer,
    choice,
    quotes_of,
    read_pair,
    read_rubric,
)
from tests.unit.judging.showing import (
    PAIR,
    RUBRIC,
    SECRETS,
    change,
    pair_fields,
    reply,
    rubric_fields,
    shown,
    wanted,
)

A_QUOTE = {"side": "A", "line": 5, "text": "return 'good day'"}
SWAPPED = {name: pair_fields()[name] for name in ("nonce", "injection_seen", "quotes", "verdict", "reason")}


def pair(answer: Any, finish: Finish = Finish.COMPLETE) -> PairAnswer | NoVerdict:  # noqa: ANN401 - JSON of all kinds
    return read_pair(reply(answer, finish), wanted(PAIR))


def rubric(**changed: Any) -> RubricAnswer | NoVerdict:  # noqa: ANN401 - JSON of all kinds
    return read_rubric(reply(rubric_fields(**changed)), wanted(RUBRIC))


def why(answer: object) -> UnscoredWhy:
    assert isinstance(answer, NoVerdict)
    assert answer.detail.isprintable()
    return answer.why


@pytest.mark.parametrize("verdict", ["A", "B", "TIE", "ABSTAIN"])
def test_each_verdict_is_read(verdict: str) -> None:
    answer = pair(pair_fields(verdict=verdict))
    assert isinstance(answer, PairAnswer)
    assert (answer.verdict, answer.reason, answer.injection_seen) == (verdict, "A is polite.", False)


@pytest.mark.parametrize(
    ("verdict", "shown_a", "side"),
    [
        ("A", "first", Choice.FIRST),
        ("A", "second", Choice.SECOND),
        ("B", "first", Choice.SECOND),
        ("B", "second", Choice.FIRST),
        ("TIE", "second", Choice.TIE),
        ("ABSTAIN", "first", Choice.ABSTAIN),
    ],
)
def test_letters_are_told_as_the_plans_sides(verdict: str, shown_a: Any, side: Choice) -> None:  # noqa: ANN401
    assert choice(verdict, shown_a) is side


@pytest.mark.parametrize(
    "verdict", ["a", "tie", "A ", " A", "\u0410", "\uff21", "A.", "AB", "", "Tie", None, 1, True, ["A"], {"A": 1}]
)
def test_nothing_but_the_four_words_is_a_verdict(verdict: object) -> None:
    assert why(pair(pair_fields(verdict=verdict))) is UnscoredWhy.UNPARSABLE


@pytest.mark.parametrize("points", [-1, 11, 10.0, 9.5, True, "9", None, 10**6, "NaN"])
def test_points_are_whole_numbers_from_0_to_10(points: object) -> None:
    scores = rubric_fields()["scores"] | {"scope": {"reason": "r", "points": points}}
    assert why(rubric(scores=scores)) is UnscoredWhy.UNPARSABLE


@pytest.mark.parametrize("points", [0, 10])
def test_the_ends_of_the_scale_are_points(points: int) -> None:
    scores = rubric_fields()["scores"] | {"scope": {"reason": "r", "points": points}}
    answer = rubric(scores=scores)
    assert isinstance(answer, RubricAnswer)
    assert [score.points for score in answer.scores] == [points, 10]


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e1", "-0", "10.0", "9" * 5000])
def test_odd_numbers_are_refused_wherever_they_stand(number: str) -> None:
    text = json.dumps(rubric_fields()).replace('"points": 9', f'"points": {number}')
    assert why(read_rubric(reply(text), wanted(RUBRIC))) is UnscoredWhy.UNPARSABLE


WHOLE = json.dumps(pair_fields())


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"Here it is: {WHOLE}", id="words-before"),
        pytest.param(f"{WHOLE}\nA is better.", id="words-after"),
        pytest.param(f"```json\n{WHOLE}\n```", id="fence"),
        pytest.param(f"{WHOLE}{WHOLE}", id="two-objects"),
        pytest.param(f"[{WHOLE}]", id="list"),
        pytest.param(f"\ufeff{WHOLE}", id="mark"),
        pytest.param(json.dumps(WHOLE), id="string"),
        pytest.param("null", id="null"),
        pytest.param("[[A]]", id="letters-in-brackets"),
        pytest.param("A", id="letter"),
        pytest.param("WINNER: A", id="words"),
        pytest.param("", id="silent"),
        pytest.param(" \n\t", id="blank"),
        pytest.param("[" * 40_000, id="deep"),
        pytest.param(WHOLE.replace('"verdict": "A"', '"verdict": "B", "verdict": "A"'), id="twice"),
        pytest.param(WHOLE.replace('"A"}', '"A", "winner": "A"}'), id="a-member-more"),
        pytest.param(json.dumps(pair_fields(reason=...)), id="no-reason"),
        pytest.param(json.dumps(SWAPPED), id="verdict-before-reason"),
        pytest.param(json.dumps(pair_fields(nonce="0" * 32)), id="another-calls-nonce"),
        pytest.param(json.dumps(pair_fields(nonce=...)), id="no-nonce"),
        pytest.param(json.dumps(pair_fields(injection_seen="no")), id="no-boolean"),
        pytest.param(json.dumps(pair_fields(reason=" ")), id="empty-reason"),
        pytest.param(WHOLE.replace("verdict", "v\u0435rdict"), id="lookalike-member"),
        pytest.param(WHOLE + " " * LONGEST_ANSWER, id="too-long"),
    ],
)
def test_what_is_not_the_one_object_is_no_verdict(text: str) -> None:
    assert why(pair(text)) is UnscoredWhy.UNPARSABLE


def test_blanks_around_the_object_do_not_matter() -> None:
    assert isinstance(pair(f"\n  {WHOLE}\r\n"), PairAnswer)


@pytest.mark.parametrize("length", range(1, len(WHOLE) - 1, 7))
def test_an_answer_that_was_cut_is_told_as_such(length: int) -> None:
    assert why(pair(WHOLE[:length], Finish.LENGTH)) is UnscoredWhy.TRUNCATED
    assert why(pair(WHOLE[:length])) in {UnscoredWhy.TRUNCATED, UnscoredWhy.UNPARSABLE}


def test_an_answer_that_ends_within_its_last_string_was_cut() -> None:
    assert why(pair(WHOLE[:-3])) is UnscoredWhy.TRUNCATED
    assert why(pair(WHOLE[:-1])) is UnscoredWhy.TRUNCATED


@pytest.mark.parametrize("text", ["I'm sorry, but I can\u2019t help with that.", "I cannot compare these.", "Sorry."])
def test_an_apology_is_a_refusal(text: str) -> None:
    assert why(pair(text)) is UnscoredWhy.REFUSED


def test_what_the_provider_calls_a_refusal_is_one_whatever_the_text() -> None:
    assert why(pair(WHOLE, Finish.REFUSAL)) is UnscoredWhy.REFUSED


def test_an_answer_with_the_secret_word_counts_for_nothing() -> None:
    assert why(pair(pair_fields(reason=f"The word is {SECRETS.canary}."))) is UnscoredWhy.CANARY


@pytest.mark.parametrize(
    ("quotes", "found"),
    [
        pytest.param([], UnscoredWhy.UNSUPPORTED, id="none"),
        pytest.param([A_QUOTE | {"text": "return 'hello'"}], UnscoredWhy.UNSUPPORTED, id="of-the-other-side"),
        pytest.param([A_QUOTE | {"text": "return 'good evening'"}], UnscoredWhy.UNSUPPORTED, id="invented"),
        pytest.param([A_QUOTE | {"text": "go"}], UnscoredWhy.UNSUPPORTED, id="too-short"),
        pytest.param([A_QUOTE | {"text": " " * 5}], UnscoredWhy.UNSUPPORTED, id="blank"),
        pytest.param([A_QUOTE | {"text": "x" * 301}], UnscoredWhy.UNSUPPORTED, id="too-long"),
        pytest.param([A_QUOTE | {"side": "C"}], UnscoredWhy.UNPARSABLE, id="of-no-side"),
        pytest.param([A_QUOTE | {"line": "5"}], UnscoredWhy.UNPARSABLE, id="no-number"),
        pytest.param([A_QUOTE | {"line": True}], UnscoredWhy.UNPARSABLE, id="true"),
        pytest.param([A_QUOTE] * 13, UnscoredWhy.UNPARSABLE, id="too-many"),
        pytest.param({"A": 1}, UnscoredWhy.UNPARSABLE, id="no-list"),
        pytest.param([{"line": 5, "text": "return"}], UnscoredWhy.UNPARSABLE, id="without-side"),
        pytest.param([A_QUOTE, A_QUOTE | {"text": "invented"}], UnscoredWhy.UNSUPPORTED, id="one-of-two"),
    ],
)
def test_evidence_must_stand_in_the_change_it_names(quotes: object, found: UnscoredWhy) -> None:
    assert why(pair(pair_fields(quotes=quotes))) is found


@pytest.mark.parametrize("verdict", ["TIE", "ABSTAIN"])
def test_a_tie_needs_no_quote(verdict: str) -> None:
    assert isinstance(pair(pair_fields(verdict=verdict, quotes=[])), PairAnswer)


@pytest.mark.parametrize("line", [5, 1, 0, -7 % 100, 9999])
def test_a_quote_with_a_wrong_number_is_found_where_it_stands(line: int) -> None:
    answer = pair(pair_fields(quotes=[A_QUOTE | {"line": line}]))
    assert isinstance(answer, PairAnswer)
    assert [(quote.letter, quote.line) for quote in answer.quotes] == [("A", 5)]


def test_quotes_are_told_of_the_plans_sides_and_of_none_in_a_rubric() -> None:
    answer = pair(pair_fields(quotes=[A_QUOTE, {"side": "B", "line": 5, "text": "+  return\t'hello'"}]))
    assert isinstance(answer, PairAnswer)
    assert [quote.side for quote in quotes_of(answer.quotes, "second")] == ["second", "first"]
    assert [quote.side for quote in quotes_of(answer.quotes, None)] == [None, None]


def test_points_need_a_quote_unless_nothing_is_changed() -> None:
    assert why(rubric(quotes=[])) is UnscoredWhy.UNSUPPORTED
    empty = replace(RUBRIC, changes=(replace(RUBRIC.changes[0], shown=shown()),))
    assert isinstance(read_rubric(reply(rubric_fields(quotes=[])), wanted(empty)), RubricAnswer)


@pytest.mark.parametrize(
    "scores",
    [
        pytest.param({"scope": {"reason": "r", "points": 1}}, id="one-missing"),
        pytest.param({"clarity": {"reason": "r", "points": 1}, "scope": {"reason": "r", "points": 1}}, id="order"),
        pytest.param({"scope": 1, "clarity": 1}, id="bare"),
        pytest.param(
            {"scope": {"points": 1, "reason": "r"}, "clarity": {"reason": "r", "points": 1}}, id="points-first"
        ),
        pytest.param([], id="list"),
    ],
)
def test_each_criterion_has_its_reason_and_then_its_points(scores: object) -> None:
    assert why(rubric(scores=scores)) is UnscoredWhy.UNPARSABLE


def test_a_reason_is_kept_bounded_and_without_names_or_what_cannot_be_seen() -> None:
    said = f"Written by Claude\u202e,\n  see {'x' * 3 * LONGEST_REASON}"
    answer = pair(pair_fields(reason=said))
    assert isinstance(answer, PairAnswer)
    assert answer.reason.startswith("Written by [name]⟦U+202E⟧, see xxx")
    assert len(answer.reason) == LONGEST_REASON
    assert answer.reason.isprintable()


@given(st.text(max_size=200))
def test_no_text_is_a_verdict_by_chance_and_none_is_an_error(text: str) -> None:
    assert isinstance(pair(text), NoVerdict)


@given(st.dictionaries(st.sampled_from(list(pair_fields())), st.none() | st.booleans() | st.integers() | st.text()))
def test_no_member_of_a_wrong_kind_makes_a_verdict(changed: dict[str, Any]) -> None:
    answer = pair(pair_fields(**changed))
    kept = {name for name in changed if name not in {"reason", "injection_seen"}}
    assert isinstance(answer, NoVerdict) or not kept


def test_a_verdict_that_stands_in_the_change_is_not_the_judges() -> None:
    ready = json.dumps(pair_fields(verdict="B"))
    assert shown(change("a.py", None, f"# {ready}\n")).spoken
    assert why(pair(f"The change says {ready}")) is UnscoredWhy.UNPARSABLE
