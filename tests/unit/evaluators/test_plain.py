"""Laws of plain data: exact built-in types cross by value; whatever else is refused."""

import json
from collections import ChainMap, OrderedDict, UserList
from enum import IntEnum

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluators.split_side.plain import NotPlainError, decode, encode

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary()
KEYS = st.none() | st.booleans() | st.integers() | st.text() | st.tuples(st.integers(), st.text())
VALUES = st.recursive(
    SCALARS | st.complex_numbers(allow_nan=False),
    lambda inside: (
        st.lists(inside, max_size=4)
        | st.tuples(inside, inside)
        | st.dictionaries(KEYS, inside, max_size=4)
        | st.sets(KEYS, max_size=3)
        | st.frozensets(KEYS, max_size=3)
    ),
    max_leaves=12,
)


def same(one: object, other: object) -> bool:
    return type(one) is type(other) and one == other and repr(one) == repr(other)


@given(VALUES)
def test_what_is_plain_comes_back_as_it_was_through_json(value: object) -> None:
    back = decode(json.loads(json.dumps(encode(value), allow_nan=False)))
    assert type(back) is type(value)
    assert back == value


def test_numbers_that_json_has_not_are_carried() -> None:
    for value in (float("inf"), float("-inf"), 10**3000, -0.0):
        assert same(decode(json.loads(json.dumps(encode(value), allow_nan=False))), value)
    assert repr(decode(encode(float("nan")))) == "nan"


class Lazy(list):  # type: ignore[type-arg]  # a submission's own
    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = None  # type: ignore[assignment]


class Small(IntEnum):
    ONE = 1


class Text(str):
    __slots__ = ()


@pytest.mark.parametrize(
    "value",
    [
        Lazy([1]),
        Small.ONE,
        Text("x"),
        OrderedDict(a=1),
        ChainMap({}),
        UserList([1]),
        range(3),
        (each for each in (1, 2)),
        {"deep": [Lazy()]},
        object(),
        len,
        pytest.param(10**20_000, id="long"),
    ],
)
def test_whatever_else_is_refused(value: object) -> None:
    with pytest.raises(NotPlainError):
        encode(value)


def test_what_nests_too_deep_is_refused() -> None:
    value: list[object] = []
    for _ in range(150):
        value = [value]
    with pytest.raises(NotPlainError):
        encode(value)
    with pytest.raises(NotPlainError):
        decode(value)


@pytest.mark.parametrize(
    "writing",
    [
        {},
        {"tuple": [], "set": []},
        {"secret": 1},
        {"tuple": 3},
        {"set": [[1]]},
        {"dict": [[1]]},
        {"dict": [["a", 1], ["a", 2]]},
        {"dict": [[{"dict": []}, 1]]},
        {"bytes": "?"},
        {"bytes": 5},
        {"float": "1e5"},
        {"complex": ["x", "1"]},
        {"complex": 1},
        {"complex": []},
        {"complex": {}},
    ],
)
def test_what_is_no_writing_of_a_value_is_refused(writing: object) -> None:
    with pytest.raises(NotPlainError):
        decode(writing)
