"""A change as judges see it: two trees compared by us, path by path, and made harmless to look at. Pure.

Every line begins with what it is: `@` and `@@` are ours (a file, a stretch), a blank, `-` or `+` is followed by a line
of the file. Names are scrubbed, invisible characters escaped, long lines cut; what was done is told beside it.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from evaluators.lines import Hunk, hunks
from runner.documents.judging import FlagKind, View
from runner.judging.changes import (
    FileChange,
    Look,
    added_in,
    bared,
    ends,
    lines_of,
    scrubbed_in,
    text_of,
    visible,
)
from runner.judging.hostile import scan
from runner.judging.identity import Trace, is_agent_file
from runner.judging.languages import Language, language_of
from runner.judging.letters import lookalikes, shown
from runner.judging.phrases import Label
from runner.judging.scrub import Scrubbed, Sighting, names_in


@dataclass(frozen=True, slots=True, kw_only=True)
class Replaced:
    """One trace that was replaced, or left; `line` counts the shown lines from 1."""

    trace: Trace
    line: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """One text that speaks to a judge."""

    label: Label
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """One change, ready for a packet."""

    lines: tuple[str, ...]
    """Without marks; the packet numbers them from 1."""
    seen: tuple[tuple[FlagKind, int], ...] = ()
    """What was seen in it, and how often."""
    replaced: tuple[Replaced, ...] = ()
    left: tuple[Replaced, ...] = ()
    spoken: tuple[Spoken, ...] = ()
    excess: str = ""
    """Which ceiling it is beyond; then nobody is asked."""

    @property
    def visible(self) -> tuple[str, ...]:
        """The lines as they stand in a packet; of nothing, one that says so."""
        return self.lines or ("@ nothing is changed",)

    def flagged(self, kind: FlagKind) -> bool:
        """Whether something of a kind was seen."""
        return any(each == kind for each, _ in self.seen)


def render(changes: Iterable[FileChange], look: Look) -> Shown:
    """Show a change, sorted by path. An empty one has no lines."""
    ordered = sorted(changes, key=lambda change: change.path)
    if len(ordered) > look.ceilings.files:
        return Shown(lines=(), excess=f"{len(ordered)} files, at most {look.ceilings.files}")
    page = _Page(look=look)
    for change in ordered:
        _file(page, change)
        if excess := page.excess():
            return Shown(lines=(), excess=excess)
    return page.done()


@dataclass(slots=True, kw_only=True)
class _Page:
    look: Look
    lines: list[str] = field(default_factory=list)
    added: list[str] = field(default_factory=list)
    """Everything that the author wrote, paths included, as it was written."""
    places: list[int] = field(default_factory=list)
    """The shown line of each."""
    counts: dict[FlagKind, int] = field(default_factory=dict)
    replaced: list[Replaced] = field(default_factory=list)
    left: list[Replaced] = field(default_factory=list)
    size: int = 0

    def count(self, kind: FlagKind, times: int = 1) -> None:
        """Note that something was seen."""
        if times:
            self.counts[kind] = self.counts.get(kind, 0) + times

    def say(self, line: str) -> None:
        """Add a line of ours."""
        self.lines.append(line)
        self.size += 1 + (len(line) if line.isascii() else len(line.encode()))

    def show(self, sign: str, text: str, written: str | None = None) -> None:
        """Add a line of a file; `written` is what its author wrote of it."""
        longest = self.look.ceilings.line_chars
        line, hidden, cut = visible(text, longest)
        if cut:
            self.count(FlagKind.LONG_LINES)
        self.say(sign + line)
        if written is not None:
            self.count(FlagKind.HIDDEN_CHARACTERS, hidden)
            self.count(FlagKind.LOOKALIKES, lookalikes(written[:longest]))
            self.note(written)

    def note(self, written: str) -> None:
        """Keep what the author wrote for the scan."""
        self.added.append(written)
        self.places.append(len(self.lines))

    def excess(self) -> str:
        """Name a ceiling that is passed."""
        most = self.look.ceilings
        if len(self.lines) > most.lines:
            return f"more than {most.lines} lines"
        return f"more than {most.bytes} bytes" if self.size > most.bytes else ""

    def done(self) -> Shown:
        """Scan all that was written, and give the whole."""
        spoken = tuple(Spoken(label=each.label, line=self.places[each.line]) for each in scan(self.added))
        self.count(FlagKind.INJECTION, len(spoken))
        self.count(FlagKind.IDENTITY_REPLACED, len(self.replaced))
        self.count(FlagKind.IDENTITY_LEFT, len(self.left))
        return Shown(
            lines=tuple(self.lines),
            seen=tuple(sorted(self.counts.items())),
            replaced=tuple(self.replaced),
            left=tuple(self.left),
            spoken=spoken,
        )


def _file(page: _Page, change: FileChange) -> None:
    path = change.path.decode("utf-8", "surrogateescape")
    if change.before is None and is_agent_file(path):
        page.say("@ a new file with an agent's settings or notes: not shown")
        page.replaced.append(Replaced(trace=Trace.AGENT_FILE, line=len(page.lines), text=path))
        return
    name, hidden = shown(path)
    before, after = text_of(change.before), text_of(change.after)
    page.say(f"@ {name}: {_what(change, before, after)}")
    if change.before is None:
        page.count(FlagKind.HIDDEN_CHARACTERS, hidden)
        page.count(FlagKind.LOOKALIKES, lookalikes(path))
        page.note(path)
        _names_of_path(page, path)
    if before is None or after is None:
        _facts(page, change)
        return
    language = language_of(path)
    if page.look.view is View.BARE:
        if language is Language.DOCUMENT:
            page.say("@@ a document: not shown in this view")
            return
        (before, sure_before), (after, sure_after) = bared(language, before), bared(language, after)
        page.count(FlagKind.COMMENTS_LEFT, [sure_before, sure_after].count(False))
    _stretches(page, language, before, after)


def _names_of_path(page: _Page, path: str) -> None:
    for name in names_in(path, page.look.known):
        if name not in page.look.task.lower():
            page.left.append(Replaced(trace=Trace.NAME, line=len(page.lines), text=name))


def _what(change: FileChange, before: str | None, after: str | None) -> str:
    words = ["changed"]
    if change.before is None:
        words = ["new"]
    elif change.after is None:
        words = ["removed"]
    elif change.before.executable is not change.after.executable:
        words.append("now executable" if change.after.executable else "no longer executable")
    if change.before is None and change.after is not None and change.after.executable:
        words.append("executable")
    if before is None or after is None:
        words.append("no text")
    return ", ".join(words)


def _facts(page: _Page, change: FileChange) -> None:
    """Tell of a binary file its size and digest, of a link where it leads."""
    for sign, side in (("-", change.before), ("+", change.after)):
        if side is not None and side.link:
            target = side.data.decode("utf-8", "surrogateescape")
            page.show(f"{sign}link to ", target, target if sign == "+" else None)
        elif side is not None:
            page.say(f"{sign}{len(side.data)} bytes, SHA-256 {hashlib.sha256(side.data).hexdigest()}")


def _stretches(page: _Page, language: Language, before: str, after: str) -> None:
    old, new = lines_of(before), lines_of(after)
    found = hunks(old, new)
    added = [index for hunk in found for index in added_in(hunk)]
    scrubbed = scrubbed_in(page.look, language, before, new, added)
    numbers: dict[int, int] = {}
    for hunk in found:
        page.say(f"@@ from line {hunk.after[0] + 1}")
        _stretch(page, hunk, (old, new), scrubbed, numbers)
    if ends(before) is not ends(after):
        page.say("@@ its last line has an end now" if ends(after) else "@@ its last line has no end now")
    page.replaced += _numbered(scrubbed.replaced, numbers)
    page.left += _numbered(scrubbed.left, numbers)


def _numbered(sightings: Iterable[Sighting], numbers: Mapping[int, int]) -> Iterator[Replaced]:
    for each in sightings:
        yield Replaced(trace=each.trace, line=numbers[each.line], text=each.text)


def _stretch(
    page: _Page, hunk: Hunk, sides: tuple[Sequence[str], Sequence[str]], scrubbed: Scrubbed, numbers: dict[int, int]
) -> None:
    old, new = sides
    i, j = hunk.before[0], hunk.after[0]
    for at, to, count in (*hunk.runs, (hunk.before[1], hunk.after[1], 0)):
        for line in old[i:at]:
            page.show("-", line)
        for index in range(j, to):
            page.show("+", scrubbed.lines.get(index, new[index]), new[index])
            numbers[index] = len(page.lines)
        for line in old[at : at + count]:
            page.show(" ", line)
        i, j = at + count, to + count
