"""By which program a judge is asked: the same question in each protocol, and what counts as its answer."""

import json
from pathlib import Path

import pytest

from runner.agents.model import Dialect
from runner.agents.native_loop.plainly import read
from runner.agents.single_shot import SingleShot
from runner.gateway.client import Gateway
from runner.gateway.scenario import Answer, Fail, Step, ToolCall
from runner.judging.answers import Finish
from runner.judging.programs import agent_of, answer_of, task_of
from runner.judging.ruling import finish_of
from runner.roster import Agent, Budget, Judge, Protocol, Route
from sandbox.api import LauncherReport
from sandbox.unit import UnitResult
from tests.unit.agents.loop_rig import WALL, ended, run_native, run_program
from tests.unit.gateway.conftest import gateway, program
from tests.unit.gateway.rig import playing

__all__ = ["gateway", "program"]

ANSWER = '{"nonce": "n"}'
PROTOCOLS: list[tuple[Protocol, Dialect]] = [
    ("chat-completions", "chat"),
    ("responses", "responses"),
    ("messages", "messages"),
]


def a_judge(agent: Agent = Agent.SINGLE_SHOT, **changed: object) -> Judge:
    plain: dict[str, object] = {"id": "j", "agent": agent, "model": "scripted/model", "route": "r"}
    return Judge.model_validate({**plain, **changed}, strict=False)


def result(status: int, stdout: bytes) -> UnitResult:
    return UnitResult(termination=ended(status), report=LauncherReport(seen={}), stdout=stdout, stderr=b"")


def asked(
    gateway: Gateway, folder: Path, protocol: Protocol, step: Step, judge: Judge | None = None
) -> tuple[str | None, Finish, dict[str, object]]:
    """Give the answer, how it ended, and what was asked."""
    route = Route(id="r", protocol=protocol, base_url="https://models.example/v1")
    agent = agent_of(judge or a_judge(), route, looks=False)
    command = agent.command(task_of(judge or a_judge(), "Which points?", WALL, looks=False))
    with playing(gateway, step, dialect=agent.dialect) as (gate, provider):
        status, stdout, stderr = run_program(command, folder / "program", {"base_url": gate.url})
        assert stderr == b""
        text = answer_of(agent, result(status, stdout))
        return text, finish_of(gate.traffic.lines), provider.requests[-1]


@pytest.mark.parametrize(("protocol", "dialect"), PROTOCOLS)
def test_a_plain_question_is_asked_in_the_protocol_of_its_route(
    gateway: Gateway, tmp_path: Path, protocol: Protocol, dialect: Dialect
) -> None:
    text, finish, body = asked(gateway, tmp_path, protocol, Step(answer=Answer(text=ANSWER)))
    assert (text, finish) == (ANSWER, Finish.COMPLETE)
    messages = body["input" if dialect == "responses" else "messages"]
    assert messages == [{"role": "user", "content": "Which points?"}]
    assert "tools" not in body


@pytest.mark.parametrize(
    ("protocol", "cut"), [("chat-completions", "length"), ("responses", "length"), ("messages", "max_tokens")]
)
def test_an_answer_that_was_cut_is_known_to_be_in_each_protocol(
    gateway: Gateway, tmp_path: Path, protocol: Protocol, cut: str
) -> None:
    step = Step(answer=Answer(text=ANSWER, finish_reason=cut))
    assert asked(gateway, tmp_path, protocol, step)[1] is Finish.LENGTH


@pytest.mark.parametrize("protocol", [protocol for protocol, _ in PROTOCOLS])
def test_a_provider_that_fails_gives_no_answer_in_any(gateway: Gateway, tmp_path: Path, protocol: Protocol) -> None:
    assert asked(gateway, tmp_path, protocol, Step(fail=Fail(status=402)))[0] is None


def test_what_each_protocol_must_be_told_is(gateway: Gateway, tmp_path: Path) -> None:
    judge = a_judge(reasoning_variant="high", budget={"completion_tokens": 700})
    step = Step(answer=Answer(text=ANSWER))
    bodies = {name: asked(gateway, tmp_path / name, name, step, judge)[2] for name, _ in PROTOCOLS}
    assert bodies["chat-completions"]["reasoning_effort"] == "high"
    assert bodies["responses"]["reasoning"] == {"effort": "high"}
    assert bodies["messages"]["max_tokens"] == 700
    assert SingleShot(dialect="messages").command(task_of(a_judge(), "x", WALL, looks=False)).stdin.find(b"8192") > 0


@pytest.mark.parametrize(
    ("dialect", "document", "told"),
    [
        ("messages", {"content": [{"type": "thinking", "text": "no"}, {"type": "text", "text": "a"}]}, ("a", None)),
        ("messages", {"content": [7, {"type": "text"}], "stop_reason": "refusal"}, ("", "refusal")),
        ("messages", {"content": "a"}, None),
        ("messages", {}, None),
        (
            "responses",
            {"output": [{"type": "reasoning"}, {"content": [{"type": "output_text", "text": "a"}]}]},
            ("a", None),
        ),
        (
            "responses",
            {"output": [{"content": [{"type": "refusal", "refusal": "no"}]}], "status": "completed"},
            ("no", "completed"),
        ),
        ("responses", {"output": [], "incomplete_details": {"reason": "max_output_tokens"}}, ("", "max_output_tokens")),
        ("responses", {"output": None}, None),
    ],
)
def test_a_whole_answer_is_read_or_is_none(dialect: str, document: dict[str, object], told: object) -> None:
    assert read(dialect, document) == told


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    folder = tmp_path / "tree"
    folder.mkdir()
    (folder / "a.py").write_text("x = 1\n")
    return folder


def test_a_judge_that_looks_around_reads_with_tools_and_its_last_text_is_its_answer(
    gateway: Gateway, tree: Path
) -> None:
    says = Answer(text="I look.", tool_calls=(ToolCall(name="read_file", arguments={"path": "a.py"}),))
    writes = Answer(tool_calls=(ToolCall(name="write_file", arguments={"path": "a.py", "content": ""}),))
    steps = (Step(answer=says), Step(answer=writes), Step(answer=Answer(text=ANSWER)))
    agent = agent_of(a_judge(Agent.NATIVE), Route(id="r", base_url="https://models.example/v1"), looks=True)
    with playing(gateway, *steps) as (gate, provider):
        ran = run_native(tree.parent / "program", tree, gate.url, reading=True, turns=5)
        sent = json.dumps(provider.requests[-1])
    assert answer_of(agent, result(ran.status, ran.stdout)) == ANSWER
    assert [each["function"]["name"] for each in provider.requests[0]["tools"]] == ["list_dir", "read_file", "search"]  # type: ignore[attr-defined]
    assert ("x = 1" in sent, "there is no tool 'write_file'" in sent) == (True, True)
    assert (tree / "a.py").read_text() == "x = 1\n"


@pytest.mark.parametrize("reason", ["length", "stop"])
def test_a_text_without_a_call_ends_it_however_it_ended(gateway: Gateway, tree: Path, reason: str) -> None:
    with playing(gateway, Step(answer=Answer(text=ANSWER, finish_reason=reason))) as (gate, provider):
        ran = run_native(tree.parent / "program", tree, gate.url, reading=True, turns=5)
    assert (ran.telemetry.final_message, ran.telemetry.ended, len(provider.requests)) == (ANSWER, "text", 1)


def test_what_it_said_before_its_turns_were_over_is_no_answer(gateway: Gateway, tree: Path) -> None:
    says = Answer(text=ANSWER, tool_calls=(ToolCall(name="list_dir", arguments={}),))
    agent = agent_of(a_judge(Agent.NATIVE), Route(id="r", base_url="https://models.example/v1"), looks=True)
    with playing(gateway, Step(answer=says, repeat=True)) as (gate, _):
        ran = run_native(tree.parent / "program", tree, gate.url, reading=True, turns=2)
    assert answer_of(agent, result(ran.status, ran.stdout)) == ""


@pytest.mark.parametrize("agent", [Agent.NATIVE, Agent.OPENCODE, Agent.CLAUDE])
def test_a_program_that_ended_badly_has_no_answer(agent: Agent) -> None:
    told = b'{"event": "turn", "turn": 1, "text": "' + ANSWER.replace('"', '\\"').encode() + b'"}\n'
    told += b'{"type": "text", "part": {"text": "an answer"}}\n'
    asks = agent_of(a_judge(agent), Route(id="r", base_url="https://models.example/v1"), looks=True)
    assert answer_of(asks, result(1, told)) is None


def test_turns_are_the_requests_of_its_budget() -> None:
    judge = a_judge(Agent.NATIVE, budget=Budget(requests=7).model_dump())
    assert task_of(judge, "x", WALL, looks=True).turns == 7
