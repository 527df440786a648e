"""What a host's files hold may be anything: it is read, or said not to be seen; nothing of it is changed."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.host_sight import Places, existing, see_host
from sandbox.house_sight import see_accounts, see_folder, see_room
from sandbox.room import AccountRange, locked
from sandbox.sight import HostSight

SPAN = AccountRange(first=1_900_000_000, last=1_900_999_999)
BOOT = Path("/proc/sys/kernel/random/boot_id").read_text().strip()


@pytest.fixture
def etc(tmp_path: Path) -> Path:
    (tmp_path / "nsswitch.conf").write_text(
        "passwd: files systemd # as it is\ngroup:files [NOTFOUND=continue] systemd\n"
    )
    return tmp_path


@pytest.mark.parametrize(
    ("line", "strangers"),
    [
        pytest.param("anna:1899999999:1", 0, id="just-below"),
        pytest.param("anna:1899999999:2", 1, id="reaches-in"),
        pytest.param("anna:1900999999:65536", 1, id="begins-at-the-last"),
        pytest.param("anna:1901000000:65536", 0, id="just-above"),
        pytest.param("anna:100000:4000000000", 1, id="all-around"),
        pytest.param("# anna:1900000000:5", 1, id="no-comments-in-this-file"),
        pytest.param("anna:x:y", 0, id="garbled"),
        pytest.param("anna:\u0661:5", 0, id="other-digits"),
        pytest.param("anna:" + "9" * 5000 + ":5", 0, id="endless"),
    ],
)
def test_ranges_that_reach_into_that_of_units_are_found(etc: Path, line: str, strangers: int) -> None:
    (etc / "subgid").write_text(f"{line}\n\n::::\n")
    found = see_accounts(SPAN, etc).delegated
    assert found is not None
    assert len(found) == strangers


def test_accounts_of_this_host_within_the_range_are_named_and_those_of_units_are_not() -> None:
    taken = see_accounts(AccountRange(first=100_000, last=1_000_000)).taken
    assert taken == ()
    assert see_accounts(SPAN).taken == ()


def test_databases_that_do_not_ask_systemd_are_named(etc: Path) -> None:
    assert see_accounts(SPAN, etc).unasked == ()
    (etc / "nsswitch.conf").write_bytes(b"passwd: files\n\xff\xfe: systemd\ngroup\n")
    assert see_accounts(SPAN, etc).unasked == ("passwd", "group")
    (etc / "nsswitch.conf").unlink()
    assert see_accounts(SPAN, etc).unasked is None


@given(data=st.binary(max_size=200))
def test_whatever_the_files_hold_nothing_is_raised(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    etc = tmp_path_factory.mktemp("etc")
    for name in ("subuid", "subgid", "nsswitch.conf", "dirty.json"):
        (etc / name).write_bytes(data)
    assert see_accounts(SPAN, etc).delegated is not None
    assert see_room(etc).left is not None


@pytest.mark.parametrize(
    ("mark", "left"),
    [
        pytest.param(json.dumps({"boot": BOOT, "left": ["process 7", "\x1b[31m"]}), "process 7, ?[31m", id="this-boot"),
        pytest.param(json.dumps({"boot": "another", "left": ["process 7"]}), "", id="earlier-boot"),
        pytest.param("{", "something (its mark is garbled)", id="garbled"),
        pytest.param("[" * 100_000, "something (its mark is garbled)", id="deep"),
        pytest.param("7", "something (its mark is garbled)", id="no-object"),
    ],
)
def test_an_unclean_room_is_seen_and_its_mark_stays(tmp_path: Path, mark: str, left: str) -> None:
    (tmp_path / "dirty.json").write_text(mark)
    assert see_room(tmp_path).left == left
    assert (tmp_path / "dirty.json").read_text() == mark


def test_a_room_that_is_held_is_seen_without_touching_the_lock(tmp_path: Path) -> None:
    assert see_room(tmp_path).held is False
    with locked(tmp_path):
        assert see_room(tmp_path).held is True
    assert see_room(tmp_path).held is False


def test_who_could_replace_a_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "open" / "state").mkdir(parents=True)
    assert see_folder("state", tmp_path / "open" / "state").exposed == ()
    (tmp_path / "open").chmod(0o777)
    (tmp_path / "link").symlink_to("open/state")
    for path in ("open/state", "link", "open/missing"):
        assert see_folder("state", tmp_path / path).exposed == (str(tmp_path / "open"),), path
    (tmp_path / "open").chmod(0o1777)
    assert see_folder("state", tmp_path / "open" / "state").exposed == ()


def test_whose_it_is_and_whose_the_way_to_it_is_told(tmp_path: Path) -> None:
    (tmp_path / "home" / "state").mkdir(parents=True)
    assert see_folder("state", tmp_path / "home" / "state").strangers == ()
    os.chown(tmp_path / "home", 1234, 1234)
    assert see_folder("state", tmp_path / "home" / "state").strangers == (1234,)
    assert see_folder("state", tmp_path / "home" / "missing").strangers == (1234,)


def test_a_path_that_is_none_is_unseen_or_missing(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert see_folder("state", tmp_path / "file" / "below").exists is None
    assert see_folder("state", tmp_path / "missing").exists is False
    (tmp_path / "loop").symlink_to("loop")
    assert see_folder("state", tmp_path / "loop").exists is None
    assert existing(tmp_path / "file" / "below") == tmp_path
    assert existing(Path("/")) == Path("/")


def test_this_very_host_is_seen_and_nothing_is_left_of_the_looking(tmp_path: Path) -> None:
    seen = see_host(Places(state=tmp_path / "state", store=tmp_path / "state" / "store", host=tmp_path / "host"))
    assert isinstance(seen, HostSight)
    assert list(tmp_path.iterdir()) == []
    assert str(tmp_path) not in Path("/proc/self/mountinfo").read_text()
    assert seen.storage.hidden is (str(tmp_path).startswith("/tmp"))
    assert [tool.path for tool in seen.tools if not tool.there] == []
    assert seen.python is not None
    assert seen.python.refusal == ""
