"""The journal against the store: its chain, and that each line has its folder and each sealed folder its line."""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from runner.canonical import parse, sha256
from runner.documents.evidence import Void
from runner.documents.journal import Entry, State
from runner.documents.seal import Trial
from runner.durable import read_regular
from runner.errors import DocumentError, DocumentErrors
from runner.journal import whole_lines
from runner.recovering import SealedPart, sealed_parts
from runner.schedule import Cell
from runner.store import BEGUN, VOID, Store, cell_of, never_worked
from runner.verification.model import Finding, differ

UNTOLD = "sealed by a runner that was killed before it wrote its line in the journal; the next run adds it"
CUT = "its last line was cut by a kill; it was never acknowledged, and the next run takes its place"

_SPEAKS_OF = {State.CAPTURED: State.CAPTURED, State.GRADED: State.GRADED, State.SEALED: State.GRADED}
_SPEAKS_OF |= {State.VOID: State.VOID}
"""A line's state -> the kind of folder that its digest is of."""

_ENDS = frozenset({State.CAPTURED, State.VOID})
"""After one of these no agent works any more."""


_MEANT = re.compile(
    rb'"trial":\{"attempt":([0-9]+),"candidate":"([^"\\]*)","manifest_sha256":"[^"\\]*","nomination":"([^"\\]*)"'
)
"""Which attempt a canonical line speaks of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Excerpt:
    """Lines of the journal as they stand there, whatever they say: one entry for each in every member."""

    numbers: tuple[int, ...] = ()
    lines: tuple[bytes, ...] = ()
    previous: tuple[str | None, ...] = ()
    """SHA-256 of the line before; None: it is the first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line of the journal that is one, and where it stands."""

    file: Path
    number: int
    entry: Entry

    @property
    def place(self) -> str:
        """Name it for people."""
        return f"{self.file}:{self.number}"


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalReport:
    """What was found, and what was not looked at."""

    findings: tuple[Finding, ...]
    unchecked: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalParts:
    """A journal, taken apart for those who verify the attempts."""

    excerpts: Mapping[Cell, Excerpt]
    """The lines of each planned attempt that it speaks of."""
    last: Trial | None
    """The try that it speaks of last: what is sealed of it may not have been told yet."""
    report: JournalReport
    """What can be said without the attempts."""


def take_apart(store: Store, cells: Iterable[Cell]) -> JournalParts:
    """Give each planned attempt its lines, and say what is wrong beside them."""
    planned = {_key(cell): cell for cell in cells}
    file = store.journal
    if not file.exists():
        nothing = Finding(file=str(file), found="nothing", expected="the journal of the tries beside it")
        findings = (nothing,) if any(map(store.numbers, planned.values())) else ()
        return JournalParts(excerpts={}, last=None, report=JournalReport(findings=findings, unchecked=()))
    data = whole_lines(file)
    found: dict[Cell | None, list[tuple[int, bytes, str | None]]] = {}
    previous = None
    for number, line in enumerate(data.split(b"\n")[:-1], 1):
        said = _MEANT.search(line)
        cell = None if said is None else planned.get(said.groups())
        found.setdefault(cell, []).append((number, line, previous))
        previous = sha256(line)
    others = found.pop(None, [])
    return JournalParts(
        excerpts={cell: _excerpt(own) for cell, own in found.items() if cell is not None},
        last=_last(data),
        report=JournalReport(
            findings=(*_beside(file), *_of_strangers(store, _excerpt(others))),
            unchecked=(f"{file}: {CUT}",) if len(data) < file.stat().st_size else (),
        ),
    )


def check_journal(
    store: Store, tries: Mapping[Trial, tuple[SealedPart, ...]], excerpt: Excerpt, last: Trial | None
) -> JournalReport:
    """Hold the journal's lines of a planned attempt against what is sealed of its tries."""
    read, findings = _read(store.journal, excerpt)
    for trial, own in _by_trial(read).items():
        findings += _trial(store, trial, own, tries.get(trial))
    untold = tuple(_untold(read, tries)) if excerpt.lines or store.journal.exists() else ()
    findings += (_without_line(part) for trial, part in untold if trial != last)
    unchecked = (f"{part.folder}: {UNTOLD}" for trial, part in untold if trial == last)
    return JournalReport(findings=tuple(findings), unchecked=tuple(unchecked))


def _key(cell: Cell) -> tuple[bytes, ...]:
    return str(cell.attempt).encode(), cell.candidate.encode(), cell.nomination.encode()


def _excerpt(lines: Iterable[tuple[int, bytes, str | None]]) -> Excerpt:
    numbers, data, previous = tuple(zip(*lines, strict=True)) or ((), (), ())
    return Excerpt(numbers=numbers, lines=data, previous=previous)


def _last(data: bytes) -> Trial | None:
    for line in reversed(data.split(b"\n")[:-1]):
        with suppress(DocumentError, DocumentErrors):
            return parse(Entry, line, "").trial
    return None


def _of_strangers(store: Store, excerpt: Excerpt) -> Iterator[Finding]:
    """Find what is wrong with lines that speak of no planned attempt."""
    read, findings = _read(store.journal, excerpt)
    yield from findings
    for trial, own in _by_trial(read).items():
        yield from _trial(store, trial, own, None)


def parts_of(folder: Path) -> tuple[SealedPart, ...]:
    """Give what is sealed of a try; nothing where a seal cannot be read, which is found there."""
    try:
        return tuple(sealed_parts(folder))
    except OSError:
        return ()


def _read(file: Path, excerpt: Excerpt) -> tuple[list[Line], list[Finding]]:
    """Read lines strictly; each names the one before."""
    read: list[Line] = []
    findings: list[Finding] = []
    for number, data, previous in zip(excerpt.numbers, excerpt.lines, excerpt.previous, strict=True):
        place = f"{file}:{number}"
        try:
            entry = parse(Entry, data, place)
        except (DocumentError, DocumentErrors) as error:
            findings.append(Finding(file=place, found=str(error), expected="a line of the journal"))
            continue
        read.append(Line(file=file, number=number, entry=entry))
        if entry.previous != previous:
            expected = f"{previous}, of the line before" if previous else "null, for it is the first"
            findings.append(Finding(file=place, found=f"a broken chain: previous {entry.previous}", expected=expected))
    return read, findings


def _beside(file: Path) -> Iterator[Finding]:
    """It is the one file among the folders of its release."""
    for each in sorted(file.parent.iterdir()):
        if each != file and not each.is_dir():
            yield Finding(file=str(each), found="something unknown", expected="nothing")


def _by_trial(lines: list[Line]) -> dict[Trial, list[Line]]:
    found: dict[Trial, list[Line]] = {}
    for line in lines:
        found.setdefault(line.entry.trial, []).append(line)
    return found


def _trial(store: Store, trial: Trial, lines: list[Line], parts: tuple[SealedPart, ...] | None) -> Iterator[Finding]:
    """Hold the lines of one try against what there is of it; None where nobody begun or planned it."""
    first = lines[0]
    own = store.trial(cell_of(trial), trial.try_)
    if trial != own:
        yield from differ(Path(first.place), "trial", trial, own)
        return
    if parts is None:
        late = [line for line in lines if line.entry.state is not State.PLANNED]
        if late:
            found = f"nothing of a try that reached {late[-1].entry.state}"
            yield Finding(file=str(store.folder(trial)), found=found, expected=f"its evidence ({late[-1].place})")
        return
    if not (store.folder(trial) / BEGUN).exists():
        return  # Found already, by name.
    yield from _folders(store, lines, parts)
    yield from _order(lines)
    yield from _phase(store.folder(trial) / VOID / "void.json", lines)


def _folders(store: Store, lines: list[Line], parts: tuple[SealedPart, ...]) -> Iterator[Finding]:
    """Each line that names a folder has that folder."""
    known = {(part.state, part.sha256) for part in parts}
    for line in lines:
        wanted = _SPEAKS_OF.get(line.entry.state)
        digest = line.entry.sealed_sha256
        if wanted is None:
            yield from differ(Path(line.place), "sealed_sha256", digest, None)
        elif (wanted, digest) not in known:
            there = [part for part in parts if part.state is wanted]
            found = f"another folder ({there[-1].sha256})" if there else "nothing"
            expected = f"what was {line.entry.state} as {digest} ({line.place})"
            yield Finding(file=str(store.folder(line.entry.trial)), found=found, expected=expected)


def _order(lines: list[Line]) -> Iterator[Finding]:
    """No agent worked after a try had come to its end, nor in two runs under one try."""
    ended: Line | None = None
    worked: Line | None = None
    for line in lines:
        state = line.entry.state
        if ended is not None and state in {State.PLANNED, State.PROBING, State.RUNNING, *_ENDS}:
            yield Finding(
                file=line.place, found=f"{state} after {ended.entry.state}", expected=f"no more: {ended.place}"
            )
        if state is State.RUNNING:
            if worked is not None and worked.entry.run != line.entry.run:
                yield Finding(file=line.place, found="an agent let to work again", expected=f"once: {worked.place}")
            worked = worked or line
        if state in _ENDS:
            ended = ended or line


def _phase(file: Path, lines: list[Line]) -> Iterator[Finding]:
    """A void in which no agent worked, by what it says, has no line that one did: the retry rule asks for that."""
    worked = next((line for line in lines if line.entry.state is State.RUNNING), None)
    if worked is None or not file.exists():
        return
    try:
        fact = parse(Void, read_regular(file), str(file)).facts.void
    except (DocumentError, DocumentErrors, OSError):
        return  # Found already, in its folder.
    if fact is not None and never_worked(fact):
        expected = f"a later one: the agent was let to work ({worked.place})"
        yield Finding(file=str(file), found=f"phase {fact.phase}", expected=expected)


def _untold(lines: list[Line], tries: Mapping[Trial, tuple[SealedPart, ...]]) -> Iterator[tuple[Trial, SealedPart]]:
    """Give the sealed folders that no line speaks of."""
    told = {(line.entry.trial, line.entry.state, line.entry.sealed_sha256) for line in lines}
    for trial, parts in tries.items():
        yield from ((trial, part) for part in parts if (trial, part.state, part.sha256) not in told)


def _without_line(part: SealedPart) -> Finding:
    expected = f"a line `{part.state}` in the journal that names {part.sha256}"
    return Finding(file=str(part.folder), found="a sealed folder that no line speaks of", expected=expected)
