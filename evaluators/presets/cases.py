"""Names of the cases that kinds `rbac` and `helm` report. Pure; known before anything runs."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

ENOUGH, NO_MORE, NOBODY_ELSE = "grants: ", "nothing more is granted", "nobody else is granted anything"
RENDERS = "the chart renders"


def rbac_cases(needs: Iterable[object]) -> Iterator[str]:
    """Name every case of kind `rbac`, by its wanted grants."""
    yield from (f"{ENOUGH}{each}" for each in needs)
    yield from (NO_MORE, NOBODY_ELSE)


def helm_cases(options: Mapping[str, Any]) -> Iterator[str]:
    """Name every case of kind `helm`, in the order of its options."""
    yield RENDERS
    yield from (case_of(each) for each in options["expect"])
    yield from (f"holds: {each}" for each in options["contains"])
    yield from (f"lacks: {each}" for each in options["refutes"])


def case_of(expected: Mapping[str, Any]) -> str:
    """Name the case of one expected value."""
    return f"{expected['kind']}/{expected['name']}: {expected['path']}"
