"""Laws of the inspection: whatever stands there is told, read without harm, and read back strictly."""

import os
import socket
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.api import Changes
from sandbox.contents import MemoryContents, digest_of
from sandbox.errors import CaptureError
from sandbox.findings import Finding, FindingKind, findings_of
from sandbox.inspected import CaptureLimits, Inspection, InspectionReader, outermost, request, tree_changes
from sandbox.tree import tree_digest
from tests.unit.sandbox.inspecting import NOBODY, ROOT, answer, inspect, touched
from tests.unit.sandbox.trees import FEW, PATIENT, File, Link, Tree, entries, lay_out, trees

root_only = pytest.mark.skipif(os.geteuid() != 0, reason="needs root to make it")


@pytest.fixture
def tmp_path(tmp_path: Path) -> Path:
    """Give a folder with a workspace's mode."""
    tmp_path.chmod(0o755)
    return tmp_path


def read(stream: bytes, changes: Changes = ROOT, limits: CaptureLimits | None = None) -> Inspection:
    reader = InspectionReader(changes, limits or CaptureLimits(), MemoryContents())
    reader.feed(stream)
    return reader.finish()


def found(folder: Path, changes: Changes = ROOT, limits: CaptureLimits | None = None) -> list[Finding]:
    seen, _ = inspect(folder, changes, limits)
    return list(findings_of(seen, git_touched=False))


def kinds(folder: Path, changes: Changes = ROOT, limits: CaptureLimits | None = None) -> dict[bytes, str]:
    seen, _ = inspect(folder, changes, limits)
    return {each.path: each.kind for each in seen.seen}


@FEW
@given(trees())
def test_a_whole_tree_is_seen_as_it_is(tmp_path_factory: pytest.TempPathFactory, tree: Tree) -> None:
    folder = tmp_path_factory.mktemp("seen")
    lay_out(folder, tree)
    seen, kept = inspect(folder)
    assert tree_digest(tree_changes(seen, ROOT)) == tree_digest(entries(tree))
    assert all(
        kept.get(digest_of(value.content)) for value in tree.values() if isinstance(value, File) and value.content
    )


def test_single_entries_are_seen_without_what_lies_beneath(tmp_path: Path) -> None:
    lay_out(tmp_path, {b"d/a": File(b"1"), b"d/b": File(b"2"), b"l": Link(b"d")})
    assert kinds(tmp_path, touched(b"d", b"d/a", b"l", b"none", b"d/a/x", b"l/a")) == {
        b"d": "folder",
        b"d/a": "file",
        b"l": "link",
        b"none": "gone",
        b"d/a/x": "gone",
        b"l/a": "gone",
    }


def test_special_files_are_told_and_never_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "socket"))
    begun = time.monotonic()
    assert [(each.kind, each.path, each.detail) for each in found(tmp_path)] == [
        (FindingKind.SPECIAL, b"fifo", "FIFO"),
        (FindingKind.SPECIAL, b"socket", "socket"),
    ]
    assert found(tmp_path, touched(b"fifo"))[0].violates
    assert time.monotonic() - begun < 5


@root_only
def test_devices_are_told(tmp_path: Path) -> None:
    os.mknod(tmp_path / "zero", 0o020666, os.makedev(1, 5))
    assert [(each.kind, each.detail) for each in found(tmp_path)] == [(FindingKind.SPECIAL, "device")]


@root_only
def test_what_cannot_be_read_is_told_and_the_rest_is_read(tmp_path: Path) -> None:
    lay_out(tmp_path, {b"a": File(b"1"), b"b": File(b"2"), b"closed/x": File(b"3")})
    (tmp_path / "a").chmod(0)
    (tmp_path / "closed").chmod(0)
    tmp_path.chmod(0o755)
    seen, _ = inspect(tmp_path, user=NOBODY)
    told = findings_of(seen, git_touched=False)
    assert [(each.kind, each.path, each.detail) for each in told] == [
        (FindingKind.UNREADABLE, b"a", "EACCES"),
        (FindingKind.UNREADABLE, b"closed", "EACCES"),
    ]
    assert tree_digest(tree_changes(seen, ROOT)) == tree_digest(entries({b"b": File(b"2")}))


@root_only
def test_modes_do_not_keep_anything_from_who_may_read(tmp_path: Path) -> None:
    lay_out(tmp_path, {b"d/a": File(b"1")})
    (tmp_path / "d/a").chmod(0)
    (tmp_path / "d").chmod(0o311)
    seen, _ = inspect(tmp_path)
    assert tree_digest(tree_changes(seen, ROOT)) == tree_digest(entries({b"d/a": File(b"1")}))
    assert [(each.kind, each.mode) for each in findings_of(seen, git_touched=False)] == [
        (FindingKind.MODE, 0o040311),
        (FindingKind.MODE, 0o100000),
    ]


def test_set_id_bits_are_told(tmp_path: Path) -> None:
    lay_out(tmp_path, {b"u": File(b"1"), b"d/x": File(b"2")})
    (tmp_path / "u").chmod(0o4755)
    (tmp_path / "d").chmod(0o2755)
    assert [(each.kind, each.path) for each in found(tmp_path) if each.violates] == [
        (FindingKind.SET_ID, b"d"),
        (FindingKind.SET_ID, b"u"),
    ]


def test_a_file_beyond_the_limit_is_told_by_its_size_and_not_read(tmp_path: Path) -> None:
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(3 << 40)
    begun = time.monotonic()
    told = found(tmp_path)
    assert [(each.kind, each.size) for each in told] == [
        (FindingKind.SPARSE, 3 << 40),
        (FindingKind.TOO_LARGE, 3 << 40),
    ]
    assert time.monotonic() - begun < 5


def test_a_sparse_file_within_the_limit_is_read_by_its_logical_size(tmp_path: Path) -> None:
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(1 << 20)
    seen, kept = inspect(tmp_path)
    assert kept.get(digest_of(bytes(1 << 20))) == bytes(1 << 20)
    assert [each.kind for each in findings_of(seen, git_touched=False)] == [FindingKind.SPARSE]


def test_all_files_together_have_a_limit(tmp_path: Path) -> None:
    lay_out(tmp_path, {b"a": File(b"x" * 60), b"b": File(b"x" * 60), b"c": File(b"x" * 40)})
    limits = CaptureLimits(total_bytes=100)
    assert kinds(tmp_path, limits=limits) == {b"": "folder", b"a": "file", b"b": "too_large", b"c": "file"}


def test_more_entries_than_the_limit_end_the_walk_and_are_told(tmp_path: Path) -> None:
    lay_out(tmp_path, {b"d%d/f" % number: File() for number in range(30)})
    told = found(tmp_path, limits=CaptureLimits(entries=40))
    assert [each.kind for each in told] == [FindingKind.INCOMPLETE]
    assert FindingKind.INCOMPLETE in {each.kind for each in found(tmp_path, limits=CaptureLimits(entries=10))}


def test_a_tree_beyond_the_depth_is_told_where_it_begins(tmp_path: Path) -> None:
    lay_out(tmp_path, {b"a/b/c/d": File(), b"a/b/x": File(b"1")})
    seen, _ = inspect(tmp_path, limits=CaptureLimits(depth=3))
    assert [(each.kind, each.path) for each in findings_of(seen, git_touched=False)] == [
        (FindingKind.TOO_DEEP, b"a/b/c")
    ]
    assert [each.path for each in tree_changes(seen, ROOT)] == [b"a/b/x"]


def test_paths_beyond_what_the_kernel_opens_by_name_end_the_walk_there(tmp_path: Path) -> None:
    place = os.open(tmp_path, os.O_RDONLY)
    for _ in range(60):
        os.mkdir("n" * 100, dir_fd=place)
        below = os.open("n" * 100, os.O_RDONLY, dir_fd=place)
        os.close(place)
        place = below
    os.close(place)
    told = found(tmp_path)
    assert [each.kind for each in told] == [FindingKind.TOO_DEEP]
    assert len(told[0].path) == 39 * 101 - 1


def test_hard_links_and_empty_folders_are_told(tmp_path: Path) -> None:
    lay_out(tmp_path, {b"a": File(b"1")})
    (tmp_path / "b").hardlink_to(tmp_path / "a")
    (tmp_path / "empty").mkdir()
    told = found(tmp_path)
    assert [(each.kind, each.path) for each in told] == [
        (FindingKind.HARD_LINK, b"a"),
        (FindingKind.HARD_LINK, b"b"),
        (FindingKind.EMPTY_FOLDER, b"empty"),
    ]
    assert told[0].detail == told[1].detail
    assert [each.kind for each in found(tmp_path, touched(b"empty"))] == [FindingKind.EMPTY_FOLDER]


def test_the_roots_own_git_is_passed_over_and_nested_ones_are_told(tmp_path: Path) -> None:
    tree: Tree = {
        b".git/config": File(),
        b"sub/.git/config": File(),
        b"sub/.git/objects/x": File(),
        b"sub/code": File(),
        b"sub2/.git": File(b"gitdir: /elsewhere\n"),
        b".GIT/x": File(),
        b"git~1": File(),
    }
    lay_out(tmp_path, tree)
    seen, _ = inspect(tmp_path)
    told = findings_of(seen, git_touched=True)
    assert [(each.kind, each.path) for each in told] == [
        (FindingKind.UNCAPTURABLE, b".GIT"),
        (FindingKind.GIT_TOUCHED, b".git"),
        (FindingKind.UNCAPTURABLE, b"git~1"),
        (FindingKind.UNCAPTURABLE, b"sub/.git"),
        (FindingKind.UNCAPTURABLE, b"sub2/.git"),
    ]
    assert [each.path for each in tree_changes(seen, ROOT)] == [b"sub/code"]


def test_a_link_is_never_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("CANARY")
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "folder").symlink_to(outside)
    (inside / "file").symlink_to(outside / "secret")
    asked = Changes(touched=(b"folder/secret", b"file"), whole=(b"folder",))
    stream = answer(inside, request(asked, CaptureLimits())) + answer(inside, request(ROOT, CaptureLimits()))
    assert b"CANARY" not in stream


def test_what_lies_beneath_a_whole_folder_is_asked_for_once() -> None:
    asked = Changes(touched=(b"a", b"a/b", b"ab", b"c"), whole=(b"a/x", b"a", b"d/e", b"a"))
    assert outermost(asked) == Changes(touched=(b"ab", b"c"), whole=(b"a", b"d/e"))


STREAM_TREE: Tree = {b"a": File(b"content"), b"d/l": Link(b"a"), b"e": File()}


@PATIENT
@given(st.data())
def test_no_cut_or_flipped_answer_is_believed(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    stream = STREAMS.get("whole")
    if stream is None:
        folder = tmp_path_factory.mktemp("stream")
        lay_out(folder, STREAM_TREE)
        stream = STREAMS["whole"] = answer(folder, request(ROOT, CaptureLimits()))
    at = data.draw(st.integers(0, len(stream) - 1))
    flip = bytes([stream[at] ^ (1 << data.draw(st.integers(0, 7)))])
    for wrong in (
        stream[:at],
        stream[:at] + flip + stream[at + 1 :],
        stream + b"\0",
        stream[:at] + stream[at + 1 :],
    ):
        with pytest.raises(CaptureError):
            read(wrong)


STREAMS: dict[str, bytes] = {}


@PATIENT
@given(st.lists(st.integers(1, 50), max_size=40))
def test_an_answer_is_the_same_however_it_is_cut(tmp_path_factory: pytest.TempPathFactory, sizes: list[int]) -> None:
    if "whole" not in STREAMS:
        folder = tmp_path_factory.mktemp("stream")
        lay_out(folder, STREAM_TREE)
        STREAMS["whole"] = answer(folder, request(ROOT, CaptureLimits()))
    stream = STREAMS["whole"]
    reader = InspectionReader(ROOT, CaptureLimits(), MemoryContents())
    for size in (*sizes, len(stream)):
        reader.feed(stream[:size])
        stream = stream[size:]
    assert tree_digest(tree_changes(reader.finish(), ROOT)) == tree_digest(entries(STREAM_TREE))


@pytest.mark.parametrize(
    ("changes", "limits"),
    [
        pytest.param(touched(b"a"), CaptureLimits(), id="not asked for"),
        pytest.param(Changes(touched=(), whole=(b"", b"x")), CaptureLimits(), id="not told"),
        pytest.param(ROOT, CaptureLimits(entries=2), id="more entries"),
        pytest.param(ROOT, CaptureLimits(file_bytes=3), id="larger file"),
        pytest.param(ROOT, CaptureLimits(total_bytes=3), id="more bytes"),
    ],
)
def test_an_answer_beyond_its_request_is_refused(tmp_path: Path, changes: Changes, limits: CaptureLimits) -> None:
    lay_out(tmp_path, STREAM_TREE)
    stream = answer(tmp_path, request(ROOT, CaptureLimits()))
    with pytest.raises(CaptureError):
        read(stream, changes, limits)
