"""Laws of patches: what is made of a tree gives that tree again, for us and for stock git."""

import base64
import hashlib
import subprocess
import time
import tracemalloc
import zlib
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sandbox.contents import MemoryContents
from sandbox.errors import PatchError
from sandbox.git import GIT
from sandbox.patch import Repository
from sandbox.patch_text import named_paths, refusal
from sandbox.tree import Kind, apply_change, read_folder, snapshot, tree_digest
from tests.unit.sandbox.trees import FEW, File, Link, Tree, blobs, changed, changes, entries, entry, lay_out

CLEAN = {
    "PATH": "/usr/bin",
    "HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
}


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    return Repository(tmp_path_factory.mktemp("git") / "bases.git")


def made(repository: Repository, before: Tree, after: Tree) -> tuple[str, bytes]:
    kept = blobs(before, after)
    base = repository.ingest(entries(before), kept.get)
    return base, repository.patch(base, changes(before, after), kept.get)


def check_round_trip(repository: Repository, before: Tree, after: Tree) -> bytes:
    base, patch = made(repository, before, after)
    applied = repository.apply(base, patch)
    listings = MemoryContents()
    root = snapshot(entries(before), listings)
    assert apply_change(root, applied.changes, listings) == tree_digest(entries(after))
    assert [each.path for each in applied.changes] == sorted(each.path for each in changes(before, after))
    return patch


def check_stock_git(folder: Path, before: Tree, after: Tree, patch: bytes) -> None:
    folder.mkdir()
    lay_out(folder, before)
    if patch:
        argv = [GIT, "apply", "--whitespace=nowarn", "-"]
        done = subprocess.run(argv, cwd=folder, env=CLEAN, input=patch, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr
    assert tree_digest(read_folder(folder)) == tree_digest(entries(after))


BASE: Tree = {
    b"a.py": File(b"one\ntwo\nthree\n"),
    b"run": File(b"#!/bin/sh\n", executable=True),
    b"d/x": File(b"x\n"),
    b"d/e/y": File(b"y\n"),
    b"l": Link(b"d/x"),
    b"empty": File(),
    b"nul": File(b"a\0b" * 50),
    b"crlf": File(b"one\r\ntwo\r\n"),
}


def after(**new: File | Link | None) -> Tree:
    """Give BASE with some paths replaced, or taken away where None stands; `__` is a slash."""
    tree = dict(BASE)
    for name, value in new.items():
        path = name.replace("__", "/").encode()
        tree.pop(path, None)
        if value is not None:
            tree[path] = value
    return tree


def without(tree: Tree, prefix: bytes) -> Tree:
    return {path: value for path, value in tree.items() if path != prefix and not path.startswith(prefix + b"/")}


CASES = [
    pytest.param(BASE, id="nothing"),
    pytest.param({}, id="everything deleted"),
    pytest.param(after(run=File(b"#!/bin/sh\n")), id="executable bit off"),
    pytest.param(after(nul=File(b"a\0b" * 50, executable=True)), id="executable bit of a binary on"),
    pytest.param(after(empty=None), id="empty file deleted"),
    pytest.param(after(new=File()), id="empty file made"),
    pytest.param(after(new=File(executable=True)), id="empty executable made"),
    pytest.param(after(**{"a.py": File(b"one\ntwo\nthree")}), id="last newline lost"),
    pytest.param(after(crlf=File(b"one\ntwo\r\n")), id="line ends changed"),
    pytest.param(after(crlf=File(b"\xef\xbb\xbfone\r\ntwo\r\n")), id="byte order mark"),
    pytest.param(after(nul=File(b"a\0c" * 50)), id="binary edited"),
    pytest.param(after(nul=File(b"text\n")), id="binary to text"),
    pytest.param(after(**{"a.py": File(b"\0")}), id="text to binary"),
    pytest.param(after(d__x=None), id="file deleted"),
    pytest.param(without(BASE, b"d"), id="folder deleted"),
    pytest.param({**without(BASE, b"d"), b"d": File(b"now a file\n")}, id="folder to file"),
    pytest.param({**without(BASE, b"d"), b"d": Link(b"elsewhere")}, id="folder to link"),
    pytest.param({**without(BASE, b"a.py"), b"a.py/in": File(b"x")}, id="file to folder"),
    pytest.param({**without(BASE, b"l"), b"l/in": File(b"x")}, id="link to folder"),
    pytest.param(after(l=File(b"d/x")), id="link to file"),
    pytest.param(after(**{"a.py": Link(b"l")}), id="file to link"),
    pytest.param(after(l=Link(b"/etc/passwd")), id="link turned"),
    pytest.param({**BASE, b".gitignore": File(b"*\n"), b"ignored": File(b"x\n")}, id="ignored files"),
    pytest.param(
        {**BASE, b".gitattributes": File(b"* -diff text eol=crlf ident\n"), b"a.py": File(b"$Id$\n")},
        id="attributes",
    ),
    pytest.param({**BASE, b"sub/.gitmodules": File(b"[submodule]\n")}, id="module list"),
    pytest.param(
        {**BASE, b'new\nline\t"q\\': File(b"x\n"), b"-n": File(b"--\n"), b"\xff": Link(b"\xfe")},
        id="odd names",
    ),
    pytest.param({**BASE, b"\xc3\xa9": File(b"nfc"), b"e\xcc\x81": File(b"nfd"), b"A.PY": File(b"case")}, id="twins"),
    pytest.param({**BASE, b"n" * 255: File(b"x\n"), b"/".join([b"p" * 99] * 30): File(b"x\n")}, id="long"),
    pytest.param({**BASE, b"a b": File(b"x\n"), b" ": File(b"x\n"), b"b ": File(b"x\n")}, id="spaces"),
    pytest.param({**BASE, b"dev/null": File(b"x\n"), b"a/b/a": File(b"+++ b/x\n--- a/x\n")}, id="misleading"),
]


@pytest.mark.parametrize("result", CASES)
def test_each_kind_of_change_comes_through_whole(repository: Repository, tmp_path: Path, result: Tree) -> None:
    patch = check_round_trip(repository, BASE, result)
    check_stock_git(tmp_path / "there", BASE, result, patch)
    back = check_round_trip(repository, result, BASE)
    if not any(len(path) > 2000 for path in result):
        check_stock_git(tmp_path / "back", result, BASE, back)


@FEW
@given(changed())
@example(({b"a": Link(b"x")}, {b"a/b": File(b"")}))
def test_base_and_patch_give_the_tree_again(
    repository: Repository, tmp_path_factory: pytest.TempPathFactory, pair: tuple[Tree, Tree]
) -> None:
    before, result = pair
    patch = check_round_trip(repository, before, result)
    check_stock_git(tmp_path_factory.mktemp("stock") / "tree", before, result, patch)


def test_no_change_is_an_empty_patch(repository: Repository) -> None:
    base, patch = made(repository, BASE, BASE)
    assert patch == b""
    assert repository.apply(base, patch).changes == ()


def test_attributes_of_a_tree_do_not_hide_its_text(repository: Repository) -> None:
    hiding: Tree = {**BASE, b".gitattributes": File(b"*.py -diff\n")}
    _, patch = made(repository, hiding, {**hiding, b"a.py": File(b"one\nTWO\nthree\n")})
    assert b"\n-two\n+TWO\n" in patch


def test_a_binary_file_is_decoded_from_the_patch_and_not_taken_from_our_objects(
    repository: Repository,
) -> None:
    base, patch = made(repository, BASE, {**BASE, b"new": File(b"\0" + bytes(range(256)) * 4)})
    mark = patch.index(b"literal ")
    broken = patch[: mark + 16] + (b"z" if patch[mark + 16 : mark + 17] != b"z" else b"y") + patch[mark + 17 :]
    with pytest.raises(PatchError):
        repository.apply(base, broken)


def test_the_same_tree_is_kept_once_and_gets_the_same_commit(repository: Repository, tmp_path: Path) -> None:
    kept = blobs(BASE)
    one = repository.ingest(entries(BASE), kept.get)
    assert repository.ingest(reversed(entries(BASE)), kept.get) == one
    assert Repository(tmp_path / "other.git").ingest(entries(BASE), kept.get) == one


def test_a_reference_that_a_crash_emptied_is_written_again(tmp_path: Path) -> None:
    one = Repository(tmp_path / "git").ingest(entries(BASE), blobs(BASE).get)
    (reference,) = (tmp_path / "git/refs/bases").iterdir()
    reference.write_bytes(b"")
    assert Repository(tmp_path / "git").ingest(entries(BASE), blobs(BASE).get) == one


def test_two_kept_trees_are_compared_as_they_are(repository: Repository) -> None:
    result = after(d__x=File(b"other\n"))
    base, patch = made(repository, BASE, result)
    assert repository.diff(base, repository.ingest(entries(result), blobs(result).get)) == patch


def test_content_that_is_not_what_its_digest_says_is_refused(repository: Repository) -> None:
    with pytest.raises(PatchError, match="not what its digest says"):
        repository.ingest([entry(b"a", File(b"1"))], lambda _: b"2")


PLAIN = b"--- a/a.py\t2020-01-01 00:00:00.000000000 +0000\n+++ b/a.py\t2021-01-01 00:00:00.000000000 +0000\n"
NEW = b"diff --git a/%s b/%s\nnew file mode %s\n--- /dev/null\n+++ b/%s\n@@ -0,0 +1 @@\n+x\n"


def new(path: bytes, mode: bytes = b"100644") -> bytes:
    return NEW % (path, path, mode, path)


def test_a_patch_of_plain_diff_is_applied(repository: Repository) -> None:
    base = repository.ingest(entries(BASE), blobs(BASE).get)
    applied = repository.apply(base, b"a word before\n" + PLAIN + b"@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n")
    assert [each.path for each in applied.changes] == [b"a.py"]
    assert applied.contents.get(applied.changes[0].sha256 or "") == b"one\n2\nthree\n"


def test_plain_diff_makes_and_deletes_files(repository: Repository) -> None:
    base = repository.ingest(entries(BASE), blobs(BASE).get)
    patch = b"--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\n--- a/d/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"
    applied = repository.apply(base, patch)
    assert [(each.path, each.kind) for each in applied.changes] == [(b"d/x", Kind.GONE), (b"n", Kind.FILE)]


def test_a_rename_made_elsewhere_is_a_deletion_and_a_new_file(repository: Repository) -> None:
    base = repository.ingest(entries(BASE), blobs(BASE).get)
    patch = b"diff --git a/d/x b/d/z\nsimilarity index 100%\nrename from d/x\nrename to d/z\n"
    applied = repository.apply(base, patch)
    assert [(each.path, each.kind) for each in applied.changes] == [(b"d/x", Kind.GONE), (b"d/z", Kind.FILE)]


@pytest.mark.parametrize(
    "patch",
    [
        pytest.param(b"no patch\n", id="no patch"),
        pytest.param(new(b"../x"), id="upwards"),
        pytest.param(new(b"d/../../x"), id="upwards inside"),
        pytest.param(new(b"/etc/x"), id="absolute"),
        pytest.param(new(b".git/hooks/pre-commit"), id="git"),
        pytest.param(new(b"d/.GIT/config"), id="git in capitals"),
        pytest.param(new(b"d/git~1/config"), id="git by its short name"),
        pytest.param(new(b"x", b"160000"), id="gitlink"),
        pytest.param(new(b"x", b"100600"), id="odd mode"),
        pytest.param(new(b".gitmodules", b"120000"), id="link as module list"),
        pytest.param(new(b"a.py/x"), id="beneath a file"),
        pytest.param(new(b"l/x"), id="beneath a link"),
        pytest.param(new(b"m", b"120000") + new(b"m/x"), id="beneath a link of its own"),
        pytest.param(new(b"d"), id="over a folder"),
        pytest.param(new(b"d/x"), id="over a file"),
        pytest.param(new(b"x") + new(b"x"), id="twice"),
        pytest.param(new(b"n" * 256), id="long name"),
        pytest.param(PLAIN + b"@@ -1,3 +1,3 @@\n ONE\n-two\n+2\n three\n", id="other context"),
        pytest.param(PLAIN + b"@@ -1,3 +1,3 @@\n one\n-two\n+2\n", id="cut"),
        pytest.param(PLAIN, id="without hunks"),
        pytest.param(PLAIN.replace(b"b/", b"c/") + b"@@ -1 +1 @@\n-one\n+1\n", id="other prefix"),
        pytest.param(PLAIN.replace(b"b/a", b"b/z") + b"@@ -1,2 +1,2 @@\n one\n-two\n+2\n", id="two names"),
        pytest.param(b"@@ -1 +1 @@\n-one\n+1\n", id="hunk alone"),
        pytest.param(b"diff --git a/nul b/nul\nBinary files a/nul and b/nul differ\n", id="binary without content"),
        pytest.param(b"diff --git a/zz b/zz\ndeleted file mode 100644\n", id="deletion of nothing"),
        pytest.param(b'diff --git "a/x b/x\nnew file mode 100644\n', id="open quote"),
    ],
)
def test_a_patch_that_may_not_be_is_refused(repository: Repository, patch: bytes) -> None:
    base = repository.ingest(entries(BASE), blobs(BASE).get)
    with pytest.raises(PatchError):
        repository.apply(base, patch)


@pytest.mark.parametrize(
    "path",
    [
        b".git",
        b".GIT/x",
        b"a/.git ",
        b"a/.git...",
        b".git::$INDEX",
        b"git~1",
        b"GIT~1./x",
        b"a\\.git",
        b"",
        b"a//b",
        b"a /b",
    ],
)
def test_names_that_git_refuses_are_known(path: bytes) -> None:
    assert refusal(path) is not None


@pytest.mark.parametrize("path", [b".gitignore", b"git", b"git~2", b".git2", b"a.git", b"x/.git-x", b"a\nb", b"\xff"])
def test_names_that_git_carries_are_carried(path: bytes) -> None:
    assert refusal(path) is None


def test_what_a_patch_names_is_read_without_being_misled_by_its_content() -> None:
    hunk = b"@@ -1,2 +1,3 @@\n diff --git a/no b/no\n++++ b/no\n+x\n--- a/no\n\\ No newline at end of file\n"
    assert named_paths(PLAIN + hunk + new(b"yes")) == {b"a.py", b"yes"}


def test_a_patch_of_a_million_lines_is_read_in_seconds_and_without_a_copy() -> None:
    lines = 1_000_000
    patch = PLAIN + b"@@ -0,0 +1,%d @@\n" % lines + b"+ab\n" * lines
    began = time.process_time()
    assert named_paths(patch) == {b"a.py"}
    assert time.process_time() - began < 20
    few = PLAIN + b"@@ -0,0 +1,20000 @@\n" + b"+ab\n" * 20_000
    tracemalloc.start()
    try:
        assert named_paths(few) == {b"a.py"}
        assert tracemalloc.get_traced_memory()[1] < len(few) // 2
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("count", [b"9" * 16, b"9" * 5000])
def test_a_hunk_of_more_lines_than_there_can_be_is_refused(count: bytes) -> None:
    with pytest.raises(PatchError):
        named_paths(PLAIN + b"@@ -0,0 +1,%s @@\n+ab\n" % count)


def test_no_setting_from_outside_reaches_git(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    canary = tmp_path / "canary"
    config = tmp_path / "gitconfig"
    config.write_text(
        f'[diff]\n\texternal = "touch {canary}"\n\tnoprefix = true\n[core]\n\tfsmonitor = "touch {canary}"\n'
    )
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"):
        monkeypatch.setenv(name, str(config))
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", f"touch {canary}")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    patch = check_round_trip(repository, BASE, after(**{"a.py": File(b"x\n")}))
    assert patch.startswith(b"diff --git a/a.py b/a.py\n")
    assert not canary.exists()
    assert [each.name for each in tmp_path.iterdir()] == ["gitconfig"]


@FEW
@given(st.data())
def test_a_garbled_patch_is_refused_or_does_only_what_it_names(repository: Repository, data: st.DataObject) -> None:
    base, patch = made(repository, BASE, after(**{"a.py": File(b"one\n"), "nul": File(b"\0\1" * 40), "l": None}))
    lines = patch.split(b"\n")
    for _ in range(data.draw(st.integers(1, 3))):
        one, other = (data.draw(st.integers(0, len(lines) - 1)) for _ in range(2))
        lines[one : one + 1] = data.draw(st.sampled_from([[], [lines[one]] * 2, [lines[other]], [lines[one][:-1]]]))
    garbled = b"\n".join(lines)
    try:
        named, applied = named_paths(garbled), repository.apply(base, garbled)
    except PatchError:
        return
    assert {each.path for each in applied.changes} <= named


def varint(number: int) -> bytes:
    digits = []
    while number >= 0x80:
        digits.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*digits, number])


def test_a_delta_that_swells_beyond_all_bounds_is_refused(repository: Repository) -> None:
    mebibyte = bytes(1 << 20)
    base = repository.ingest(entries({b"big": File(mebibyte)}), blobs({b"big": File(mebibyte)}).get)
    copy_all = bytes([0x80 | 0x40, 0x10])  # from 0, 0x10 << 16 bytes
    delta = varint(1 << 20) + varint(5 << 30) + copy_all * (5 << 10)
    packed = zlib.compress(delta)
    rows = [packed[at : at + 52] for at in range(0, len(packed), 52)]
    lengths = [bytes([len(row) + (64 if len(row) < 27 else 70)]) for row in rows]
    text = b"".join(length + base64.b85encode(row, pad=True) + b"\n" for length, row in zip(lengths, rows, strict=True))
    old = hashlib.sha1(b"blob 1048576\0" + mebibyte, usedforsecurity=False).hexdigest().encode()
    patch = b"diff --git a/big b/big\nindex %s..%s 100644\nGIT binary patch\ndelta %d\n%s\n"
    with pytest.raises(PatchError, match="memory"):
        repository.apply(base, patch % (old, b"1" * 40, len(delta), text))
