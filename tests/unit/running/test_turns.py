"""Laws of turns: who stands in no line is let in or refused at once; who stands in one waits."""

from pathlib import Path

import pytest

from runner.documents.ticket import Selection
from runner.running.line import Draft, Line
from runner.running.turns import at_once, in_line, until_free
from sandbox.errors import BusyError

ALL = Selection(candidates=(), nominations=(), attempt=None)


def draft(token: int) -> Draft:
    return Draft(token=f"{token:016x}", release="bench-1", store=Path("/store"), selection=ALL, asked_ms=token)


@pytest.fixture
def line(tmp_path: Path) -> Line:
    return Line(folder=tmp_path / "line")


def test_who_stands_in_no_line_comes_in_where_nobody_is_ahead_and_can_be_stopped(line: Line) -> None:
    with at_once(line, draft(1)) as is_stopped:
        (ticket,) = line.living()
        assert not is_stopped()
        line.stop(ticket, now=False)
        assert is_stopped()
    assert line.living() == ()


def test_who_stands_in_no_line_is_refused_before_those_who_do(line: Line) -> None:
    with line.place(draft(1)) as place:
        with (
            pytest.raises(BusyError, match=r"another run holds.*pilot 1 \(bench-1\).*--detach"),
            at_once(line, draft(2)),
        ):
            raise AssertionError("it came in")
        assert line.living() == (place.ticket,)


def test_who_stands_in_line_comes_in_at_its_turn(line: Line) -> None:
    with line.place(draft(1)) as place, in_line(place, lambda _: None) as is_stopped:
        assert not is_stopped()


def test_a_command_that_stands_in_no_line_is_waited_for_and_told_of_once(line: Line) -> None:
    answers = iter((BusyError("a freeze"), BusyError("a freeze"), None))
    told: list[str] = []
    naps: list[float] = []

    def work() -> str:
        if (answer := next(answers)) is not None:
            raise answer
        return "done"

    with line.place(draft(1)) as place:
        assert until_free(work, place, told.append, naps.append) == "done"
    assert (told, len(naps)) == (["waiting: a freeze"], 2)


def test_a_pilot_that_waits_for_another_command_can_be_stopped(line: Line) -> None:
    def work() -> None:
        raise BusyError("a freeze")

    with line.place(draft(1)) as place, pytest.raises(BusyError):
        until_free(work, place, lambda _: None, lambda _: bool(line.stop(place.ticket, now=False)))
