"""Tables out of pages: HTML as a browser has it, and Markdown. What cannot be read is left out, never guessed."""

import re
from dataclasses import dataclass, field
from html import unescape
from html.parser import HTMLParser

_VOID = frozenset(
    {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
)
_SILENT = frozenset({"script", "style", "template", "noscript"})
_APART = frozenset({"br", "div", "p", "li", "span", "button", "details", "summary", "small", "a", "td", "th"})
_LINK = re.compile(r"\[((?:[^\[\]\\]|\\.)*)\]\(([^()\s]*)\)")
_ESCAPED = re.compile(r"\\([\\`*_\[\]|~#])")
_BAR = re.compile(r"(?<!\\)\|")
_RULE = re.compile(r":?-+:?")
_PLACE = re.compile(r'<a id="([^"]+)"></a>')


@dataclass(frozen=True, slots=True, kw_only=True)
class PageCell:
    """One cell."""

    text: str
    leads: tuple[str, ...] = ()
    """Ids of the same page that it points to, and texts that it holds unseen."""
    is_head: bool = False
    scope: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PageTable:
    """One table."""

    caption: str | None
    """None: the page's form has none."""
    head: tuple[PageCell, ...]
    rows: tuple[tuple[PageCell, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What there is on a page."""

    tables: tuple[PageTable, ...]
    places: dict[str, str]
    """What stands at each id, as text."""


def read_page(text: str) -> Page:
    """Read a page: HTML where it begins with a tag, else Markdown."""
    return _read_html(text) if text.lstrip()[:1] == "<" else _read_markdown(text)


def _read_html(text: str) -> Page:
    reader = _Reader()
    reader.feed(text)
    reader.close()
    return Page(
        tables=tuple(reader.tables), places={name: _plain("".join(said)) for name, said in reader.places.items()}
    )


def _plain(text: str) -> str:
    return " ".join(text.split())


@dataclass(slots=True, kw_only=True)
class _Open:
    """A table that is being read."""

    caption: list[str] = field(default_factory=list)
    rows: list[list[PageCell]] = field(default_factory=list)


@dataclass(slots=True, kw_only=True)
class _Cell:
    tag: str
    scope: str | None
    said: list[str] = field(default_factory=list)
    leads: list[str] = field(default_factory=list)


class _Reader(HTMLParser):
    """Collects tables, and the text at each id."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tables: list[PageTable] = []
        self.places: dict[str, list[str]] = {}
        self._stack: list[tuple[str, str | None]] = []
        self._open: list[_Open] = []
        self._cell: _Cell | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what begins here."""
        given = {name: value or "" for name, value in attrs}
        if tag in _APART:
            self._say(" ")
        self._begin(tag, given)
        if self._cell is not None:
            self._cell.leads += _leads(given)
        if tag not in _VOID:
            name = given.get("id")
            self._stack.append((tag, name))
            if name:
                self.places.setdefault(name, [])

    def _begin(self, tag: str, given: dict[str, str]) -> None:
        if tag == "table":
            self._open.append(_Open())
        elif tag == "tr" and self._open:
            self._open[-1].rows.append([])
        elif tag in {"td", "th"} and self._open and self._open[-1].rows:
            self._finish()
            self._cell = _Cell(tag=tag, scope=given.get("scope"))

    def handle_endtag(self, tag: str) -> None:
        """Note what ends here, and all that was left open within it."""
        if tag in _APART:
            self._say(" ")
        if tag in {"td", "th", "tr", "table"}:
            self._finish()
        if tag == "table" and self._open:
            self.tables.append(_table(self._open.pop()))
        at = next((at for at in range(len(self._stack) - 1, -1, -1) if self._stack[at][0] == tag), None)
        if at is not None:
            del self._stack[at:]

    def handle_data(self, data: str) -> None:
        """Keep what is said."""
        if not any(tag in _SILENT for tag, _ in self._stack):
            self._say(data)

    def _say(self, data: str) -> None:
        for _, name in self._stack:
            if name:
                self.places[name].append(data)
        if self._cell is not None:
            self._cell.said.append(data)
        elif self._open and any(tag == "caption" for tag, _ in self._stack):
            self._open[-1].caption.append(data)

    def _finish(self) -> None:
        if self._cell is not None and self._open:
            found = self._cell
            cell = PageCell(
                text=_plain("".join(found.said)), leads=tuple(found.leads), is_head=found.tag == "th", scope=found.scope
            )
            self._open[-1].rows[-1].append(cell)
        self._cell = None


def _leads(given: dict[str, str]) -> list[str]:
    href = given.get("href", "")
    named = (
        given.get(name, "").split() for name in ("aria-describedby", "aria-details", "aria-controls", "popovertarget")
    )
    return [*([href[1:]] if href.startswith("#") else []), *(each for names in named for each in names)]


def _table(found: _Open) -> PageTable:
    rows = [tuple(row) for row in found.rows if row]
    head = rows[0] if rows else ()
    return PageTable(caption=_plain("".join(found.caption)), head=head, rows=tuple(rows[1:]))


def _read_markdown(text: str) -> Page:
    lines = text.splitlines()
    tables = []
    at = 0
    while at < len(lines):
        end = at
        while end < len(lines) and lines[end].lstrip().startswith("|"):
            end += 1
        if end - at > 1 and all(_RULE.fullmatch(each.strip()) for each in _split(lines[at + 1])):
            rows = [tuple(map(_markdown_cell, _split(line))) for line in (lines[at], *lines[at + 2 : end])]
            tables.append(PageTable(caption=None, head=rows[0], rows=tuple(rows[1:])))
        at = max(end, at + 1)
    parts = _PLACE.split(text)
    places = {name: _unmarked(said) for name, said in zip(parts[1::2], parts[2::2], strict=True)}
    return Page(tables=tuple(tables), places=places)


def _split(line: str) -> list[str]:
    return _BAR.split(line.strip().removeprefix("|").removesuffix("|"))


def _markdown_cell(text: str) -> PageCell:
    leads = tuple(place.removeprefix("#") for _, place in _LINK.findall(text))
    return PageCell(text=_unmarked(text), leads=leads)


def _unmarked(text: str) -> str:
    """Give what Markdown says, without its marks."""
    return _plain(unescape(_ESCAPED.sub(r"\1", _LINK.sub(r"\1", text))))
