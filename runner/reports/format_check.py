"""A page held against the format of its table: headings, order, cell counts, words, units, explanations. Pure."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from runner.reports.format_reading import Page, PageCell, PageTable, read_page
from runner.reports.formats import FIRST, FORMATS, Format, Slot, likely, mean_is, rank_and_status
from runner.verification.model import Finding

_WELL = frozenset({"completed"})
_FEWEST = 5
"""Words of an explanation."""
_BEHIND = re.compile(r"\(([^()]+)\)")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """A table in its page, while it is looked at."""

    file: str
    table: int
    page: Page

    def find(self, where: str, found: str, expected: str) -> Finding:
        """Say what is wrong in the table."""
        return Finding(file=f"{self.file}: table {self.table}, {where}", found=found, expected=expected)


def check_page(text: str, file: str, letter: str | None = None) -> tuple[Finding, ...]:
    """List what is wrong with the tables of results on a page.

    Args:
        text: the page, HTML or Markdown.
        file: what findings call it.
        letter: the format; None: whichever the headings speak for.
    """
    page = read_page(text)
    tables = [
        (number, each)
        for number, each in enumerate(page.tables, 1)
        if each.head and each.head[0].text.casefold() == FIRST.casefold()
    ]
    if not tables:
        found = f"{len(page.tables)} tables, none of which begins with '{FIRST}'"
        return (Finding(file=file, found=found, expected=f"a table whose first heading is '{FIRST}'"),)
    return tuple(
        finding
        for number, table in tables
        for finding in _check(_Place(file=file, table=number, page=page), table, letter)
    )


def _check(place: _Place, table: PageTable, letter: str | None) -> Iterator[Finding]:
    heads = [each.text for each in table.head]
    chosen = likely(heads) if letter is None else FORMATS[letter]
    slots = chosen.fit(heads)
    yield from _form(place, table)
    if slots is None:
        yield place.find("headings", " | ".join(heads), f"those of format {chosen.letter}: {chosen.headings()}")
    if not table.rows:
        yield place.find("rows", "none", "a row for each result")
    for number, row in enumerate(table.rows, 1):
        if len(row) != len(heads):
            yield place.find(f"row {number}", f"{len(row)} cells", f"{len(heads)}, as many as headings")
        elif slots is not None:
            yield from _row(place, f"row {number} ({row[1].text})", slots, row)
    if slots is not None:
        yield from _order(place, table, chosen)
        yield from _explanations(place, table)


def _form(place: _Place, table: PageTable) -> Iterator[Finding]:
    """Look at what makes a table of HTML accessible."""
    if table.caption is None:
        return
    if not table.caption:
        yield place.find("caption", "none", "a caption that says what the table holds")
    for each in table.head:
        if not each.is_head or each.scope != "col":
            yield place.find(f"heading '{each.text}'", 'no <th scope="col">', '<th scope="col">')


def _row(place: _Place, where: str, slots: Sequence[Slot], row: Sequence[PageCell]) -> Iterator[Finding]:
    texts = [each.text for each in row]
    for slot, text in zip(slots, texts, strict=True):
        if (expected := slot.rule(text)) is not None:
            yield place.find(f"{where}, column {slot.names[0]}", f"'{text}'", expected)
    points = [text for slot, text in zip(slots, texts, strict=True) if slot.is_points]
    named = {slot.names[0]: text for slot, text in zip(slots, texts, strict=True)}
    if (expected := mean_is(named["Overall"], points)) is not None:
        yield place.find(f"{where}, column Overall", f"'{named['Overall']}'", expected)
    if "Channel" in named and _doubled(named["Model"], named["Channel"]):
        yield place.find(
            f"{where}, column Model", f"'{named['Model']}'", "the model alone, since its channel has a column"
        )


def _doubled(model: str, channel: str) -> bool:
    """Whether a model's name ends in what its channel says."""
    behind = [each.casefold() for each in _BEHIND.findall(model)]
    whole = channel.casefold()
    return whole in model.casefold() or any(each in re.split(r"[\s,;/\u00b7]+", whole) for each in behind)


def _order(place: _Place, table: PageTable, chosen: Format) -> Iterator[Finding]:
    """Look whether ranks ascend, and what has none comes last."""
    last: int | None = 0
    for number, row in enumerate(table.rows, 1):
        found = rank_and_status(row[0].text) if row else None
        if found is None:
            continue
        rank = found[0]
        if rank is not None and (last is None or rank < last):
            before = "a row without a rank" if last is None else f"rank {last}"
            where = f"row {number}, column {chosen.slots[0].names[0]}"
            yield place.find(where, f"rank {rank} after {before}", "ranks in order, rows without one last")
        last = rank


def _explanations(place: _Place, table: PageTable) -> Iterator[Finding]:
    """Look whether each row that did not complete says why, in words of its own."""
    told: dict[str, int] = {}
    for number, row in enumerate(table.rows, 1):
        found = rank_and_status(row[0].text) if row else None
        if found is None or found[1] in _WELL or len(row) != len(table.head):
            continue
        where = f"row {number} ({row[1].text})"
        leads = row[0].leads or tuple(each for cell in row for each in cell.leads)
        said = max((place.page.places.get(each, "") for each in leads), key=len, default="")
        if len(said.split()) < _FEWEST:
            yield place.find(
                where, f"'{said}'" if said else "no explanation", f"a link to what happened, since it is {found[1]}"
            )
        elif said in told:
            yield place.find(where, f"the explanation of row {told[said]}", "one of its own")
        told.setdefault(said, number)
