"""Laws of canonical JSON: the quick way writes and takes just what rfc8785 does."""

import json
from collections.abc import Mapping

import pytest
import rfc8785
from hypothesis import example, given, settings
from hypothesis import strategies as st

from runner import canonical as module
from runner.canonical import DEEPEST, canonical
from runner.errors import NotCanonicalError
from tests.unit.hostile import HOSTILE_JSON, TIMES, hostile_bytes

MANY = settings(max_examples=60 * TIMES, deadline=None)
NAMES = st.sampled_from(["b", "a", "", "é", "\ue000", "\U00010000", "a\nb", '"', "\x7f", "\x1f", "\u2028"])
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**54), 2**54) | st.text(max_size=6) | NAMES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=12,
)
"""Values with all that makes one writer differ from another, and hardly anything that both refuse."""


def holds_float(value: object) -> bool:
    inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    return isinstance(value, float) or any(holds_float(each) for each in inner)


@MANY
@given(value=st.dictionaries(st.text(max_size=3) | NAMES, PLAIN | HOSTILE_JSON, max_size=4))
def test_what_is_written_is_what_rfc8785_writes(value: dict[str, object]) -> None:
    try:
        expected = None if holds_float(value) else rfc8785.dumps(value)
    except ValueError:
        expected = None
    if expected is None:
        with pytest.raises(NotCanonicalError):
            canonical(value)
    else:
        assert canonical(value) == expected


def forms(value: object) -> st.SearchStrategy[bytes]:
    """Give a value as others would write it, canonical or nearly so."""
    written = (
        json.dumps(value, sort_keys=sort, ensure_ascii=escape, separators=separators)
        for sort in (True, False)
        for escape in (True, False)
        for separators in ((",", ":"), (", ", ": "))
    )
    whole = st.sampled_from([text.encode(errors="surrogatepass") for text in written])
    return whole | whole.filter(_is_text).flatmap(hostile_bytes)


def _is_text(data: bytes) -> bool:
    return data.decode(errors="ignore").encode() == data


@MANY
@given(data=(PLAIN | HOSTILE_JSON).flatmap(forms))
@example(data=b'{"a":1,"a":1}')
@example(data=b'{"a":1,"a":2}')
@example(data=b'{"a":-0}')
@example(data=b'{"a":1.0}')
@example(data=b'{"a":9007199254740992}')
@example(data=b'{"a":NaN}')
@example(data=b'\xef\xbb\xbf{"a":1}')
@example(data='{"a":1}'.encode("utf-16"))
@example(data='{"\U00010000":1,"\ue000":2}'.encode())
@example(data='{"\ue000":2,"\U00010000":1}'.encode())
@example(data=b'{"a":"\\ud800"}')
@example(data=b"[" * 100_000)
@example(data=b"[" * (DEEPEST + 1) + b"]" * (DEEPEST + 1))
@example(data=b"[" * DEEPEST + b"1" + b"]" * DEEPEST)
def test_what_is_taken_quickly_is_taken_with_care_and_is_the_same(data: bytes) -> None:
    quickly = module._load_plain(data)
    if quickly is module._ODD:
        return
    with_care = module._load(data, "document.json")
    assert (with_care, repr(with_care)) == (quickly, repr(quickly))


@pytest.mark.parametrize("value", [{"a": [1, None, True, "ü", {"b": {}}]}, {"n": 10**15 - 1}, {"": -(10**13)}])
def test_what_documents_hold_is_taken_quickly(value: dict[str, object]) -> None:
    assert module._load_plain(rfc8785.dumps(value)) == value
