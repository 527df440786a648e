"""What submitted code and its answers may not do to the runner: fill it, hold it up, or end as a fault of ours."""

from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from evaluators.model import Submission, VerdictCause
from evaluators.packing import pack_files
from evaluators.submitted_files import Absent, read_submitted
from sandbox.api import Pack
from sandbox.termination import Stop
from sandbox.tree import Entry, Kind
from tests.fakes import PlainRunning
from tests.unit.evaluators.test_driven import RIGHT, court, driver


def test_a_flood_is_kept_to_the_limit_of_a_stream(tmp_path: Path) -> None:
    held = court(tmp_path)
    limit = held.bench.limits.output_bytes
    flood = f"import os\nfor _ in range(64):\n    os.write(2, bytes({limit} // 16))\n"
    verdict = held.judge({"calc.py": flood + RIGHT})
    assert verdict.passed
    assert limit <= len(verdict.private_log) <= 2 * limit


def test_a_side_that_floods_with_frames_is_stopped_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stops: list[Stop] = []
    stop = PlainRunning.stop

    def counted(running: PlainRunning, why: Stop) -> None:
        stops.append(why)
        stop(running, why)

    monkeypatch.setattr(PlainRunning, "stop", counted)
    code = (
        "import contextlib, os\nfor fd in range(3, 20):\n"
        "    with contextlib.suppress(OSError):\n        os.write(fd, b'\\0\\0\\0\\2{}' * 5000)\n"
    )
    verdict = court(tmp_path).judge({"calc.py": code + RIGHT})
    assert (verdict.cause, verdict.score) == (VerdictCause.TAMPERED, Decimal(0))
    assert stops == [Stop.OUTPUT_LIMIT]


def test_what_is_reported_after_the_end_is_never_a_pass(tmp_path: Path) -> None:
    lines = driver("import atexit", "check('one', True)", "atexit.register(check, 'two', True)")
    verdict = court(tmp_path, lines, ["one", "two"]).judge({})
    assert (verdict.cause, verdict.score) == (VerdictCause.REJECTED, Decimal(0))


def test_reports_as_long_as_what_was_answered_do_not_fill_the_runner(tmp_path: Path) -> None:
    lines = driver("big = submitted('big:give')()", "check('one', True, big)", "check('two', True, big)")
    verdict = court(tmp_path, lines, ["one", "two"]).judge({"big.py": "def give():\n    return 'x' * (9 << 20)\n"})
    assert (verdict.passed, verdict.score) == (False, Decimal("0.5"))  # it may have ended by itself already


def test_a_path_that_no_file_can_have_is_missing_and_no_fault(tmp_path: Path) -> None:
    lines = driver("check('one', read(submitted('odd:name')()) is None)").replace("import *", "import read, submitted")
    assert court(tmp_path, lines, ["one"]).judge({"odd.py": "def name():\n    return '\\ud800'\n"}).passed


def test_more_paths_than_a_driver_can_be_told_of_are_the_submissions_failure(tmp_path: Path) -> None:
    held = court(tmp_path)
    entries = tuple(Entry(path=b"%d/" % at + b"\xff" * 4000, kind=Kind.GONE) for at in range(750))
    change = Pack(entries=entries, blobs=pack_files({}).blobs)
    submission = Submission(base=(), change=change, tree_digest="0" * 64)
    verdict = held.evaluator.judge(submission, held.bench)
    assert (verdict.cause, verdict.score) == (VerdictCause.REJECTED, Decimal(0))


def test_last_words_longer_than_an_argument_are_no_fault_of_nodes_driver(tmp_path: Path) -> None:
    held = court(tmp_path)
    submission = Submission(base=(), change=pack_files({}), tree_digest="0" * 64, final_message="\U0001f600" * 11_000)
    verdict = replace(held.evaluator, tests=("driver.py",)).judge(submission, held.bench)
    assert (verdict.cause, verdict.score) == (VerdictCause.REJECTED, Decimal(0))


def test_a_file_that_became_a_folder_is_read_as_it_is_now() -> None:
    below = pack_files({"answer": b"old", "other": b"old"})
    above = pack_files({"answer/now.json": b"new"})
    gone = (Entry(path=b"answer", kind=Kind.GONE), Entry(path=b"other", kind=Kind.GONE))
    change = Pack(entries=(*gone, *above.entries), blobs=above.blobs)
    submission = Submission(base=(), change=change, tree_digest="0" * 64, below=below)
    found = [read_submitted(submission, path, 100) for path in ("answer/now.json", "answer", "other", "other/x")]
    assert found == [b"new", Absent.MISSING, Absent.MISSING, Absent.MISSING]
