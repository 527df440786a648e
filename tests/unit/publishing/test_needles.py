"""Many texts looked for at once: nothing is missed, nothing is made up."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.publishing.needles import SHORTEST, Needles

LETTERS = st.binary(max_size=120).map(lambda data: bytes(97 + each % 3 for each in data))
"""Of three letters, so that texts overlap and blocks repeat."""


@given(
    data=LETTERS, wanted=st.sets(LETTERS.filter(lambda text: len(text) >= SHORTEST), max_size=6), at=st.integers(0, 99)
)
def test_every_place_of_every_text_is_found_and_no_other(data: bytes, wanted: set[bytes], at: int) -> None:
    wanted |= {part for size in (7, 14, 15, 23) if len(part := data[at : at + size]) >= SHORTEST}
    found = {(hit.start, hit.needle) for hit in Needles(dict.fromkeys(wanted, 0)).find(data)}
    assert found == {(start, text) for text in wanted for start in range(len(data)) if data.startswith(text, start)}


def test_what_is_found_keeps_its_meaning() -> None:
    (hit,) = Needles({b"a needle here": "sharp", b"another one": "blunt"}).find(b"x" * 5 + b"a needle here" + b"x")
    assert (hit.start, hit.means) == (5, "sharp")


def test_a_text_that_is_too_short_is_refused_and_not_passed_over() -> None:
    with pytest.raises(ValueError, match="7 bytes"):
        Needles({b"short!": 0})
