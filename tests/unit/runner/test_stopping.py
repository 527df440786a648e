"""Laws of stopping: units are ended and give nothing to be graded; what a capture needs is let to come to its end."""

import os
import signal
import subprocess
import sys
import threading
from datetime import timedelta
from pathlib import Path

import pytest

from runner.stopping import Signals, StoppableSandbox, StopRequestedError, When, any_of, heard_signals, looking, never
from sandbox.spec import MIB, Limits, Role, UnitSpec
from sandbox.termination import Cause
from sandbox.unit import run
from tests.fakes import PlainSandbox

LIMITS = Limits(wall=timedelta(seconds=60), memory_bytes=64 * MIB, disk_bytes=16 * MIB, disk_inodes=2000)


def unit(*argv: str, role: Role = Role.TESTS) -> UnitSpec:
    return UnitSpec(role=role, argv=argv, limits=LIMITS)


def a_room(folder: Path) -> StoppableSandbox:
    return StoppableSandbox(sandbox=PlainSandbox(folder))


def test_a_unit_at_work_is_ended_and_gives_no_termination(tmp_path: Path) -> None:
    room = a_room(tmp_path)
    with pytest.raises(StopRequestedError), looking(lambda: When.NOW, room.end_units):
        run(room, unit("/usr/bin/sleep", "61.5"))


def test_a_unit_that_ended_by_itself_keeps_its_end(tmp_path: Path) -> None:
    room = a_room(tmp_path)
    with room.start(unit("/usr/bin/true")) as running:
        running.go()
        assert running.termination().cause is Cause.EXIT
        room.end_units()
        assert running.termination().cause is Cause.EXIT


def test_after_the_end_only_inspections_start(tmp_path: Path) -> None:
    room = a_room(tmp_path)
    room.end_units()
    with pytest.raises(StopRequestedError):
        run(room, unit("/usr/bin/true"))
    assert run(room, unit("/usr/bin/true", role=Role.INSPECTION)).termination.succeeded


def test_an_inspection_at_work_is_not_ended(tmp_path: Path) -> None:
    room = a_room(tmp_path)
    with room.start(unit("/usr/bin/true", role=Role.INSPECTION)) as running:
        room.end_units()
        running.go()
        assert running.termination().cause is Cause.EXIT


def test_who_wants_the_current_try_to_end_first_ends_no_unit(tmp_path: Path) -> None:
    room = a_room(tmp_path)
    with looking(lambda: When.AFTER_CURRENT, room.end_units):
        assert run(room, unit("/usr/bin/sleep", "0.6")).termination.succeeded


def test_looking_ends_once_and_no_thread_is_left() -> None:
    ended: list[int] = []
    came = threading.Event()

    def end() -> None:
        ended.append(1)
        came.set()

    with looking(lambda: When.NOW, end):
        assert came.wait(10)
    assert ended == [1]
    assert not [each for each in threading.enumerate() if each.name == "stopping"]


def test_of_several_answers_the_most_urgent_counts() -> None:
    assert any_of(never)() is None
    assert any_of(never, lambda: When.AFTER_CURRENT)() is When.AFTER_CURRENT
    assert any_of(lambda: When.AFTER_CURRENT, lambda: When.NOW)() is When.NOW


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_is_raised_until_somebody_asks_for_it_and_told_from_then_on(
    number: signal.Signals, capfd: pytest.CaptureFixture[str]
) -> None:
    before = signal.getsignal(number)
    with heard_signals() as signals, pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), number)
    with heard_signals() as signals:
        assert signals() is None
        os.kill(os.getpid(), number)
        assert (signals(), signals.heard) == (When.NOW, number.name)
    assert signal.getsignal(number) is before
    assert f"runner: {number.name}: ending in good order; once more ends at once" in capfd.readouterr().err


def test_a_second_signal_ends_at_once() -> None:
    signals = Signals.__module__
    program = (
        f"import os, signal; from {signals} import heard_signals\n"
        "with heard_signals() as heard:\n    heard()\n"
        "    try:\n        [os.kill(os.getpid(), signal.SIGINT) for _ in 'ab']\n"
        "    finally:\n        print('unwound')\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.endswith("runner: ended at once; what was sealed is kept\n")
