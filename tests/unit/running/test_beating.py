"""Laws of saying how far something has come: again and again, never in the way, and gone at the end."""

import threading

import pytest

from runner.cli.telling import Screen
from runner.errors import RunnerError
from runner.running.beating import Beat, beating


def test_it_is_said_again_and_again_until_the_block_is_left() -> None:
    said: list[str] = []
    enough = threading.Event()

    def say(line: str) -> None:
        said.append(line)
        if len(said) == 3:
            enough.set()

    with beating(Beat(look=lambda: "half", say=say, every_s=0.001)):
        assert enough.wait(30)
    count = len(said)
    assert set(said) == {"half"}
    assert len(said) == count


def test_what_cannot_be_read_just_now_is_not_said_and_ends_nothing() -> None:
    tried = threading.Event()
    looks: list[int] = []

    def look() -> str:
        looks.append(1)
        if len(looks) == 3:
            tried.set()
        raise RunnerError("it is being written")

    said: list[str] = []
    with beating(Beat(look=look, say=said.append, every_s=0.001)):
        assert tried.wait(30)
    assert said == []


def test_a_block_that_fails_ends_it_as_well() -> None:
    with pytest.raises(RunnerError), beating(Beat(look=str, say=print, every_s=60)):
        raise RunnerError("over")
    assert not [each for each in threading.enumerate() if each.name == "beat"]


def test_on_a_terminal_what_changes_stands_below_what_was_said(capsys: pytest.CaptureFixture[str]) -> None:
    screen = Screen(is_live=True)
    screen.tell("first")
    screen.stand("1 of 2")
    screen.tell("second")
    screen.stand("2 of 2")
    screen.stand("")
    wipe = "\r\x1b[K"
    assert capsys.readouterr().err == f"first\n1 of 2{wipe}second\n1 of 2{wipe}2 of 2{wipe}"


def test_off_a_terminal_lines_are_plain(capsys: pytest.CaptureFixture[str]) -> None:
    screen = Screen(is_live=False)
    screen.tell("first")
    screen.stand("1 of 2")
    screen.tell("second")
    screen.stand("")
    assert capsys.readouterr().err == "first\nsecond\n"
