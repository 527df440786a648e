"""Packs: what is written is read again; what contradicts itself is refused."""

import base64
import hashlib
import json
import os
import struct
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.api import Pack
from sandbox.errors import PackError
from sandbox.pack import Packed, read_exactly, read_header, write_pack
from sandbox.tree import Entry, Kind
from tests.unit.hostile import hostile_documents
from tests.unit.sandbox.trees import PATIENT

CONTENT = b"content"
DIGEST = hashlib.sha256(CONTENT).hexdigest()
LAW = Entry(path=b"a/file", kind=Kind.FILE, executable=True, sha256=DIGEST, size=len(CONTENT))
LINK = Entry(path=b"link", kind=Kind.LINK, target=b"../\xff outside")
NAMES = st.binary(min_size=1, max_size=20).filter(
    lambda name: name not in {b".", b".."} and not {0, ord("/")} & set(name)
)


@pytest.fixture
def fd() -> Iterator[int]:
    memory = os.memfd_create("pack")
    yield memory
    os.close(memory)


def file(path: bytes, content: bytes = CONTENT) -> Entry:
    return Entry(path=path, kind=Kind.FILE, sha256=hashlib.sha256(content).hexdigest(), size=len(content))


def gone(path: bytes) -> Entry:
    return Entry(path=path, kind=Kind.GONE)


def written(fd: int, *entries: Entry) -> int:
    write_pack(Pack(entries=entries, blobs=lambda _: CONTENT), fd)
    return fd


def raw(fd: int, header: bytes, rest: bytes = b"", length: int | None = None) -> int:
    os.write(fd, struct.pack(">Q", len(header) if length is None else length) + header + rest)
    return fd


def row(path: bytes, kind: str = "file", **other: object) -> list[object]:
    sha256 = DIGEST if kind == "file" else None
    fields = {"executable": False, "sha256": sha256, "size": 0, "target": None, **other}
    return [base64.b64encode(path).decode(), kind, *fields.values()]


def test_what_is_written_is_read_again(fd: int) -> None:
    entries = (LAW, LINK, gone(b"old"), Entry(path=b"empty", kind=Kind.FOLDER), file(b"a/\xffodd\n"))
    packed = read_header(written(fd, *entries))
    assert tuple(each.entry for each in packed) == entries
    contents = [read_exactly(fd, each.offset, each.entry.size) for each in packed if each.entry.size]
    assert contents == [CONTENT, CONTENT]


@given(st.sets(NAMES, max_size=20))
def test_any_name_that_a_folder_can_hold_travels(paths: set[bytes]) -> None:
    memory = os.memfd_create("pack")
    try:
        packed = read_header(written(memory, *(file(path) for path in paths)))
    finally:
        os.close(memory)
    assert {each.entry.path for each in packed} == paths


def test_an_empty_pack_is_a_pack(fd: int) -> None:
    assert read_header(written(fd)) == ()


def test_a_file_may_take_a_folders_place_and_the_other_way_round(fd: int) -> None:
    entries = (file(b"was-folder"), gone(b"was-folder/file"), gone(b"was-file"), file(b"was-file.d/x"))
    assert len(read_header(written(fd, *entries))) == 4


def test_a_hundred_thousand_entries_are_no_problem(fd: int) -> None:
    entries = tuple(
        Entry(path=b"d%d/e%d/f%d" % (n % 100, n % 7, n), kind=Kind.LINK, target=b"x") for n in range(100_000)
    )
    assert len(read_header(written(fd, *entries))) == 100_000


def test_a_blob_of_another_size_is_not_packed(fd: int) -> None:
    with pytest.raises(PackError, match="its entry says 8"):
        written(fd, replace(LAW, size=8))


@pytest.mark.parametrize(
    "entries",
    [
        pytest.param((file(b"a"), file(b"a")), id="twice"),
        pytest.param((file(b"a"), gone(b"a")), id="there-and-gone"),
        pytest.param((file(b"a"), file(b"a/b")), id="beneath-a-file"),
        pytest.param((file(b"a/b/c/d"), LINK, replace(LINK, path=b"a/b")), id="beneath-a-link"),
        pytest.param((LINK, Entry(path=b"link/d", kind=Kind.FOLDER)), id="a-folder-beneath-a-link"),
        pytest.param((file(b"a/" + b"n" * 256),), id="a-name-too-long"),
        pytest.param((replace(LINK, target=b""),), id="a-link-to-nothing"),
        pytest.param((replace(LINK, target=b"a\0b"),), id="a-zero-in-a-target"),
        pytest.param((replace(LINK, target=b"n" * 4096),), id="a-target-too-long"),
        pytest.param((replace(LAW, sha256="G" * 64),), id="no-hex"),
    ],
)
def test_entries_that_contradict_themselves_are_refused(fd: int, entries: tuple[Entry, ...]) -> None:
    with pytest.raises(PackError):
        read_header(written(fd, *entries))


@pytest.mark.parametrize("path", [b"/abs", b"a//b", b"a/", b".", b"..", b"a/../b", b"a/./b", b"", b"a\0b"], ids=repr)
def test_paths_that_leave_the_folder_are_refused(fd: int, path: bytes) -> None:
    with pytest.raises(PackError):
        read_header(raw(fd, json.dumps([row(path)]).encode()))


@pytest.mark.parametrize(
    "header",
    [
        pytest.param(b"[", id="no-json"),
        pytest.param(b"[" * 100_000, id="a-nest"),
        pytest.param(b"\xff", id="no-text"),
        pytest.param(b"{}", id="no-list"),
        pytest.param(b"[1]", id="no-row"),
        pytest.param(b'[["YQ==","file"]]', id="a-short-row"),
        pytest.param(json.dumps([["!", *row(b"a")[1:]]]).encode(), id="no-base64"),
        pytest.param(json.dumps([row(b"a", "socket")]).encode(), id="no-kind"),
        pytest.param(json.dumps([row(b"a", size=-1)]).encode(), id="a-negative-size"),
        pytest.param(json.dumps([row(b"a", "gone", size=1)]).encode(), id="gone-with-bytes"),
        pytest.param(json.dumps([row(b"a", "gone", executable=True)]).encode(), id="gone-but-executable"),
        pytest.param(json.dumps([row(b"a", "link")]).encode(), id="a-link-without-target"),
        pytest.param(json.dumps([row(b"a", sha256=None)]).encode(), id="a-file-without-digest"),
    ],
)
def test_a_garbled_header_is_refused(fd: int, header: bytes) -> None:
    with pytest.raises(PackError):
        read_header(raw(fd, header))


GOOD = {"rows": [row(b"a/b"), row(b"c", "link", target="eA=="), row(b"d", "gone"), row(b"e", "folder")]}


@PATIENT
@given(hostile_documents(GOOD).map(lambda spoilt: json.dumps(spoilt.get("rows")).encode()) | st.binary(max_size=200))
def test_any_header_is_one_of_a_pack_or_refused(header: bytes) -> None:
    memory = os.memfd_create("pack")
    try:
        with suppress(PackError):
            assert all(each.entry.size == 0 for each in read_header(raw(memory, header)))
    finally:
        os.close(memory)


@pytest.mark.parametrize(
    ("rest", "length"),
    [
        pytest.param(b"x", None, id="bytes-left-over"),
        pytest.param(b"", 1 << 62, id="a-huge-header"),
        pytest.param(b"", 3, id="a-longer-header-than-pack"),
    ],
)
def test_sizes_must_add_up(fd: int, rest: bytes, length: int | None) -> None:
    with pytest.raises(PackError):
        read_header(raw(fd, b"[]", rest, length))


def test_a_pack_that_was_cut_is_refused(fd: int) -> None:
    os.ftruncate(written(fd, LAW), os.fstat(fd).st_size - 1)
    with pytest.raises(PackError, match="add up"):
        read_header(fd)


def test_an_empty_file_is_no_pack(fd: int) -> None:
    with pytest.raises(PackError, match="too soon"):
        read_header(fd)


def test_offsets_follow_one_another(fd: int) -> None:
    packed: tuple[Packed, ...] = read_header(written(fd, LAW, LINK, file(b"z")))
    assert packed[2].offset == packed[0].offset + len(CONTENT)
