"""Laws of the written report: one page that needs nothing, each number with its evidence, nothing of it is markup."""

import re

import pytest

from runner.reports.format_check import check_page
from runner.reports.format_reading import read_page
from runner.reports.report import Report
from runner.reports.report_building import build
from runner.reports.report_html import report_page
from runner.reports.report_markdown import report_markdown
from runner.reports.report_tables import FORMAT_A, MOST_ATTEMPTS
from runner.roster import Agent
from tests.unit.reports.releases import Entry, a_release


def a_report() -> Report:
    new = {
        "best": Entry(ends="ss ss st", label="Best <b>& friends</b> | one"),
        "near": Entry(ends="ss st tt", cost=None),
        "away": Entry(ends="u u u"),
        "out": Entry(ends="v v v"),
        "oracle": Entry(ends="s s s", agent=Agent.ORACLE, cost=None),
    }
    old = {"old": Entry(ends="s o f")}
    return build([a_release(new, name="new"), a_release(old, name="old")], {"old": "new"})


REPORT = a_report()
PAGE, TEXT = report_page(REPORT), report_markdown(REPORT)


@pytest.mark.parametrize("written", [PAGE, TEXT], ids=["page", "text"])
def test_the_first_table_is_in_format_a(written: str) -> None:
    assert check_page(written, "report", "A") == ()
    table = read_page(written).tables[0]
    assert tuple(each.text for each in table.head) == FORMAT_A
    assert len(table.rows) == 6


@pytest.mark.parametrize("written", [PAGE, TEXT], ids=["page", "text"])
def test_every_link_leads_somewhere(written: str) -> None:
    page = read_page(written)
    leads = {lead for table in page.tables for row in table.rows for cell in row for lead in cell.leads}
    assert leads
    assert leads <= page.places.keys()


@pytest.mark.parametrize("written", [PAGE, TEXT], ids=["page", "text"])
def test_every_number_of_the_first_tables_leads_to_the_digest_of_its_evidence(written: str) -> None:
    page = read_page(written)
    for table in page.tables[:4]:
        for row in table.rows:
            bare = [cell.text for cell in row if re.search(r"[0-9]", cell.text) and not cell.leads and not cell.is_head]
            assert [each for each in bare if "release" not in each and each != "native, scripted"] == []
    for each in REPORT.rows:
        assert each.contender.evidence_sha256 in written
    for source in REPORT.sources:
        assert source.aggregate_sha256 in written
    for line in REPORT.rows[0].contender.attempts:
        assert line.digest is not None
        assert line.digest in written


def test_the_page_loads_nothing_from_anywhere() -> None:
    assert not re.search(r'(?:src|href|action)\s*=\s*"(?!#)', PAGE)
    assert "url(" not in PAGE
    assert "@import" not in PAGE
    assert "default-src 'none'" in PAGE
    assert re.findall(r"https?://[^\s\"'<]+", PAGE) == []


def test_what_candidates_are_called_is_text_and_no_markup() -> None:
    assert "<b>& friends" not in PAGE
    assert "Best &lt;b&gt;&amp; friends&lt;/b&gt; | one" in PAGE
    assert "&lt;b&gt;Hello&lt;/b&gt;" in PAGE
    assert "Best &lt;b&gt;&amp; friends&lt;/b&gt; \\| one" in TEXT


def test_without_its_script_no_part_of_the_page_waits_for_it() -> None:
    body = PAGE[: PAGE.index("<script>")]
    assert "<button" not in body
    assert "onclick" not in body


def test_tables_have_captions_heads_and_row_heads() -> None:
    for table in re.findall(r"<table.*?</table>", PAGE, re.DOTALL):
        assert re.search(r"<caption[^>]*>[^<]+</caption>", table)
        assert '<th scope="col"' in table
        assert '<th scope="row"' in table or "Evidence" in table


def test_figures_say_in_words_what_they_show() -> None:
    figures = re.findall(r"<svg viewBox.*?</svg>", PAGE, re.DOTALL)
    assert len(figures) == 4
    for figure in figures:
        assert 'role="img"' in figure
        assert re.search(r"<title[^>]*>[^<]*Best &lt;b&gt;", figure)
    assert len(set(re.findall(r'<title id="([^"]+)"', PAGE))) == 4


def test_a_superseded_release_is_marked_and_unknown_things_say_so() -> None:
    rows = {row[1].text.split()[0]: [cell.text for cell in row] for row in read_page(PAGE).tables[0].rows}
    assert "superseded by new" in rows["old"][1]
    assert rows["away"][0] == "unranked unavailable"
    assert set(rows["away"][2:11]) == {"N/A"}


def test_more_attempts_than_a_page_should_hold_stand_elsewhere() -> None:
    each = "s" * (MOST_ATTEMPTS // 2 + 1)
    report = build([a_release({"a": Entry(ends=f"{each} {each}")})], {})
    page = report_page(report)
    assert f"The {MOST_ATTEMPTS + 2} attempts and their digests stand in each release&#x27;s aggregate.json" in page
    assert len(page) < 100_000


def test_the_same_evidence_gives_the_same_page() -> None:
    assert report_page(a_report()) == PAGE
    assert report_markdown(a_report()) == TEXT
