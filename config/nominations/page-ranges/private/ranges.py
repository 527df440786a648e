"""Page ranges as people type them into a print dialog, such as `1-3, 7, 10-`."""

from collections.abc import Iterable, Iterator, Sequence

MOST_PAGES = 9999


class RangeError(ValueError):
    """A text that names no pages; `part` is the piece of it that is wrong."""

    def __init__(self, part: str, why: str) -> None:
        super().__init__(f"{part!r}: {why}")
        self.part = part


def parse(text: str, last: int) -> list[int]:
    """Give the pages that a text names, of a document with `last` pages.

    Pieces stand between commas, with blanks wherever one likes. Each is a page (`7`), a range (`3-5`), a range up to
    the last page (`10-`) or from the first (`-4`). Pages come in the order in which they are named, each of them once,
    where it is named first; `5-3` names them backwards. A range is cut at the last page, but has to name one page at
    least; a page by itself has to be there.

    Raises:
        RangeError: a piece is empty, is no number or range, or names no page of the document.
        ValueError: `last` is not in 1 to 9999.
    """
    if not 0 < last <= MOST_PAGES:
        raise ValueError(f"a document has 1 to {MOST_PAGES} pages, not {last}")
    found: dict[int, None] = {}
    for part in text.split(","):
        for page in _pages(part.strip(), last):
            found.setdefault(page)
    return list(found)


def _pages(part: str, last: int) -> Sequence[int]:
    if "-" not in part:
        page = _number(part, part)
        first, final = page, page
    else:
        low, _, high = part.partition("-")
        if not low.strip() and not high.strip():
            raise RangeError(part, "a range needs an end")
        first = _number(low, part) if low.strip() else 1
        final = _number(high, part) if high.strip() else max(first, last)
    if min(first, final) > last:
        raise RangeError(part, f"there are {last} pages")
    if first <= final:
        return range(first, min(final, last) + 1)
    return range(min(first, last), final - 1, -1)


def _number(text: str, part: str) -> int:
    digits = text.strip()
    if not (digits.isascii() and digits.isdigit()):
        raise RangeError(part, "no number")
    number = int(digits)
    if number < 1:
        raise RangeError(part, "pages are counted from 1")
    return number


def spell(pages: Iterable[int]) -> str:
    """Give a text that names these pages in this order: `1-3,7,10,11`.

    Three pages or more that follow each other are a range; two are not. No pages are an empty text.
    """
    return ",".join(_spelled(run) for run in _runs(pages))


def _runs(pages: Iterable[int]) -> Iterator[list[int]]:
    run: list[int] = []
    for page in pages:
        if run and page != run[-1] + 1:
            yield run
            run = []
        run.append(page)
    if run:
        yield run


def _spelled(run: list[int]) -> str:
    if len(run) < 3:
        return ",".join(map(str, run))
    return f"{run[0]}-{run[-1]}"


def sheets(pages: int, *, per_side: int = 1, duplex: bool = False) -> int:
    """Give how many sheets of paper so many pages need, with `per_side` of them on a side, and both sides if `duplex`.

    Raises:
        ValueError: there are less than no pages, or none on a side.
    """
    if pages < 0 or per_side < 1:
        raise ValueError("less than no pages, or none on a side")
    sides = -(-pages // per_side)
    return -(-sides // 2) if duplex else sides
