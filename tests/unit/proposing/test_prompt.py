"""A prompt's draft gives nothing away, and cannot pass for a prompt."""

import pytest

from runner.proposing.prompt import draft

COMMAND = "python3 -m pytest"


def drafted(message: str, *telling: str) -> str:
    return draft(message, frozenset(telling), ("p/",), COMMAND)


def test_it_says_that_it_is_a_draft_and_what_may_be_changed() -> None:
    text = drafted("fix(core): dates are read wrongly (#12)\n\nA week day is lost.\n")
    assert text.startswith("DRAFT:")
    assert "\n# Dates are read wrongly\n" in text
    assert "A week day is lost." in text
    assert f"Only `p/` may be changed. The tests are run with `{COMMAND}`." in text


@pytest.mark.parametrize(
    "line",
    [
        "Fixes #123",
        "Closes: gh-77",
        "Signed-off-by: A B <a@example.org>",
        "Co-authored-by: A B <a@example.org>",
        "(cherry picked from commit 0123456789abcdef0123456789abcdef01234567)",
        "Change-Id: I0123456789abcdef",
        "See https://example.org/issues/77 and mail a@example.org",
    ],
)
def test_trailers_numbers_addresses_and_names_are_left_out(line: str) -> None:
    text = drafted(f"Dates\n\nWrong since 9fceb02d0ae5 and #77.\n\n{line}\n")
    for telling in ("123", "77", "example.org", "A B", "0123456789abcdef", "9fceb02d0ae5"):
        assert telling not in text


def test_a_sentence_with_a_telling_name_is_left_out_whole() -> None:
    message = "Dates\n\nIt fails at noon. The new normalise_hour does it, see test_at_noon. It fails at night."
    text = drafted(message, "normalise_hour", "test_at_noon", "test_dates.py")
    assert "normalise_hour" not in text
    assert "test_at_noon" not in text
    assert "It fails at noon." in text
    assert "It fails at night." in text


@pytest.mark.parametrize("message", ["", "\n\n", "normalise_hour", "#12", "fix: normalise_hour\n\n\x1b[31mred\x07"])
def test_there_is_a_title_whatever_the_message_is(message: str) -> None:
    text = drafted(message, "normalise_hour")
    assert "\n# Something is wrong\n" in text
    assert all(letter.isprintable() or letter == "\n" for letter in text)
