"""Laws of the line: in the order of asking, and the kernel's lock alone says who still lives."""

import fcntl
import os
import signal
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from runner.documents.ticket import Selection, Ticket
from runner.errors import HostError
from runner.running.line import Draft, Line, described

ALL = Selection(candidates=(), nominations=(), attempt=None)
PILOT = Path(__file__).with_name("standing.py")


def draft(token: int, release: str = "bench-1") -> Draft:
    return Draft(token=f"{token:016x}", release=release, store=Path("/store"), selection=ALL, asked_ms=token)


@pytest.fixture
def line(tmp_path: Path) -> Line:
    return Line(folder=tmp_path / "line")


def elsewhere(line: Line, token: int) -> "subprocess.Popen[str]":
    """Have another process stand in line, until it is interrupted."""
    command = [sys.executable, str(PILOT), str(line.folder), str(token)]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env={"PYTHONPATH": str(Path(__file__).parents[3])}
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "standing\n"
    return process


def end(process: "subprocess.Popen[str]", number: int) -> str:
    process.send_signal(number)
    said, _ = process.communicate(timeout=20)
    return said


def test_the_line_is_in_the_order_of_asking_and_goes_on_when_somebody_leaves(line: Line) -> None:
    with ExitStack() as first, ExitStack() as others:
        one = first.enter_context(line.place(draft(1)))
        two, three = (others.enter_context(line.place(draft(number))) for number in (2, 3))
        assert [each.ticket.number for each in (one, two, three)] == [1, 2, 3]
        assert line.living() == (one.ticket, two.ticket, three.ticket)
        assert three.ahead() == (one.ticket, two.ticket)
        first.close()
        assert (two.ahead(), three.ahead()) == ((), (two.ticket,))
        with line.place(draft(4)) as four:
            assert four.ticket.number == 4, "a number is not given twice while others wait"
    assert line.living() == ()
    assert list(line.folder.iterdir()) == []


def test_who_is_ahead_is_told_once_and_waited_for(line: Line) -> None:
    told: list[str] = []
    with ExitStack() as first, ExitStack() as second:
        first.enter_context(line.place(draft(1, "early-1")))
        second.enter_context(line.place(draft(2)))
        with line.place(draft(3)) as place:
            naps = iter((lambda: None, first.close, lambda: None, second.close))
            assert place.wait(told.append, lambda _: next(naps)())
    assert told == [
        "waiting in line behind pilot 1 (early-1), pilot 2 (bench-1)",
        "waiting in line behind pilot 2 (bench-1)",
    ]


def test_one_that_waits_can_be_asked_to_end(line: Line) -> None:
    with line.place(draft(1)), line.place(draft(2)) as place:
        assert not place.wait(lambda _: None, lambda _: bool(line.stop(place.ticket, now=False)))
        assert place.is_stopped
    with line.place(draft(3)) as place:
        assert not place.is_stopped, "what was asked of one pilot is not asked of the next"


def test_a_killed_pilot_holds_nobody_up_although_its_ticket_and_its_process_number_are_there(line: Line) -> None:
    process = elsewhere(line, 1)
    (left,) = line.living()
    with line.place(draft(2)) as place:
        assert place.ahead() == (left,)
        assert left.process == process.pid
        end(process, signal.SIGKILL)
        assert place.ahead() == ()
        assert len(list(line.folder.glob("*.json"))) == 2
        assert not line.stop(left, now=True)
    with line.place(draft(3)):
        assert len(list(line.folder.glob("*.json"))) == 1, "what it left is swept by the next"


def test_a_process_that_has_the_number_of_a_dead_pilot_is_not_touched(line: Line) -> None:
    line.folder.mkdir()
    forged = Ticket(
        token="0" * 16,
        number=1,
        release="bench-1",
        store="/store",
        selection=ALL,
        asked_ms=1,
        process=os.getpid(),
        log=None,
    )
    (line.folder / "000001.json").write_text(forged.model_dump_json(by_alias=True))
    assert line.living() == ()
    assert not line.stop(forged, now=True)


def test_now_is_an_interrupt_and_after_current_is_none(line: Line) -> None:
    process = elsewhere(line, 1)
    (ticket,) = line.living()
    assert line.stop(ticket, now=False)
    assert process.poll() is None
    assert line.is_stopped(ticket)
    assert line.stop(ticket, now=True)
    said, _ = process.communicate(timeout=20)
    assert said == "interrupted\n"
    assert line.living() == ()
    assert not line.stop(ticket, now=True)


def test_what_is_no_ticket_stands_in_nobodys_way(line: Line) -> None:
    line.folder.mkdir()
    for name in ("000001.json", "notes.json", "000002.stop"):
        (line.folder / name).write_text("{}")
    held = os.open(line.folder / "000001.json", os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)
    with line.place(draft(1)) as place:
        assert place.ahead() == ()
        assert not place.is_stopped
    os.close(held)


@pytest.mark.skipif(os.geteuid() != 0, reason="becomes another account")
def test_an_account_that_may_not_stand_in_line_is_told_what_mends_it(line: Line) -> None:
    line.folder.mkdir(parents=True)
    child = os.fork()
    if not child:
        os.setresuid(65534, 65534, 65534)
        status = 1
        try:
            with line.place(draft(1)):
                pass
        except HostError as error:
            status = 0 if "scripts/host install --group" in str(error) else 2
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0


def test_pilots_are_named_by_number_and_release(line: Line) -> None:
    with line.place(draft(1, "a-1")) as one, line.place(draft(2, "b-1")) as two:
        assert described((one.ticket, two.ticket)) == "pilot 1 (a-1), pilot 2 (b-1)"
