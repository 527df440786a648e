"""Picking by name what a command works on."""

import difflib
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from runner.errors import UnknownNameError
from runner.roster import Candidate

Value = TypeVar("Value")


def select(
    values: Sequence[Value], wanted: Iterable[str], keys: Callable[[Value], Iterable[str | None]], noun: str
) -> tuple[Value, ...]:
    """Pick values by id or model: selectors repeat and hold commas, keep their order, collapse duplicates.

    Raises:
        UnknownNameError: with near matches.
    """
    names = [name.strip() for selector in wanted for name in selector.split(",")]
    picked: dict[int, Value] = {}
    for name in names:
        matches = {index: value for index, value in enumerate(values) if name and name in keys(value)}
        if not matches:
            known = sorted({key for value in values for key in keys(value) if key})
            near = tuple(difflib.get_close_matches(name, known, n=3, cutoff=0.5))
            raise UnknownNameError(noun=noun, wanted=name[:100], near=near, known=len(values))
        picked.update((index, value) for index, value in matches.items() if index not in picked)
    return tuple(picked.values()) if names else tuple(values)


def candidate_keys(candidate: Candidate) -> tuple[str | None, ...]:
    """What a candidate is selected by."""
    return (candidate.id, candidate.model)
