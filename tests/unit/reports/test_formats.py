"""Pages against formats A to D: what is wrong is named with its place, what was found and what was expected."""

import pytest

from runner.reports.format_check import check_page
from runner.reports.formats import FORMATS, likely, mean_is

HEADS = {
    "A": "Rank / status|Model|Public|Objective|Functional|Reliability|Maintainability|Scope|Overall|Time (s)|Cost|"
         "Channel",
    "B": "Rank / status|Model|Public|Hidden|Functional|Reliability|Maintainability|Scope|Overall|Time (s)|Evidence",
    "C": "Rank / status|Model|Reviewed|Harnesses passed|Public count|Objective count|Functional|Reliability|"
         "Maintainability|Scope|Overall|Avg time (s)|Cost|Channel",
    "D": "Rank / status|Model|Public|Hidden|Simplicity|Readability|No extra code|Reliability|Edge cases|Overall|"
         "Time (s)",
}  # fmt: skip
GOOD = {
    "A": "1 completed|Kimi K3|passed|passed|8|7|8|9|8|41.250|$0.0123|OpenCode, zen",
    "B": "1 completed|Kimi K3|passed|failed|8|7|8|8|7.75|41.250|run.json",
    "C": "1 completed|Kimi K3|4/4|3/4|4/4|3/4|8|7|8|8|7.8|41.250|$0.0123|OpenCode, zen",
    "D": "1 completed|Kimi K3|passed|passed|8|7|8|8|9|8.0|41.250",
}


def a_page(letter: str, *rows: str, head: str | None = None) -> str:
    heads = "".join(f'<th scope="col">{each}</th>' for each in (head or HEADS[letter]).split("|"))
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row.split('|'))}</tr>" for row in rows)
    return (
        f"<!doctype html><table><caption>Results</caption><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"
    )


def found(letter: str, *rows: str, head: str | None = None, after: str = "") -> list[str]:
    return [str(each) for each in check_page(a_page(letter, *rows, head=head) + after, "page.html", letter)]


@pytest.mark.parametrize("letter", FORMATS)
def test_a_page_in_its_format_is_found_to_be_so(letter: str) -> None:
    assert found(letter, GOOD[letter]) == []
    assert likely(HEADS[letter].split("|")) is FORMATS[letter]


@pytest.mark.parametrize("letter", FORMATS)
def test_markdown_is_held_against_the_same_format(letter: str) -> None:
    rule = "|".join("---" for _ in HEADS[letter].split("|"))
    lines = "\n".join(f"| {line.replace('|', ' | ')} |" for line in (HEADS[letter], rule, GOOD[letter]))
    assert check_page(lines, "page.md", letter) == ()


def test_the_evidence_of_format_b_may_be_left_out() -> None:
    assert found("B", GOOD["B"].rpartition("|")[0], head=HEADS["B"].rpartition("|")[0]) == []


@pytest.mark.parametrize(
    ("column", "text", "expected"),
    [
        pytest.param(0, "1 true", "a rank or 'unranked', and below it one of", id="a boolean status"),
        pytest.param(0, "1 0", "a rank or 'unranked', and below it one of", id="a numeric status"),
        pytest.param(0, "1", "a rank or 'unranked', and below it one of", id="no status"),
        pytest.param(1, "", "words", id="no model"),
        pytest.param(2, "true", "'passed', 'failed', 'N of M passed' or 'N/A'", id="a boolean"),
        pytest.param(3, "1", "'passed', 'failed', 'N of M passed' or 'N/A'", id="a bare number"),
        pytest.param(3, "5 of 4 passed", "'passed', 'failed', 'N of M passed' or 'N/A'", id="more than all"),
        pytest.param(4, "7.5", "a whole number from 0 to 10, or 'N/A'", id="half a point"),
        pytest.param(5, "11", "a whole number from 0 to 10, or 'N/A'", id="eleven points"),
        pytest.param(8, "9", "8, the mean of 8, 7, 8, 9", id="another mean"),
        pytest.param(8, "N/A", "8.00, the mean of 8, 7, 8, 9", id="no mean"),
        pytest.param(9, "41.25", "seconds with three decimals, or 'N/A'", id="two decimals"),
        pytest.param(9, "41.250 s", "seconds with three decimals, or 'N/A'", id="the unit again"),
        pytest.param(10, "0.01 EUR", "US dollars, as $0.25, or 'N/A'", id="another currency"),
        pytest.param(10, "free", "US dollars, as $0.25, or 'N/A'", id="no amount"),
        pytest.param(11, "", "words", id="no channel"),
    ],
)
def test_a_cell_that_may_not_stand_there_is_named(column: int, text: str, expected: str) -> None:
    cells = GOOD["A"].split("|")
    cells[column] = text
    told = found("A", "|".join(cells))
    assert any(expected in each and "row 1" in each for each in told), told


def test_an_unknown_point_makes_overall_unknown() -> None:
    assert mean_is("N/A", ("8", "N/A")) is None
    assert mean_is("8", ("8", "N/A")) == "'N/A', since a review point is"
    assert [mean_is(text, ("7", "8")) for text in ("7.5", "7.50", "8", "7")] == [
        None,
        None,
        None,
        "8, the mean of 7, 8",
    ]


def test_headings_in_another_order_are_named() -> None:
    (told,) = found("A", GOOD["A"], head=HEADS["A"].replace("Time (s)|Cost", "Cost|Time (s)"))
    assert told.startswith("page.html: table 1, headings: found Rank / status | Model")
    assert "expected those of format A: Rank / status | Model | Public" in told


def test_a_row_with_another_number_of_cells_is_named() -> None:
    assert found("A", GOOD["A"] + "|more") == [
        "page.html: table 1, row 1: found 13 cells; expected 12, as many as headings"
    ]


def test_a_channel_that_stands_in_the_model_too_is_named() -> None:
    for model in ("Kimi K3 (zen)", "Kimi K3 OpenCode, zen"):
        (told,) = found("A", GOOD["A"].replace("Kimi K3", model))
        assert "column Model" in told


def test_ranks_out_of_order_and_ranked_rows_after_unranked_ones_are_named() -> None:
    second, none = GOOD["A"].replace("1 comp", "2 comp"), GOOD["A"].replace("1 completed", "unranked completed")
    assert "rank 1 after rank 2" in found("A", second, GOOD["A"])[0]
    assert "rank 1 after a row without a rank" in found("A", none, GOOD["A"])[0]


WHY = '<a href="#why-x">unavailable</a>'
AWAY = f"unranked {WHY}|Kimi K3|N/A|N/A|N/A|N/A|N/A|N/A|N/A|N/A|N/A|zen"


def test_a_row_that_did_not_complete_says_why_in_words_of_its_own() -> None:
    assert "no explanation" in found("A", AWAY.replace(WHY, "unavailable"))[0]
    assert "'code 7'" in found("A", AWAY, after='<p id="why-x">code 7</p>')[0]
    why = '<p id="why-x">Kimi K3 did not answer the question before the task.</p>'
    assert found("A", AWAY, after=why) == []
    assert "the explanation of row 1" in found("A", AWAY, AWAY, after=why)[0]


def test_a_table_of_html_needs_a_caption_and_scopes() -> None:
    bare = a_page("A", GOOD["A"]).replace("<caption>Results</caption>", "").replace(' scope="col"', "", 1)
    told = [str(each) for each in check_page(bare, "page.html")]
    assert [each.split(": found")[0] for each in told] == [
        "page.html: table 1, caption", "page.html: table 1, heading 'Rank / status'",
    ]  # fmt: skip


def test_a_page_without_results_is_no_report() -> None:
    (told,) = check_page("<!doctype html><p>1 completed", "page.html")
    assert "0 tables" in told.found


def test_a_page_as_a_browser_saved_it_reads_the_same() -> None:
    saved = a_page("A", GOOD["A"]).replace("Model</th>", '<button type="button">Model</button></th>')
    saved = saved.replace("<td>1 completed", '<td><span class="rank">1</span><span>completed</span>')
    assert check_page(f"<script>if (1 < 2) document.write('<table>')</script>{saved}", "page.html") == ()
