"""The scripted provider's Messages. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile

from runner.gateway.playing.voice import Json, arguments_of, named_event, objects, text_of, texts, whole_text
from runner.gateway.scenario import Answer, Step

_KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}


@dataclass(frozen=True, slots=True)
class Messages:
    """Anthropic's Messages."""

    path: str = "/v1/messages"

    def prompt(self, asked: Json) -> str:
        """Give what the user said before the assistant's first message."""
        before = takewhile(lambda each: each.get("role") != "assistant", objects(asked.get("messages")))
        return "\n".join(text_of(each.get("content")) for each in before)

    def turn(self, asked: Json) -> int:
        """Count the assistant's messages."""
        return sum(each.get("role") == "assistant" for each in objects(asked.get("messages")))

    def whole(self, step: Step, answer: Answer, asked: Json) -> Json:
        """Give a message."""
        content = [block for block, _ in _blocks(answer, self.turn(asked))]
        return {
            **_frame(answer, asked, self.turn(asked)),
            "content": content,
            "stop_reason": _stop(answer),
            "usage": _usage(step),
        }

    def events(self, step: Step, answer: Answer, asked: Json) -> Iterator[bytes]:
        """Give a message's events up to `message_stop`."""
        usage = _usage(step)
        begun = {
            **_frame(answer, asked, self.turn(asked)),
            "content": [],
            "stop_reason": None,
            "usage": {**usage, "output_tokens": 1},
        }
        yield named_event({"type": "message_start", "message": begun})
        yield named_event({"type": "ping"})
        for place, (block, deltas) in enumerate(_blocks(answer, self.turn(asked))):
            empty = {**block, **_EMPTY[str(block["type"])]}
            yield named_event({"type": "content_block_start", "index": place, "content_block": empty})
            for delta in deltas:
                yield named_event({"type": "content_block_delta", "index": place, "delta": delta})
            yield named_event({"type": "content_block_stop", "index": place})
        ended = {"stop_reason": _stop(answer), "stop_sequence": None}
        reported = {name: usage[name] for name in ("output_tokens", "cost") if name in usage}
        yield named_event({"type": "message_delta", "delta": ended, "usage": reported})
        yield named_event({"type": "message_stop"})

    def error(self, status: int, message: str, code: str | None) -> Json:
        """Give an error as Anthropic does."""
        kind = code or _KINDS.get(status, "api_error")
        return {"type": "error", "error": {"type": kind, "message": message}}


_EMPTY: dict[str, Json] = {"text": {"text": ""}, "tool_use": {"input": {}}, "thinking": {"thinking": ""}}


def _blocks(answer: Answer, turn: int) -> Iterator[tuple[Json, Iterator[Json]]]:
    """Give each block of content, and the deltas that make it up."""
    if answer.reasoning:
        block: Json = {"type": "thinking", "thinking": answer.reasoning, "signature": "c2NyaXB0ZWQ="}
        yield block, iter([{"type": "thinking_delta", "thinking": answer.reasoning}])
    if answer.text is not None:
        deltas: Iterator[Json] = ({"type": "text_delta", "text": text} for text in texts(answer))
        yield {"type": "text", "text": whole_text(answer) or ""}, deltas
    for number, call in enumerate(answer.tool_calls):
        use: Json = {
            "type": "tool_use",
            "id": f"toolu_{turn}_{number}",
            "name": call.name,
            "input": call.arguments or {},
        }
        yield use, iter([{"type": "input_json_delta", "partial_json": arguments_of(call)}])


def _stop(answer: Answer) -> str:
    return answer.finish_reason or ("tool_use" if answer.tool_calls else "end_turn")


def _frame(answer: Answer, asked: Json, turn: int) -> Json:
    model = answer.model or asked["model"]
    return {"id": f"msg_{turn}", "type": "message", "role": "assistant", "model": model, "stop_sequence": None}


def _usage(step: Step) -> Json:
    tokens = step.usage
    usage: Json = {
        "input_tokens": tokens.input or 0,
        "cache_read_input_tokens": tokens.cached or 0,
        "cache_creation_input_tokens": tokens.cache_write or 0,
        "output_tokens": tokens.output or 0,
    }
    return usage if step.cost is None else {**usage, "cost": float(step.cost)}
