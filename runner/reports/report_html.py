"""A report as one page: it opens from a file, asks nothing of any network, and reads whole without its script."""

from collections.abc import Iterable, Iterator
from html import escape
from importlib.resources import files

from runner.reports import report_words as words
from runner.reports.marks import UNKNOWN
from runner.reports.report import Contender, Place, Report
from runner.reports.report_figures import MOST, NARROW, WIDE, Figure, drawn, forest, priced, scatter
from runner.reports.report_method import METHOD, digests, evidence_rule, report_notes, too_many
from runner.reports.report_tables import Cell, Table, attempts, evidence_of, reasons_of, summaries

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
"""Nothing is loaded from anywhere, whatever a name in the table holds."""
_OPEN = 60
"""Attempts up to which their table is not folded away."""
_HEADERS = frozenset({"Model", "Candidate"})
_ROOM = {"Beside the leader": "long", "Channel": "wide", "Evidence": "hash"}
"""Classes of columns whose words need more room."""
_ALL_KEYS = (
    ("leader", "the leader"),
    ("near", "not separable from it"),
    ("apart", "told from it"),
    ("control", "for comparison"),
)


def report_page(report: Report) -> str:
    """Write a report down as a page."""
    here = files("runner.reports")
    head = (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(words.title(report))}</title>\n"
        f"<style>\n{here.joinpath('report_page.css').read_text('utf-8')}</style>\n</head>\n<body>\n"
    )
    script = here.joinpath("report_page.js").read_text("utf-8")
    body = "\n".join(_body(report))
    return f"{head}{body}\n<script>\n{script}</script>\n</body>\n</html>\n"


def _body(report: Report) -> Iterator[str]:
    sections = [*_sections(report)]
    yield '<a class="skip" href="#results-title">To the results</a>'
    yield f'<header><p class="eyebrow">Cleanroom report</p><h1>{escape(words.title(report))}</h1>'
    yield f'<p class="lede">{escape(" ".join(words.lede(report)))}</p>'
    said = [f"<li>{escape(note[:1].upper() + note[1:])}.</li>" for note in report_notes(report)]
    if said:
        yield f'<ul class="notes" aria-label="What must be said beside it">{"".join(said)}</ul>'
    links = "".join(f'<li><a href="#{name}-title">{escape(title)}</a></li>' for name, title, _ in sections)
    yield f'<nav aria-label="Sections"><ul>{links}</ul></nav></header>\n<main>'
    for name, title, lines in sections:
        yield f'<section aria-labelledby="{name}-title"><h2 id="{name}-title">{escape(title)}</h2>'
        yield from lines
        yield "</section>"
    yield "</main>\n<footer>Made by runner report from sealed evidence. No number of it was written by hand.</footer>"


def _sections(report: Report) -> Iterator[tuple[str, str, list[str]]]:
    """Give each section's id, title and lines."""
    figures = {"solving": _forest, "spending": _scatter}
    for table in summaries(report):
        drawing = figures[table.id](report) if table.id in figures else ()
        yield table.id, table.title, [*drawing, *_table(table)]
    told = [each.contender for each in report.rows if each.contender.happenings]
    if told:
        yield "happened", "What happened", [line for each in told for line in _happened(each)]
    yield "attempts", "Attempts", [*_attempts(report)]
    yield "evidence", "Evidence", [*_evidence(report)]
    yield "method", "How the numbers are made", [_list("method", METHOD)]


def _table(table: Table) -> Iterator[str]:
    """Give a table in a region that scrolls by itself."""
    name = escape(table.id)
    yield f'<p class="quiet" id="{name}-about">{escape(table.caption)}</p>'
    yield f'<div class="scroll" role="region" aria-labelledby="{name}-caption" tabindex="0">'
    yield f'<table id="{name}" class="sortable" aria-describedby="{name}-about">'
    yield f'<caption id="{name}-caption">{escape(table.title)}</caption>'
    heads = "".join(
        f'<th scope="col"{"" if table.is_text(at) else _class("number")}>{escape(title)}</th>'
        for at, title in enumerate(table.head)
    )
    yield f"<thead><tr>{heads}</tr></thead><tbody>"
    for row in table.rows:
        old = any("superseded by" in line for cell in row for line in cell.below)
        yield f"<tr{_class('superseded') if old else ''}>{''.join(_cells(table, row))}</tr>"
    yield "</tbody></table></div>"


def _class(name: str) -> str:
    return f' class="{name}"'


def _cells(table: Table, row: Iterable[Cell]) -> Iterator[str]:
    for at, cell in enumerate(row):
        title = table.head[at]
        tag, scope = ("th", ' scope="row"') if title in _HEADERS else ("td", "")
        yield f"<{tag}{scope}{_looks(table, at)}{_sorted_by(cell)}>{_content(cell)}</{tag}>"


def _looks(table: Table, at: int) -> str:
    title = table.head[at]
    if title in _HEADERS or title == table.head[0] == "Rank / status":
        return ""
    if table.is_text(at):
        return _class(_ROOM.get(title, "words"))
    return _class("number")


def _sorted_by(cell: Cell) -> str:
    if cell.value is not None:
        return f' data-v="{cell.value!r}"'
    return " data-unknown" if cell.text == UNKNOWN or cell.badge is not None else ""


def _content(cell: Cell) -> str:
    text = escape(cell.text)
    if cell.text == UNKNOWN:
        text = f'<span class="unknown">{text}</span>'
    elif cell.link is not None:
        text = f'<a href="#{escape(cell.link)}">{text}</a>'
    if cell.badge is not None:
        badge, kind = escape(cell.badge.value), cell.badge.value.replace(" ", "-")
        text = f'<span class="rank">{text} </span><a class="badge {kind}" href="#{escape(cell.link or "")}">{badge}</a>'
    return text + "".join(f' <span class="below">{escape(line)}</span>' for line in cell.below)


def _forest(report: Report) -> Iterator[str]:
    rows = drawn(report.rows)
    if rows:
        about = "Each candidate's solve rate, with the interval that holds it at 95%."
        more = f" The first {MOST} rows are drawn." if len(rows) == MOST else ""
        yield from _figure([forest(rows, wide) for wide in (WIDE, NARROW)], about + more, report)


def _scatter(report: Report) -> Iterator[str]:
    rows = drawn(report.rows)
    known = priced(rows)
    if known:
        lacking = len(rows) - len(known)
        about = "What an attempt costs against the solve rate; up and to the left is better. Lines are 95% intervals."
        more = f" {words.counted(lacking, 'row')} without a known cost cannot be drawn." if lacking else ""
        yield from _figure([scatter(known, wide) for wide in (WIDE, NARROW)], about + more, report)


def _figure(drawings: list[Figure], about: str, report: Report) -> Iterator[str]:
    wide, narrow = (each.svg() for each in drawings)
    yield f'<figure><div class="wide-only">{wide}</div><div class="narrow">{narrow}</div>'
    yield f"<figcaption>{escape(about)}{_key(report)}</figcaption></figure>"


def _key(report: Report) -> str:
    ranked = [each for each in report.rows if each.contender.place is Place.RANKED]
    there = {
        "leader": bool(ranked),
        "near": any(each.beside_leader is not None and not each.beside_leader.is_separated for each in ranked),
        "apart": any(each.beside_leader is not None and each.beside_leader.is_separated for each in ranked),
        "control": any(each.contender.place is Place.CONTROL for each in report.rows),
    }
    dot = '<svg width="14" height="14" aria-hidden="true"><circle class="dot {}" cx="7" cy="7" r="5"/></svg>'
    items = "".join(f"<li>{dot.format(kind)}{said}</li>" for kind, said in _ALL_KEYS if there[kind])
    return f'<ul class="key">{items}</ul>'


def _happened(each: Contender) -> Iterator[str]:
    yield f'<div class="why" id="{escape(reasons_of(each))}"><h3>{escape(each.name)}</h3>'
    model = "" if each.model is None else f", model {each.model}"
    said = f"{each.candidate} of {each.release}{model}: {words.endings(each.counts)}."
    yield f'<p class="quiet">{escape(said)}</p><ul>'
    for one in each.happenings:
        where = words.some(one.attempts, one.count)
        yield f"<li><strong>{escape(one.status.value)}</strong> on {escape(where)}: {escape(one.says)}.</li>"
    yield "</ul></div>"


def _attempts(report: Report) -> Iterator[str]:
    table = attempts(report)
    if table is None:
        yield f"<p>{escape(too_many(report))}</p>"
    elif report.attempts > _OPEN:
        yield f"<details><summary>{words.counted(report.attempts, 'attempt')}</summary>"
        yield from _table(table)
        yield "</details>"
    else:
        yield from _table(table)


def _evidence(report: Report) -> Iterator[str]:
    yield f"<p>{escape(evidence_rule())}</p><dl>"
    for source in report.sources:
        name = escape(source.release)
        yield f"<dt>{name}<span>release, {words.counted(source.attempts, 'attempt')}</span></dt><dd>"
        for what, digest in digests(source):
            yield f'<div><span class="quiet">{what}</span> <code class="hash">{digest}</code></div>'
        yield "</dd>"
    for row in report.rows:
        each = row.contender
        name = f"{escape(each.name)}<span>{escape(each.candidate)} of {escape(each.release)}</span>"
        yield f'<dt id="{escape(evidence_of(each))}">{name}</dt>'
        yield f'<dd><code class="hash">{each.evidence_sha256}</code></dd>'
    yield "</dl>"


def _list(kind: str, lines: Iterable[str]) -> str:
    items = "".join(f"<li>{escape(line)}</li>" for line in lines)
    return f'<ul class="{kind}">{items}</ul>'
