"""The native loop, whole: its program in a process, the gateway, the scripted provider."""

import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from runner.agents.errors import AgentTaskError
from runner.agents.model import AgentTask
from runner.agents.native import Native
from runner.agents.traffic import metered
from runner.gateway.client import Gateway
from runner.gateway.scenario import Answer, Fail, Raw, Step, ToolCall
from runner.preflight import PROBE_PROMPT, Probe, judge_try
from tests.unit.agents.loop_rig import WALL, Ran, ended, run_native
from tests.unit.gateway.rig import playing


def call(name: str, **arguments: object) -> Step:
    return Step(answer=Answer(tool_calls=(ToolCall(name=name, arguments=arguments),)), cost="0.01")


def calls(*made: ToolCall, finish_reason: str | None = None) -> Step:
    return Step(answer=Answer(tool_calls=made, finish_reason=finish_reason))


DONE = call("done", summary="all is well")


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    (folder / "a.py").write_text("x = 1\ny = 2\n")
    return folder


def play(gateway: Gateway, workspace: Path, *steps: Step, **task: object) -> tuple[Ran, list[dict[str, object]]]:
    with playing(gateway, *steps) as (gate, provider):
        ran = run_native(workspace.parent / "program", workspace, gate.url, **task)
        assert ran.stderr == b""
        assert ran.telemetry.unreadable_lines == 0
        return ran, provider.requests


def replies(requests: list[dict[str, object]]) -> list[str]:
    """Give what the tools replied, as the last request told the model."""
    messages = requests[-1]["messages"]
    assert isinstance(messages, list)
    return [message["content"] for message in messages if message["role"] == "tool"]


def test_a_scripted_model_edits_and_finishes(gateway: Gateway, workspace: Path) -> None:
    steps = (
        call("list_dir"),
        call("read_file", path="a.py"),
        call("edit", path="a.py", old="x = 1", new="x = 3"),
        call("write_file", path="new/b.py", content="z\n"),
        DONE,
    )
    with playing(gateway, *steps) as (gate, _):
        ran = run_native(workspace.parent / "program", workspace, gate.url)
        told = metered(ran.telemetry, gate.traffic.lines)
    assert ran.status == 0
    assert (workspace / "a.py").read_text() == "x = 3\ny = 2\n"
    assert (workspace / "new/b.py").read_text() == "z\n"
    assert (told.turns, told.ended, told.final_message, told.cap_reached) == (5, "done", "all is well", False)
    assert [(use.name, use.calls) for use in told.tool_calls] == [
        ("done", 1),
        ("edit", 1),
        ("list_dir", 1),
        ("read_file", 1),
        ("write_file", 1),
    ]
    assert told.traffic is not None
    assert (told.traffic.requests, told.traffic.tokens.input, told.traffic.cost) == (5, 500, "0.05")
    assert [(reason.reason, reason.times) for reason in told.finish_reasons] == [("tool_calls", 5)]


def test_turns_left_are_told_and_the_cap_ends_well(gateway: Gateway, workspace: Path) -> None:
    again = Step(answer=Answer(text="hm", tool_calls=(ToolCall(name="list_dir", arguments={}),)), repeat=True)
    ran, requests = play(gateway, workspace, again, turns=3)
    assert ran.status == 0
    assert [reply.splitlines()[-1] for reply in replies(requests)] == ["[2 turns left]", "[this is your last turn]"]
    assert (ran.telemetry.cap_reached, ran.telemetry.turns, ran.telemetry.final_message) == (True, 3, "hm")


MALFORMED = [
    pytest.param(ToolCall(name="edit", raw="{"), "not JSON", id="not JSON"),
    pytest.param(ToolCall(name="edit", raw="[1]"), "must be a JSON object", id="list"),
    pytest.param(ToolCall(name="edit", raw="null"), "must be a JSON object", id="null"),
    pytest.param(ToolCall(name="read_file", arguments={}), "missing: path", id="missing"),
    pytest.param(ToolCall(name="read_file", arguments={"path": None}), "path must be a text", id="null path"),
    pytest.param(ToolCall(name="read_file", arguments={"path": "a.py", "x": 1}), "no parameter 'x'", id="extra"),
    pytest.param(
        ToolCall(name="read_file", arguments={"path": "a.py", "first_line": True}), "whole number", id="boolean"
    ),
    pytest.param(ToolCall(name="fly", arguments={}), "there is no tool 'fly'", id="unknown tool"),
    pytest.param(ToolCall(name="run", arguments={"command": "ls"}), "there is no tool 'run'", id="not allowed"),
    pytest.param(ToolCall(name="", raw=""), "there is no tool ''", id="nothing"),
]


@pytest.mark.parametrize(("made", "told"), MALFORMED)
def test_a_malformed_call_is_an_error_reply_and_counted(
    gateway: Gateway, workspace: Path, made: ToolCall, told: str
) -> None:
    ran, requests = play(gateway, workspace, calls(made), DONE)
    assert told in replies(requests)[0]
    assert (ran.telemetry.malformed_arguments, ran.telemetry.error_replies) == (1, 1)
    assert (ran.status, ran.telemetry.ended) == (0, "done")
    assert (workspace / "a.py").read_text() == "x = 1\ny = 2\n"
    sent = requests[-1]["messages"]
    assert isinstance(sent, list)
    kept = next(message for message in sent if message["role"] == "assistant")["tool_calls"][0]["function"]
    assert isinstance(json.loads(kept["arguments"]), dict)
    assert kept["name"]


def test_an_answer_without_a_call_is_nudged_once(gateway: Gateway, workspace: Path) -> None:
    talk = Step(answer=Answer(text="I think..."))
    ran, requests = play(gateway, workspace, talk, call("list_dir"), Step(answer=Answer(text="That is it.")))
    assert (ran.status, ran.telemetry.ended, ran.telemetry.nudges) == (0, "text", 1)
    assert ran.telemetry.final_message == "That is it."
    assert "without calling a tool" in json.dumps(requests[1])


def test_silence_is_nudged_and_then_the_end(gateway: Gateway, workspace: Path) -> None:
    ran, _ = play(gateway, workspace, Step(answer=Answer(text=""), repeat=True))
    assert (ran.status, ran.telemetry.ended, ran.telemetry.turns) == (0, "text", 2)
    assert ran.telemetry.final_message == ""


def test_an_answer_cut_at_the_length_limit_goes_on(gateway: Gateway, workspace: Path) -> None:
    steps = (
        Step(answer=Answer(text="long", finish_reason="length")),
        calls(ToolCall(name="edit", raw='{"path": "a'), finish_reason="length"),
        DONE,
    )
    ran, requests = play(gateway, workspace, *steps)
    assert "cut off at the length limit" in json.dumps(requests[1])
    assert "cut off at the length limit" in replies(requests)[0]
    assert (ran.telemetry.ended, ran.telemetry.nudges) == ("done", 0)


@pytest.mark.parametrize(
    ("step", "kind", "status"),
    [
        pytest.param(Step(fail=Fail(status=503)), "overloaded", 400, id="503"),
        pytest.param(Step(fail=Fail(status=401)), "auth", 400, id="401"),
        pytest.param(
            Step(fail=Fail(status=400, code="context_length_exceeded")), "context_length_exceeded", 400, id="context"
        ),
        pytest.param(Step(answer=Answer(text="x" * 300), cut_after=3), "network", 200, id="cut stream"),
        pytest.param(Step(raw=Raw(body="{}")), "malformed", 400, id="malformed"),
    ],
)
def test_a_provider_that_fails_ends_the_loop_with_status_3(
    gateway: Gateway, workspace: Path, step: Step, kind: str, status: int
) -> None:
    ran, _ = play(gateway, workspace, call("list_dir"), step)
    assert ran.status == 3
    assert (ran.telemetry.turns, ran.telemetry.ended) == (1, "error")
    assert ran.telemetry.final_error is not None
    assert (ran.telemetry.final_error.kind, ran.telemetry.final_error.status) == (kind, status)


def test_no_gateway_ends_the_loop_with_status_3(workspace: Path) -> None:
    ran = run_native(workspace.parent / "program", workspace, "http://127.0.0.1:9/v1")
    assert ran.status == 3
    assert ran.telemetry.final_error is not None
    assert ran.telemetry.final_error.kind == "network"


def test_the_probe_asks_once_without_tools(gateway: Gateway, workspace: Path) -> None:
    step = Step(answer=Answer(text="Hi!"))
    with playing(gateway, step) as (gate, provider):
        ran = run_native(workspace.parent / "program", workspace, gate.url, prompt=PROBE_PROMPT, probe=True)
        lines = gate.traffic.lines
        assert provider.requests[0]["messages"] == [{"role": "user", "content": PROBE_PROMPT}]
        assert "tools" not in provider.requests[0]
    probe = Probe(termination=ended(ran.status), telemetry=ran.telemetry, lines=lines)
    assert judge_try(probe) is None


def is_alive(pid: int) -> bool:
    status = Path(f"/proc/{pid}/status")
    return status.exists() and "State:\tZ" not in status.read_text()


def test_run_is_offered_where_allowed_and_ends_all_it_started(gateway: Gateway, workspace: Path) -> None:
    command = "echo out; echo err >&2; (sleep 600; echo late) & echo $! > pid; exit 5"
    ran, requests = play(gateway, workspace, call("run", command=command), DONE, tools=("run",))
    assert ran.telemetry.error_replies == 0
    assert replies(requests)[0].startswith("[exit status 5]\nout\nerr\n")
    pid = int((workspace / "pid").read_text())
    assert not is_alive(pid)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every account can reach, as those of pytest are not."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.mark.skipif(os.getuid() != 0, reason="needs a second account")
def test_commands_cannot_reach_into_the_loops_own_process(gateway: Gateway, open_folder: Path) -> None:
    reach = "echo forged > /proc/$PPID/fd/1 || ls /proc/$PPID/fd || head -c 1 /proc/$PPID/mem"
    (open_folder / "w").mkdir(mode=0o777)
    with playing(gateway, call("run", command=reach), DONE) as (gate, provider):
        ran = run_native(open_folder / "p", open_folder / "w", gate.url, account=65534, tools=("run",))
    assert replies(provider.requests)[0].count("Permission denied") == 3
    assert (ran.telemetry.ended, ran.telemetry.unreadable_lines) == ("done", 0)


def test_the_reasoning_variant_is_passed_on(gateway: Gateway, workspace: Path) -> None:
    _, requests = play(gateway, workspace, DONE, reasoning="high")
    assert requests[0]["reasoning_effort"] == "high"


def test_reasoning_is_kept_in_the_history(gateway: Gateway, workspace: Path) -> None:
    step = Step(answer=Answer(reasoning="because", tool_calls=(ToolCall(name="list_dir", arguments={}),)))
    _, requests = play(gateway, workspace, step, DONE)
    sent = requests[-1]["messages"]
    assert isinstance(sent, list)
    assert [message.get("reasoning") for message in sent if message["role"] == "assistant"] == ["because"]


def test_a_flood_of_calls_and_words_stays_below_the_units_limit(gateway: Gateway, workspace: Path) -> None:
    (workspace / "big").write_text("y" * 5_000)
    flood = Answer(
        text="w" * 8_000,
        tool_calls=(ToolCall(name="read_file", arguments={"path": "big"}),) * 40,
    )
    ran, requests = play(gateway, workspace, *[Step(answer=flood)] * 15, DONE)
    assert ran.telemetry.ended == "done"
    assert len(ran.stdout) < 1_500_000
    assert "more than 32 calls" in replies(requests)[39]


def test_a_task_without_a_model_is_a_fault() -> None:
    with pytest.raises(AgentTaskError):
        Native().command(AgentTask(prompt="x", wall=WALL))


@pytest.mark.parametrize(
    "stdout",
    [
        b"",
        b"nonsense\n[]\n{}\n\xff\xfe\n",
        b'{"event": "end", "reason": 7, "message": ["x"]}\n',
        b'{"event": "error", "kind": null, "status": "x", "message": {}}\n',
        b'{"event": "tool", "name": {}, "malformed": "yes"}\n{"event": "turn", "finish_reason": []}\n',
        b'{"event": "end", "reason": "\\ud800", "message": "' + b"x" * 300_000 + b'"}\n',
        b"".join(b'{"event": "tool", "name": "t%d"}\n' % number for number in range(1_000)),
    ],
)
def test_a_stream_may_say_anything(stdout: bytes) -> None:
    told = Native().telemetry(stdout, b"", ended(1))
    assert len(told.tool_calls) <= 65
    assert told.model_validate_json(told.model_dump_json(by_alias=True)) == told


def test_nothing_shown_to_the_model_or_its_commands_names_the_house(workspace: Path) -> None:
    command = Native().command(AgentTask(prompt="x", wall=WALL, model="m", gate_port=1, tools=("run",)))
    ((_, pack),) = command.packs
    shown = command.stdin + b"".join(pack.blobs(entry.sha256 or "") for entry in pack.entries)
    for word in (b"cleanroom", b"benchmark", b"evaluat", b"grader", b"hidden"):
        assert word not in shown.lower(), word
    del workspace
