"""The page of a report in Chromium: nothing sticks out, headings sort by keyboard, what is unknown stands last."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from runner.reports.report_building import build
from runner.reports.report_html import report_page
from runner.roster import Agent
from tests.browser.chromium import Tab, browser
from tests.unit.reports.releases import Entry, a_release

ENTRIES = {
    "best": Entry(ends="sss sss sst sss", label="Best Thinking Model (long reasoning variant)", cost="1.2"),
    "near": Entry(ends="sss sst sst sos", label="Near", cost=".08"),
    "like": Entry(ends="sss sst sst stt", label="Like Near", cost=".081"),
    "bare": Entry(ends="sst stt sff", label="averyveryveryverylongnamewithoutanyblankinitatall", cost=None),
    "bad": Entry(ends="ttt toa aaa", label="Bad", cost=".002"),
    "away": Entry(ends="uuu uuu uuu", label="Away"),
    "out": Entry(ends="vvv vvv vvv", label="Out"),
    "oracle": Entry(ends="s s s s", label="control: the reference solution", agent=Agent.ORACLE, cost=None),
}
OLD = {"old": Entry(ends="s o f s", label="Old", cost=".05")}

ROWS = "[...document.querySelectorAll('#results tbody tr')].map(row => row.cells[{at}].textContent.trim())"

REGION = "document.querySelector('#results').parentElement"
STICKING_OUT = "document.documentElement.scrollWidth - window.innerWidth"
PRINTED = 1032
"""CSS pixels between the margins of a landscape A4 page: 297 mm less 12 on either side, at 96 a 25.4 mm."""
HIDDEN_BY_SCROLLING = """
[...document.querySelectorAll('.scroll')]
  .filter(box => getComputedStyle(box).overflowX !== 'visible' || box.scrollWidth > box.clientWidth)
  .map(box => box.textContent.slice(0, 80))
"""
COLLISIONS = """
[...document.querySelectorAll('figure svg[role=img]')].flatMap(figure => {
  const boxes = [...figure.querySelectorAll('.name')].map(text => [text.textContent, text.getBBox()]);
  const dots = [...figure.querySelectorAll('circle')].map(dot => ['a point', dot.getBBox()]);
  const along = (a, b, side, size) => a[side] < b[side] + b[size] && b[side] < a[side] + a[size];
  const meets = (a, b) => a.width && b.width && along(a, b, 'x', 'width') && along(a, b, 'y', 'height');
  const others = at => [...boxes.slice(at + 1), ...dots];
  return boxes.flatMap(([one, a], at) => others(at).filter(([, b]) => meets(a, b)).map(([other]) => [one, other]));
})
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("page") / "report.html"
    releases = [a_release(ENTRIES, name="autumn-2"), a_release(OLD, name="autumn-1")]
    file.write_text(report_page(build(releases, {"autumn-1": "autumn-2"})))
    return file


@pytest.fixture(scope="module")
def tab() -> Iterator[Tab]:
    # Its socket's path must be short. What Chromium still writes as it ends may stay behind.
    with (
        TemporaryDirectory(prefix="cleanroom-browser-", ignore_cleanup_errors=True) as profile,
        browser(Path(profile)) as opened,
    ):
        yield opened


def column(tab: Tab, at: int) -> list[str]:
    return list(tab.value(ROWS.replace("{at}", str(at))))


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("wide", [390, 1280])
def test_nothing_sticks_out_of_the_page_and_no_label_hides_another(
    tab: Tab, page: Path, wide: int, *, dark: bool
) -> None:
    tab.open(page, wide=wide, dark=dark)
    assert tab.value("window.innerWidth") == wide
    assert tab.value(STICKING_OUT) <= 0
    assert tab.value(COLLISIONS) == []
    assert tab.value("matchMedia('(prefers-color-scheme: dark)').matches") is dark


def test_the_whole_table_of_results_is_seen_at_1280_and_scrolls_by_itself_at_390(tab: Tab, page: Path) -> None:
    hidden = f"(box => box.scrollWidth - box.clientWidth)({REGION})"
    tab.open(page, wide=1280)
    assert tab.value(hidden) <= 0
    tab.open(page, wide=390)
    assert tab.value(hidden) > 0
    assert tab.value(f"{REGION}.tabIndex") == 0


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_a_printed_page_is_black_on_white_and_cuts_nothing_off(tab: Tab, page: Path, *, dark: bool) -> None:
    tab.open(page, wide=PRINTED, dark=dark, printed=True)
    assert tab.value(STICKING_OUT) <= 0
    assert tab.value(HIDDEN_BY_SCROLLING) == []
    colours = "(style => [style.backgroundColor, style.color])(getComputedStyle(document.body))"
    assert tab.value(colours) == ["rgb(255, 255, 255)", "rgb(0, 0, 0)"]
    assert tab.value("getComputedStyle(document.querySelector('thead')).display") == "table-header-group"


@pytest.mark.parametrize(("heading", "at"), [("Time (s)", 9), ("Cost", 10), ("Rank / status", 0)])
def test_headings_sort_by_keyboard_and_what_is_unknown_stands_last_both_ways(
    tab: Tab, page: Path, heading: str, at: int
) -> None:
    tab.open(page, wide=1280)
    # One before it: the region that holds the table, or the heading to its left.
    tab.value(
        f"(buttons => (buttons[{at} - 1] ?? {REGION}).focus())(document.querySelectorAll('#results thead button'))"
    )
    tab.press("Tab")
    assert tab.value("document.activeElement.textContent") == heading
    tab.press("Enter")
    up = column(tab, at)
    tab.press("Enter")
    down = column(tab, at)
    assert tab.value("document.activeElement.closest('th').getAttribute('aria-sort')") == "descending"
    known = [each for each in up if not each.startswith(("N/A", "unranked"))]
    assert 0 < len(known) < len(up)
    assert up[: len(known)] == known
    assert down[: len(known)] == known[::-1] or at == 0
    assert {each.split()[0] for each in down[len(known) :]} <= {"N/A", "unranked"}
    numbers = [float(each.split()[0].removeprefix("$")) for each in known]
    assert numbers == sorted(numbers)
    said = tab.value(f"{REGION}.nextElementSibling.textContent")
    assert said == f"Sorted by {heading}, descending. What is not known stands last."


def test_without_its_script_the_page_says_the_same(tab: Tab, page: Path) -> None:
    text = "document.querySelector('main').textContent"
    tab.open(page, wide=1280)
    with_script = tab.value(text)
    tab.open(page, wide=1280, script=False)
    assert tab.value("document.querySelectorAll('button').length") == 0
    assert tab.value(text) == with_script


def test_the_page_asks_for_nothing_but_itself_and_says_no_error(tab: Tab, page: Path) -> None:
    tab.open(page, wide=1280)
    assert {each["request"]["url"] for each in tab.told("Network.requestWillBeSent")} == {page.as_uri()}
    assert tab.told("Runtime.exceptionThrown") == []
    assert [each["entry"]["text"] for each in tab.told("Log.entryAdded")] == []


def test_every_link_of_the_page_leads_to_a_place_on_it(tab: Tab, page: Path) -> None:
    tab.open(page, wide=1280)
    lost = "[...document.querySelectorAll('a')].filter(a => !document.getElementById(a.hash.slice(1))).map(a => a.hash)"
    assert tab.value(lost) == []
