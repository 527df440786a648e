"""Laws of characters that are not what they seem."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.judging.hostile import scan
from runner.judging.letters import folded, is_unseen, lookalikes, lowered, shown

TEXTS = st.text(st.characters(exclude_characters="\n"), max_size=40)
FORM = re.compile("\u27e6(?:U\\+([0-9A-F]{4,6})|0x([0-9A-F]{2}))\u27e7")


def read_back(text: str) -> str:
    return FORM.sub(lambda match: chr(int(match[1], 16) if match[1] else int(match[2], 16) + 0xDC00), text)


@given(TEXTS)
def test_what_is_shown_can_be_read_back(text: str) -> None:
    visible, hidden = shown(text)
    assert read_back(visible) == text
    assert hidden == sum(is_unseen(letter) for letter in text)
    assert visible.replace("\t", "").isprintable()


@given(TEXTS)
def test_every_letter_that_is_read_comes_from_a_place(text: str) -> None:
    reading = folded(text)
    if text.isascii():
        assert reading.text == text
    else:
        assert len(reading.origins) == len(reading.text) + 1
        assert list(reading.origins) == sorted(reading.origins)
    assert len(lowered(reading.text)) == len(reading.text)


@pytest.mark.parametrize(
    ("text", "reads"),
    [
        ("\u0421l\u0430ude", "Claude"),
        ("Cl\u200baude", "Claude"),
        ("\uff23laude", "Claude"),
        ("Cl\u00e1ude", "Claude"),
        ("\U000e0041\U000e0049", "AI"),
        ("\U0001d402", "C"),
        ("a\u3000b", "a b"),
        ("\u4f60", "\u4f60"),
    ],
)
def test_a_text_reads_as_it_looks(text: str, reads: str) -> None:
    assert folded(text).text == reads


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("user", 0),
        ("us\u0435r", 1),
        ("\u0440\u0430\u0443", 1),
        ("\u043f\u0440\u0438\u0432\u0435\u0442", 0),
        ("gr\u00fc\u00df", 0),
        ("\u03b1\u03b2\u03b3", 0),
        ("x\u03b1", 1),
        ("\U0001d41a\U0001d41b", 1),
    ],
)
def test_words_that_mislead_are_counted(text: str, count: int) -> None:
    assert lookalikes(text) == count


def test_a_scan_takes_time_in_proportion_to_the_text() -> None:
    hostile = ["ignore " * 50, "a" * 400, "solution" + " " * 300, "### " * 90, "reviewed by the " * 25, "QUJD" * 100]
    found = scan(hostile * 300)
    assert len(found) <= 200
