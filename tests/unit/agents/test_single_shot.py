"""Single-shot: one strict form, read whole or not at all; its program in a process, behind the gateway."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.agent_end import agent_end, agent_run
from runner.agents.errors import AgentTaskError
from runner.agents.model import AgentTask, Exchange
from runner.agents.native_loop.blocks import ANSWER_BYTES, AnswerError, block, is_mark, read_answer
from runner.agents.single_shot import SILENT, SingleShot, answer_of, conversation
from runner.agents.traffic import metered
from runner.documents.facts import AgentFailure, FailureCause
from runner.gateway.client import Gateway
from runner.gateway.scenario import Answer, Fail, Step
from runner.preflight import PROBE_PROMPT, Probe, judge_try
from tests.unit.agents.loop_rig import WALL, Ran, ended, run_program
from tests.unit.gateway.rig import playing

TARGETS = ("a.py", "docs/b c.md")
GOOD = block("a.py", "x = 3\n")


def test_what_is_shown_is_what_is_read() -> None:
    text = f"I mended it.\n{GOOD}\nand\n" + block(TARGETS[1], "```\n# b\n```\n") + "done"
    files, said = read_answer(text, TARGETS)
    assert files == {"a.py": b"x = 3\n", "docs/b c.md": b"```\n# b\n```\n"}
    assert said == "I mended it.\n\nand\ndone"


@given(st.dictionaries(st.sampled_from(TARGETS), st.lists(st.text(st.characters(codec="utf-8"))), min_size=1))
def test_whatever_a_file_holds_comes_back_unless_it_looks_like_a_mark(files: dict[str, list[str]]) -> None:
    texts = {path: "".join(f"{line}\n" for line in lines) for path, lines in files.items()}
    if any(is_mark(line) for text in texts.values() for line in text.split("\n")):
        return
    read, said = read_answer("".join(block(path, text) for path, text in texts.items()), TARGETS)
    assert read == {path: text.encode() for path, text in texts.items()}
    assert said == ""


@given(st.lists(st.sampled_from(["=== begin a.py ===", "=== end a.py ===", "=== begin /etc/x ===", "x", "```", ""])))
def test_any_text_is_read_or_refused_and_gives_only_allowed_files(lines: list[str]) -> None:
    try:
        files, _ = read_answer("\n".join(lines), ("a.py",))
    except AnswerError:
        return
    assert list(files) == ["a.py"]
    assert lines.count("=== begin a.py ===") == 1


@pytest.mark.parametrize(
    ("text", "why"),
    [
        pytest.param("", "no file", id="empty"),
        pytest.param("```python\nx = 3\n```", "no file", id="fence"),
        pytest.param("=== begin a.py ===\nx = 3\n", "'a.py' has a begin and no end", id="open"),
        pytest.param("x = 3\n=== end a.py ===\n", "'a.py' has an end and no begin", id="end"),
        pytest.param(GOOD + GOOD, "'a.py' stands in the answer twice", id="twice"),
        pytest.param(GOOD + block("c.py", ""), "'c.py' is none of the files", id="stranger"),
        pytest.param(block("../a.py", ""), "'../a.py' is none of the files", id="outside"),
        pytest.param(block("a.py", GOOD), "within 'a.py' stands a mark of 'a.py'", id="nested"),
        pytest.param(GOOD + "x" * ANSWER_BYTES, f"at most {ANSWER_BYTES} are read", id="long"),
        pytest.param(block("a.py", "\ud800"), "no text", id="surrogate"),
    ],
)
def test_what_is_not_in_the_form_is_refused_by_name(text: str, why: str) -> None:
    with pytest.raises(AnswerError, match=why):
        read_answer(text, TARGETS)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    (folder / "docs").mkdir(parents=True)
    (folder / "a.py").write_text("x = 1\n")
    (folder / "a.py").chmod(0o755)
    (folder / "docs/b c.md").write_text("# a\n")
    return folder


def shoot(gateway: Gateway, workspace: Path, *steps: Step, **task: object) -> tuple[Ran, object, list[object]]:
    """Give the run, how it is seen to have ended, and what was asked."""
    plain: dict[str, object] = {"prompt": "mend", "wall": WALL, "model": "scripted/model", "targets": TARGETS}
    with playing(gateway, *steps) as (gate, provider):
        command = SingleShot().command(AgentTask(**{**plain, **task, "gate_port": 8080}))  # type: ignore[arg-type]
        given = {"root": str(workspace), "base_url": gate.url}
        status, stdout, stderr = run_program(command, workspace.parent / "program", given)
        assert stderr == b""
        told = metered(SingleShot().telemetry(stdout, stderr, ended(status)), gate.traffic.lines)
        ran = Ran(status, stdout, stderr, told, ended(status))
        return ran, agent_end(agent_run(ended(status), gate.traffic.lines, told)), list(provider.requests)


def says(text: str, times: int = 1, finish_reason: str | None = None) -> Step:
    return Step(answer=Answer(text=text, text_times=times, finish_reason=finish_reason))


def test_an_answer_replaces_whole_files_and_leaves_the_others(gateway: Gateway, workspace: Path) -> None:
    ran, end, requests = shoot(gateway, workspace, says(f"Here:\n{GOOD}"))
    assert (ran.status, end) == (0, None)
    assert (workspace / "a.py").read_text() == "x = 3\n"
    assert (workspace / "a.py").stat().st_mode & 0o100
    assert (workspace / "docs/b c.md").read_text() == "# a\n"
    assert (ran.telemetry.agent, ran.telemetry.turns, ran.telemetry.ended) == ("single-shot", 1, "answered")
    assert ran.telemetry.final_message == "Here:"
    assert answer_of(ran.stdout) == f"Here:\n{GOOD}"
    (asked,) = requests
    assert isinstance(asked, dict)
    assert asked["messages"] == [{"role": "user", "content": "mend"}]
    assert "tools" not in asked


@pytest.mark.parametrize(
    ("step", "why"),
    [
        pytest.param(says("I would change a.py."), "no file", id="malformed"),
        pytest.param(says(GOOD + block("b.py", "")), "none of the files", id="outside"),
        pytest.param(says("word " * 1000, 60), "at most", id="long"),
        pytest.param(says(GOOD, finish_reason="length"), "cut off", id="cut"),
    ],
)
def test_a_malformed_answer_is_a_failure_of_its_own_and_changes_nothing(
    gateway: Gateway, workspace: Path, step: Step, why: str
) -> None:
    ran, end, _ = shoot(gateway, workspace, step)
    assert ran.status == 4
    assert (workspace / "a.py").read_text() == "x = 1\n"
    assert isinstance(end, AgentFailure)
    assert end.cause is FailureCause.MALFORMED_ANSWER
    assert why in end.detail


def test_the_second_shot_is_told_the_first_and_the_news_alone(gateway: Gateway, workspace: Path) -> None:
    before = Exchange(answer="first", news="the tests say no")
    _, end, requests = shoot(gateway, workspace, says("first"), says(GOOD), before=before)
    assert end is None
    (asked,) = requests
    assert isinstance(asked, dict)
    assert [(each["role"], each["content"]) for each in asked["messages"]] == [
        ("user", "mend"),
        ("assistant", "first"),
        ("user", "the tests say no"),
    ]


def test_an_empty_answer_has_words_that_stand_for_it() -> None:
    assert conversation("p", Exchange(answer="", news="n"))[1]["content"] == SILENT


def test_an_error_of_the_provider_is_told_as_the_gateway_told_it(gateway: Gateway, workspace: Path) -> None:
    ran, end, _ = shoot(gateway, workspace, Step(fail=Fail(status=400, message="no")))
    assert ran.status == 3
    assert isinstance(end, AgentFailure)
    assert end.cause is FailureCause.REQUEST_REFUSED


def test_it_answers_the_probe_without_touching_a_file(gateway: Gateway, workspace: Path) -> None:
    with playing(gateway, says("Hi!")) as (gate, _):
        task = AgentTask(prompt=PROBE_PROMPT, wall=WALL, model="scripted/model", gate_port=8080, probe=True)
        given = {"root": str(workspace), "base_url": gate.url}
        status, stdout, stderr = run_program(SingleShot().command(task), workspace.parent / "program", given)
        told = SingleShot().telemetry(stdout, stderr, ended(status))
        probe = Probe(termination=ended(status), telemetry=told, lines=gate.traffic.lines)
    assert judge_try(probe) is None


def test_it_needs_files_to_answer_and_a_model_to_ask() -> None:
    with pytest.raises(AgentTaskError, match="files"):
        SingleShot().command(AgentTask(prompt="p", wall=WALL, model="m", gate_port=1))
    with pytest.raises(AgentTaskError, match="model"):
        SingleShot().command(AgentTask(prompt="p", wall=WALL, targets=("a.py",)))


def test_the_reasoning_variant_is_passed_on() -> None:
    task = AgentTask(prompt="p", wall=WALL, model="m", gate_port=1, targets=("a.py",), reasoning="high")
    assert json.loads(SingleShot().command(task).stdin)["more"] == {"reasoning_effort": "high"}
