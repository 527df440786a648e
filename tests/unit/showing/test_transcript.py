"""Laws of a transcript: every step once, in each protocol, whatever agents and providers send."""

import gzip
import json
from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runner.canonical import sha256
from runner.gateway.recording import Recording, read_recording
from runner.gateway.relay.recording import write_record
from runner.showing.protocols import PROTOCOLS, parts_of
from runner.showing.steps import Kind, Step
from runner.showing.streams import streamed
from runner.showing.transcript import transcript

Json = dict[str, object]


def recorded(
    operation: str, exchanges: Iterable[tuple[Json, bytes]], *, failure: str | None = None, status: int = 200
) -> Recording:
    """Write a recording of some exchanges; `failure` is the last one's."""
    whole = list(exchanges)
    data = b""
    for number, (asked, answer) in enumerate(whole, 1):
        body = json.dumps(asked).encode()
        head: Json = {"record": "asked", "sequence": number, "operation": operation, "method": "POST", "target": "/v1"}
        data += write_record({**head, "size": len(body), "sha256": sha256(body), "cut": False}, body)
        last = number == len(whole)
        told: Json = {"record": "given", "sequence": number, "status": status if last else 200}
        told |= {"content_type": None, "stream": True, "size": len(answer), "cut": False, "redacted": 0, "ended": True}
        data += write_record({**told, "failure": failure if last else None, "refusal": None, "played": None}, answer)
    return read_recording(data)


def events(*parts: Json) -> bytes:
    return b"".join(b"event: x\ndata: " + json.dumps(part).encode() + b"\n\n" for part in parts) + b"data: [DONE]\n\n"


def short(steps: Iterable[Step]) -> list[tuple[str, str, str]]:
    return [(step.kind.value, step.name, step.text) for step in steps]


CHAT_CALL: Json = {"id": "c1", "type": "function", "function": {"name": "run", "arguments": '{"command": "ls"}'}}
CHAT = (
    [{"role": "system", "content": "Be good."}, {"role": "user", "content": [{"type": "text", "text": "Mend it."}]}],
    events(
        {"choices": [{"delta": {"role": "assistant", "content": "I "}}]},
        {"choices": [{"delta": {"content": "look.", "reasoning_content": "hm"}}]},
        {"choices": [{"delta": {"tool_calls": [{"index": 0, "id": "c1", "function": {"name": "run"}}]}}]},
        {"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"arguments": '{"command": '}}]}}]},
        {"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"arguments": '"ls"}'}}]}}]},
        {"choices": [], "usage": {}},
    ),
    [
        {"role": "assistant", "content": "I look.", "tool_calls": [CHAT_CALL]},
        {"role": "tool", "tool_call_id": "c1", "content": "a.py"},
    ],
)
RESPONSES_CALL: Json = {"type": "function_call", "name": "run", "arguments": '{"command": "ls"}', "call_id": "c1"}
RESPONSES = (
    [
        {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "Be good."}]},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Mend it."}]},
    ],
    events(
        {"type": "response.output_item.done", "item": {"type": "reasoning", "summary": [{"text": "hm"}]}},
        {"type": "response.output_text.delta", "delta": "I look."},
        {
            "type": "response.output_item.done",
            "item": {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I look."}]},
        },
        {"type": "response.output_item.done", "item": RESPONSES_CALL},
        {"type": "response.completed", "response": {"output": []}},
    ),
    [
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I look."}]},
        RESPONSES_CALL,
        {"type": "function_call_output", "call_id": "c1", "output": "a.py"},
    ],
)
MESSAGES_CALL: Json = {"type": "tool_use", "id": "c1", "name": "run", "input": {"command": "ls"}}
MESSAGES = (
    [{"role": "user", "content": "Mend it."}],
    events(
        {"type": "message_start", "message": {"content": []}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "hm"}},
        {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "I look."}},
        {"type": "content_block_start", "index": 2, "content_block": {**MESSAGES_CALL, "input": {}}},
        {"type": "content_block_delta", "index": 2, "delta": {"partial_json": '{"command":'}},
        {"type": "content_block_delta", "index": 2, "delta": {"partial_json": '"ls"}'}},
        {"type": "message_stop"},
    ),
    [
        {"role": "assistant", "content": [{"type": "text", "text": "I look."}, MESSAGES_CALL]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": [{"text": "a.py"}]}]},
    ],
)
SAID = {
    "chat": {"choices": [{"message": {"content": "Done."}}]},
    "responses": {"output": [{"type": "message", "role": "assistant", "content": [{"text": "Done."}]}]},
    "messages": {"content": [{"type": "text", "text": "Done."}]},
}
CASES = {"chat": ("messages", *CHAT), "responses": ("input", *RESPONSES), "messages": ("messages", *MESSAGES)}


@pytest.mark.parametrize("operation", CASES)
def test_every_step_is_told_once_in_its_order_in_each_protocol(operation: str) -> None:
    field, first, answer, more = CASES[operation]
    system: Json = {"system": "Be good."} if operation == "messages" else {}
    asked = [(system | {field: first}, answer), (system | {field: first + more}, json.dumps(SAID[operation]).encode())]
    steps = transcript(recorded(operation, asked))
    assert short(steps) == [
        ("system", "", "Be good."),
        ("told", "", "Mend it."),
        ("thought", "", "hm"),
        ("said", "", "I look."),
        ("call", "run", '{"command": "ls"}'),
        ("reply", "run", "a.py"),
        ("said", "", "Done."),
    ]
    assert [step.request for step in steps] == [1, 1, 1, 1, 1, 2, 2]


def test_a_shortened_conversation_repeats_nothing_and_is_told() -> None:
    first: list[Json] = [{"role": "user", "content": "Mend it."}, {"role": "user", "content": "All of it."}]
    later = [first[0], {"role": "user", "content": "In short: you looked."}]
    whole = json.dumps(SAID["chat"]).encode()
    steps = transcript(recorded("chat", [({"messages": first}, whole), ({"messages": later}, whole)]))
    assert short(steps)[3:] == [
        ("note", "", "the agent shortened or rewrote the conversation"),
        ("told", "", "In short: you looked."),
        ("said", "", "Done."),
    ]


def test_a_second_conversation_is_kept_apart() -> None:
    mend: list[Json] = [{"role": "user", "content": "Mend it."}]
    name: list[Json] = [{"role": "user", "content": "Give it a title."}]
    whole = json.dumps(SAID["chat"]).encode()
    more = [*mend, {"role": "assistant", "content": "Done."}, {"role": "user", "content": "Go on."}]
    asked = [({"messages": mend}, whole), ({"messages": name}, whole), ({"messages": more}, whole)]
    assert [text for _, _, text in short(transcript(recorded("chat", asked)))] == [
        "Mend it.",
        "Done.",
        "another conversation begins",
        "Give it a title.",
        "Done.",
        "Go on.",
        "Done.",
    ]


def test_a_request_without_an_answer_says_why() -> None:
    answer = json.dumps({"error": {"message": "too many"}}).encode()
    asked: list[tuple[Json, bytes]] = [({"messages": [{"role": "user", "content": "Mend it."}]}, answer)]
    *_, last = transcript(recorded("chat", asked, failure="overloaded", status=503))
    assert (last.kind, last.text) == (Kind.ERROR, "overloaded, status 503: too many")


def test_what_a_killed_writer_left_is_shown_as_far_as_it_goes() -> None:
    asked: list[tuple[Json, bytes]] = [({"messages": [{"role": "user", "content": "Mend it."}]}, b"{}")]
    whole = recorded("chat", asked).data
    end = len(gzip.compress(b"x"))
    steps = transcript(read_recording(whole[:-end]))
    assert [step.kind for step in steps] == [Kind.TOLD, Kind.ERROR, Kind.NOTE]


def test_a_stream_tells_steps_where_nobody_recorded_requests() -> None:
    codex = [
        {"type": "item.completed", "item": {"type": "agent_message", "text": "I look."}},
        {
            "type": "item.completed",
            "item": {"type": "command_execution", "command": "ls", "aggregated_output": "a.py", "status": "completed"},
        },
    ]
    opencode = [
        {"type": "text", "part": {"text": "I look."}},
        {"type": "tool_use", "part": {"tool": "run", "state": {"input": {"command": "ls"}, "output": "a.py"}}},
    ]
    claude = [
        {"type": "assistant", "message": {"content": [{"type": "text", "text": "I look."}, MESSAGES_CALL]}},
        {"type": "user", "message": {"content": MESSAGES[2][1]["content"]}},
    ]
    for agent, told in {"codex": codex, "opencode": opencode, "claude": claude}.items():
        steps = streamed(agent, b"\n".join(json.dumps(each).encode() for each in told))
        assert [step.kind.value for step in steps] == ["said", "call", "reply"], agent
        assert [steps[0].text, steps[1].text, steps[2].text] == ["I look.", '{"command": "ls"}', "a.py"]
        assert steps[2].name == steps[1].name


NAMES = (
    *("messages", "input", "system", "instructions", "role", "content", "type", "text", "tool_calls", "function"),
    *("name", "arguments", "id", "index", "delta", "item", "choices", "message", "response", "output", "error"),
    *("content_block", "summary", "partial_json", "part", "state"),
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=40, deadline=None)
@given(asked=st.dictionaries(st.sampled_from(["messages", "input", "system", "instructions"]), VALUES), answer=VALUES)
def test_whatever_agents_and_providers_send_can_be_shown(asked: Json, answer: object) -> None:
    body = json.dumps(answer).encode()
    for operation in PROTOCOLS:
        for answered in (body, b"data: " + body + b"\n", b"\xff" + body):
            for step in transcript(recorded(operation, [(asked, answered)] * 2, failure="malformed")):
                assert isinstance(step.text, str)
    for agent in ("codex", "claude", "opencode"):
        streamed(agent, body)
    assert isinstance(parts_of(body), list)
