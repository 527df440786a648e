"""Laws of trees: what a digest tells apart, and what a change costs."""

import os
import socket
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.contents import MemoryContents, digest_of
from sandbox.errors import TreeError
from sandbox.listing import EMPTY_TREE, MAGIC, decode_listing, encode_listing
from sandbox.tree import (
    Entry,
    Kind,
    apply_change,
    differences,
    lookup,
    read_folder,
    snapshot,
    tree_digest,
)
from tests.unit.sandbox.trees import (
    FEW,
    PATIENT,
    File,
    Link,
    Tree,
    changed,
    changes,
    entries,
    entry,
    fits,
    lay_out,
    paths,
    trees,
)

ONE: Tree = {b"a": File(b"1"), b"d/b": File(b"2", executable=True), b"d/e/l": Link(b"../b")}


@PATIENT
@given(trees(), st.randoms(use_true_random=False))
def test_the_order_of_entries_does_not_change_a_digest(tree: Tree, random: object) -> None:
    mixed = list(entries(tree))
    random.shuffle(mixed)  # type: ignore[attr-defined]  # hypothesis gives its own Random
    assert tree_digest(mixed) == tree_digest(entries(tree))


@PATIENT
@given(trees(), trees())
def test_two_trees_share_a_digest_only_if_they_are_the_same(one: Tree, other: Tree) -> None:
    assert (tree_digest(entries(one)) == tree_digest(entries(other))) == (one == other)


@PATIENT
@given(trees(), st.data())
def test_any_single_change_changes_the_digest(tree: Tree, data: st.DataObject) -> None:
    before = tree_digest(entries(tree))
    for path, value in tree.items():
        rest = {other: kept for other, kept in tree.items() if other != path}
        single = [rest]
        if isinstance(value, File):
            single += [{**rest, path: File(value.content, not value.executable)}]
            single += [{**rest, path: File(value.content + b"x", value.executable)}]
            single += [{**rest, path: Link(value.content or b"x")}]
        else:
            single += [{**rest, path: Link(value.target + b"x")}, {**rest, path: File(value.target)}]
        renamed = data.draw(paths)
        if renamed != path and renamed not in rest and fits(rest, renamed):
            single += [{**rest, renamed: value}]
        for after in single:
            assert tree_digest(entries(after)) != before


def test_a_folder_is_not_a_file_that_holds_its_listing() -> None:
    listing = encode_listing({b"b": b"f" + bytes.fromhex(digest_of(b"1"))})
    assert tree_digest(entries({b"a/b": File(b"1")})) != tree_digest(entries({b"a": File(listing)}))


def test_the_layout_is_the_written_one() -> None:
    listing = MAGIC + b"\0\1af" + bytes.fromhex(digest_of(b"1"))
    assert tree_digest(entries({b"a": File(b"1")})) == digest_of(listing)
    assert tree_digest(()) == EMPTY_TREE == digest_of(b"cleanroom tree 1\n")


def test_empty_folders_are_not_in_a_tree() -> None:
    folder = Entry(path=b"x/empty", kind=Kind.FOLDER)
    assert tree_digest((*entries(ONE), folder)) == tree_digest(entries(ONE))


@PATIENT
@given(changed())
def test_a_change_gives_the_digest_of_the_whole(pair: tuple[Tree, Tree]) -> None:
    before, after = pair
    kept = MemoryContents()
    base = snapshot(entries(before), kept)
    assert apply_change(base, changes(before, after), kept) == tree_digest(entries(after))


@PATIENT
@given(changed())
def test_differences_are_exactly_the_paths_that_differ(pair: tuple[Tree, Tree]) -> None:
    before, after = pair
    kept = MemoryContents()
    found = differences(snapshot(entries(before), kept), snapshot(entries(after), kept), kept)
    wanted = sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
    assert [each.path for each in found] == wanted
    assert all((each.after is None) == (each.path not in after) for each in found)


def test_a_removed_folder_goes_whole_and_what_follows_stands_alone() -> None:
    kept = MemoryContents()
    base = snapshot(entries(ONE), kept)
    new = (Entry(path=b"d", kind=Kind.GONE), entry(b"d/new", File(b"3")))
    assert apply_change(base, new, kept) == tree_digest(entries({b"a": File(b"1"), b"d/new": File(b"3")}))


def test_a_file_over_a_folder_replaces_it() -> None:
    kept = MemoryContents()
    base = snapshot(entries(ONE), kept)
    assert apply_change(base, [entry(b"d", File(b"3"))], kept) == tree_digest(
        entries({b"a": File(b"1"), b"d": File(b"3")})
    )


def test_deleting_what_is_not_there_changes_nothing() -> None:
    kept = MemoryContents()
    base = snapshot(entries(ONE), kept)
    gone = [Entry(path=path, kind=Kind.GONE) for path in (b"zz", b"a/b", b"d/none/x")]
    assert apply_change(base, gone, kept) == base


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param([entry(b"x", File()), entry(b"x", Link())], id="twice"),
        pytest.param([entry(b"x", File()), entry(b"x/y", File())], id="beneath a new file"),
        pytest.param([entry(b"a/y", File())], id="beneath a file of the base"),
        pytest.param([Entry(path=b"x/f", kind=Kind.FOLDER), entry(b"x", Link())], id="folder beneath a link"),
    ],
)
def test_entries_that_are_no_tree_are_refused(wrong: list[Entry]) -> None:
    kept = MemoryContents()
    with pytest.raises(TreeError):
        apply_change(snapshot(entries(ONE), kept), wrong, kept)


@pytest.mark.parametrize("path", [b"", b"/a", b"a/", b"a//b", b"./a", b"a/..", b"..", b"a\0", b"x" * 70_000])
def test_a_path_that_is_none_makes_no_entry(path: bytes) -> None:
    with pytest.raises(TreeError):
        Entry(path=path, kind=Kind.GONE)


@pytest.mark.parametrize(
    "listing",
    [
        pytest.param(b"", id="empty"),
        pytest.param(MAGIC[:-1], id="short magic"),
        pytest.param(MAGIC + b"\0\1b" + b"f" * 33 + b"\0\1a" + b"f" * 33, id="unordered"),
        pytest.param(MAGIC + b"\0\1a" + b"f" * 33 + b"\0\1a" + b"f" * 33, id="twice"),
        pytest.param(MAGIC + b"\0\0" + b"f" * 33, id="no name"),
        pytest.param(MAGIC + b"\0\1a" + b"z" * 33, id="unknown mark"),
        pytest.param(MAGIC + b"\0\1a" + b"f" * 32, id="cut"),
        pytest.param(MAGIC + b"\0\1a" + b"f" * 33 + b"\0", id="more"),
    ],
)
def test_bytes_that_are_no_listing_are_refused(listing: bytes) -> None:
    with pytest.raises(TreeError):
        decode_listing(listing)


class Counting(MemoryContents):
    """Contents that count what is read and written."""

    def __init__(self) -> None:
        super().__init__()
        self.uses = 0

    def get(self, digest: str) -> bytes:
        self.uses += 1
        return super().get(digest)

    def put(self, content: bytes) -> str:
        self.uses += 1
        return super().put(content)


@pytest.mark.parametrize("folders", [10, 200])
def test_a_change_costs_its_own_folders_and_not_the_tree(folders: int) -> None:
    tree: Tree = {b"%d/%d/f" % (one, two): File() for one in range(folders) for two in range(10)}
    kept = Counting()
    base = snapshot(entries(tree), kept)
    kept.uses = 0
    after = apply_change(base, [entry(b"3/4/f", File(b"new"))], kept)
    assert kept.uses == 6
    assert len(differences(base, after, kept)) == 1
    assert kept.uses == 12


def test_a_tree_far_deeper_than_the_stack_is_no_trouble() -> None:
    kept = MemoryContents()
    deep = b"/".join([b"d"] * 5000)
    base = snapshot([entry(deep, File(b"x"))], kept)
    assert [each.path for each in differences(EMPTY_TREE, base, kept)] == [deep]
    assert apply_change(base, [Entry(path=deep, kind=Kind.GONE)], kept) == EMPTY_TREE


def test_a_lookup_finds_files_and_links_and_no_folders() -> None:
    kept = MemoryContents()
    base = snapshot(entries(ONE), kept)
    found = lookup(base, b"d/b", kept)
    assert found is not None
    assert (found.kind, found.executable, found.digest) == (Kind.FILE, True, digest_of(b"2"))
    assert [lookup(base, path, kept) for path in (b"d", b"d/x", b"a/x")] == [None] * 3


@FEW
@given(trees())
def test_a_laid_out_tree_is_read_back(tmp_path_factory: pytest.TempPathFactory, tree: Tree) -> None:
    root = tmp_path_factory.mktemp("laid")
    lay_out(root, tree)
    assert read_folder(root) == entries(tree)


def test_modes_are_normalised_and_empty_folders_told(tmp_path: Path) -> None:
    lay_out(tmp_path, {b"a": File(b"1"), b"b": File(b"2")})
    (tmp_path / "a").chmod(0o4710)
    (tmp_path / "b").chmod(0o466)
    (tmp_path / "empty").mkdir()
    found = {each.path: each for each in read_folder(tmp_path)}
    assert found[b"a"].executable
    assert not found[b"b"].executable
    assert found[b"empty"].kind is Kind.FOLDER


@pytest.mark.parametrize("kind", ["fifo", "socket"])
def test_a_special_file_in_a_trusted_folder_is_refused(tmp_path: Path, kind: str) -> None:
    place = tmp_path / "s"
    if kind == "fifo":
        os.mkfifo(place)
    else:
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(place))
    with pytest.raises(TreeError, match="no file, folder or link"):
        read_folder(tmp_path)
