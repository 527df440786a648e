"""Conversations in the three protocols: a request to its steps, and an answer, whole or in events, to its. Pure.

What agents and providers send may be anything: what is not understood is left out, and nothing here raises.
"""

import json
from collections.abc import Callable, Iterator, Mapping

from runner.agents.reading import Event, member
from runner.showing.steps import Kind, Step, arguments, dicts, said, text_in, word

_ROLES = {"system": Kind.SYSTEM, "developer": Kind.SYSTEM, "user": Kind.TOLD, "assistant": Kind.SAID}
_CALLS = frozenset({"function_call", "custom_tool_call", "local_shell_call", "shell_call", "apply_patch_call"})
_LARGEST_INDEX = 10_000


def chat_asked(body: Event) -> Iterator[Step]:
    """Give the messages of a chat completion's request."""
    for message in dicts(body.get("messages")):
        yield from chat_message(message)


def chat_message(message: Event) -> Iterator[Step]:
    """Give the steps of one message, whoever sent it."""
    role = message.get("role")
    if role == "tool":
        key = word(message.get("tool_call_id"))
        yield Step(kind=Kind.REPLY, text=text_in(message.get("content")), key=key)
        return
    yield from said(message.get("reasoning_content") or message.get("reasoning"), Kind.THOUGHT)
    yield from said(message.get("content") or message.get("refusal"), _ROLES.get(word(role, "assistant"), Kind.TOLD))
    for call in dicts(message.get("tool_calls")):
        given = member(call, "function", "arguments")
        name = word(member(call, "function", "name"), "?")
        yield Step(kind=Kind.CALL, name=name, text=arguments(given), key=word(call.get("id")))


def chat_given(parts: list[Event]) -> Iterator[Step]:
    """Give the steps of an answer: one whole completion, or chunks to be put together."""
    message: dict[str, object] = {"role": "assistant"}
    calls: dict[int, dict[str, str]] = {}
    for part in parts:
        choice = next(dicts(part.get("choices")), {})
        if isinstance(whole := choice.get("message"), dict):
            yield from chat_message({"role": "assistant", **whole})
            continue
        delta = choice.get("delta")
        for name in ("content", "refusal", "reasoning_content", "reasoning"):
            if isinstance(text := member(delta, name), str):
                message[name] = f"{message.get(name, '')}{text}"
        for call in dicts(member(delta, "tool_calls")):
            _add_call(calls, call)
    made = [
        {"id": each["id"], "function": {"name": each["name"], "arguments": each["arguments"]}}
        for _, each in sorted(calls.items())
    ]
    yield from chat_message({**message, "tool_calls": made})


def _add_call(calls: dict[int, dict[str, str]], call: Event) -> None:
    index = call.get("index")
    at = index if isinstance(index, int) and 0 <= index < _LARGEST_INDEX else len(calls)
    known = calls.setdefault(at, {"id": "", "name": "", "arguments": ""})
    known["id"] = known["id"] or word(call.get("id"))
    for name in ("name", "arguments"):
        if isinstance(text := member(call, "function", name), str):
            known[name] += text


def responses_asked(body: Event) -> Iterator[Step]:
    """Give the items of a Responses request."""
    yield from said(body.get("instructions"), Kind.SYSTEM)
    given = body.get("input")
    if isinstance(given, str):
        yield from said(given, Kind.TOLD)
    for item in dicts(given):
        yield from responses_item(item)


def responses_item(item: Event) -> Iterator[Step]:
    """Give the steps of one item."""
    kind = word(item.get("type"), "message")
    key = word(item.get("call_id") or item.get("id"))
    if kind == "message":
        yield from said(item.get("content"), _ROLES.get(word(item.get("role")), Kind.TOLD))
    elif kind == "reasoning":
        yield from said(item.get("summary") or item.get("content"), Kind.THOUGHT)
    elif kind in _CALLS:
        asked = next((item[name] for name in ("arguments", "input", "action", "operation") if name in item), None)
        yield Step(kind=Kind.CALL, name=word(item.get("name"), kind), text=_input(asked), key=key)
    elif kind.endswith("_output"):
        yield Step(kind=Kind.REPLY, text=text_in(item.get("output")), key=key)


def _input(asked: object) -> str:
    """Give what a call was given: a custom tool takes any text."""
    return asked if isinstance(asked, str) and not asked.lstrip().startswith("{") else arguments(asked)


def responses_given(parts: list[Event]) -> Iterator[Step]:
    """Give the steps of an answer: one whole response, or the items that its events finished."""
    done = [each for part in parts if isinstance(each := part.get("item"), dict) and _is_done(part)]
    if not done:
        whole = (inner if isinstance(inner := part.get("response"), dict) else part for part in parts)
        done = next((found for each in reversed(list(whole)) if (found := list(dicts(each.get("output"))))), [])
    for item in done:
        yield from responses_item({"role": "assistant", **item})


def _is_done(part: Event) -> bool:
    return part.get("type") == "response.output_item.done"


def messages_asked(body: Event) -> Iterator[Step]:
    """Give the messages of a Messages request."""
    yield from said(body.get("system"), Kind.SYSTEM)
    for message in dicts(body.get("messages")):
        yield from messages_content(message.get("content"), _ROLES.get(word(message.get("role")), Kind.TOLD))


def messages_content(content: object, kind: Kind) -> Iterator[Step]:
    """Give the steps of one message's content."""
    if isinstance(content, str):
        yield from said(content, kind)
    for block in dicts(content):
        match block.get("type"):
            case "tool_use" | "server_tool_use":
                name, key = word(block.get("name"), "?"), word(block.get("id"))
                yield Step(kind=Kind.CALL, name=name, text=arguments(block.get("input")), key=key)
            case "tool_result":
                key, failed = word(block.get("tool_use_id")), block.get("is_error") is True
                yield Step(kind=Kind.REPLY, text=text_in(block.get("content")), key=key, failed=failed)
            case "thinking" | "redacted_thinking":
                yield from said(block.get("thinking"), Kind.THOUGHT)
            case _:
                yield from said([block], kind)


def messages_given(parts: list[Event]) -> Iterator[Step]:
    """Give the steps of an answer: one whole message, or the blocks that its events make."""
    blocks: dict[int, dict[str, object]] = {}
    for part in parts:
        if isinstance(part.get("content"), list):
            yield from messages_content(part["content"], Kind.SAID)
        index, begun, delta = part.get("index"), part.get("content_block"), part.get("delta")
        if not isinstance(index, int):
            continue
        if isinstance(begun, dict):
            blocks[index] = dict(begun)
        elif isinstance(delta, dict) and index in blocks:
            _add_delta(blocks[index], delta)
    yield from messages_content([_finished(block) for _, block in sorted(blocks.items())], Kind.SAID)


def _add_delta(block: dict[str, object], delta: Event) -> None:
    for name in ("text", "thinking", "partial_json"):
        if isinstance(text := delta.get(name), str):
            block[name] = f"{block.get(name) or ''}{text}"


def _finished(block: Event) -> Event:
    """Give a block whose input came in parts with that input."""
    return {**block, "input": block["partial_json"]} if "partial_json" in block else block


Asked = Callable[[Event], Iterator[Step]]
Given = Callable[[list[Event]], Iterator[Step]]

PROTOCOLS: Mapping[str, tuple[Asked, Given]] = {
    "chat": (chat_asked, chat_given),
    "responses": (responses_asked, responses_given),
    "messages": (messages_asked, messages_given),
}
"""By the ledger's word for the operation."""


def parts_of(body: bytes) -> list[Event]:
    """Give the objects of an answer's body: it is one, or a stream of events."""
    if body.lstrip().startswith(b"{"):
        return list(_read(body))
    lines = (line.removeprefix(b"data:") for line in body.splitlines() if line.startswith(b"data:"))
    return [event for line in lines for event in _read(line)]


def _read(data: bytes) -> Iterator[Event]:
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        return
    if isinstance(found, dict):
        yield found


def error_in(parts: list[Event]) -> str:
    """Give the words of an error that an answer tells; empty where it tells none."""
    for part in reversed(parts):
        error = part.get("error") or member(part, "response", "error")
        message = member(error, "message")
        if isinstance(error, str) or isinstance(message, str):
            return message if isinstance(message, str) else str(error)
    return ""
