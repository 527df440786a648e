"""How units end: what of an account counts as left behind."""

from collections.abc import Callable
from typing import cast

import pytest

from sandbox import units
from sandbox.bus import Bus
from sandbox.groups import Layout
from sandbox.units import Unit, Units

ACCOUNT = 1_900_000_009
KEYS = (f"keys of account {ACCOUNT}",)


class QuietBus:
    """A bus on which nothing happens."""

    def drain(self) -> None:
        pass


class Group:
    """A control group in which nobody was killed."""

    def oom_kills(self) -> int:
        return 0


class Working:
    """A unit that goes on."""

    account = ACCOUNT
    group = Group()
    deadline = float("inf")
    stop = None
    oom_kills = 0


@pytest.fixture
def told() -> list[tuple[str, ...]]:
    return []


@pytest.fixture
def ended(monkeypatch: pytest.MonkeyPatch, told: list[tuple[str, ...]]) -> Units:
    """Units of which one has ended long ago, and whose account has keys still."""
    monkeypatch.setattr(units, "keys_left", lambda account: KEYS if account == ACCOUNT else ())
    monkeypatch.setattr(Units, "_look_for_end", lambda *_: None)
    on_left = cast("Callable[[tuple[str, ...]], None]", told.append)
    made = Units(cast("Bus", QuietBus()), cast("Layout", None), on_left)
    made._keyed[ACCOUNT] = 0.0
    return made


def test_keys_that_nobody_has_a_right_to_are_told(ended: Units, told: list[tuple[str, ...]]) -> None:
    ended.attend()
    ended.attend()
    assert told == [KEYS]


def test_keys_of_an_account_that_works_on_are_not(ended: Units, told: list[tuple[str, ...]]) -> None:
    ended._alive["job-1.service"] = cast("Unit", Working())
    ended.attend()
    assert told == []
