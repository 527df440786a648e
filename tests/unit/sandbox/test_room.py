"""What a host has once: account numbers that are never used twice, and a room that is refused while it is unclean."""

import json
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sandbox.errors import BusyError, HostUnfitError, SandboxError
from sandbox.room import (
    MARK,
    AccountRange,
    AccountRecords,
    Accounts,
    locked,
    mark_dirty,
    refuse_dirty,
)

SPAN = AccountRange(first=1_900_000_000, last=1_900_000_999)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lives=st.lists(st.integers(0, 250), max_size=5))
def test_no_number_is_given_twice_however_often_a_keeper_is_killed(tmp_path: Path, lives: list[int]) -> None:
    (tmp_path / "accounts.json").unlink(missing_ok=True)
    given_numbers: list[int] = []
    for wanted in lives:
        accounts = Accounts(tmp_path, AccountRange(first=1_900_000_000, last=1_900_009_999))
        given_numbers += (accounts.take() for _ in range(wanted))
    assert len(set(given_numbers)) == len(given_numbers)
    assert given_numbers == sorted(given_numbers)


def test_a_range_that_is_used_up_is_told_and_starts_again_after_a_boot(tmp_path: Path) -> None:
    accounts = Accounts(tmp_path, SPAN)
    for _ in range(1000):
        accounts.take()
    with pytest.raises(HostUnfitError, match=r"clean_room\.accounts"):
        accounts.take()
    file = tmp_path / "accounts.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"boot": "another"}))
    assert Accounts(tmp_path, SPAN).take() == SPAN.first


@settings(deadline=None, max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ranges=st.lists(st.tuples(st.integers(0, 900), st.integers(100, 2000), st.integers(1, 300)), max_size=6))
def test_no_number_is_given_twice_whichever_ranges_runs_have(
    tmp_path: Path, ranges: list[tuple[int, int, int]]
) -> None:
    (tmp_path / "accounts.json").unlink(missing_ok=True)
    given_numbers: list[int] = []
    for first, size, wanted in ranges:
        span = AccountRange(first=SPAN.first + first, last=SPAN.first + first + size)
        accounts = Accounts(tmp_path, span)
        with suppress(HostUnfitError):  # A range may be used up.
            for _ in range(wanted):
                given_numbers.append(accounts.take())
                assert span.first <= given_numbers[-1] <= span.last
    assert len(set(given_numbers)) == len(given_numbers)


def test_a_counter_of_an_older_runner_is_gone_on_from(tmp_path: Path) -> None:
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    (tmp_path / "accounts.json").write_text(json.dumps({"boot": boot, "first": SPAN.first, "next": SPAN.first + 400}))
    assert Accounts(tmp_path, SPAN).take() == SPAN.first + 400


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"boot": 1}', '{"boot": "b", "first": 1, "next": "x"}'])
def test_a_torn_counter_is_no_traceback(tmp_path: Path, text: str) -> None:
    (tmp_path / "accounts.json").write_text(text)
    assert Accounts(tmp_path, SPAN).take() == SPAN.first


@pytest.mark.parametrize(("first", "last"), [(5, 4), (0, 10), (1000, 200_000), (1_900_000_000, 1 << 31)])
def test_a_range_that_could_meet_real_accounts_is_refused(first: int, last: int) -> None:
    with pytest.raises(SandboxError):
        AccountRange(first=first, last=last)


def test_one_run_holds_the_room_and_the_next_is_told_so(tmp_path: Path) -> None:
    with locked(tmp_path), pytest.raises(BusyError, match=str(tmp_path)), locked(tmp_path):
        pass
    with locked(tmp_path):
        pass


@pytest.mark.parametrize("torn", [None, "", "{", "[]", "7"])
def test_an_unclean_room_is_refused_until_somebody_has_looked(tmp_path: Path, torn: str | None) -> None:
    mark_dirty(tmp_path, ("process 7",))
    if torn is not None:
        (tmp_path / MARK).write_text(torn)
    with pytest.raises(HostUnfitError, match="runner host clear"), locked(tmp_path):
        pass
    with locked(tmp_path, even_marked=True):
        assert (tmp_path / MARK).exists()


def test_a_mark_of_another_boot_says_nothing_of_this_one(tmp_path: Path) -> None:
    mark_dirty(tmp_path, ("process 7",))
    mark = tmp_path / MARK
    mark.write_text(json.dumps(json.loads(mark.read_text()) | {"boot": "another"}))
    refuse_dirty(tmp_path)
    assert not mark.exists()


def test_an_account_is_known_as_long_as_one_of_its_units_is_there(tmp_path: Path) -> None:
    records = AccountRecords(tmp_path / "userdb")
    with records.record(SPAN.first) as name:
        with records.record(SPAN.first) as again:
            assert again == name
        kept = sorted(path.name for path in (tmp_path / "userdb").iterdir())
        assert kept == [f"{SPAN.first}.group", f"{SPAN.first}.user", f"{name}.group", f"{name}.user"]
        assert json.loads((tmp_path / "userdb" / f"{SPAN.first}.user").read_text())["userName"] == name
    assert list((tmp_path / "userdb").iterdir()) == []
