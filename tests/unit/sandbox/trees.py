"""Small trees for tests: plain dictionaries, strategies that make odd ones, and ways to lay them out."""

import os
from dataclasses import dataclass
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from sandbox.capture import Capture
from sandbox.contents import MemoryContents, digest_of
from sandbox.patch_text import refusal
from sandbox.tree import Entry, Kind

PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
"""A loaded machine is no failure."""
FEW = settings(PATIENT, max_examples=25)
"""For laws whose every example starts programs or writes folders."""


@dataclass(frozen=True, slots=True)
class File:
    content: bytes = b""
    executable: bool = False


@dataclass(frozen=True, slots=True)
class Link:
    target: bytes = b"x"


Tree = dict[bytes, File | Link]

ODD_NAMES = (
    b"new\nline",
    b"tab\there",
    b'quo"te',
    b"back\\slash",
    b"-dash",
    b" lead",
    b"trail ",
    b"\xff\xfe",
    b"\xc3\xa9",
    b"e\xcc\x81",
    b"A",
    b"a b",
    b"...",
    b".gitignore",
    b".gitattributes",
    b"dev",
    b"null",
    b"\xe2\x80\xaertl",
    b"\x01\x7f",
    b"b" * 255,
)
NAMES = (b"a", b"b", b"c", b"a.b", b"a-b", *ODD_NAMES)


def entry(path: bytes, value: File | Link) -> Entry:
    if isinstance(value, Link):
        return Entry(path=path, kind=Kind.LINK, target=value.target)
    sha256 = digest_of(value.content)
    size = len(value.content)
    return Entry(path=path, kind=Kind.FILE, executable=value.executable, sha256=sha256, size=size)


def entries(tree: Tree) -> tuple[Entry, ...]:
    return tuple(entry(path, value) for path, value in sorted(tree.items()))


def blobs(*trees: Tree) -> MemoryContents:
    kept = MemoryContents()
    for tree in trees:
        for value in tree.values():
            if isinstance(value, File):
                kept.put(value.content)
    return kept


def changes(before: Tree, after: Tree) -> tuple[Entry, ...]:
    gone = tuple(Entry(path=path, kind=Kind.GONE) for path in before if path not in after)
    there = (entry(path, value) for path, value in after.items() if before.get(path) != value)
    return (*gone, *there)


def changed_paths(seen: Capture) -> tuple[bytes, ...]:
    return tuple(each.path for each in seen.changes)


def fits(tree: Tree, path: bytes) -> bool:
    if any(refusal(path, kind) for kind in (Kind.FILE, Kind.LINK)):
        return False
    parts = path.split(b"/")
    above = {b"/".join(parts[:end]) for end in range(1, len(parts))}
    return not above & tree.keys() and not any(other.startswith(path + b"/") for other in tree)


def lay_out(root: Path, tree: Tree) -> None:
    for path, value in tree.items():
        place = root / os.fsdecode(path)
        place.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(value, Link):
            place.symlink_to(os.fsdecode(value.target))
            continue
        place.write_bytes(value.content)
        place.chmod(0o755 if value.executable else 0o644)


names = st.one_of(
    st.sampled_from(NAMES),
    st.binary(min_size=1, max_size=8).filter(
        lambda name: b"/" not in name and b"\0" not in name and name not in {b".", b".."}
    ),
)
paths = st.lists(names, min_size=1, max_size=4).map(b"/".join).filter(lambda path: len(path) < 1500)
lines = st.lists(st.sampled_from([b"one\n", b"two\r\n", b"\n", b"-- \n", b"+++ b/x\n", b"@@ -1 +1 @@\n"]), max_size=30)
ends = st.sampled_from([b"no newline at the end", b"\xef\xbb\xbfbom", b"nul\0"])
contents = st.one_of(
    st.just(b""),
    lines.map(b"".join),
    st.tuples(lines.map(b"".join), ends).map(b"".join),
    st.binary(max_size=300),
)
values = st.one_of(
    st.builds(File, contents, st.booleans()),
    st.builds(Link, st.binary(min_size=1, max_size=20).filter(lambda text: b"\0" not in text)),
)


@st.composite
def trees(draw: st.DrawFn) -> Tree:
    tree: Tree = {}
    for path, value in draw(st.lists(st.tuples(paths, values), max_size=12)):
        if fits(tree, path):
            tree[path] = value
    return tree


@st.composite
def changed(draw: st.DrawFn) -> tuple[Tree, Tree]:
    """Draw a tree and what became of it: paths kept, edited, flipped, removed, replaced."""
    before = draw(trees())
    after: Tree = {}
    for path, value in before.items():
        fate = draw(st.sampled_from(["keep", "keep", "edit", "gone", "beneath", "flip"]))
        where = path + b"/beneath" if fate == "beneath" else path
        if fate == "gone" or not fits(after, where):
            continue
        if fate == "edit":
            after[where] = draw(values)
        elif fate == "flip" and isinstance(value, File):
            after[where] = File(value.content, not value.executable)
        else:
            after[where] = value
    for path, value in draw(trees()).items():
        prefix = path.rpartition(b"/")[0]
        where = prefix if prefix and draw(st.booleans()) else path
        if where not in after and fits(after, where):
            after[where] = value
    return before, after
