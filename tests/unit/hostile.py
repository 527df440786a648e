"""What may have happened to a document on its way: strategies that spoil JSON values and JSON bytes."""

import json
import os
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any

from hypothesis import strategies as st

Place = tuple[int | str, ...]

TIMES = int(os.environ.get("CLEANROOM_FUZZ", "1"))
"""How many times as many examples as usual are tried: `CLEANROOM_FUZZ=50 pytest ...` for a night."""

_WORDS = st.sampled_from(
    ["", "..", "/", "../x", "\x00", "\x1b[0m", "\ud800", "a" * 5000, "-0", "1e3", "{}", "$HOME", "\u202e", "é"]
)
_NUMBERS = st.sampled_from([0, -1, 1, 2**31, 2**53 - 1, 2**53, 2**63, 2**64, -(2**70), 10**30])
_SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | _WORDS | _NUMBERS
HOSTILE_JSON = st.recursive(
    _SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8) | _WORDS, inner, max_size=3),
    max_leaves=6,
)
"""Values of every type, with the ones that readers trip over."""


def places(value: object, above: Place = ()) -> Iterator[Place]:
    """List every place in a JSON value, its root first."""
    yield above
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for part, below in inner:
        yield from places(below, (*above, part))


def _nested(depth: int) -> object:
    value: object = 1
    for _ in range(depth):
        value = {"a": [value]}
    return value


@st.composite
def hostile_documents(draw: st.DrawFn, document: dict[str, Any]) -> dict[str, Any]:
    """Spoil a document in one to three places: set, taken out, added, doubled, swapped, nested."""
    spoilt = deepcopy(document)
    for _ in range(draw(st.integers(1, 3))):
        known = [place for place in places(spoilt) if place]
        if not known:
            break
        *above, last = draw(st.sampled_from(known))
        here: Any = spoilt
        for part in above:
            here = here[part]
        _SPOILS[draw(st.sampled_from(sorted(_SPOILS)))](draw, here, last)
    return spoilt


def _add(draw: st.DrawFn, here: Any, last: int | str) -> None:  # noqa: ANN401 - JSON
    if isinstance(here, dict):
        here[f"{last}{draw(_WORDS)}x"] = draw(HOSTILE_JSON)
    else:
        here.insert(0, draw(HOSTILE_JSON))


def _set(draw: st.DrawFn, here: Any, last: int | str) -> None:  # noqa: ANN401 - JSON
    here[last] = draw(HOSTILE_JSON)


def _take(_: st.DrawFn, here: Any, last: int | str) -> None:  # noqa: ANN401 - JSON
    del here[last]


def _double(_: st.DrawFn, here: Any, last: int | str) -> None:  # noqa: ANN401 - JSON
    if isinstance(here, list):
        here.append(here[int(last)])


def _wrap(draw: st.DrawFn, here: Any, last: int | str) -> None:  # noqa: ANN401 - JSON
    here[last] = [here[last]] if draw(st.booleans()) else {"a": here[last]}


def _turn(_: st.DrawFn, here: Any, last: int | str) -> None:  # noqa: ANN401 - JSON
    here[last] = str(here[last]) if isinstance(here[last], int) else 1


def _nest(draw: st.DrawFn, here: Any, last: int | str) -> None:  # noqa: ANN401 - JSON
    here[last] = _nested(draw(st.sampled_from([1, 20, 40, 200])))


_SPOILS: dict[str, Callable[[st.DrawFn, Any, int | str], None]] = {
    "add": _add,
    "double": _double,
    "nest": _nest,
    "set": _set,
    "take": _take,
    "turn": _turn,
    "wrap": _wrap,
}


@st.composite
def hostile_bytes(draw: st.DrawFn, data: bytes) -> bytes:
    """Spoil the bytes of a JSON object: cut, flipped, twice a key, another spelling, nested without end."""
    at = draw(st.integers(0, len(data) - 1))
    key = draw(st.sampled_from(sorted(json.loads(data)))) if data.startswith(b"{") and len(data) > 2 else "a"
    other = draw(st.binary(max_size=6))
    ways = (
        data[:at],
        data[:at] + other + data[at:],
        data[:at] + other + data[at + len(other) :],
        data[:at] + bytes([data[at] ^ (1 << draw(st.integers(0, 7)))]) + data[at + 1 :],
        b"\xef\xbb\xbf" + data,
        data + b"\n",
        data.decode().encode("utf-16"),
        b"{" + json.dumps(key).encode() + b":1," + data[1:],
        data.replace(b":", b": ", 1),
        data.replace(b":", b":NaN,", 1),
        data[:at] + b"1.5" + data[at:],
        data[:at] + b"9" * 5000 + data[at:],
        data[:at] + b"[" * draw(st.sampled_from([1, 100, 100_000])) + data[at:],
        data[:at] + b'"\\ud800"' + data[at:],
        draw(st.binary(max_size=100)),
    )
    return draw(st.sampled_from(ways))
