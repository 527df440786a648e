"""A path that two trees do not share, and how its two sides read: as text, by lines, scrubbed, in one view. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evaluators.lines import Hunk
from runner.documents.judging import View
from runner.judges import Ceilings
from runner.judging.identity import Identities
from runner.judging.languages import Language, prose, without
from runner.judging.letters import shown
from runner.judging.scrub import NOTHING, Scrubbed, Text, scrub


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """What stands at a path: a file's bytes, or a link's target."""

    data: bytes
    link: bool = False
    executable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """One path that two trees do not share; None where nothing stands."""

    path: bytes
    before: Content | None
    after: Content | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """How changes of one nomination are shown, to whomever."""

    view: View
    ceilings: Ceilings
    known: Identities
    task: str
    """The public task: its words tell nothing about who did it."""


def text_of(content: Content | None) -> str | None:
    """Give a side as text: nothing for nothing, None for what is no text."""
    if content is None:
        return ""
    if content.link or b"\0" in content.data:
        return None
    return content.data.decode("utf-8", "surrogateescape")


def bared(language: Language, text: str) -> tuple[str, bool]:
    """Give a text without its comments, and whether that could be made for sure."""
    parts = prose(language, text)
    return without(text, parts), parts.sure


def visible(text: str, longest: int) -> tuple[str, int, int]:
    """Give a line as judges see it, how many hidden characters it has, and how many were cut off its end."""
    cut = max(0, len(text) - longest)
    line, hidden = shown(text[:longest])
    return (f"{line} ⟦cut: {cut} characters more⟧" if cut else line), hidden, cut


def scrubbed_in(look: Look, language: Language, before: str, new: Sequence[str], added: Sequence[int]) -> Scrubbed:
    """Scrub the lines that were added to the old text."""
    if not added:
        return NOTHING
    text = Text(
        lines=new,
        prose=lambda: prose(language, "\n".join(new)),
        harmless=f"{look.task}\n{before}".lower(),
    )
    return scrub(text, added, look.known, look.ceilings.line_chars)


def added_in(hunk: Hunk) -> Iterator[int]:
    """List the added lines of a stretch, by their index in the new text."""
    j = hunk.after[0]
    for _, to, count in (*hunk.runs, (0, hunk.after[1], 0)):
        yield from range(j, to)
        j = to + count


def lines_of(text: str) -> list[str]:
    """Split at line feeds alone; what follows the last one is a line too, unless it is nothing."""
    lines = text.split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def ends(text: str) -> bool:
    """Whether the last line of a text has an end."""
    return text == "" or text.endswith("\n")
