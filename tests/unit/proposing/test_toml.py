"""What is written as TOML is read back the same."""

import tomllib

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runner.proposing.toml import toml_text

TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\r"), max_size=6)
VALUES = TEXTS | st.booleans() | st.integers(-(2**53), 2**53) | st.lists(TEXTS, max_size=3)
TABLES = st.dictionaries(TEXTS, VALUES, max_size=3)


@settings(deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(TEXTS, VALUES | TABLES | st.lists(TABLES, min_size=1, max_size=2), max_size=4))
def test_a_document_is_read_back_as_it_was(document: dict[str, object]) -> None:
    assert tomllib.loads(toml_text(document)) == document


def test_what_toml_does_not_know_is_refused() -> None:
    with pytest.raises(TypeError):
        toml_text({"a": None})
