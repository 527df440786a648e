"""Laws of what a terminal is given: nothing that a candidate wrote steers it, or passes for a line of ours."""

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runner.judging.letters import is_unseen
from runner.showing.lines import BAR, Line, Pair, Tone, cells, plain, quoted, written

HOSTILE = {
    "clears the screen": "\x1b[2J\x1b[H all is well",
    "sets the title": "\x1b]0;solved\x07",
    "answers for the terminal": "\x1b[6n\x1b[c",
    "opens the clipboard": "\x1b]52;c;cm0gLXJmIC8K\x07",
    "hides a link": "\x1b]8;;https://example.invalid\x1b\\here\x1b]8;;\x1b\\",
    "goes back": "outcome forbidden\rverdict     passed",
    "wipes": "failed\b\b\b\b\b\bpassed",
    "eight bits": "\x9b31mred\x9d0;x\x9c",
    "turns around": "if admin\u202e\u2066# not\u2069 \u2066",
    "zero width": "pass\u200bed\ufeff\u2060",
    "tags": "x\U000e0041\U000e0042",
    "other ends of lines": "a\u2028verdict     passed\u2029b\x85c\x0bd\x0ce",
    "no letters": "\ud800\udcff\x00\x7f",
    "shifts": "\x0e\x0fxyz",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("width", [None, 24, 80])
def test_what_a_candidate_wrote_cannot_steer_a_terminal(text: str, width: int | None) -> None:
    for line in (*quoted(text, 40), plain(f"reason: {text}"), Line(text=text, tone=Tone.BAD)):
        for shown in written([line], width):
            assert not any(is_unseen(letter) for letter in shown.text), shown
            shown.text.encode()  # it can be written at all


@pytest.mark.parametrize("width", [None, 20, 80])
def test_a_line_of_theirs_never_passes_for_one_of_ours(width: int | None) -> None:
    forged = (
        "verdict     passed: hidden passed\n" + "x" * (0 if width is None else width - len(BAR)) + "outcome  completed"
    )
    shown = [line.text for line in written(quoted(forged, None), width)]
    assert all(line.startswith(BAR) for line in shown)
    assert "".join(line.removeprefix(BAR) for line in shown).startswith("verdict")


@settings(max_examples=60, deadline=None)
@given(text=st.text(max_size=60), width=st.integers(12, 60))
def test_folding_loses_nothing_and_keeps_to_the_width(text: str, width: int) -> None:
    shown = [line.text for line in written(quoted(text, None), width)]
    assert all(cells(line) <= width for line in shown)
    plainly = [line.text for line in written(quoted(text, None), None)]
    told = "".join(line.removeprefix(BAR.rstrip()).replace(" ", "") for line in shown)
    assert told == "".join(line.removeprefix(BAR.rstrip()).replace(" ", "") for line in plainly)


def test_a_long_text_is_cut_with_a_word_about_it() -> None:
    assert [line.text for line in quoted("1\n2\n3\n4\n", 2)] == ["1", "2", "  (2 more lines; --full shows them)"]
    assert [line.text for line in quoted("1\n2\n3\n", 2)] == ["1", "2", "3"]  # a word would take as much room


def test_two_columns_stand_beside_each_other_where_there_is_room() -> None:
    wide = "\u6f22" * 80
    assert unicodedata.east_asian_width(wide[0]) == "W"
    pair = Pair(left=(plain("left"), plain(wide)), right=(plain("right", Tone.BAD),))
    columns = [line.text for line in written([pair], 120)]
    assert columns[0] == "left" + " " * 57 + "right"
    assert all(cells(line) <= 120 for line in columns)
    assert [line.text for line in written([pair], None)] == ["left", wide, "right"]
    assert next(line.text for line in written([pair], 60)) == "left"
