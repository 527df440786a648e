"""What a proving makes of its units' words: lines that are none count for nothing, a lost keeper is never a proof."""

import json
import os
from typing import NoReturn

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.api import LauncherReport
from sandbox.errors import CaptureError, KeeperError, SandboxError, WallsError
from sandbox.proving_stage import Observations, _is_shut, _lines, _made, _unless_broken
from sandbox.spec import Role
from sandbox.termination import Cause, Termination, Usage
from sandbox.unit import UnitResult


def result(stdout: bytes, *, cause: Cause = Cause.EXIT, status: int | None = 0, stderr: bytes = b"") -> UnitResult:
    ended = Termination(cause=cause, status=status, usage=Usage(wall_ms=1))
    return UnitResult(termination=ended, report=LauncherReport(seen={}), stdout=stdout, stderr=stderr)


def test_every_line_is_an_observation_by_its_units_name() -> None:
    said = b'{"a": {"x": 1}}\n{"b": "words"}\n'
    assert _lines("look", result(said)) == {"look/a": {"x": 1}, "look/b": "words"}


def test_lines_that_are_none_count_for_nothing() -> None:
    said = b'\nno json\n[1, 2]\n"text"\n{"a": 1\n{"b": 2}\n\xff\n' + b"[" * 100_000
    assert _lines("look", result(said)) == {"look/b": 2}


@given(st.binary(max_size=200))
def test_whatever_a_unit_says_is_read(said: bytes) -> None:
    assert all(name.startswith("look/") for name in _lines("look", result(said)))


def test_why_observations_are_missing_stands_beside_those_that_came() -> None:
    found = _lines("look", result(b'{"a": 1}\n', cause=Cause.SIGNAL, status=31, stderr=b"Traceback: odd\n"))
    assert found == {"look/a": 1, "look": "no observation: its unit ended by signal 31 (Traceback: odd)"}


@pytest.mark.parametrize("fault", [WallsError("a wall"), CaptureError("a wall"), SandboxError("a wall")])
def test_a_unit_that_cannot_be_had_is_a_sentence(fault: SandboxError) -> None:
    def act(_: Role) -> Observations:
        raise fault

    assert _unless_broken(("look", "hold"), act, Role.TESTS) == {
        "look": "no observation: a wall",
        "hold": "no observation: a wall",
    }


def test_a_lost_keeper_is_no_observation_but_a_fault() -> None:
    def act(_: Role) -> NoReturn:
        raise KeeperError("gone")

    with pytest.raises(KeeperError):
        _unless_broken(("look",), act, Role.TESTS)


def test_a_stream_is_shut_when_its_last_writer_is_gone() -> None:
    read, write = os.pipe()
    os.write(write, b"x")
    assert not _is_shut(read)
    os.close(write)
    assert _is_shut(read)
    os.close(read)


def test_a_neighbour_that_tells_nothing_of_its_canaries_has_none() -> None:
    assert _made(json.loads('{"pid": 1}')) is None
    assert _made("words") is None
