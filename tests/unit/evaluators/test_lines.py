"""Laws of our own diff: it tells the truth, keeps what is equal, and takes bounded time."""

import itertools
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluators.lines import CONTEXT, Run, equal_runs, hunks

LINES = st.lists(st.sampled_from(["a", "b", "c", "d", ""]), max_size=30)


def rebuilt(before: list[str], after: list[str], runs: tuple[Run, ...]) -> list[str]:
    """Make `after` from `before` and the lines that differ."""
    made: list[str] = []
    j = 0
    for at, to, count in runs:
        made += after[j:to]
        made += before[at : at + count]
        j = to + count
    return made + after[j:]


@given(LINES, LINES)
def test_runs_are_equal_lines_in_order(before: list[str], after: list[str]) -> None:
    runs = equal_runs(before, after)
    assert all(before[i : i + n] == after[j : j + n] and n for i, j, n in runs)
    assert all(i + n <= k and j + n <= m for (i, j, n), (k, m, _) in itertools.pairwise(runs))
    assert rebuilt(before, after, runs) == after


@given(LINES)
def test_equal_texts_have_no_hunks(lines: list[str]) -> None:
    assert hunks(lines, list(lines)) == ()


@given(LINES, LINES)
def test_hunks_hold_all_that_differs_with_lines_around(before: list[str], after: list[str]) -> None:
    made: list[str] = []
    done = 0
    for hunk in hunks(before, after):
        (i, m), (j, n) = hunk.before, hunk.after
        made += before[done:i]
        assert len(made) == j
        made += rebuilt(before, after, hunk.runs)[j:n] if hunk.runs else after[j:n]
        assert all(before[a : a + count] == after[b : b + count] for a, b, count in hunk.runs)
        done = m
        made = made[:j] + after[j:n]
    assert made + before[done:] == after


@pytest.mark.parametrize("size", [2 * CONTEXT + 1, 40])
def test_far_changes_are_hunks_of_their_own(size: int) -> None:
    before = ["x", *(str(each) for each in range(size)), "y"]
    after = ["X", *(str(each) for each in range(size)), "Y"]
    assert len(hunks(before, after)) == 2
    assert [hunk.before for hunk in hunks(before, after)] == [(0, 1 + CONTEXT), (size + 1 - CONTEXT, size + 2)]


def test_a_shortest_edit_is_found_where_no_line_is_unique() -> None:
    before, after = list("abcabba"), list("cbabac")
    assert sum(count for _, _, count in equal_runs(before, after)) == 4  # Myers 1986, figure 1


def test_whatever_the_texts_are_the_time_is_bounded() -> None:
    texts = [list(format(3**exponent, "b")) for exponent in (12_000, 12_001)]  # 19,000 lines, no order in them
    texts += [[str(each % 700) for each in range(20_000)], [str(each % 701) for each in range(20_000)]]
    started = time.process_time()
    equal_runs(texts[0], texts[1])
    equal_runs(texts[2], texts[3])
    assert time.process_time() - started < 2
