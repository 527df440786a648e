"""Laws of split evaluation: what is expected stays with the driver, and whatever cannot be told is never a pass."""

from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path

import pytest

from evaluators.driven import DRIVER_TARGET, Driven, build_checks, build_command
from evaluators.errors import EvaluatorError
from evaluators.model import Assurance, Bench, EvaluatorSpec, Submission, Verdict, VerdictCause
from evaluators.packing import pack_files
from sandbox.spec import Role
from sandbox.termination import Cause, Termination, Usage
from tests.fakes import PlainSandbox
from tests.unit.evaluators.judging import plain_bench

DRIVER = """
from cleanroom_driver import case, submitted

add = submitted("calc:add")
with case("adds"):
    assert add(1, 2) == 3
with case("adds texts"):
    assert add("a", right="b") == "ab"
with case("refuses a mix"):
    assert add.raises(1, "b") == "TypeError"
"""
CASES = ["adds", "adds texts", "refuses a mix"]
RIGHT = "def add(left, right):\n    return left + right\n"


@dataclass(frozen=True, kw_only=True)
class Court:
    evaluator: Driven
    bench: Bench

    def judge(self, tree: dict[str, str], message: str | None = None) -> Verdict:
        change = pack_files({path: text.encode() for path, text in tree.items()})
        base = self.bench.sandbox.store(pack_files({"README": b"x"}))
        submission = Submission(base=(base,), change=change, tree_digest="0" * 64, final_message=message)
        return self.evaluator.judge(submission, self.bench)


def court(folder: Path, driver: str = DRIVER, cases: list[str] | None = None, wall_seconds: float = 60.0) -> Court:
    private = folder / "private"
    private.mkdir()
    (private / "driver.py").write_text(driver)
    options: dict[str, object] = {"program": "driver.py", "cases": CASES if cases is None else cases}
    spec = EvaluatorSpec(id="hidden", kind="command", options=options, folder=private)
    sandbox = PlainSandbox(folder / "sandbox")
    sandbox.folder.mkdir()
    return Court(evaluator=build_command(spec), bench=plain_bench(sandbox, wall_seconds))


def test_right_code_passes_and_the_two_sides_share_nothing(tmp_path: Path) -> None:
    held = court(tmp_path)
    verdict = held.judge({"calc.py": RIGHT})
    assert (verdict.cause, verdict.score, verdict.assurance) == (VerdictCause.PASSED, Decimal(1), Assurance.SPLIT)
    assert [(case.id, case.passed) for case in verdict.cases] == [(name, True) for name in CASES]
    assert isinstance(held.bench.sandbox, PlainSandbox)
    below, above = held.bench.sandbox.started
    assert (below.role, above.role) == (Role.SUBMITTED, Role.DRIVER)
    assert above.workspace is None
    assert DRIVER_TARGET not in {mount.target for mount in below.mounts}
    assert verdict.report is not None
    assert verdict.driver_report is not None


@pytest.mark.parametrize(
    ("code", "failed", "told"),
    [
        ("def add(left, right):\n    return 3\n", 2, "AssertionError"),
        ("", 3, "AttributeError"),
        ("raise ValueError('no')\n", 3, "ValueError: no"),
        (
            "class Yes:\n    def __eq__(self, other):\n        return True\ndef add(a, right):\n    return Yes()\n",
            3,
            "Yes",
        ),
        ("class Three(int):\n    pass\ndef add(a, right):\n    return Three(3)\n", 3, "Three"),
    ],
)
def test_wrong_code_fails_with_its_cases_named(tmp_path: Path, code: str, failed: int, told: str) -> None:
    verdict = court(tmp_path).judge({"calc.py": code})
    assert (verdict.cause, verdict.score == 1) == (VerdictCause.FAILED, False)
    assert sum(not case.passed for case in verdict.cases) == failed, verdict.cases
    assert any(told in case.detail for case in verdict.cases), verdict.cases


@pytest.mark.parametrize(
    ("code", "cause"),
    [
        ("import os\nos._exit(0)\n", VerdictCause.FAILED),
        ("import os\nos._exit(3)\n", VerdictCause.CRASHED),
        ("import os\nos.kill(os.getpid(), 9)\n", VerdictCause.CRASHED),
        ("import os\nos.close(1)\nos.closerange(3, 100)\n" + RIGHT, VerdictCause.FAILED),
    ],
)
def test_code_that_ends_its_process_gets_nothing(tmp_path: Path, code: str, cause: VerdictCause) -> None:
    verdict = court(tmp_path).judge({"calc.py": code})
    assert (verdict.cause, verdict.score) == (cause, Decimal(0)), verdict


SENDING = """
import gc, json, os
frame = json.dumps({frame}).encode()
for each in gc.get_objects():
    if type(each).__name__ == "Wire":
        # At once: one alone is the answer to this question, and this question's own answer is the next one's.
        os.write(each._outward, 50 * (len(frame).to_bytes(4, "big") + frame))
def add(left, right):
    return left + right
"""


@pytest.mark.parametrize(
    "frame",
    [
        '{"value": 3}',
        '{"tell": "case", "id": "adds", "passed": True, "detail": ""}',
        '{"tell": "done"}',
    ],
)
def test_frames_that_nobody_asked_for_are_forged(tmp_path: Path, frame: str) -> None:
    verdict = court(tmp_path).judge({"calc.py": SENDING.replace("{frame}", frame)})
    assert (verdict.cause, verdict.score) == (VerdictCause.TAMPERED, Decimal(0))
    assert not any(case.passed for case in verdict.cases)


def test_bytes_that_are_no_frame_are_forged(tmp_path: Path) -> None:
    code = (
        "import contextlib, os\nfor fd in range(3, 20):\n"
        "    with contextlib.suppress(OSError):\n        os.write(fd, b'\\xff' * 8)\n"
    )
    verdict = court(tmp_path).judge({"calc.py": code + RIGHT})
    assert verdict.cause is VerdictCause.TAMPERED


def test_what_is_printed_is_no_answer_and_is_kept_privately(tmp_path: Path) -> None:
    code = "print('{\"value\": 3}', flush=True)\n" + RIGHT
    verdict = court(tmp_path).judge({"calc.py": code})
    assert verdict.passed
    assert b'{"value": 3}' in verdict.private_log


def test_endless_code_runs_out_of_time(tmp_path: Path) -> None:
    verdict = court(tmp_path, wall_seconds=1.5).judge({"calc.py": "while True:\n    pass\n"})
    assert verdict.cause is VerdictCause.TIMEOUT
    assert verdict.score == 0


def driver(*lines: str) -> str:
    return "\n".join(("from cleanroom_driver import *", "from cleanroom_driver import case, check", *lines))


def test_a_case_that_is_never_reported_has_failed(tmp_path: Path) -> None:
    verdict = court(tmp_path, driver("check('one', True)"), ["one", "two"]).judge({})
    assert (verdict.cause, verdict.score) == (VerdictCause.FAILED, Decimal("0.5"))
    assert verdict.cases[1].detail == "never reported"


@pytest.mark.parametrize(
    "lines",
    [
        ("check('one', True)", "check('two', True)"),
        ("check('one', True)", "check('one', True)"),
        ("check('one', False)", "check('one', True)"),
    ],
)
def test_a_case_that_is_strange_or_told_twice_is_never_a_pass(tmp_path: Path, lines: tuple[str, ...]) -> None:
    verdict = court(tmp_path, driver(*lines), ["one"]).judge({})
    assert (verdict.cause, verdict.score) == (VerdictCause.REJECTED, Decimal(0))


@pytest.mark.parametrize("value", ["1", "'yes'", "[True]", "None", "object()"])
def test_only_true_itself_passes(tmp_path: Path, value: str) -> None:
    assert not court(tmp_path, driver(f"check('one', {value})"), ["one"]).judge({}).passed


@pytest.mark.parametrize(
    ("found", "wanted", "passed"),
    [
        ("3", "3", True),
        ("3.0", "3", False),
        ("True", "1", False),
        ("[1, (2,)]", "[1, [2]]", False),
        ("{1: 'a'}", "{1: 'a'}", True),
        ("{(1,)}", "{(True,)}", False),
        ("{'b': 1, 'a': 2}", "{'a': 2, 'b': 1}", True),
    ],
)
def test_types_count_where_an_author_wants_them_to(tmp_path: Path, found: str, wanted: str, passed: bool) -> None:  # noqa: FBT001 - a table
    code = f"def give():\n    return {found}\n"
    lines = driver(f"check('one', same(submitted('giving:give')(), {wanted}))")
    assert court(tmp_path, lines, ["one"]).judge({"giving.py": code}).passed is passed


def test_a_driver_that_breaks_on_an_answer_passes_nothing(tmp_path: Path) -> None:
    lines = driver("answer = submitted('calc:add')(1, 2)", "check('one', answer['sum'] == 3)")
    verdict = court(tmp_path, lines, ["one"]).judge({"calc.py": RIGHT})
    assert verdict.cause is VerdictCause.FAILED
    assert "the driver ended early: TypeError" in verdict.detail


@pytest.mark.parametrize("source", ["def broken(:\n", "import nothing_of_that_name\n", "raise SystemExit(0)\n"])
def test_a_driver_that_is_broken_passes_nothing(tmp_path: Path, source: str) -> None:
    verdict = court(tmp_path, source, ["one"]).judge({"calc.py": RIGHT})
    assert verdict.cause is VerdictCause.FAILED


def test_objects_stay_on_their_side_and_are_worked_with(tmp_path: Path) -> None:
    code = (
        "class Stack:\n    def __init__(self, *items):\n        self.items = list(items)\n"
        "    def push(self, item):\n        self.items.append(item)\n        return self\n"
        "    def pop(self):\n        return self.items.pop()\n"
        "def total(stack):\n    return sum(stack.items)\n"
        "def count(n):\n    yield from range(n)\n"
        "def sort(items):\n    items.sort()\n"
    )
    lines = driver(
        "stack = submitted('stack:Stack').kept(1, 2)",
        "stack.method('push').kept(7)",
        "check('kind', stack.kind == 'Stack' and stack.read('items') == [1, 2, 7])",
        "check('total', submitted('stack:total')(stack) == 10)",
        "check('pop', stack.method('pop')() == 7)",
        "check('iterated', submitted('stack:count').listed(3) == [0, 1, 2])",
        "check('in place', submitted('stack:sort').mutating([3, 1]) == (None, [[1, 3]]))",
        "check('unplain', submitted('stack:count').raises(3) is None)",
    )
    names = ["kind", "total", "pop", "iterated", "in place", "unplain"]
    verdict = court(tmp_path, lines, names).judge({"stack.py": code})
    assert [case.id for case in verdict.cases if not case.passed] == ["unplain"], verdict
    assert "generator" in verdict.detail


def test_a_fresh_process_remembers_nothing_and_leaves_no_child(tmp_path: Path) -> None:
    code = (
        "import subprocess\nSEEN = []\n"
        "def remember(item):\n    SEEN.append(item)\n    return len(SEEN)\n"
        "def spawn():\n    return subprocess.Popen(['/usr/bin/sleep', '60'], start_new_session=True).pid\n"
        "def alive(pid):\n    import os\n    return os.path.exists(f'/proc/{pid}')\n"
    )
    lines = driver(
        "remember, alive = submitted('memory:remember'), submitted('memory:alive')",
        "check('grows', (remember(1), remember(1)) == (1, 2))",
        "pid = submitted('memory:spawn')()",
        "check('spawned', alive(pid) is True)",
        "restart()",
        "check('forgot', remember(1) == 1)",
        "check('gone', alive(pid) is False)",
    )
    verdict = court(tmp_path, lines, ["grows", "spawned", "forgot", "gone"]).judge({"memory.py": code})
    assert verdict.passed, verdict


def test_programs_are_run_with_input_and_files(tmp_path: Path) -> None:
    code = (
        "import sys\ndata = sys.stdin.read()\nopen('out.txt', 'w').write(data.upper() + open('in.txt').read())\n"
        "print(len(data))\nsys.exit(int(sys.argv[1]))\n"
    )
    lines = driver(
        "files = {'in.txt': b'!'}",
        "ended = program('/usr/bin/python3', 'tool.py', '3', stdin=b'abc', files=files, wanted=['out.txt', 'no'])",
        "check('status', ended.status == 3)",
        "check('stdout', ended.stdout == b'3\\n')",
        "check('file', ended.files == {'out.txt': b'ABC!', 'no': None})",
        "try:",
        "    program('/usr/bin/sleep', '30', within=0.2)",
        "    check('late', False)",
        "except SubmittedError:",
        "    check('late', True)",
        "try:",
        "    program('/nonexistent')",
        "    check('missing', False)",
        "except SubmittedError:",
        "    check('missing', True)",
    )
    names = ["status", "stdout", "file", "late", "missing"]
    verdict = court(tmp_path, lines.replace("import *", "import SubmittedError, program"), names).judge(
        {"tool.py": code}
    )
    assert verdict.passed, verdict


def test_files_and_last_words_are_those_that_were_captured(tmp_path: Path) -> None:
    lines = driver(
        "submitted('spoil:spoil')()",
        "check('file', read('answer.txt') == b'yes')",
        "check('none', read('missing') is None)",
        "check('changed', changed() == ('answer.txt', 'spoil.py'))",
        "check('message', final_message() == 'I declined the rest.')",
    ).replace("import *", "import changed, final_message, read, submitted")
    code = "def spoil():\n    open('answer.txt', 'w').write('no')\n"
    held = court(tmp_path, lines, ["file", "none", "changed", "message"])
    verdict = held.judge({"answer.txt": "yes", "spoil.py": code}, "I declined the rest.")
    assert verdict.passed, verdict


def test_checks_are_weighed(tmp_path: Path) -> None:
    private = tmp_path / "private"
    private.mkdir()
    (private / "checks.py").write_text(driver("check('heavy', True)", "check('light', False)"))
    table = {"script": "checks.py", "weights": {"heavy": 3, "light": 1}, "pass_threshold": "0.75"}
    spec = EvaluatorSpec(id="hidden", kind="checks", options=table, folder=private)
    sandbox = PlainSandbox(tmp_path / "sandbox")
    sandbox.folder.mkdir()
    verdict = Court(evaluator=build_checks(spec), bench=plain_bench(sandbox)).judge({})
    assert (verdict.cause, verdict.score) == (VerdictCause.PASSED, Decimal("0.75"))


def test_a_unit_that_failed_by_itself_is_a_fault(tmp_path: Path) -> None:
    held = court(tmp_path)
    assert isinstance(held.bench.sandbox, PlainSandbox)
    fault = Termination(cause=Cause.MANAGER, status=None, usage=Usage(wall_ms=1))
    held.bench.sandbox.ends = [replace(fault, cause=Cause.EXIT, status=0), fault]
    with pytest.raises(EvaluatorError):
        held.judge({"calc.py": RIGHT})


@pytest.mark.parametrize(
    "options",
    [
        {"program": "missing.py", "cases": ["one"]},
        {"program": "driver.py", "cases": []},
        {"program": "driver.py", "cases": ["one", "one"]},
        {"program": "../driver.py", "cases": ["one"]},
        {"program": "driver.py", "cases": ["one"], "weights": {}},
        {"program": "driver.py", "cases": ["one"], "wall_s": 86_401},
        {"program": "driver.py", "cases": ["one"], "wall_s": 10**30},
        {"argv": ["/bin/true"], "files": {"a": ["driver.py"]}},
        {"argv": ["/bin/true"], "wall_s": 10**30},
    ],
)
def test_options_that_are_wrong_are_refused(tmp_path: Path, options: dict[str, object]) -> None:
    (tmp_path / "driver.py").write_text(DRIVER)
    with pytest.raises(EvaluatorError):
        build_command(EvaluatorSpec(id="hidden", kind="command", options=options, folder=tmp_path))


@pytest.mark.parametrize("weights", [{}, {"a": 0}, {"a": True}, {"a": "1"}, ["a"]])
def test_weights_that_are_wrong_are_refused(tmp_path: Path, weights: object) -> None:
    (tmp_path / "checks.py").write_text("")
    table = {"script": "checks.py", "weights": weights}
    with pytest.raises(EvaluatorError):
        build_checks(EvaluatorSpec(id="hidden", kind="checks", options=table, folder=tmp_path))


def test_sides_that_end_in_the_same_moment_are_no_fault(tmp_path: Path) -> None:
    held = court(tmp_path, driver("restart()", "check('one', True)"), ["one"])
    assert all(held.judge({}).passed for _ in range(4))
