from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.errors import UnknownNameError
from runner.roster import Agent, Candidate
from runner.selection import candidate_keys, select

CANDIDATES = tuple(
    Candidate(id=name, agent=Agent.NATIVE, model=model, route="r")
    for name, model in (("one", "vendor/a"), ("two", "vendor/b"), ("two-again", "vendor/b"))
)


def picked(*wanted: str) -> list[str]:
    return [candidate.id for candidate in select(CANDIDATES, wanted, candidate_keys, "candidate")]


@pytest.mark.parametrize(
    ("wanted", "ids"),
    [
        pytest.param((), ["one", "two", "two-again"], id="nothing-means-all"),
        pytest.param(("two",), ["two"], id="id"),
        pytest.param(("vendor/b",), ["two", "two-again"], id="model-of-two"),
        pytest.param(("two-again,one",), ["two-again", "one"], id="comma-keeps-order"),
        pytest.param(("two", "one", "two"), ["two", "one"], id="doubles-collapse"),
        pytest.param(("two-again", "vendor/b"), ["two-again", "two"], id="model-adds-the-rest"),
        pytest.param((" one , two ",), ["one", "two"], id="blanks"),
    ],
)
def test_selectors_pick_by_id_or_model_in_the_given_order(wanted: tuple[str, ...], ids: list[str]) -> None:
    assert picked(*wanted) == ids


@pytest.mark.parametrize("wanted", ["", ",", "one,", "tow", "ONE", "vendor/c", "*", "one two", "\x00"])
def test_an_unknown_name_is_refused(wanted: str) -> None:
    with pytest.raises(UnknownNameError) as caught:
        picked(wanted)
    assert caught.value.exit_code == 2
    assert str(caught.value).isprintable()


def test_near_matches_are_told() -> None:
    with pytest.raises(UnknownNameError, match=r"did you mean .*vendor/b"):
        picked("vendor/d")


@given(st.lists(st.text(max_size=12), max_size=4))
def test_no_selector_gives_anything_but_candidates_or_an_unknown_name(wanted: list[str]) -> None:
    with suppress(UnknownNameError):
        ids = picked(*wanted)
        assert len(set(ids)) == len(ids) > 0
