"""Laws of `review-findings`: places alone count, decoys cost, spraying earns nothing."""

import json
from decimal import Decimal
from pathlib import Path

import pytest

from evaluators.errors import EvaluatorError
from evaluators.model import EvaluatorSpec, Submission, VerdictCause
from evaluators.packing import pack_files
from evaluators.review_findings import ReviewFindings, build_review_findings
from evaluators.review_ruling import Finding, Matched, Planted, Weights, match, read_findings, score
from tests.unit.evaluators.judging import no_bench

KEY = {
    "bugs": [
        {"id": "off-by-one", "file": "src/pages.py", "lines": [10, 12]},
        {"id": "lost-lock", "file": "src/store.py", "lines": [[40, 40], [60, 62]]},
        {"id": "wrong-unit", "file": "src/pages.py", "lines": [30, 30]},
        {"id": "leak", "file": "src/net.py", "lines": [5, 5]},
    ],
    "decoys": [{"id": "odd-but-right", "file": "src/pages.py", "lines": [50, 52]}],
}
ALL = [
    {"file": "src/pages.py", "line": 11},
    {"file": "src/store.py", "line": 60},
    {"file": "src/pages.py", "line": 30},
    {"file": "src/net.py", "line": 5},
]
PLANTED = (
    Planted(id="one", file="a.py", lines=((10, 10),)),
    Planted(id="two", file="a.py", lines=((14, 14),)),
    Planted(id="trap", file="a.py", lines=((12, 12),), decoy=True),
)


def evaluator(folder: Path, **options: object) -> ReviewFindings:
    (folder / "key.json").write_text(json.dumps(KEY))
    table = {"file": "review.json", "key": "key.json", "pass_threshold": "0.75", **options}
    return build_review_findings(EvaluatorSpec(id="hidden", kind="review-findings", options=table, folder=folder))


def reviewed(value: object) -> Submission:
    return Submission(base=(), change=pack_files({"review.json": json.dumps(value).encode()}), tree_digest="0" * 64)


@pytest.mark.parametrize("wrap", [lambda found: found, lambda found: {"findings": found, "summary": "four bugs"}])
def test_a_whole_review_passes(tmp_path: Path, wrap: "object") -> None:
    assert callable(wrap)
    verdict = evaluator(tmp_path).judge(reviewed(wrap(ALL)), no_bench())
    assert (verdict.cause, verdict.score) == (VerdictCause.PASSED, Decimal(1))
    assert [case.id for case in verdict.cases] == ["off-by-one", "lost-lock", "wrong-unit", "leak"]


@pytest.mark.parametrize(
    ("more", "points"),
    [
        ([], "1"),
        (ALL, "1"),
        ([{"file": "src/pages.py", "line": 12}], "1"),
        ([{"file": "src/pages.py", "line": 200}], "0.9375"),
        ([{"file": "src/pages.py", "line": 51}], "0.9375"),
        ([{"file": "src/pages.py", "line": 51}, {"file": "src/pages.py", "line": 50}], "0.875"),
        (["nonsense", None, {"file": "src/pages.py"}, {"line": 4}, {"file": "x", "line": True}], "1"),
    ],
)
def test_repeats_are_free_alarms_and_decoys_cost(tmp_path: Path, more: list[object], points: str) -> None:
    assert evaluator(tmp_path).judge(reviewed([*ALL, *more]), no_bench()).score == Decimal(points)


def test_half_a_review_scores_half_and_does_not_pass(tmp_path: Path) -> None:
    verdict = evaluator(tmp_path).judge(reviewed(ALL[:2]), no_bench())
    assert (verdict.cause, verdict.score) == (VerdictCause.FAILED, Decimal("0.5"))
    assert [case.passed for case in verdict.cases] == [True, True, False, False]


def test_spraying_earns_nothing(tmp_path: Path) -> None:
    every = [{"file": f"src/{name}.py", "line": line} for name in ("pages", "store", "net") for line in range(1, 70)]
    verdict = evaluator(tmp_path).judge(reviewed(every), no_bench())
    assert (verdict.cause, verdict.score) == (VerdictCause.REJECTED, Decimal(0))
    sparse = evaluator(tmp_path, most=1000).judge(reviewed(every[::6]), no_bench())
    assert sparse.score == Decimal(0)


@pytest.mark.parametrize(
    ("line", "found"),
    [(7, {"one"}), (6, set()), (11, {"one"}), (12, set()), (13, {"two"}), (17, {"two"}), (18, set())],
)
def test_a_finding_goes_to_the_nearest_place_and_to_a_bug_before_a_decoy(line: int, found: set[str]) -> None:
    assert match([Finding(file="a.py", line=line)], PLANTED, 3).found == found


def test_of_two_bugs_as_near_the_one_nobody_claimed_is_taken() -> None:
    pair = (Planted(id="one", file="a.py", lines=((10, 10),)), Planted(id="two", file="a.py", lines=((14, 14),)))
    both = [Finding(file="a.py", line=10), Finding(file="a.py", line=12)]
    assert match(both, pair, 3).found == {"one", "two"}


@pytest.mark.parametrize(
    "path", ["src/net.py", "./src/net.py", "a/src/net.py", "b/src/net.py", "net.py", "/work/src/net.py"]
)
def test_paths_are_met_from_either_end(tmp_path: Path, path: str) -> None:
    cases = evaluator(tmp_path).judge(reviewed([{"file": path, "line": 5}]), no_bench()).cases
    assert cases[3].passed


def test_a_path_that_only_ends_alike_is_another_file() -> None:
    planted = (Planted(id="one", file="net.py", lines=((5, 5),)),)
    assert not match([Finding(file="subnet.py", line=5)], planted, 3).found


@pytest.mark.parametrize(("line", "read"), [("L11", 11), ("30-33", 30), (" 7 ", 7), ("11: wrong", 11)])
def test_lines_are_read_as_people_write_them(line: str, read: int) -> None:
    assert read_findings([{"file": "a.py", "line": line}]) == (Finding(file="a.py", line=read),)


@pytest.mark.parametrize("line", ["", "eleven", "1" * 9, 1.5, None, [3]])
def test_a_line_that_is_none_is_no_finding(line: object) -> None:
    assert read_findings([{"file": "a.py", "line": line}]) == ()


@pytest.mark.parametrize("text", ["{", "3", '{"found": []}', '{"findings": {}}'])
def test_what_is_no_review_is_rejected_with_nothing(tmp_path: Path, text: str) -> None:
    change = pack_files({"review.json": text.encode()})
    verdict = evaluator(tmp_path).judge(Submission(base=(), change=change, tree_digest="0" * 64), no_bench())
    assert (verdict.cause, verdict.score) == (VerdictCause.REJECTED, Decimal(0))


def test_f2_by_hand() -> None:
    """P = 3 / (3 + 1 + 2 * 1) = 1/2 and R = 3/4: F2 = 5 * 3/8 / (2 + 3/4) = 15/22."""
    matched = Matched(found=frozenset("abc"), alarms=1, decoys=1)
    assert score(matched, 4, Weights(scoring="f2")) == Decimal("0.681818")
    assert score(Matched(found=frozenset(), alarms=0, decoys=0), 4, Weights(scoring="f2")) == 0
    assert score(Matched(found=frozenset("abcd"), alarms=0, decoys=0), 4, Weights(scoring="f2")) == 1


@pytest.mark.parametrize(
    "options",
    [
        {"scoring": "f1"},
        {"tolerance": -1},
        {"tolerance": False},
        {"pass_threshold": "1.5"},
        {"pass_threshold": 0.5},
        {"fp_penalty": "-1"},
        {"key": "none.json"},
        {"file": "/etc/passwd"},
        {"most": 0},
        {"weights": {}},
    ],
)
def test_options_that_are_wrong_are_refused(tmp_path: Path, options: dict[str, object]) -> None:
    with pytest.raises(EvaluatorError):
        evaluator(tmp_path, **options)


@pytest.mark.parametrize(
    "key",
    [
        "[]",
        '{"bugs": []}',
        '{"bugs": [{"id": "a", "file": "x", "lines": [3, 2]}]}',
        '{"bugs": [{"id": "a", "file": "../x", "lines": [3, 3]}]}',
        '{"bugs": [{"id": "a", "file": "x", "lines": [3, 3]}, {"id": "a", "file": "y", "lines": [3, 3]}]}',
        '{"bugs": [{"id": "a", "file": "x", "lines": [3, 3], "why": ""}]}',
        '{"bugs": [{"id": "a", "file": "x", "lines": [3, 3]}], "decoys": 1}',
    ],
)
def test_a_key_that_is_wrong_is_refused(tmp_path: Path, key: str) -> None:
    (tmp_path / "key.json").write_text(key)
    table = {"file": "review.json", "key": "key.json"}
    with pytest.raises(EvaluatorError):
        build_review_findings(EvaluatorSpec(id="hidden", kind="review-findings", options=table, folder=tmp_path))
