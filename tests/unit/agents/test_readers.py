"""What the streams of the real agents say, as they were recorded in real units against the scripted provider.

tests/golden/agents holds the standard output of OpenCode 1.18.33, Codex 0.171.0 and Claude Code 2.1.332.
"""

import json
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.agents.errors import AgentTaskError
from runner.agents.model import AgentTask
from runner.agents.registry import AGENTS
from runner.canonical import canonical, parse
from runner.documents.telemetry import Telemetry
from sandbox.termination import Cause, Termination, Usage

GOLDEN = Path(__file__).parents[2] / "golden" / "agents"
REAL = ("opencode", "codex", "claude")
TASK = AgentTask(prompt="do $HOME ${x} `y`\n", wall=timedelta(seconds=9), model="maker/model-1", gate_port=8080)


def ended(status: int = 0) -> Termination:
    usage = Usage(wall_ms=1, cpu_ms=None, memory_peak_bytes=None)
    return Termination(cause=Cause.EXIT, status=status, usage=usage)


def read(agent: str, case: str) -> Telemetry:
    return AGENTS[agent].telemetry((GOLDEN / f"{agent}-{case}.jsonl").read_bytes(), b"", ended())


@pytest.mark.parametrize("agent", REAL)
@pytest.mark.parametrize("case", ["done", "retried"])
def test_work_that_was_done_is_read_whole(agent: str, case: str) -> None:
    found = read(agent, case)
    tools = {
        "opencode": {"bash": 1, "edit": 1, "read": 1},
        "codex": {"command_execution": 2},
        "claude": {"Bash": 1, "Edit": 1, "Read": 1},
    }
    assert found.final_message == "All done."
    assert found.final_error is None
    assert {each.name: each.calls for each in found.tool_calls} == tools[agent]
    assert [each.errors for each in found.tool_calls] == [0] * len(tools[agent])
    assert found.turns == {"opencode": 3, "codex": 1, "claude": 4}[agent]
    assert found.ended == {"opencode": "stop", "codex": "turn.completed", "claude": "completed"}[agent]
    assert found.session
    assert (found.unreadable_lines, found.malformed_arguments, found.error_replies) == (0, 0, 0)


def test_claims_are_each_agents_own_way_of_counting() -> None:
    tokens = {agent: claims.tokens for agent in REAL if (claims := read(agent, "done").claims) is not None}
    # 100 + 100 + 1000 were sent, 200 of the last from the cache; 20 + 20 + 50 came, 7 of these reasoning.
    assert (tokens["opencode"].input, tokens["opencode"].cached, tokens["opencode"].output) == (1000, 200, 83)
    assert (tokens["codex"].input, tokens["codex"].cached, tokens["codex"].output) == (1200, 200, 90)
    assert (tokens["claude"].input, tokens["claude"].cached, tokens["claude"].output) == (1200, 200, 90)
    costs = {agent: claims.cost for agent in REAL if (claims := read(agent, "done").claims) is not None}
    assert (costs["opencode"], costs["codex"]) == (None, None)
    assert costs["claude"] is not None


@pytest.mark.parametrize("agent", REAL)
@pytest.mark.parametrize(
    ("case", "kind"),
    [
        ("auth", "auth"),
        ("quota", "quota"),
        ("unknown-model", "unknown_model"),
        ("overloaded", "overloaded"),
        ("rate", "overloaded"),
        ("empty-stream", "malformed"),
        ("malformed", "malformed"),
        ("cut", "network"),
        ("budget", "budget"),
    ],
)
def test_the_last_error_names_the_gateways_word_for_it(agent: str, case: str, kind: str) -> None:
    found = read(agent, case)
    assert found.final_error is not None
    assert found.final_error.kind == kind
    assert found.ended == "error"


@pytest.mark.parametrize("agent", REAL)
@pytest.mark.parametrize("case", ["auth", "overloaded", "cut", "budget"])
def test_an_error_that_is_shown_as_a_message_is_no_message_of_the_model(agent: str, case: str) -> None:
    told = read(agent, case).final_message
    assert told in {None, "I will look.", "I will look at it and then write a lot of words"} or "API Error" not in told


@pytest.mark.parametrize("agent", REAL)
def test_an_answer_without_a_tool_call_is_an_answer(agent: str) -> None:
    assert read(agent, "hi").final_message == "hi"
    found = read(agent, "no-tools")
    assert (found.tool_calls, found.final_error) == ((), None)
    assert found.final_message == "I think nothing needs to be done."


def test_calls_that_cannot_be_made_are_counted() -> None:
    assert (read("opencode", "bad-arguments").malformed_arguments, read("opencode", "bad-arguments").error_replies) == (
        2,
        2,
    )
    assert read("claude", "bad-arguments").error_replies == 2


@pytest.mark.parametrize("agent", REAL)
def test_a_stream_that_was_cut_off_tells_what_it_told(agent: str) -> None:
    whole = (GOLDEN / f"{agent}-done.jsonl").read_bytes()
    for size in range(0, len(whole), max(1, len(whole) // 40)):
        found = AGENTS[agent].telemetry(whole[:size], b"", ended())
        assert parse(Telemetry, canonical(found), "telemetry.json") == found
        assert found.unreadable_lines <= 1
        if size < len(whole) // 2:
            assert found.final_message != "All done."


@pytest.mark.parametrize("agent", REAL)
@given(data=st.data())
def test_whatever_a_stream_says_a_story_comes_of_it(agent: str, data: st.DataObject) -> None:
    lines = [json.loads(line) for line in (GOLDEN / f"{agent}-bad-arguments.jsonl").read_text().splitlines()]
    odd = st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
        max_leaves=6,
    )
    place = data.draw(st.integers(0, len(lines) - 1))
    where = lines[place]
    for _ in range(data.draw(st.integers(0, 3))):
        inner = [value for value in where.values() if isinstance(value, dict) and value]
        if not inner:
            break
        where = data.draw(st.sampled_from(inner))
    where[data.draw(st.sampled_from(sorted(where) or ["type"]))] = data.draw(odd)
    told = "\n".join(json.dumps(line) for line in lines).encode() + data.draw(st.binary(max_size=20))
    found = AGENTS[agent].telemetry(told, b"", ended())
    assert parse(Telemetry, canonical(found), "telemetry.json") == found


@pytest.mark.parametrize("agent", REAL)
def test_a_prompt_goes_by_standard_input_and_nothing_secret_by_the_command(agent: str) -> None:
    command = AGENTS[agent].command(TASK)
    assert command.stdin == TASK.prompt.encode()
    said = json.dumps([command.argv, command.environment])
    assert "$HOME" not in said
    assert "maker/model-1" in said
    assert "127.0.0.1:8080" in said
    assert command.argv[0].startswith("/opt/agent/")


@pytest.mark.parametrize("agent", REAL)
def test_with_a_login_an_agent_is_led_to_its_maker_through_tunnels(agent: str) -> None:
    command = AGENTS[agent].command(AgentTask(**{**vars_of(TASK), "direct": True}))
    environment = dict(command.environment)
    assert environment["HTTPS_PROXY"] == environment["https_proxy"] == "http://127.0.0.1:8080"
    assert environment["SSL_CERT_FILE"].startswith("/opt/certificates/")
    assert not {"ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY", "OPENCODE_DISABLE_DEFAULT_PLUGINS"} & set(environment)
    said = json.dumps([command.argv, environment.get("OPENCODE_CONFIG_CONTENT")])
    assert "127.0.0.1" not in said
    assert "maker/model-1" in said
    assert command.stdin == TASK.prompt.encode()


@pytest.mark.parametrize("agent", REAL)
def test_a_reasoning_variant_is_passed_on(agent: str) -> None:
    said = " ".join(AGENTS[agent].command(AgentTask(**{**vars_of(TASK), "reasoning": "high"})).argv)
    wanted = {"opencode": "--variant high", "codex": 'model_reasoning_effort="high"', "claude": "--effort high"}
    assert wanted[agent] in said


@pytest.mark.parametrize("agent", REAL)
def test_without_a_model_or_a_gate_nothing_is_started(agent: str) -> None:
    for lacking in ("model", "gate_port"):
        with pytest.raises(AgentTaskError, match="model and a gateway"):
            AGENTS[agent].command(AgentTask(**{**vars_of(TASK), lacking: None}))


def vars_of(task: AgentTask) -> dict[str, object]:
    return {name: getattr(task, name) for name in AgentTask.__dataclass_fields__}
