"""Laws of plain patches: what is applied in memory is what git applies, and whatever is odd is left to git."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.patch import Repository
from sandbox.plain_patch import PlainFile, plain_changes
from sandbox.tree import Entry
from tests.unit.sandbox.test_patch import BASE, after, made
from tests.unit.sandbox.trees import FEW, File, Link, Tree, changed

LONG = b"".join(b"line %d\n" % number for number in range(60))


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    return Repository(tmp_path_factory.mktemp("git") / "bases.git")


def plainly(tree: Tree, patch: bytes) -> tuple[Entry, ...] | None:
    def before(path: bytes) -> PlainFile | None:
        above = [b"/".join(path.split(b"/")[:depth]) for depth in range(1, path.count(b"/") + 1)]
        if any(each in tree for each in above) or any(each.startswith(path + b"/") for each in tree):
            raise LookupError(path)
        found = tree.get(path)
        if isinstance(found, Link):
            raise LookupError(path)  # noqa: TRY004 - a link is what stands there
        return None if found is None else PlainFile(content=found.content, executable=found.executable)

    return plain_changes(patch, before)


@pytest.mark.parametrize(
    ("tree", "new"),
    [
        (BASE, after(**{"a.py": File(b"one\n2\nthree\n")})),
        (BASE, after(**{"a.py": File(b"one\ntwo\nthree")})),
        (BASE, after(**{"a.py": File(b"")})),
        (BASE, after(**{"a.py": None})),
        (BASE, after(**{"a.py": File(b"one\n", executable=True)})),
        (BASE, after(run=File(b"#!/bin/sh\n"))),
        (BASE, after(empty=File(b"x"))),
        (BASE, after(empty=None, new=File())),
        (BASE, after(crlf=File(b"one\r\n2\r\n"))),
        (BASE, after(d__new=File(b"new\n", executable=True), d__x=None)),
        ({b"t": File(LONG)}, {b"t": File(LONG.replace(b"line 3\n", b"").replace(b"line 50\n", b"line 50\nmore\n"))}),
        ({b"t": File(b"a" + LONG)}, {b"t": File(LONG + b"end")}),
        ({b"t": File(b"no end")}, {b"t": File(b"no end\n")}),
    ],
)
def test_our_own_diffs_are_plain_and_give_what_git_gives(repository: Repository, tree: Tree, new: Tree) -> None:
    base, patch = made(repository, tree, new)
    found = plainly(tree, patch)
    assert found is not None
    assert found == repository.apply(base, patch).changes


@pytest.mark.parametrize(
    "new",
    [after(l=Link(b"elsewhere")), after(**{"a b": File(b"x\n")}), after(nul=File(b"b\0")), after(ü=File(b"x\n"))],
    ids=["a link", "a quoted name", "binary", "a name beyond ASCII"],
)
def test_what_is_not_plain_is_left_to_git(repository: Repository, new: Tree) -> None:
    _, patch = made(repository, BASE, new)
    assert plainly(BASE, patch) is None


@FEW
@given(pair=changed())
def test_whatever_was_changed_is_applied_alike_or_left_to_git(repository: Repository, pair: tuple[Tree, Tree]) -> None:
    before, then = pair
    base, patch = made(repository, before, then)
    found = plainly(before, patch)
    assert found is None or found == repository.apply(base, patch).changes


def good(repository: Repository) -> bytes:
    return made(repository, BASE, after(**{"a.py": File(b"one\n2\nthree\n")}))[1]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (rb"-two", b"-tow"),
        (rb" one", b" eno"),
        (rb"\+2\n", b"+3\n"),
        (rb"-1,3 \+1,3", b"-1,3 +1,4"),
        (rb"-1,3 \+1,3", b"-1,2 +1,3"),
        (rb"-1,3 \+1,3", b"-2,3 +2,3"),
        (rb"-1,3 \+1,3", b"-1,3 +2,3"),
        (rb"index [0-9a-f]{40}", b"index " + b"1" * 40),
        (rb"\.\.[0-9a-f]{40}", b".." + b"1" * 40),
        (rb"(\.\.[0-9a-f]{40}) 100644", rb"\1 100755"),
        (rb"\+\+\+ b/a.py", b"+++ /dev/null"),
        (rb"\n three\n", b"\n three"),
        (rb"\n three\n", b"\n three\n\\ No newline at end of file\n"),
        (rb"\n three\n", b"\n three\nmore\n"),
        (rb"\n three\n", b"\n"),
        (rb"^", b"hello\n"),
        (rb"a\.py", b"../a.py"),
        (rb"a\.py", b".git/config"),
        (rb"a\.py", b"d"),
        (rb"a\.py", b"a.py/b"),
        (rb"a\.py", b"l"),
        (rb"(?s)^(.*)$", rb"\1\1"),
    ],
)
def test_what_does_not_fit_exactly_is_left_to_git(repository: Repository, old: bytes, new: bytes) -> None:
    patch = good(repository)
    spoilt = re.sub(old, new, patch)
    assert spoilt != patch
    assert plainly(BASE, patch) is not None
    assert plainly(BASE, spoilt) is None


@FEW
@given(data=st.data())
def test_a_spoilt_patch_is_never_applied_as_git_would_not(repository: Repository, data: st.DataObject) -> None:
    base, patch = made(repository, BASE, after(**{"a.py": File(b"one\n2\nthree\n"), "d/x": None, "run": File(b"#!\n")}))
    at = data.draw(st.integers(0, len(patch) - 1))
    other = data.draw(st.sampled_from([b"", b"\n", b"+", b"-", b" ", b"0", b"1", b"@", b"\\", patch[at : at + 9]]))
    spoilt = patch[:at] + other + patch[at + data.draw(st.integers(0, 2)) :]
    found = plainly(BASE, spoilt)
    assert found is None or found == repository.apply(base, spoilt).changes


def test_an_empty_patch_changes_nothing() -> None:
    assert plainly(BASE, b"") == ()


def test_a_base_whose_contents_are_not_at_hand_is_left_to_git(repository: Repository) -> None:
    def before(path: bytes) -> PlainFile | None:
        raise LookupError(path)

    assert plain_changes(good(repository), before) is None
