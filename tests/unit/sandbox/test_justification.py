"""Every directive and every limit is justified, nothing else is, and whatever stands behind something ends well."""

from dataclasses import fields, replace

import pytest

from sandbox.justification import JUSTIFIED, LIMITS, OURS, Probe, names_of
from sandbox.probes.directives import PROBES
from sandbox.properties import unit_properties
from sandbox.spec import Limits
from tests.unit.sandbox.places import SPECS, place_of

_BY_US = {Probe.LAUNCHER, Probe.GROUP, Probe.START, Probe.END}


def all_names() -> set[str]:
    """Give the names in every list there is: of each role, with a home and without, with a mount of the spec's."""
    found = set(OURS)
    for spec in SPECS.values():
        for home in (True, False):
            place = replace(place_of(spec, home=home), mounts=(("/s", "/opt/toolchain"),))
            found |= names_of(unit_properties(spec, place))
            found |= names_of(unit_properties(spec, replace(place, tmp=None, vartmp=None)))
    return found


def test_every_directive_and_limit_is_justified_and_nothing_else_is() -> None:
    assert set(JUSTIFIED) == all_names()


@pytest.mark.parametrize("name", JUSTIFIED)
def test_whatever_stands_behind_something_stands_behind_what_is_noticed_in_the_end(name: str) -> None:
    reached: set[str] = set()
    rest = set(JUSTIFIED[name].behind)
    while rest:
        assert rest <= set(JUSTIFIED)
        reached |= rest
        rest = {front for each in rest for front in JUSTIFIED[each].behind} - reached
    assert name not in reached
    assert not JUSTIFIED[name].behind or any(not JUSTIFIED[each].behind for each in reached)


def test_every_limit_of_a_spec_is_held_by_something() -> None:
    assert set(LIMITS) == {each.name for each in fields(Limits)}
    assert {name for held in LIMITS.values() for name in held} <= set(JUSTIFIED)


def test_every_probe_is_there_and_every_program_is_used() -> None:
    assert {each.value for each in Probe} - {each.value for each in _BY_US} | {"make_memory"} == set(PROBES)
    assert {each.by for each in JUSTIFIED.values()} == set(Probe)


def test_what_is_seen_is_told_of_each() -> None:
    assert all(each.seen and not each.seen.endswith(".") for each in JUSTIFIED.values())
