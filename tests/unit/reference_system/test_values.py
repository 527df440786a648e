"""Laws of JSON as JavaScript has it: values are read and written as it does, which a hash of a text depends on."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runner.reference_system.values import ForeignJsonError, hash_without, number, read, text_of
from tests.unit.hostile import TIMES
from tests.unit.reference_system.maker import a_number, stringify

MANY = settings(max_examples=150 * TIMES, deadline=None)
TEXTS = st.text(st.characters(), max_size=5) | st.sampled_from(["\ud83d", "\u2028", "\x7f", "10", "9", "4294967295"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=8,
)


@pytest.mark.parametrize(
    ("given_text", "written"),
    [
        ("1.0", "1"),
        ("-0", "0"),
        ("-0.0", "0"),
        ("1e-7", "1e-7"),
        ("0.000001", "0.000001"),
        ("1E5", "100000"),
        ("1.50", "1.5"),
        ("123456789012345680000", "123456789012345680000"),
        ("1e21", "1e+21"),
        ("9007199254740993", "9007199254740992"),
        ("12345678901234567890", "12345678901234567000"),
        ("5e-324", "5e-324"),
        ("1.7976931348623157e308", "1.7976931348623157e+308"),
        ("1e400", "null"),
        ("0.1", "0.1"),
        (r'"\u00e9\u2028\ud83d\ude00\/"', '"é\u2028\U0001f600/"'),
        (r'"\ud83d \u001F\b"', r'"\ud83d \u001f\b"'),
        ("[]", "[]"),
        ("{}", "{}"),
        ('{"b":1,"2":[{}],"1":null}', '{\n  "1": null,\n  "2": [\n    {}\n  ],\n  "b": 1\n}'),
        ('{"4294967295":1,"4294967294":2,"01":3}', '{\n  "4294967294": 2,\n  "4294967295": 1,\n  "01": 3\n}'),
    ],
)
def test_a_value_is_written_as_node_writes_it(given_text: str, written: str) -> None:
    """Each of these was put through JSON.parse and JSON.stringify of Node 18."""
    assert text_of(read(given_text.encode())) == written


@MANY
@given(value=VALUES)
def test_two_writers_by_the_same_standard_write_the_same(value: object) -> None:
    assert text_of(value) == stringify(value)


@MANY
@given(value=st.floats() | st.integers())
def test_numbers_are_those_of_the_standard(value: float) -> None:
    try:
        double = float(value)
    except OverflowError:
        double = float("inf")
    assert number(value) == a_number(double)


@MANY
@given(value=VALUES)
def test_what_was_written_reads_back_as_what_is_written_again(value: object) -> None:
    text = text_of(value)
    assert text_of(read(text.encode())) == text


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (b'{"a": 1, "a": 1}', "the key 'a' stands twice"),
        (b'{"b": {"a": 1, "a": 2}}', "the key 'a' stands twice"),
        (b"{", "broken JSON at line 1"),
        (b"NaN", "NaN, which JSON does not know"),
        (b"-Infinity", "-Infinity"),
        (b"\xff{}", "a byte at 0 that is no UTF-8"),
        (b"\xef\xbb\xbf{}", "broken JSON at line 1"),
        (b"[" * 100_000, "a nesting beyond all bounds"),
        (b"[" * 70 + b"]" * 70, "more than 64 levels"),
        (b"", "broken JSON"),
    ],
)
def test_what_says_nothing_or_two_things_is_refused(data: bytes, found: str) -> None:
    with pytest.raises(ForeignJsonError, match="^" + found[:20].replace("[", r"\[")):
        read(data)


def test_a_hash_is_of_everything_else_in_its_order() -> None:
    value = json.loads('{"z": 1.5, "artifact_hash": {"sha256": "x"}, "a": "é"}')
    # printf '{\n  "z": 1.5,\n  "a": "é"\n}\n' | sha256sum
    assert hash_without(value, "artifact_hash") == "c20d309fa10eb105a5d21c6ac087d0bea34eb1ab5d6fa84aba8a61def79e2c42"
