"""Two attempts beside each other, in lines and as JSON. Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict

from runner.showing.comparing import Comparison, Parting, Row
from runner.showing.document import document
from runner.showing.lines import Line, Pair, Tone, heading, plain
from runner.showing.page import warning
from runner.showing.sections import patch_lines, table_lines
from runner.showing.steps import Step
from runner.showing.story import Story
from runner.showing.words import step_lines


def beside(left: Story, right: Story, found: Comparison, most: int | None) -> Iterator[Line | Pair]:
    """Show what two attempts differ in, then both patches."""
    yield from (line for story in (left, right) for line in warning(story))
    yield plain(f"first   {left.name}", Tone.HEADING)
    yield plain(f"second  {right.name}", Tone.HEADING)
    if left.trial.nomination != right.trial.nomination:
        yield plain("they are of different nominations: what they did answers different tasks", Tone.BAD)
    yield from heading("How they ended")
    yield from table_lines((("", "first", "second"), *(_row(row) for row in found.rows)))
    yield from heading("Where they part")
    yield from _parted(left, right, found, most)
    yield from heading("Cases that differ")
    yield from _cases(found)
    yield from heading("What they left")
    yield from _patches(found, most)


def _row(row: Row) -> tuple[str, str, str]:
    return (f"{row.what} *" if row.differs else row.what, row.left, row.right)


def _parted(left: Story, right: Story, found: Comparison, most: int | None) -> Iterator[Line | Pair]:
    if not any(found.calls):
        yield plain("neither is known to have called a tool", Tone.FAINT)
        return
    if found.parting is None:
        yield plain(f"nowhere: both made the same {found.calls[0]} calls of tools", Tone.GOOD)
        return
    parting = found.parting
    yield plain(f"{parting.same} calls of tools were the same; then {parting.says}")
    yield _pair(_call(left, parting.left, most), _call(right, parting.right, most))


def _call(story: Story, call: Step | None, most: int | None) -> Iterator[Line]:
    if call is None:
        yield plain("(no further call)", Tone.FAINT)
    else:
        yield from step_lines(story.steps.index(call) + 1, call, most)


def _pair(left: Iterator[Line], right: Iterator[Line]) -> Pair:
    return Pair(left=(plain("first", Tone.FAINT), *left), right=(plain("second", Tone.FAINT), *right))


def _cases(found: Comparison) -> Iterator[Line]:
    if found.cases:
        yield from table_lines((("case", "first", "second"), *((row.what, row.left, row.right) for row in found.cases)))
    yield plain(f"{found.same_cases} others ended alike" if found.cases else f"none: {found.same_cases} ended alike")


def _patches(found: Comparison, most: int | None) -> Iterator[Line | Pair]:
    if not found.files:
        yield plain("neither left a change", Tone.FAINT)
    for path, one, other in found.files:
        if one == other and one is not None:
            yield plain(f"{path}: both left the same", Tone.HEADING)
            yield from patch_lines(one, most)
        else:
            yield plain(path, Tone.HEADING)
            yield _pair(_side(one, most), _side(other, most))


def _side(patch: str | None, most: int | None) -> Iterator[Line]:
    if patch is None:
        yield plain("(not changed)", Tone.FAINT)
    else:
        yield from patch_lines(patch, most)


def compared(left: Story, right: Story, found: Comparison) -> Mapping[str, object]:
    """Give both attempts and what they differ in as one JSON value."""
    return {
        "first": document(left),
        "second": document(right),
        "rows": [asdict(row) for row in found.rows if row.differs],
        "parting": None if found.parting is None else _parting(found.parting),
        "calls": list(found.calls),
        "cases": [asdict(row) for row in found.cases],
        "same_cases": found.same_cases,
        "files": [{"path": path, "first": one, "second": other} for path, one, other in found.files],
    }


def _parting(parting: Parting) -> Mapping[str, object]:
    sides = ("first", parting.left), ("second", parting.right)
    return {
        "same_calls": parting.same,
        "says": parting.says,
        **{name: None if step is None else asdict(step) for name, step in sides},
    }
