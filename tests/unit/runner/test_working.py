"""Laws of shared work: it gives what one process would, in the same order, whatever becomes of helpers."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from runner.working import in_order, is_much


def twice(number: int) -> int:
    return 2 * number


def ended_by_three(job: tuple[int, int]) -> int:
    """Die over one of the jobs, in a process other than the one that gave it."""
    number, giver = job
    if number == 3 and os.getpid() != giver:
        os._exit(9)
    return 2 * number


def refused_at_nine(number: int) -> int:
    if number == 9:
        raise FileNotFoundError(2, "not there", "/nine")
    return 2 * number


def test_one_worker_is_this_process() -> None:
    def own(number: int) -> tuple[int, int]:
        return number, os.getpid()

    assert list(in_order(own, [1, 2], 1)) == [(1, os.getpid()), (2, os.getpid())]
    assert list(in_order(own, [1], 8)) == [(1, os.getpid())]
    assert list(in_order(own, [], 8)) == []


def test_a_worker_that_dies_costs_nothing_but_time() -> None:
    assert list(in_order(ended_by_three, [(number, os.getpid()) for number in range(40)], 2)) == [
        2 * number for number in range(40)
    ]


def test_what_goes_wrong_in_a_worker_is_told_here_in_its_turn() -> None:
    found: Iterator[int] = in_order(refused_at_nine, range(12), 2)
    assert [next(found) for _ in range(9)] == [2 * number for number in range(9)]
    with pytest.raises(FileNotFoundError, match="/nine"):
        next(found)


def test_little_is_not_worth_a_second_process(tmp_path: Path) -> None:
    (tmp_path / "small").write_bytes(b"x")
    assert not is_much([tmp_path])
    with (tmp_path / "big").open("wb") as file:
        file.truncate(1 << 31)
    assert is_much([tmp_path])
