"""Real pytest, real processes, no walls: what forges must not pass, and what is right must."""

from pathlib import Path

import pytest

from evaluators.model import VerdictCause
from tests.forgeries import FORGERIES, RIGHT, WRONG, Forgery
from tests.unit.evaluators.judging import Court, open_court


@pytest.fixture(scope="module")
def court(tmp_path_factory: pytest.TempPathFactory) -> Court:
    return open_court(tmp_path_factory.mktemp("court"))


@pytest.mark.parametrize("forgery", FORGERIES.values(), ids=FORGERIES.keys())
def test_a_forgery_ends_as_it_must(court: Court, forgery: Forgery) -> None:
    verdict = court.judge(forgery.tree())
    assert verdict.cause in forgery.ends, (verdict.detail, verdict.private_log[-3000:].decode())
    assert not verdict.passed
    assert verdict.score != 1


def test_a_right_submission_passes(court: Court) -> None:
    verdict = court.judge({"calc.py": RIGHT.encode()})
    assert (verdict.cause, verdict.score) == (VerdictCause.PASSED, 1)
    assert tuple(case.id for case in verdict.cases) == court.suite.expected_cases()


def test_an_honest_wrong_submission_fails_and_is_not_called_forged(court: Court) -> None:
    verdict = court.judge({"calc.py": WRONG.encode()})
    assert verdict.cause is VerdictCause.FAILED
    assert verdict.score == 0


@pytest.mark.parametrize(
    "name",
    ["conftest", "configuration files", "plugin by entry point", "modules that shadow", "status at exit"],
)
def test_what_has_no_effect_does_not_harm_a_right_submission(court: Court, name: str) -> None:
    forgery = FORGERIES[name]
    right = Forgery(prelude=forgery.prelude, body=RIGHT, files=forgery.files, ends=frozenset())
    assert court.judge(right.tree()).passed


def test_a_submission_that_hangs_ran_out_of_time(tmp_path: Path) -> None:
    court = open_court(tmp_path, wall_seconds=4.0)
    verdict = court.judge({"calc.py": b"def add(*a):\n    while True: pass\nsplit = shout = add\n"})
    assert (verdict.cause, verdict.score) == (VerdictCause.TIMEOUT, 0)
