"""Source distributions: obtained by digest, read in memory, refused in every hostile form."""

import contextlib
import gzip
import hashlib
import resource
import tarfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.errors import FixtureError, StorageError, SupplyError
from runner.folder import Caps
from runner.members import Member
from runner.sdist import Downloads, Pin, unpack
from tests.unit.runner.archives import FakeIndex, archive, entry, pin_of, sdist

PIN = Pin(name="demo", version="1.0", sha256="0" * 64)
GOOD = entry("demo-1.0/a.py", b"a = 1\n")


def refused(data: bytes, caps: Caps | None = None) -> FixtureError:
    with pytest.raises(FixtureError) as caught:
        unpack(data, PIN, caps or Caps(files=100, file_bytes=10_000, total_bytes=50_000))
    return caught.value


def test_an_honest_sdist_loses_its_top_folder_and_keeps_the_owners_x_bit() -> None:
    data = archive(
        [
            entry("demo-1.0/", type=tarfile.DIRTYPE),
            entry("demo-1.0/run.sh", b"#!/bin/sh\n", mode=0o4711),
            entry("demo-1.0/pkg/a.py", b"a = 1\n", mode=0o066),
            entry("demo-1.0/pkg/b.py", type=tarfile.SYMTYPE, linkname="../pkg/a.py"),
        ]
    )
    assert unpack(data, PIN) == (
        Member(path=b"pkg/a.py", data=b"a = 1\n"),
        Member(path=b"pkg/b.py", target=b"../pkg/a.py"),
        Member(path=b"run.sh", data=b"#!/bin/sh\n", executable=True),
    )


@pytest.mark.parametrize(
    ("hostile", "found"),
    [
        pytest.param(entry("demo-1.0/../../etc/passwd", b"x"), "no path inside a tree", id="climbs"),
        pytest.param(entry("/etc/passwd", b"x"), "no path inside a tree", id="absolute"),
        pytest.param(entry("demo-1.0//a", b"x"), "no path inside a tree", id="empty-part"),
        pytest.param(entry("demo-1.0/./a", b"x"), "no path inside a tree", id="dot-part"),
        pytest.param(entry("demo-1.0/.git/config", b"x"), "git keeps for itself", id="git"),
        pytest.param(entry("demo-1.0/.GIT/hooks/x", b"x"), "git keeps for itself", id="git-upper"),
        pytest.param(entry("demo-1.0/" + "n" * 300, b"x"), "too long", id="long-name"),
        pytest.param(entry("demo-1.0/a.py", b"twice"), "the same path twice", id="duplicate"),
        pytest.param(entry("./demo-1.0/a.py", b"twice"), "the same path twice", id="duplicate-spelt-anew"),
        pytest.param(entry("demo-1.0/a.py/b", b"x"), "which is no folder", id="beneath-a-file"),
        pytest.param(entry("other/b", b"x"), "2 entries at the top", id="two-tops"),
        pytest.param(entry("b", b"x"), "entries at the top", id="no-top"),
        pytest.param(
            entry("demo-1.0/l", type=tarfile.SYMTYPE, linkname="/etc/passwd"), "leads out", id="link-absolute"
        ),
        pytest.param(entry("demo-1.0/l", type=tarfile.SYMTYPE, linkname="../x"), "leads out", id="link-climbs"),
        pytest.param(entry("demo-1.0/d/l", type=tarfile.SYMTYPE, linkname="a/../.."), "leads out", id="link-bends"),
        pytest.param(entry("demo-1.0/l", type=tarfile.SYMTYPE, linkname=""), "leads out", id="link-empty"),
        pytest.param(entry("demo-1.0/l", type=tarfile.LNKTYPE, linkname="demo-1.0/a.py"), "tar type", id="hard-link"),
        pytest.param(entry("demo-1.0/f", type=tarfile.FIFOTYPE), "tar type", id="fifo"),
        pytest.param(entry("demo-1.0/c", type=tarfile.CHRTYPE, devmajor=1, devminor=3), "tar type", id="device"),
        pytest.param(entry("demo-1.0/s", b"", type=tarfile.GNUTYPE_SPARSE), "tar type", id="sparse"),
    ],
)
def test_a_hostile_entry_is_refused_by_name(hostile: tuple[tarfile.TarInfo, bytes], found: str) -> None:
    error = refused(archive([GOOD, hostile]))
    assert found in error.found
    assert error.file == "sdist demo 1.0"
    assert str(error).isprintable()


def test_a_name_that_steers_terminals_is_told_escaped() -> None:
    error = refused(archive([entry("demo-1.0/../\x1b[2J\n", b"x")]))
    assert str(error).isprintable()
    assert "\\x1b" in error.field


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(gzip.compress(b"\0" * 10_000_000), id="bomb-without-end"),
        pytest.param(archive([entry("demo-1.0/a", b"\0" * 20_000)]), id="one-file-too-big"),
        pytest.param(archive([entry(f"demo-1.0/{n}", b"\0" * 9_000) for n in range(8)]), id="together-too-big"),
        pytest.param(archive([entry(f"demo-1.0/{n}") for n in range(200)]), id="too-many"),
    ],
)
def test_a_bomb_is_refused_before_it_goes_off(data: bytes) -> None:
    assert refused(data).found == "more than a fixture may hold"


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"PK\x03\x04", id="zip"),
        pytest.param(archive([GOOD])[:-20], id="cut-short"),
        pytest.param(gzip.compress(b"no tar at all" * 100), id="no-tar"),
        pytest.param(gzip.compress(b""), id="empty-tar"),
        pytest.param(archive([]), id="tar-without-entries"),
        pytest.param(archive([GOOD], behind=b"hidden"), id="bytes-behind-the-end"),
        pytest.param(archive([GOOD])[:40] + b"x" + archive([GOOD])[41:], id="broken-stream"),
    ],
)
def test_what_is_no_archive_is_refused(data: bytes) -> None:
    assert refused(data).field == "archive"


def test_entries_behind_a_broken_header_are_not_lost_silently() -> None:
    plain = bytearray(gzip.decompress(archive([GOOD, entry("demo-1.0/b.py", b"b")])))
    plain[1024 + 150] ^= 0xFF  # in the checksum of the second header
    assert "behind the archive's end" in refused(gzip.compress(bytes(plain))).found


@given(at=st.integers(0, 3000), value=st.integers(0, 255))
def test_no_byte_of_an_archive_can_cause_another_error(at: int, value: int) -> None:
    plain = bytearray(gzip.decompress(archive([GOOD, entry("demo-1.0/" + "d" * 120, b"b" * 600)])))
    plain[at % len(plain)] = value
    members: tuple[Member, ...] = ()
    with contextlib.suppress(FixtureError):
        members = unpack(gzip.compress(bytes(plain)), PIN)
    assert all(b".." not in member.path.split(b"/") for member in members)


def test_a_file_is_fetched_once_and_then_found_without_the_index(tmp_path: Path) -> None:
    data = sdist({"a.py": b"a"})
    index = FakeIndex({"1.0": data})
    folder = tmp_path / "downloads"
    assert Downloads(folder=folder, index=index).obtain(pin_of(data)) == data
    assert Downloads(folder=folder, index=index).obtain(pin_of(data)) == data
    assert len(index.asked) == 1
    assert Downloads(folder=folder, index=None).obtain(pin_of(data)) == data
    assert [path.name for path in folder.iterdir()] == [pin_of(data).sha256]


def test_a_wrong_digest_names_both_and_keeps_nothing(tmp_path: Path) -> None:
    served = sdist({"a.py": b"evil"})
    with pytest.raises(FixtureError) as caught:
        Downloads(folder=tmp_path, index=FakeIndex({"1.0": served})).obtain(PIN)
    assert (caught.value.found, caught.value.expected) == (hashlib.sha256(served).hexdigest(), PIN.sha256)
    assert not list(tmp_path.iterdir())


def test_a_kept_file_that_changed_is_fetched_anew(tmp_path: Path) -> None:
    data = sdist({"a.py": b"a"})
    pin = pin_of(data)
    (tmp_path / pin.sha256).write_bytes(b"rotten")
    assert Downloads(folder=tmp_path, index=FakeIndex({"1.0": data})).obtain(pin) == data
    assert (tmp_path / pin.sha256).read_bytes() == data


def test_a_full_disk_keeps_nothing_and_is_told(tmp_path: Path) -> None:
    data = sdist({"a.py": bytes(range(256)) * 40})
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    try:
        with pytest.raises(StorageError, match="too large"):
            Downloads(folder=tmp_path, index=FakeIndex({"1.0": data})).obtain(pin_of(data))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert not list(tmp_path.iterdir())


def test_without_file_and_index_the_mend_is_told(tmp_path: Path) -> None:
    with pytest.raises(SupplyError) as caught:
        Downloads(folder=tmp_path, index=None).obtain(PIN)
    assert "package index" in caught.value.mend
