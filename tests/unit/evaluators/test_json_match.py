"""Laws of `json-match`: types count everywhere, order where it is said, and nothing expected is ever told."""

import json
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluators.errors import EvaluatorError
from evaluators.json_match import JsonMatch, build_json_match, differences, fingerprint
from evaluators.model import Assurance, EvaluatorSpec, Submission, VerdictCause
from evaluators.packing import pack_files
from sandbox.api import Pack
from sandbox.tree import Entry, Kind
from tests.unit.evaluators.judging import no_bench

HIDDEN = "copper-lantern"
EXPECTED = {"name": HIDDEN, "sizes": [1, 2, True], "nested": {"a/b": [{"x": 1}, {"x": 2}]}}
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inside: st.lists(inside, max_size=4) | st.dictionaries(st.text(), inside, max_size=4),
    max_leaves=12,
)


def evaluator(folder: Path, value: object = EXPECTED, **options: object) -> JsonMatch:
    (folder / "expected.json").write_text(json.dumps(value))
    table = {"file": "answer.json", "expected": "expected.json", **options}
    return build_json_match(EvaluatorSpec(id="hidden", kind="json-match", options=table, folder=folder))


def answered(text: str | bytes) -> Submission:
    data = text.encode() if isinstance(text, str) else text
    return Submission(base=(), change=pack_files({"answer.json": data}), tree_digest="0" * 64)


def test_the_expected_answer_passes_in_any_writing(tmp_path: Path) -> None:
    verdict = evaluator(tmp_path).judge(answered(json.dumps(EXPECTED, indent=3)), no_bench())
    assert (verdict.cause, verdict.score, verdict.assurance) == (VerdictCause.PASSED, Decimal(1), Assurance.SPLIT)


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"sizes": [1, 2, 1]}, "/sizes/2"),
        ({"sizes": [True, 2, True]}, "/sizes/0"),
        ({"sizes": [1.0, 2, True]}, "/sizes/0"),
        ({"sizes": [1, 2]}, "/sizes"),
        ({"sizes": [2, 1, True]}, "/sizes/0"),
        ({"sizes": "1, 2, true"}, "/sizes"),
        ({"name": None}, "/name"),
        ({"nested": {"a/b": [{"x": 1}, {"x": 2, "y": 3}]}}, "/nested/a~1b/1"),
        ({"more": 1}, "the top"),
    ],
)
def test_whatever_differs_fails_and_the_place_alone_is_told(
    tmp_path: Path, change: dict[str, object], place: str
) -> None:
    verdict = evaluator(tmp_path).judge(answered(json.dumps({**EXPECTED, **change})), no_bench())
    assert (verdict.cause, verdict.score) == (VerdictCause.FAILED, Decimal(0))
    assert verdict.detail == f"answer.json: differs at {place}"
    assert HIDDEN not in repr(verdict)


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("{", VerdictCause.REJECTED),
        ("", VerdictCause.REJECTED),
        (b"\xff\xfe", VerdictCause.REJECTED),
        ('{"a": NaN}', VerdictCause.REJECTED),
        ('{"a": 1, "a": 2}', VerdictCause.REJECTED),
        ("[" * 5_000 + "]" * 5_000, VerdictCause.REJECTED),
        ("[" * 300 + "]" * 300, VerdictCause.REJECTED),
        ("null", VerdictCause.FAILED),
    ],
)
def test_what_is_no_answer_is_never_a_fault(tmp_path: Path, text: str | bytes, cause: VerdictCause) -> None:
    verdict = evaluator(tmp_path).judge(answered(text), no_bench())
    assert (verdict.cause, verdict.score) == (cause, Decimal(0))


def test_an_answer_that_is_missing_gone_or_a_link_is_never_followed_nor_a_fault(tmp_path: Path) -> None:
    judge = evaluator(tmp_path)
    right = pack_files({"answer.json": json.dumps(EXPECTED).encode()})
    link = Entry(path=b"answer.json", kind=Kind.LINK, target=b"/etc/passwd")
    gone = Entry(path=b"answer.json", kind=Kind.GONE)
    for entries, told in (((), "no such file"), ((link,), "no plain file"), ((gone,), "no such file")):
        below = right if entries else pack_files({})
        change = Pack(entries=entries, blobs=below.blobs)
        verdict = judge.judge(Submission(base=(), change=change, tree_digest="0" * 64, below=below), no_bench())
        assert verdict.cause is VerdictCause.FAILED
        assert told in verdict.detail


def test_an_answer_that_the_base_holds_counts_until_it_is_changed(tmp_path: Path) -> None:
    judge = evaluator(tmp_path)
    below = pack_files({"answer.json": json.dumps(EXPECTED).encode()})
    kept = Submission(base=(), change=pack_files({"other": b""}), tree_digest="0" * 64, below=below)
    assert judge.judge(kept, no_bench()).passed
    changed = Submission(base=(), change=pack_files({"answer.json": b"{}"}), tree_digest="0" * 64, below=below)
    assert not judge.judge(changed, no_bench()).passed


def test_lists_are_unordered_where_it_is_said_and_types_still_count(tmp_path: Path) -> None:
    judge = evaluator(tmp_path, [[1, 2], [True, 3]], unordered=True)
    assert judge.judge(answered("[[3, true], [2, 1]]"), no_bench()).passed
    assert not judge.judge(answered("[[3, 1], [2, true]]"), no_bench()).passed
    assert not judge.judge(answered("[[3, true], [2, 1], [2, 1]]"), no_bench()).passed


@given(VALUES)
def test_every_value_equals_itself_and_its_reversed_lists_where_order_is_nothing(value: object) -> None:
    def turned(each: object) -> object:
        if isinstance(each, dict):
            return {key: turned(inside) for key, inside in reversed(each.items())}
        return [turned(inside) for inside in reversed(each)] if isinstance(each, list) else each

    assert not list(differences(value, value, unordered=False))
    assert fingerprint(value) == fingerprint(turned(value))
    assert not list(differences(value, turned(value), unordered=True))


@given(VALUES, VALUES)
def test_two_fingerprints_are_equal_if_and_only_if_the_values_are(one: object, other: object) -> None:
    same = not list(differences(one, other, unordered=True))
    assert same == (fingerprint(one) == fingerprint(other))


@pytest.mark.parametrize(
    "options", [{"file": "../x"}, {"file": None}, {"unordered": 1}, {"expected": "missing.json"}, {"expect": 1}]
)
def test_options_that_are_wrong_are_refused(tmp_path: Path, options: dict[str, object]) -> None:
    with pytest.raises(EvaluatorError):
        evaluator(tmp_path, **options)


def test_the_digest_changes_with_the_expected_value_and_the_options(tmp_path: Path) -> None:
    digests = {
        evaluator(tmp_path).digest(),
        evaluator(tmp_path, unordered=True).digest(),
        evaluator(tmp_path, [1]).digest(),
    }
    assert len(digests) == 3
