"""What a single-shot candidate is told: frozen inputs in one form, then what the public tests printed."""

from dataclasses import replace
from pathlib import Path

import pytest

from evaluators.public_tests import TestsResult
from runner.agents.native_loop.blocks import read_answer
from runner.canonical import sha256
from runner.documents.facts import AgentFailure, Blame, FailureCause, Phase, VoidFact
from runner.errors import DocumentError
from runner.fixture import build_fixture
from runner.nomination import Nomination, load_nomination
from runner.release import PreparedNomination, _nomination
from runner.single_shot import NEWS_CHARS, SHOWN_BYTES, is_tested, news, told
from sandbox.termination import Cause, Termination, Usage
from tests.unit.runner.test_evaluation import NOTHING, PASSES, set_up
from tests.unit.runner.written import NOMINATION, nomination_files, written

SHOT = NOMINATION.replace('mode = "agentic"', 'mode = "single-shot"')
SOURCE = 'def count(text): return text.count(" ")\n'


def nominated(folder: Path, document: str = SHOT, **files: str) -> Nomination:
    named = {name.replace("__", "/") + ".py": text for name, text in files.items()}
    return load_nomination(written(folder / "wordcount", {**nomination_files(), "nomination.toml": document, **named}))


def test_the_task_is_told_with_its_whole_files(tmp_path: Path) -> None:
    nomination = nominated(tmp_path)
    text = told(nomination, build_fixture(nomination, NOTHING))
    assert text.startswith("`count` in wordcount.py counts blanks.")
    assert f"=== begin wordcount.py ===\n{SOURCE}=== end wordcount.py ===\n" in text
    assert read_answer(text.partition("Answer with")[0], nomination.spec.target_files)[0] == {
        "wordcount.py": SOURCE.encode()
    }
    assert "test_two" not in text


@pytest.mark.parametrize(
    ("document", "source", "found"),
    [
        pytest.param(SHOT.replace('"wordcount.py"]\nallowed', '"words.py"]\nallowed'), SOURCE, "no such file", id="no"),
        pytest.param(SHOT, "x = 1\n=== end y ===\n", "reads like a mark", id="mark"),
        pytest.param(SHOT, "#" * SHOWN_BYTES + "\n", f"{SHOWN_BYTES + 1} bytes", id="large"),
    ],
)
def test_what_cannot_be_shown_and_answered_is_refused_by_name(
    tmp_path: Path, document: str, source: str, found: str
) -> None:
    nomination = nominated(tmp_path, document, fixture__wordcount=source)
    with pytest.raises(DocumentError, match=found):
        told(nomination, build_fixture(nomination, NOTHING))


def test_bytes_that_are_no_text_cannot_be_shown(tmp_path: Path) -> None:
    nomination = nominated(tmp_path)
    (nomination.folder / "fixture/wordcount.py").write_bytes(b"\xff\n")
    again = load_nomination(nomination.folder)
    with pytest.raises(DocumentError, match="no UTF-8"):
        told(again, build_fixture(again, NOTHING))


@pytest.mark.parametrize("mode", ["single-shot", "agentic"])
def test_what_is_told_is_frozen_where_it_is_told(tmp_path: Path, mode: str) -> None:
    prepared = set_up(tmp_path, PASSES, ()).prepared
    nomination = nominated(tmp_path / "again", NOMINATION.replace('"agentic"', f'"{mode}"'))
    frozen = frozen_told(replace(prepared, nomination=replace(nomination, evaluators=())))
    expected = sha256(told(nomination, prepared.fixture).encode())
    assert frozen == (expected if mode == "single-shot" else None)


def frozen_told(prepared: PreparedNomination) -> str | None:
    return _nomination(prepared).told_sha256


def printed(stdout: bytes, stderr: bytes = b"", cause: Cause = Cause.EXIT, status: int | None = 1) -> TestsResult:
    end = Termination(cause=cause, status=status, usage=Usage(wall_ms=1))
    return TestsResult(termination=end, stdout=stdout, stderr=stderr)


def test_the_news_are_what_the_tests_printed_and_how_they_ended() -> None:
    assert "ended by exit 1 and printed:\n\n1 failed\noh\n\n" in news(printed(b"1 failed", b"oh\n"))
    assert "ended by timeout and printed:" in news(printed(b"", cause=Cause.TIMEOUT, status=None))


def test_of_long_news_head_and_tail_are_told() -> None:
    text = news(printed(b"A" + b"x" * 10 * NEWS_CHARS + b"Z\xff"))
    assert len(text) < NEWS_CHARS + 500
    assert "printed:\n\nAx" in text
    assert "xZ\ufffd\n" in text
    assert "characters cut" in text


@pytest.mark.parametrize(
    ("failure", "void", "tested"),
    [
        pytest.param(None, None, True, id="answered"),
        pytest.param(FailureCause.MALFORMED_ANSWER, None, True, id="malformed"),
        pytest.param(FailureCause.BUDGET, None, False, id="budget"),
        pytest.param(FailureCause.REQUEST_REFUSED, None, False, id="refused"),
        pytest.param(FailureCause.TIMEOUT, None, False, id="timeout"),
        pytest.param(None, VoidFact(blame=Blame.PROVIDER, phase=Phase.SOLUTION, reason="x"), False, id="void"),
    ],
)
def test_only_what_was_answered_is_tested(failure: FailureCause | None, void: VoidFact | None, *, tested: bool) -> None:
    assert is_tested(None if failure is None else AgentFailure(cause=failure), void) is tested
