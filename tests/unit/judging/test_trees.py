"""Laws of comparing trees: what differs, and nothing else, with the bytes of both sides."""

from runner.judging.changes import Content, FileChange
from runner.judging.trees import Base, file_changes
from sandbox.api import Pack
from sandbox.contents import MemoryContents
from sandbox.tree import Entry, Kind

CONTENTS = MemoryContents()


def file(path: str, text: str, *, executable: bool = False) -> Entry:
    sha256 = CONTENTS.put(text.encode())
    return Entry(path=path.encode(), kind=Kind.FILE, sha256=sha256, size=len(text), executable=executable)


def link(path: str, target: str) -> Entry:
    return Entry(path=path.encode(), kind=Kind.LINK, target=target.encode())


def gone(path: str) -> Entry:
    return Entry(path=path.encode(), kind=Kind.GONE)


BASE = Base([file("a.py", "a"), file("d/x", "x"), file("d/y/z", "z"), file("dd", "dd"), link("l", "a.py")], CONTENTS)


def changed(*entries: Entry) -> tuple[FileChange, ...]:
    return file_changes(BASE, Pack(entries=entries, blobs=CONTENTS.get))


def test_files_and_links_are_told_with_both_sides() -> None:
    found = changed(file("new", "n", executable=True), file("a.py", "b"), gone("dd"), link("l", "elsewhere"))
    assert found == (
        FileChange(path=b"a.py", before=Content(data=b"a"), after=Content(data=b"b")),
        FileChange(path=b"dd", before=Content(data=b"dd"), after=None),
        FileChange(path=b"l", before=Content(data=b"a.py", link=True), after=Content(data=b"elsewhere", link=True)),
        FileChange(path=b"new", before=None, after=Content(data=b"n", executable=True)),
    )


def test_a_folder_that_is_gone_or_replaced_takes_all_that_was_in_it() -> None:
    assert [each.path for each in changed(gone("d"))] == [b"d/x", b"d/y/z"]
    assert [(each.path, each.after is None) for each in changed(file("d", "now a file"))] == [
        (b"d", False),
        (b"d/x", True),
        (b"d/y/z", True),
    ]


def test_what_is_the_same_as_before_is_no_change() -> None:
    folder = Entry(path=b"d", kind=Kind.FOLDER)
    assert changed(file("a.py", "a"), gone("never"), folder) == ()


def test_a_mode_alone_is_a_change() -> None:
    assert [each.path for each in changed(file("a.py", "a", executable=True))] == [b"a.py"]
