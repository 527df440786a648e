"""A report as Markdown: the same tables and sentences as the page."""

from collections.abc import Iterator

from runner.reports import report_words as words
from runner.reports.marks import UNKNOWN, cell, linked_table
from runner.reports.report import Contender, Report
from runner.reports.report_method import METHOD, digests, evidence_rule, report_notes, too_many
from runner.reports.report_tables import Cell, Table, attempts, evidence_of, reasons_of, summaries


def report_markdown(report: Report) -> str:
    """Write a report down as Markdown."""
    lines = [
        f"# {cell(words.title(report))}",
        "",
        cell(" ".join(words.lede(report))),
        *(f"\n**{cell(note)}.**" for note in report_notes(report)),
        *(line for table in summaries(report) for line in _table(table)),
        *_happenings(report),
        *_attempts(report),
        *_evidence(report),
        *_section("How the numbers are made"),
        *(f"- {cell(each)}" for each in METHOD),
    ]
    return "\n".join(lines) + "\n"


def _section(title: str) -> Iterator[str]:
    yield from ("", f"## {cell(title)}", "")


def _table(table: Table) -> Iterator[str]:
    yield from _section(table.title)
    yield from (cell(table.caption), "")
    yield from linked_table(table.head, (map(_cell, row) for row in table.rows))


def _cell(each: Cell) -> tuple[str, str | None]:
    """Give a cell's text and where it leads."""
    badge = () if each.badge is None else (each.badge.value,)
    return ", ".join((each.text, *badge, *each.below)), None if each.text == UNKNOWN else each.link


def _happenings(report: Report) -> Iterator[str]:
    told = [each.contender for each in report.rows if each.contender.happenings]
    if not told:
        return
    yield from _section("What happened")
    for each in told:
        yield from (f'<a id="{reasons_of(each)}"></a>', "", f"**{cell(each.name)}**, {_ends(each)}:", "")
        for one in each.happenings:
            yield f"- {one.status.value} on {cell(words.some(one.attempts, one.count))}: {cell(one.says)}."
        yield ""


def _ends(each: Contender) -> str:
    return cell(f"{each.candidate} of {each.release}: {words.endings(each.counts)}")


def _attempts(report: Report) -> Iterator[str]:
    table = attempts(report)
    if table is None:
        yield from _section("Attempts")
        yield cell(too_many(report))
    else:
        yield from _table(table)


def _evidence(report: Report) -> Iterator[str]:
    yield from _section("Evidence")
    for source in report.sources:
        yield f"- Release {cell(source.release)}, {words.counted(source.attempts, 'attempt')}"
        yield from (f"  - {what}: `{digest}`" for what, digest in digests(source))
    yield from ("", cell(evidence_rule()), "")
    for row in report.rows:
        each = row.contender
        name = f"{cell(each.candidate)} of {cell(each.release)}"
        yield f'- <a id="{evidence_of(each)}"></a>{name}: `{each.evidence_sha256}`'
