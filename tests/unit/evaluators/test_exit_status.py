"""Laws of a command that is believed by its exit status: every verdict says how little that is."""

from decimal import Decimal
from pathlib import Path

import pytest

from evaluators.driven import build_command
from evaluators.errors import EvaluatorError
from evaluators.exit_status import ExitStatus
from evaluators.model import Assurance, EvaluatorSpec, Submission, Verdict, VerdictCause
from evaluators.packing import pack_files
from sandbox.termination import Cause, Termination, Usage
from tests.fakes import PlainSandbox
from tests.unit.evaluators.judging import plain_bench

CHECK = "import tool\nassert tool.answer() == 42\n"


def judged(folder: Path, code: str, end: Termination | None = None, **options: object) -> Verdict:
    private, sandbox = folder / "private", PlainSandbox(folder / "sandbox")
    for place in (private, sandbox.folder):
        place.mkdir(parents=True)
    (private / "check.py").write_text(CHECK)
    table = {"argv": ["{python}", "hidden/check.py"], "files": {"hidden/check.py": "check.py"}, **options}
    evaluator = build_command(EvaluatorSpec(id="hidden", kind="command", options=table, folder=private))
    assert isinstance(evaluator, ExitStatus)
    if end is not None:
        sandbox.ends = [end]
    base = sandbox.store(pack_files({"tool.py": b""}))
    change = pack_files({"tool.py": code.encode(), "hidden": b"in the way"})
    return evaluator.judge(Submission(base=(base,), change=change, tree_digest="0" * 64), plain_bench(sandbox))


def test_status_0_passes_and_the_verdict_says_what_that_is_worth(tmp_path: Path) -> None:
    verdict = judged(tmp_path, "def answer():\n    return 42\n")
    assert (verdict.cause, verdict.score, verdict.assurance) == (VerdictCause.PASSED, Decimal(1), Assurance.EXIT_CODE)
    forged = judged(tmp_path / "again", "import os\nos._exit(0)\n")
    assert (forged.passed, forged.assurance) == (True, Assurance.EXIT_CODE)


def test_another_status_fails_and_what_was_printed_is_private(tmp_path: Path) -> None:
    verdict = judged(tmp_path, "def answer():\n    print('seven', flush=True)\n    return 7\n")
    assert (verdict.cause, verdict.cases[0].detail) == (VerdictCause.FAILED, "exit 1")
    assert b"seven" in verdict.private_log
    assert "seven" not in verdict.detail


@pytest.mark.parametrize(
    ("end", "cause"),
    [(Cause.TIMEOUT, VerdictCause.TIMEOUT), (Cause.OOM, VerdictCause.CRASHED), (Cause.SIGNAL, VerdictCause.CRASHED)],
)
def test_other_ends_are_told_apart(tmp_path: Path, end: Cause, cause: VerdictCause) -> None:
    told = Termination(cause=end, status=None, usage=Usage(wall_ms=5))
    assert judged(tmp_path, "", told).cause is cause


@pytest.mark.parametrize("end", [Cause.MANAGER, Cause.KILLED])
def test_our_own_failure_is_a_fault(tmp_path: Path, end: Cause) -> None:
    with pytest.raises(EvaluatorError):
        judged(tmp_path, "", Termination(cause=end, status=None, usage=Usage(wall_ms=5)))


@pytest.mark.parametrize(
    "options",
    [
        {"argv": []},
        {"argv": "true"},
        {"argv": ["true"]},
        {"argv": ["/bin/true", 1]},
        {"files": {"../x": "check.py"}},
        {"files": {"x": "missing.py"}},
        {"files": []},
        {"cases": ["one"]},
    ],
)
def test_options_that_are_wrong_are_refused(tmp_path: Path, options: dict[str, object]) -> None:
    with pytest.raises(EvaluatorError):
        judged(tmp_path, "", **options)
