"""The tree that an in-depth judge reads: base and change put together, with no more in it than its packet shows. Pure.

A line that the change adds stands there as the packet shows it: scrubbed, escaped, cut. What no packet shows of a
change (bytes that are no text, files of agents) is left out and listed. What agents would obey is left out of the
base too, so that whatever program looks around finds no orders there.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from evaluators.lines import hunks
from runner.documents.facts import path_text
from runner.documents.judging import View
from runner.documents.judging_tree import Withheld, WithheldWhy, WorkspaceRecord
from runner.fixture import Fixture
from runner.judging.changes import (
    Content,
    FileChange,
    Look,
    added_in,
    bared,
    lines_of,
    scrubbed_in,
    text_of,
    visible,
)
from runner.judging.identity import is_agent_file
from runner.judging.languages import Language, language_of
from sandbox.api import Pack
from sandbox.contents import MemoryContents
from sandbox.tree import Entry, Kind, apply_change


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingTree:
    """A tree for a judge's eyes: a stored base, and what is laid over it."""

    base: Pack
    change: Pack
    record: WorkspaceRecord


def reading_tree(fixture: Fixture, changes: Iterable[FileChange], look: Look) -> ReadingTree:
    """Put base and change together as a judge may read them."""
    work = _Work(look=look, contents=MemoryContents(below=fixture.contents))
    for change in changes:
        work.take(change)
    for entry in fixture.entries:
        if entry.path not in work.entries and is_agent_file(_name(entry.path)):
            work.leave_out(entry.path, WithheldWhy.AGENT_FILE, stood=True)
    entries = tuple(work.entries[path] for path in sorted(work.entries))
    return ReadingTree(
        base=fixture.pack,
        change=Pack(entries=entries, blobs=work.contents.get),
        record=WorkspaceRecord(
            fixture_sha256=fixture.digest,
            tree_sha256=apply_change(fixture.digest, entries, work.contents),
            view=look.view,
            withheld=tuple(sorted(work.withheld, key=lambda each: each.path)),
        ),
    )


@dataclass(slots=True, kw_only=True)
class _Work:
    look: Look
    contents: MemoryContents
    entries: dict[bytes, Entry] = field(default_factory=dict)
    withheld: list[Withheld] = field(default_factory=list)

    def take(self, change: FileChange) -> None:
        """Lay one path of the change, or leave it out."""
        if change.after is None:
            self.entries[change.path] = Entry(path=change.path, kind=Kind.GONE)
            return
        why = _withholding(change, change.after, self.look.view)
        if why is not None:
            self.leave_out(change.path, why, stood=change.before is not None)
            return
        data = _readable(change, self.look).encode("utf-8", "surrogateescape")
        self.entries[change.path] = Entry(
            path=change.path,
            kind=Kind.FILE,
            executable=change.after.executable,
            sha256=self.contents.put(data),
            size=len(data),
        )

    def leave_out(self, path: bytes, why: WithheldWhy, *, stood: bool) -> None:
        """List a path as left out; what stood there in the base goes with it."""
        self.withheld.append(Withheld(path=path_text(path), why=why))
        if stood:
            self.entries[path] = Entry(path=path, kind=Kind.GONE)


def _withholding(change: FileChange, after: Content, view: View) -> WithheldWhy | None:
    name = _name(change.path)
    if is_agent_file(name):
        return WithheldWhy.AGENT_FILE
    if after.link:
        return WithheldWhy.LINK
    if text_of(change.before) is None or text_of(after) is None:
        return WithheldWhy.NO_TEXT
    is_bare_document = view is View.BARE and language_of(name) is Language.DOCUMENT
    return WithheldWhy.DOCUMENT if is_bare_document else None


def _readable(change: FileChange, look: Look) -> str:
    """Give the new text of a file, of which the packet shows what was added."""
    language = language_of(_name(change.path))
    before, after = text_of(change.before) or "", text_of(change.after) or ""
    if look.view is View.BARE:
        before, after = bared(language, before)[0], bared(language, after)[0]
    new = lines_of(after)
    added = [index for hunk in hunks(lines_of(before), new) for index in added_in(hunk)]
    scrubbed = scrubbed_in(look, language, before, new, added).lines
    shown = dict(_shown(new, added, scrubbed, look.ceilings.line_chars))
    text = "\n".join(shown.get(index, line) for index, line in enumerate(new))
    return f"{text}\n" if after.endswith("\n") else text


def _shown(
    new: Sequence[str], added: Iterable[int], scrubbed: Mapping[int, str], longest: int
) -> Iterator[tuple[int, str]]:
    for index in added:
        yield index, visible(scrubbed.get(index, new[index]), longest)[0]


def _name(path: bytes) -> str:
    return path.decode("utf-8", "surrogateescape")
