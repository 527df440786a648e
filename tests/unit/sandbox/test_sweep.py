"""The sweep takes what is ours and nothing else; accounts that cannot be looked up are told."""

from pathlib import Path

import pytest

from sandbox.errors import HostUnfitError
from sandbox.room import AccountRange, AccountRecords
from sandbox.sweep import run_noted, sweep_records

SPAN = AccountRange(first=1_900_000_000, last=1_900_000_099)
_KINDS = ("user", "group")


def test_records_of_our_accounts_go_and_others_stay(tmp_path: Path) -> None:
    records = AccountRecords(tmp_path)
    with records.record(SPAN.first), records.record(SPAN.last + 1):
        (tmp_path / "alice.user").touch()
        assert sweep_records(SPAN, tmp_path) == (f"account {SPAN.first}",)
        left = {path.name for path in tmp_path.iterdir()}
    assert left == {"alice.user", *(f"{stem}.{kind}" for stem in ("u1900000100", "1900000100") for kind in _KINDS)}
    assert sweep_records(SPAN, tmp_path / "nowhere") == ()


def test_a_keeper_that_was_killed_has_noted_where_it_mounted(tmp_path: Path) -> None:
    with run_noted(tmp_path, Path("/a/run")) as earlier:
        assert earlier is None
    killed = run_noted(tmp_path, Path("/b/run"))
    assert killed.__enter__() is None, "the first one ended in good order"
    with run_noted(tmp_path, Path("/c/run")) as earlier:
        assert earlier == Path("/b/run")


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"run": 1}'])
def test_a_garbled_note_is_no_note(tmp_path: Path, text: str) -> None:
    (tmp_path / "run.json").write_text(text)
    with run_noted(tmp_path, Path("/a/run")) as earlier:
        assert earlier is None


def test_accounts_that_nobody_can_look_up_make_a_host_unfit(tmp_path: Path) -> None:
    with pytest.raises(HostUnfitError, match="accounts for units"):
        AccountRecords(tmp_path).prove(1_987_654_321)
    assert list(tmp_path.iterdir()) == []
