"""Ceilings on what the kernel counts as root's too, as far as they need no unit; the rest is tried in real ones."""

import resource
import subprocess
from collections.abc import Iterator

import pytest

from sandbox.shares import MOST_SIGNALS, QUEUE_BYTES, bound_shares

SIGNALS, QUEUES = resource.RLIMIT_SIGPENDING, resource.RLIMIT_MSGQUEUE


@pytest.fixture
def sleeper() -> Iterator[int]:
    with subprocess.Popen(["/usr/bin/sleep", "60"]) as process:
        yield process.pid
        process.kill()


def test_a_process_gets_no_more_signals_and_queues_than_a_unit_may_have(sleeper: int) -> None:
    assert bound_shares(sleeper)
    assert resource.prlimit(sleeper, SIGNALS) == (MOST_SIGNALS, MOST_SIGNALS)
    assert resource.prlimit(sleeper, QUEUES) == (QUEUE_BYTES, QUEUE_BYTES)


def test_a_limit_that_is_lower_already_is_not_raised(sleeper: int) -> None:
    resource.prlimit(sleeper, SIGNALS, (7, 7))
    assert bound_shares(sleeper)
    assert resource.prlimit(sleeper, SIGNALS) == (7, 7)


def test_for_a_process_that_is_gone_nothing_is_bounded() -> None:
    with subprocess.Popen(["/usr/bin/true"]) as process:
        process.wait()
    assert not bound_shares(process.pid)
