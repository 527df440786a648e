"""Laws of norms: counted from the two trees, renormalised over what can be measured, and never fooled by a diff."""

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluators.norm_counts import Asked, counted
from evaluators.norm_scale import WEIGHTS, Norm, NormId, Norms, penalty_of, score_of
from evaluators.two_trees import changed_lines, changes_of, is_test, size_of
from tests.unit.evaluators.tooled import changed

ASKED = Asked(target_files=("calc.py",), tests_allowed=True, solution_lines=10)
BASE = {
    "calc.py": "# adds\ndef add(a, b):\n    return a - b\n\n\ndef sub(a, b):\n    return a - b\n",
    "tests/test_calc.py": "def test_add():\n    assert add(1, 2) == 3\n\n\ndef test_sub():\n    assert not sub(1, 1)\n",
    "cli.py": "print('hello')\n",
}


def norm_of(name: NormId, after: dict[str, str | None], asked: Asked = ASKED) -> Norm:
    return next(each for each in counted(changes_of(changed(BASE, after)), asked) if each.id is name)


def grown(path: str, *lines: str) -> dict[str, str | None]:
    return {path: BASE.get(path, "") + "".join(f"{line}\n" for line in lines)}


def test_the_weights_are_those_of_the_second_version_and_make_one() -> None:
    wanted = {"scope": "0.225", "debug": "0.18", "lint": "0.18", "size": "0.18", "tests": "0.135", "comments": "0.1"}
    assert {name.value: weight for name, weight in WEIGHTS.items()} == {k: Fraction(v) for k, v in wanted.items()}
    assert sum(WEIGHTS.values()) == 1


@pytest.mark.parametrize(
    ("name", "counts", "wanted"),
    [
        pytest.param("scope", {"outside": 0}, "0", id="in scope"),
        pytest.param("scope", {"outside": 1}, "1/2", id="one file beside"),
        pytest.param("scope", {"outside": 7}, "1", id="seven files beside"),
        pytest.param("debug", {"left": 1}, "1/3", id="one leftover"),
        pytest.param("debug", {"left": 4}, "1", id="four leftovers"),
        pytest.param("lint", {"new": 2}, "2/5", id="two findings"),
        pytest.param("lint", {"new": 5}, "1", id="five findings"),
        pytest.param("size", {"added": 9, "removed": 6, "solution": 10}, "0", id="one and a half times"),
        pytest.param("size", {"added": 20, "removed": 10, "solution": 10}, "1/2", id="three times"),
        pytest.param("size", {"added": 40, "removed": 5, "solution": 10}, "1", id="four and a half times"),
        pytest.param("size", {"added": 1, "removed": 0, "solution": 10}, "0", id="tiny"),
        pytest.param("tests", {"tests": 0}, "1", id="no test"),
        pytest.param("tests", {"tests": 1}, "0", id="a test"),
        pytest.param("comments", {"comments": 1, "added": 10, "base_comments": 0, "base": 10}, "0", id="a tenth more"),
        pytest.param(
            "comments", {"comments": 1, "added": 4, "base_comments": 0, "base": 10}, "1/2", id="a quarter more"
        ),
        pytest.param(
            "comments", {"comments": 0, "added": 9, "base_comments": 4, "base": 10}, "1", id="two fifths less"
        ),
    ],
)
def test_penalties_are_as_documented(name: str, counts: dict[str, int], wanted: str) -> None:
    assert penalty_of(NormId(name), counts) == Fraction(wanted)


def test_the_score_is_one_less_the_weighted_penalties() -> None:
    penalties = {NormId.SCOPE: Fraction(1, 2), NormId.DEBUG: Fraction(0), NormId.LINT: Fraction(2, 5)}
    penalties |= {NormId.SIZE: Fraction(0), NormId.TESTS: Fraction(1), NormId.COMMENTS: Fraction(1, 2)}
    assert score_of(penalties.items()) == Decimal("0.6305")


def test_what_cannot_be_measured_leaves_its_weight_to_the_others() -> None:
    known = {NormId.DEBUG: Fraction(1, 3), NormId.TESTS: Fraction(0), NormId.SCOPE: None}
    assert score_of(known.items()) == Decimal("0.8095")
    assert score_of({NormId.SCOPE: None}.items()) is None
    assert Norms(reason="nothing is changed").score is None


@given(st.dictionaries(st.sampled_from(NormId), st.none() | st.fractions(0, 1)))
def test_a_score_lies_between_nothing_and_one_and_an_unknown_norm_is_never_a_zero(
    penalties: dict[NormId, Fraction | None],
) -> None:
    score = score_of(penalties.items())
    known = {name: each for name, each in penalties.items() if each is not None}
    assert score == score_of(known.items())
    assert score is None if not known else score is not None and 0 <= score <= 1


def test_a_line_that_looks_like_a_heads_in_a_diff_counts() -> None:
    after = grown("calc.py", "-- print(1)", "++ x", "--- a/calc.py", "+++ b/calc.py", "@@ -1 +1 @@")
    assert norm_of(NormId.SIZE, after).counts == {"added": 5, "removed": 0, "solution": 10}
    taken = changed({"notes.txt": "-- a\n++ b\nc\n"}, {"notes.txt": "c\n"})
    assert size_of(changes_of(taken)) == (0, 2)


@given(
    st.lists(st.sampled_from(["-- a", "++ b", "--- c", "x", ""])), st.lists(st.sampled_from(["-- a", "++ b", "y", ""]))
)
def test_lines_are_counted_by_content_alone(before: list[str], after: list[str]) -> None:
    texts = ["".join(f"{line}\n" for line in side) for side in (before, after)]
    lines = changed_lines(changes_of(changed({"a": texts[0]}, {"a": texts[1]}))[0])
    assert len(after) - len(before) == len(lines.added) - len(lines.removed)
    assert all(after[number - 1] == line for number, line in lines.added)


@pytest.mark.parametrize(
    ("after", "wanted"),
    [
        pytest.param({"tests/test_calc.py": None}, 0, id="deleted"),
        pytest.param({"tests/test_calc.py": "def test_add():\n    assert add(1, 2) == 3\n"}, 0, id="cut short"),
        pytest.param({"tests/test_calc.py": None, "tests/test_new.py": BASE["tests/test_calc.py"]}, 0, id="moved"),
        pytest.param(grown("tests/test_calc.py", "", "# a comment", "   "), 0, id="blanks and comments"),
        pytest.param(grown("tests/test_calc.py", "def test_more():", "    assert add(0, 0) == 0"), 2, id="added"),
        pytest.param({"test_more.py": "def test_more():\n    assert True\n"}, 2, id="a new file"),
    ],
)
def test_only_what_is_new_in_tests_is_a_test_added(after: dict[str, str | None], wanted: int) -> None:
    found = norm_of(NormId.TESTS, {**grown("calc.py", "x = 1"), **after})
    assert found.counts == {"code": 1, "tests": wanted}


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        pytest.param("print(a)", 1, id="print"),
        pytest.param("breakpoint()", 1, id="breakpoint"),
        pytest.param("pdb.set_trace()", 1, id="debugger"),
        pytest.param("x = 1  # TODO: later", 1, id="unfinished"),
        pytest.param("# fixed, see XXX", 1, id="marked"),
        pytest.param("x = 'print(1)  # TODO'", 0, id="in a string"),
        pytest.param("log.print(x)", 0, id="somebody else's print"),
        pytest.param("x = blueprint(1)", 0, id="another name"),
        pytest.param("def print(x): return x", 0, id="a definition"),
    ],
)
def test_leftovers_are_told_from_what_looks_like_them(line: str, wanted: int) -> None:
    found = norm_of(NormId.DEBUG, grown("calc.py", line))
    assert found.counts == {"added": 1, "left": wanted}
    assert len(found.found) == wanted


def test_what_prints_already_and_what_is_a_test_may_print() -> None:
    assert norm_of(NormId.DEBUG, grown("cli.py", "print('bye')")).counts["left"] == 0
    assert norm_of(NormId.DEBUG, grown("tests/test_calc.py", "print('bye')")).counts["left"] == 0
    assert norm_of(NormId.DEBUG, grown("tests/test_calc.py", "breakpoint()")).counts["left"] == 1


def test_python_without_tokens_and_other_languages_are_read_by_their_letters() -> None:
    assert norm_of(NormId.DEBUG, {"calc.py": "def (((\n  print(1)\n"}).counts["left"] == 1
    assert norm_of(NormId.DEBUG, {"web/app.js": "console.log(1)\n// TODO\nlog(2)\n"}).counts == {"added": 3, "left": 2}
    assert norm_of(NormId.DEBUG, {"notes.md": "TODO\n"}).counts == {"added": 0, "left": 0}


def test_a_leftover_that_stood_before_is_nobodys_now() -> None:
    base = {"calc.py": "x = 1  # TODO\n"}
    norms = counted(changes_of(changed(base, {"calc.py": "# first\nx = 1  # TODO\n"})), ASKED)
    assert next(each for each in norms if each.id is NormId.DEBUG).counts == {"added": 1, "left": 0}


def test_every_changed_path_that_is_no_target_is_out_of_scope() -> None:
    after = {**grown("calc.py", "x = 1"), ".hidden/a": "x\n", "lib/__pycache__/b.pyc": "\0", "cli.py": None}
    found = norm_of(NormId.SCOPE, after)
    assert found.counts == {"changed": 4, "outside": 3}
    assert found.found == (".hidden/a", "cli.py", "lib/__pycache__/b.pyc")


def test_comments_are_compared_with_what_the_same_files_had() -> None:
    found = norm_of(NormId.COMMENTS, grown("calc.py", "# one", "x = 1", "y = '# no comment'", ""))
    assert found.counts == {"comments": 1, "added": 3, "base_comments": 1, "base": 5}


@pytest.mark.parametrize(
    ("name", "after", "asked", "reason"),
    [
        pytest.param("scope", {"calc.py": "x\n"}, Asked(target_files=(), tests_allowed=True, solution_lines=1),
                     "names no target files", id="no targets"),
        pytest.param("size", {"calc.py": "x\n"}, Asked(target_files=(), tests_allowed=True, solution_lines=None),
                     "no solution", id="no solution"),
        pytest.param("size", {"calc.py": "x\n"}, Asked(target_files=(), tests_allowed=True, solution_lines=0),
                     "changes no text", id="a solution of bytes"),
        pytest.param("tests", {"notes.md": "x\n"}, ASKED, "no code besides tests", id="no code"),
        pytest.param("tests", {"calc.py": "x\n"}, Asked(target_files=(), tests_allowed=False, solution_lines=1),
                     "lets nobody add a test", id="tests forbidden"),
        pytest.param("comments", {"app.js": "// x\n"}, ASKED, "no Python is added", id="another language"),
        pytest.param("comments", {"calc.py": "def ((\n"}, ASKED, "cannot be parted", id="no tokens"),
        pytest.param("comments", {"new.py": "x = 1\n"}, ASKED, "no base's lines", id="a new file"),
    ],
)  # fmt: skip
def test_what_cannot_be_measured_says_why(name: str, after: dict[str, str | None], asked: Asked, reason: str) -> None:
    found = norm_of(NormId(name), after, asked)
    assert reason in found.reason
    assert found.penalty is None


@pytest.mark.parametrize(
    ("path", "wanted"),
    [("test_a.py", True), ("a_test.go", True), ("web/a.spec.ts", True), ("tests/helper.py", True),
     ("latest.py", False), ("contest_x.py", False), ("tests/data.json", False)],
)  # fmt: skip
def test_tests_are_known_by_name_or_folder(path: str, wanted: bool) -> None:  # noqa: FBT001 - a case
    assert is_test(path.encode()) is wanted


def test_bytes_that_are_no_text_are_a_changed_file_and_no_line() -> None:
    after = {"logo.png": "\0\n\n"}
    assert norm_of(NormId.SIZE, after).counts["added"] == 0
    assert norm_of(NormId.SCOPE, after).counts == {"changed": 1, "outside": 1}
