"""The scripted provider's Responses. Pure, but for the time of day."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile

from runner.gateway.playing.voice import Json, arguments_of, named_event, objects, text_of, texts, whole_text
from runner.gateway.scenario import Answer, Step, ToolCall

_MODELS = frozenset({"function_call", "custom_tool_call", "reasoning", "local_shell_call"})
"""Types of items that a model made, besides its messages."""


@dataclass(frozen=True, slots=True)
class Responses:
    """OpenAI's Responses."""

    path: str = "/v1/responses"

    def prompt(self, asked: Json) -> str:
        """Give all that stands before the model's first item."""
        given = asked.get("input")
        if isinstance(given, str):
            return given
        before = takewhile(lambda item: not _is_models(item), objects(given))
        return "\n".join(text_of(item.get("content")) for item in before if item.get("role") == "user")

    def turn(self, asked: Json) -> int:
        """Count the runs of items that the model made."""
        made = [_is_models(item) for item in objects(asked.get("input"))]
        return sum(mine and not before for before, mine in zip([False, *made], made, strict=False))

    def whole(self, step: Step, answer: Answer, asked: Json) -> Json:
        """Give a response."""
        return _response(step, answer, asked, [item for item, _ in _items(answer, asked, self.turn(asked))])

    def events(self, step: Step, answer: Answer, asked: Json) -> Iterator[bytes]:
        """Give a response's events up to the one that carries all of it."""
        begun: Json = {**_frame(answer, asked), "status": "in_progress", "output": []}
        number = 0
        yield named_event({"type": "response.created", "sequence_number": number, "response": begun})
        items: list[Json] = []
        for place, (item, part) in enumerate(_items(answer, asked, self.turn(asked))):
            whole = {"output_index": place, "item": item}
            number += 1
            started = {**item, "status": "in_progress"} | ({"content": []} if item["type"] == "message" else {})
            added = {"type": "response.output_item.added", "sequence_number": number, "output_index": place}
            yield named_event({**added, "item": started})
            for event in part:
                number += 1
                yield named_event({**event, "sequence_number": number, "output_index": place, "item_id": item["id"]})
            number += 1
            yield named_event({"type": "response.output_item.done", "sequence_number": number, **whole})
            items.append(item)
        response = _response(step, answer, asked, items)
        kind = "response.completed" if response["status"] == "completed" else "response.incomplete"
        yield named_event({"type": kind, "sequence_number": number + 1, "response": response})

    def error(self, status: int, message: str, code: str | None) -> Json:
        """Give an error as OpenAI does."""
        del status
        return {"error": {"message": message, "type": "scripted", "param": None, "code": code}}


def _is_models(item: Json) -> bool:
    return item.get("role") == "assistant" or item.get("type") in _MODELS


def _items(answer: Answer, asked: Json, turn: int) -> Iterator[tuple[Json, Iterator[Json]]]:
    """Give each item, and the events between its beginning and its end."""
    if answer.reasoning:
        summary = [{"type": "summary_text", "text": answer.reasoning}]
        yield {"id": f"rs_{turn}", "type": "reasoning", "summary": summary}, iter(())
    if answer.text is not None:
        content = [{"type": "output_text", "text": whole_text(answer) or "", "annotations": []}]
        message: Json = {
            "id": f"msg_{turn}",
            "type": "message",
            "role": "assistant",
            "status": "completed",
            "content": content,
        }
        yield message, _text_events(answer)
    for number, call in enumerate(answer.tool_calls):
        yield _call(f"{turn}_{number}", call, asked), iter(())


def _text_events(answer: Answer) -> Iterator[Json]:
    empty = {"type": "output_text", "text": "", "annotations": []}
    yield {"type": "response.content_part.added", "content_index": 0, "part": empty}
    for text in texts(answer):
        yield {"type": "response.output_text.delta", "content_index": 0, "delta": text}
    full = whole_text(answer) or ""
    yield {"type": "response.output_text.done", "content_index": 0, "text": full}
    yield {"type": "response.content_part.done", "content_index": 0, "part": {**empty, "text": full}}


def _call(number: str, call: ToolCall, asked: Json) -> Json:
    """Call a tool in the way it was offered: a custom one takes text as it is."""
    custom = {tool.get("name") for tool in _offered(asked) if tool.get("type") == "custom"}
    known: Json = {"id": f"fc_{number}", "call_id": f"call_{number}", "name": call.name, "status": "completed"}
    if call.name in custom:
        return {**known, "type": "custom_tool_call", "input": arguments_of(call)}
    return {**known, "type": "function_call", "arguments": arguments_of(call)}


def _offered(asked: Json) -> Iterator[Json]:
    waiting = [asked.get("tools"), *(item.get("tools") for item in objects(asked.get("input")))]
    while waiting:
        for tool in objects(waiting.pop()):
            waiting.append(tool.get("tools"))
            yield tool


def _frame(answer: Answer, asked: Json) -> Json:
    model = answer.model or asked["model"]
    return {"id": "resp_scripted", "object": "response", "created_at": int(time.time()), "model": model}


def _response(step: Step, answer: Answer, asked: Json, items: list[Json]) -> Json:
    cut = answer.finish_reason in {"length", "max_output_tokens"}
    return {
        **_frame(answer, asked),
        "status": "incomplete" if cut else "completed",
        "error": None,
        "incomplete_details": {"reason": "max_output_tokens"} if cut else None,
        "output": items,
        "usage": _usage(step),
    }


def _usage(step: Step) -> Json:
    tokens = step.usage
    usage: Json = {
        "input_tokens": tokens.input or 0,
        "input_tokens_details": {"cached_tokens": tokens.cached or 0},
        "output_tokens": tokens.output or 0,
        "output_tokens_details": {"reasoning_tokens": tokens.reasoning or 0},
        "total_tokens": (tokens.input or 0) + (tokens.output or 0),
    }
    return usage if step.cost is None else {**usage, "cost": float(step.cost)}
