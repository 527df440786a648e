"""Names and signatures taken out of what is shown, as far as no code changes by it; the rest is told. Pure.

Only lines that a change adds are looked at: what stood there before is the same for everyone. In comments, docstrings
and documents a trace is replaced by its mark. In code it is left, for another name would be other code; unless it is
the task's or the base's own word it is told, and a verdict on such a change is not blind.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from runner.judging.identity import MARKS, Found, Identities, Trace, is_suspect, tells, traces
from runner.judging.languages import Prose, Span
from runner.judging.letters import folded, lowered


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """Something that tells whose work it is; `line` is the index in the new text."""

    trace: Trace
    line: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Scrubbed:
    """What became of the added lines of one file."""

    lines: Mapping[int, str]
    """Those that read otherwise now, by index in the new text."""
    replaced: tuple[Sighting, ...] = ()
    left: tuple[Sighting, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """The new text of a file, and what is known of it."""

    lines: Sequence[str]
    prose: Callable[[], Prose]
    """Finds the parts for people alone; asked only where something was found."""
    harmless: str
    """The task and the old text in lower case: words that stand there tell nothing."""


NOTHING = Scrubbed(lines={})


def scrub(text: Text, added: Sequence[int], known: Identities, longest: int) -> Scrubbed:
    """Scrub the added lines, each as far as it is shown (`longest` characters)."""
    suspects = _suspects(text, added, known, longest)
    if not suspects:
        return NOTHING
    work = _Work(text=text, spans=text.prose().spans, starts=_starts(text.lines))
    for index, (origins, found) in suspects.items():
        _scrub_line(work, index, origins, found)
    return Scrubbed(lines=work.changed, replaced=tuple(work.replaced), left=tuple(work.left))


def _suspects(
    text: Text, added: Sequence[int], known: Identities, longest: int
) -> dict[int, tuple[Sequence[int], tuple[Found, ...]]]:
    """Give the lines in which something was found, each with where its letters come from."""
    suspects: dict[int, tuple[Sequence[int], tuple[Found, ...]]] = {}
    for index in added:
        reading = folded(text.lines[index][:longest])
        plain = lowered(reading.text)
        if is_suspect(plain, known) and (found := traces(plain, known)):
            suspects[index] = reading.origins, found
    return suspects


def names_in(text: str, known: Identities) -> tuple[str, ...]:
    """List the names that stand in a short text, such as a path."""
    plain = _plain(text)
    if not is_suspect(plain, known):
        return ()
    return tuple(plain[each.start : each.end] for each in traces(plain, known) if each.trace is Trace.NAME)


def scrubbed_line(text: str, known: Identities) -> str:
    """Scrub one line that is all for people, such as a judge's reason."""
    plain = Prose(spans=(Span(start=0, end=len(text)),), sure=True)
    found = scrub(Text(lines=[text], prose=lambda: plain, harmless=""), [0], known, len(text))
    return found.lines.get(0, text)


@dataclass(slots=True, kw_only=True)
class _Work:
    text: Text
    spans: Sequence[Span]
    starts: Sequence[int]
    changed: dict[int, str] = field(default_factory=dict)
    replaced: list[Sighting] = field(default_factory=list)
    left: list[Sighting] = field(default_factory=list)


def _scrub_line(work: _Work, index: int, origins: Sequence[int], traced: Iterable[Found]) -> None:
    line = work.text.lines[index]
    parts: list[str] = []
    done = 0
    for found in traced:
        place = _placed(found, origins)
        if place.start < done:
            continue
        covered = _covered(work, work.starts[index], place, line)
        if covered is not None:
            parts += (line[done : covered.start], MARKS[found.trace])
            work.replaced.append(Sighting(trace=found.trace, line=index, text=line[covered.start : covered.end]))
            done = covered.end
        else:
            _leave(work, index, found.trace, line[place.start : place.end])
    if done:
        work.changed[index] = "".join(parts) + line[done:]


def _leave(work: _Work, index: int, trace: Trace, text: str) -> None:
    if tells(trace, text) and _plain(text) not in work.text.harmless:
        work.left.append(Sighting(trace=trace, line=index, text=text))


def _placed(found: Found, origins: Sequence[int]) -> Span:
    if not origins:
        return Span(start=found.start, end=found.end)
    return Span(start=origins[found.start], end=origins[found.end - 1] + 1)


def _covered(work: _Work, start: int, place: Span, line: str) -> Span | None:
    """Give the part of a place that is for people, without what closes a comment; None where it begins in code."""
    at = bisect_right(work.spans, start + place.start, key=lambda span: span.start) - 1
    if at < 0:
        return None
    end = min(place.end, work.spans[at].end - start)
    if end <= place.start:
        return None
    if work.spans[at].end - start <= len(line):
        end = min(end, _before_closing(line[: work.spans[at].end - start]))
    return Span(start=place.start, end=end) if end > place.start else None


_CLOSINGS = ("*/", "-->", '"""', "'''", '"', "'")


def _before_closing(line: str) -> int:
    """Give the place before the mark that closes a comment or docstring, where one stands at the end."""
    closing = next((each for each in _CLOSINGS if line.endswith(each)), "")
    return len(line[: len(line) - len(closing)].rstrip()) if closing else len(line)


def _plain(text: str) -> str:
    return lowered(folded(text).text)


def _starts(lines: Sequence[str]) -> list[int]:
    starts, at = [], 0
    for line in lines:
        starts.append(at)
        at += len(line) + 1
    return starts
