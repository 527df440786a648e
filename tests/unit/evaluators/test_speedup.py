"""Laws of kind `speedup`: strict options, wrong answers without a time, plans that must be whole, other protocols."""

import json
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest

from evaluators.errors import BaselineError, EvaluatorError, OptionError
from evaluators.machine import processor_of
from evaluators.model import Assurance, EvaluatorSpec, VerdictCause
from evaluators.paired_v1 import PairedV1, outcome
from evaluators.paired_v2 import PairedV2
from evaluators.plain_equal import is_same
from evaluators.registry import assurance_of, build
from evaluators.self_reported import SelfReported, reported, rule
from evaluators.speed_calls import Failure
from evaluators.speed_options import Protocol, read_scale
from evaluators.speed_stand import plan_of
from evaluators.split_frames import write_frame
from sandbox.termination import Cause, Termination, Usage
from tests.unit.evaluators.speeding import BUCKETS, PLAN, QUICK, speed_court, speed_spec

V1 = {"protocol": "paired-v1", "editable": ["work.py"]}
LEGACY = {"protocol": "self-reported", "argv": ["{python}", "bench.py"], "buckets": BUCKETS}
DONE = Termination(cause=Cause.EXIT, status=0, usage=Usage(wall_ms=5))


def test_the_default_is_two_units_and_the_assurance_says_what_each_is(tmp_path: Path) -> None:
    two, one = speed_spec(tmp_path), speed_spec(tmp_path, **V1)
    legacy = EvaluatorSpec(id="hidden", kind="speedup", options=LEGACY, folder=tmp_path / "private")
    assert [type(build(each)) for each in (two, one, legacy)] == [PairedV2, PairedV1, SelfReported]
    found = [assurance_of(each) for each in (two, one, legacy)]
    assert found == [Assurance.SPLIT, Assurance.IN_PROCESS, Assurance.EXIT_CODE]
    assert assurance_of(speed_spec(tmp_path, protocol=["paired-v1"])) is Assurance.SPLIT


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("protocol", "paired-v3"),
        ("function", "work"),
        ("function", "work:a b"),
        ("plan", "../plan.py"),
        ("plan", "none.py"),
        ("buckets", {}),
        ("buckets", {"2": 0.5}),
        ("buckets", {"2": "1.5"}),
        ("buckets", {"1": "1"}),
        ("buckets", {"0.5": "1"}),
        ("buckets", {"nan": "1"}),
        ("buckets", {"inf": "1"}),
        ("buckets", {"2": "0"}),
        ("buckets", {"2": "1", "4": "0.5"}),
        ("buckets", {"2": "1", "2.0": "1"}),
        ("pass_threshold", "0"),
        ("pass_threshold", 1),
        ("pairs", 5),
        ("pairs", 101),
        ("pairs", True),
        ("seed", "0"),
        ("seed", True),
        ("impure", 1),
        ("clock", "sundial"),
        ("wall_s", 0),
        ("editable", ["work.py"]),
        ("more", 1),
    ],
)
def test_options_are_read_strictly(tmp_path: Path, field: str, value: object) -> None:
    with pytest.raises(OptionError, match=field.partition(".")[0]):
        build(speed_spec(tmp_path, **{field: value}))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("editable", []),
        ("editable", ["../work.py"]),
        ("editable", ["other.py"]),
        ("allowed_imports", ["os"]),
        ("clock", "processor"),
        ("pairs", 0),
    ],
)
def test_the_first_protocol_has_options_of_its_own(tmp_path: Path, field: str, value: object) -> None:
    with pytest.raises(OptionError):
        build(speed_spec(tmp_path, **(V1 | {field: value})))


def test_a_calibration_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EvaluatorError, match="calibration"):
        build(speed_spec(tmp_path), {"twins": 1})


def test_the_digest_follows_plan_and_options(tmp_path: Path) -> None:
    digests = {build(speed_spec(tmp_path, **each)).digest() for each in ({}, {"seed": 1}, {"plan": "plan.py"}, V1)}
    digests.add(build(speed_spec(tmp_path, PLAN + "#")).digest())
    assert len(digests) == 4


@pytest.mark.parametrize(
    ("code", "cause", "told"),
    [
        ("def common(left, right):\n    return []\n", VerdictCause.FAILED, "1 of 3"),
        (
            "def common(left, right):\n    return (each for each in left if each in right)\n",
            VerdictCause.FAILED,
            "gener",
        ),
        (
            "def common(left, right):\n    left.sort()\n    return [x for x in left if x in right]\n",
            VerdictCause.FAILED,
            "",
        ),
        ("import os\nos._exit(0)\n", VerdictCause.CRASHED, "exit 0"),
        ("raise SystemExit(0)\n", VerdictCause.CRASHED, "exit 0"),
        ("", VerdictCause.FAILED, "AttributeError"),
    ],
)
def test_what_is_not_right_is_never_timed(tmp_path: Path, code: str, cause: VerdictCause, told: str) -> None:
    verdict = speed_court(tmp_path).judge(code)
    assert (verdict.cause, verdict.score, verdict.measurement) == (cause, Decimal(0), None)
    assert told in verdict.detail + " ".join(case.detail for case in verdict.cases)
    assert [case.id for case in verdict.cases] == [*speed_court_cases(tmp_path)]


def speed_court_cases(folder: Path) -> tuple[str, ...]:
    return build(speed_spec(folder)).expected_cases()


@pytest.mark.parametrize(
    ("plan", "told"),
    [
        ("def oracle():\n    return []\ndef make_input(seed):\n    return ()\n", "no oracle case"),
        (PLAN.replace("dice.sample", "random.sample", 1), "second time"),
        (PLAN.replace("return dice", "return [1]  # dice", 1), "tuple"),
        ("raise OSError('gone')\n", "gone"),
        ("", "oracle"),
        ("import os\nos._exit(0)\n", "early"),
        (PLAN.replace("[1, 3]", "[2]", 1), "right answers"),
    ],
)
def test_a_plan_that_is_not_whole_or_wrong_is_a_fault(tmp_path: Path, plan: str, told: str) -> None:
    with pytest.raises(BaselineError, match=told):
        speed_court(tmp_path, plan).judge(QUICK)


@pytest.mark.parametrize("told", [b"", b"\0\0\0\2[]", write_frame({"tell": "oracle"}), write_frame({"tell": "done"})])
def test_a_plan_is_read_strictly(told: bytes) -> None:
    with pytest.raises(BaselineError):
        plan_of(told, 1)


@pytest.mark.parametrize(
    ("found", "wanted", "same"),
    [
        ({"set": [1, 2]}, {"set": [2, 1]}, True),
        ({"dict": [["a", 1], ["b", 2]]}, {"dict": [["b", 2], ["a", 1]]}, True),
        ([1, 2], [2, 1], False),
        ([1], {"tuple": [1]}, False),
        (1, 1.0, False),
        (1, True, False),
        (0, None, False),
        ("1", 1, False),
        ({"set": [1]}, {"frozenset": [1]}, False),
        ({"a": 1, "b": 2}, {"a": 1, "b": 2}, False),
    ],
)
def test_answers_are_the_same_by_value_and_type(found: object, wanted: object, *, same: bool) -> None:
    assert is_same(found, wanted) is same


def test_an_answer_that_nests_without_end_is_the_same_as_nothing() -> None:
    deep: list[object] = []
    for _ in range(2000):
        deep = [deep]
    assert not is_same(deep, deep)


SLEEPY = "import time\ndef common(left, right):\n    time.sleep(0.03)\n    return [x for x in left if x in right]\n"


def test_the_first_protocol_times_both_in_one_process(tmp_path: Path) -> None:
    verdict = speed_court(tmp_path, base=SLEEPY, **V1).judge(QUICK)
    assert (verdict.cause, verdict.score, verdict.assurance) == (VerdictCause.PASSED, Decimal(1), Assurance.IN_PROCESS)
    assert verdict.measurement is not None
    assert (verdict.measurement.floor, len(verdict.measurement.pairs)) == (None, 6)


@pytest.mark.parametrize(
    ("code", "cause"),
    [
        ("import time\n" + QUICK, VerdictCause.REJECTED),
        ("def common(left, right):\n    return []\n", VerdictCause.FAILED),
        ("def common(left, right):\n    raise ValueError\n", VerdictCause.FAILED),
        ("def common(left, right):\n    return common(left, right[1:] + left)\n", VerdictCause.FAILED),
        ("def common(left, right):\n    left.clear()\n    return []\n", VerdictCause.FAILED),
        ("def common(left, right", VerdictCause.REJECTED),
    ],
)
def test_the_first_protocol_gives_nothing_for_what_is_not_right(tmp_path: Path, code: str, cause: VerdictCause) -> None:
    verdict = speed_court(tmp_path, base=SLEEPY, **V1).judge(code)
    assert (verdict.cause, verdict.score, verdict.measurement) == (cause, Decimal(0), None)


def test_a_base_that_is_wrong_is_a_fault_in_the_first_protocol_too(tmp_path: Path) -> None:
    with pytest.raises(BaselineError, match="1 of 3"):
        speed_court(tmp_path, base="def common(left, right):\n    return []\n", **V1).judge(QUICK)


def ended(cause: Cause, status: int | None = None) -> Termination:
    return Termination(cause=cause, status=status, usage=Usage(wall_ms=1))


BEGAN = write_frame({"nonce": "n", "tell": "began"})
TIMED = {"nonce": "n", "tell": "timed", "pairs": [[9, 3, True]] + [[9, 3, at % 2 == 0] for at in range(6)]}


@pytest.mark.parametrize(
    ("told", "end", "cause"),
    [
        (BEGAN, DONE, VerdictCause.CRASHED),
        (BEGAN, ended(Cause.OOM), VerdictCause.CRASHED),
        (BEGAN, ended(Cause.SIGNAL, 11), VerdictCause.CRASHED),
        (BEGAN, ended(Cause.TIMEOUT), VerdictCause.TIMEOUT),
        (BEGAN + write_frame(TIMED), ended(Cause.SIGNAL, 9), VerdictCause.CRASHED),
        (BEGAN + write_frame(TIMED) * 2, DONE, VerdictCause.TAMPERED),
        (BEGAN + write_frame(TIMED | {"nonce": "m"}), DONE, VerdictCause.TAMPERED),
        (BEGAN + b"printed", DONE, VerdictCause.TAMPERED),
        (BEGAN + write_frame(TIMED | {"pairs": TIMED["pairs"][:-1]}), DONE, VerdictCause.TAMPERED),
        (BEGAN + write_frame(TIMED | {"pairs": [[9, 0, True]] * 7}), DONE, VerdictCause.TAMPERED),
        (BEGAN + write_frame(TIMED | {"pairs": [[9, 1e999, True]] * 7}), DONE, VerdictCause.TAMPERED),
        (BEGAN + write_frame(TIMED | {"pairs": [[9, 3, True]] * 7}), DONE, VerdictCause.TAMPERED),
        (BEGAN + write_frame({"nonce": "n", "tell": "speedup", "ratio": 900}), DONE, VerdictCause.TAMPERED),
    ],
)
def test_no_result_after_the_base_passed_is_the_candidates_failure(
    tmp_path: Path, told: bytes, end: Termination, cause: VerdictCause
) -> None:
    options = build(speed_spec(tmp_path, **V1)).options
    found = outcome(told, end, "n", options, b"")
    assert isinstance(found, Failure)
    assert found.cause is cause


@pytest.mark.parametrize("told", [b"", write_frame({"nonce": "m", "tell": "began"}), write_frame(TIMED)])
def test_no_word_that_the_base_passed_is_a_fault(tmp_path: Path, told: bytes) -> None:
    with pytest.raises(BaselineError):
        outcome(told, DONE, "n", build(speed_spec(tmp_path, **V1)).options, b"")


@pytest.mark.parametrize(
    ("printed", "ratio"),
    [
        (b'{"ok": true, "speedup": 3.2, "detail": "x"}\n', Fraction("3.2")),
        (b'noise\n{"ok": true, "speedup": 2}', Fraction(2)),
        (b'{"ok": true, "speedup": 1e3}', Fraction(1000)),
        (b'{"ok": false, "speedup": 9}', None),
        (b'{"ok": true}', None),
        (b'{"ok": true, "speedup": NaN}', None),
        (b'{"ok": true, "speedup": Infinity}', None),
        (b'{"ok": true, "speedup": -4}', None),
        (b'{"ok": true, "speedup": true}', None),
        (b'{"ok": true, "speedup": 9}\nbye', None),
        (b"", None),
    ],
)
def test_a_reported_speed_up_is_the_last_line(printed: bytes, ratio: Fraction | None) -> None:
    assert reported(printed) == ratio


@pytest.mark.parametrize(
    ("printed", "end", "cause", "score"),
    [
        (b'{"ok": true, "speedup": 4}', DONE, VerdictCause.PASSED, "1"),
        (b'{"ok": true, "speedup": 3.9999}', DONE, VerdictCause.FAILED, "0.5"),
        (b'{"ok": true, "speedup": 900}', ended(Cause.EXIT, 1), VerdictCause.FAILED, "0"),
        (b'{"ok": true, "speedup": 900}', ended(Cause.SIGNAL, 9), VerdictCause.CRASHED, "0"),
        (b'{"ok": true, "speedup": 900}', ended(Cause.TIMEOUT), VerdictCause.TIMEOUT, "0"),
    ],
)
def test_what_a_program_says_of_itself_is_believed_and_marked(
    tmp_path: Path, printed: bytes, end: Termination, cause: VerdictCause, score: str
) -> None:
    verdict = rule(read_scale(speed_spec(tmp_path)), printed, end)
    assert (verdict.cause, verdict.score, verdict.assurance) == (cause, Decimal(score), Assurance.EXIT_CODE)


def test_a_program_that_reports_is_run_over_the_submission(tmp_path: Path) -> None:
    court = speed_court(tmp_path)
    line = json.dumps({"ok": True, "speedup": 5})
    spec = EvaluatorSpec(id="hidden", kind="speedup", options=LEGACY | {"files": {}}, folder=tmp_path / "private")
    held = type(court)(evaluator=build(spec), bench=court.bench, base=court.base)
    assert held.judge(f"print('{line}')\n", "bench.py").passed


def test_a_processor_has_a_name() -> None:
    assert processor_of("processor : 0\nmodel name\t: Some CPU @ 2 GHz\n\nmodel name : Other\n") == "Some CPU @ 2 GHz"
    assert processor_of("") == "unknown"


def test_protocols_are_named_as_documents_name_them() -> None:
    assert [each.value for each in Protocol] == ["paired-v2", "paired-v1", "self-reported"]
