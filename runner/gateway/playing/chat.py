"""The scripted provider's chat completions. Pure, but for the time of day."""

import time
from collections.abc import Iterator
from dataclasses import dataclass

from runner.gateway.playing.voice import Json, arguments_of, objects, plain_event, text_of, texts, whole_text
from runner.gateway.scenario import Answer, Step


@dataclass(frozen=True, slots=True)
class Chat:
    """OpenAI's chat completions."""

    path: str = "/v1/chat/completions"

    def prompt(self, asked: Json) -> str:
        """Give the first user message."""
        users = [each for each in objects(asked.get("messages")) if each.get("role") == "user"]
        return text_of(users[0].get("content")) if users else ""

    def turn(self, asked: Json) -> int:
        """Count the assistant's messages."""
        return sum(each.get("role") == "assistant" for each in objects(asked.get("messages")))

    def whole(self, step: Step, answer: Answer, asked: Json) -> Json:
        """Give a completion."""
        turn = self.turn(asked)
        message: Json = {"role": "assistant", "content": whole_text(answer)}
        message |= {"reasoning": answer.reasoning} if answer.reasoning else {}
        message |= {"tool_calls": _calls(answer, turn)} if answer.tool_calls else {}
        choice = {"index": 0, "message": message, "finish_reason": _finish(answer)}
        return {**_frame("chat.completion", answer, asked), "choices": [choice], "usage": _usage(step)}

    def events(self, step: Step, answer: Answer, asked: Json) -> Iterator[bytes]:
        """Give chunks, then `[DONE]`."""
        frame = _frame("chat.completion.chunk", answer, asked)
        options = asked.get("stream_options")
        reports = isinstance(options, dict) and bool(options.get("include_usage"))
        more: Json = {"usage": None} if reports else {}
        for delta in _deltas(answer, self.turn(asked)):
            yield plain_event({**frame, "choices": [{"index": 0, "delta": delta, "finish_reason": None}], **more})
        end = {"index": 0, "delta": {}, "finish_reason": _finish(answer)}
        yield plain_event({**frame, "choices": [end], **more})
        if reports:
            yield plain_event({**frame, "choices": [], "usage": _usage(step)})
        yield b"data: [DONE]\n\n"

    def error(self, status: int, message: str, code: str | None) -> Json:
        """Give an error as OpenAI does."""
        del status
        return {"error": {"message": message, "type": "scripted", "param": None, "code": code}}


def _deltas(answer: Answer, turn: int) -> Iterator[Json]:
    yield {"role": "assistant", "content": ""}
    if answer.reasoning:
        yield {"reasoning": answer.reasoning}
    for text in texts(answer):
        yield {"content": text}
    for number, call in enumerate(_calls(answer, turn)):
        yield {"tool_calls": [{**call, "index": number}]}


def _calls(answer: Answer, turn: int) -> list[Json]:
    return [
        {
            "id": f"call_{turn}_{number}",
            "type": "function",
            "function": {"name": call.name, "arguments": arguments_of(call)},
        }
        for number, call in enumerate(answer.tool_calls)
    ]


def _finish(answer: Answer) -> str:
    return answer.finish_reason or ("tool_calls" if answer.tool_calls else "stop")


def _frame(kind: str, answer: Answer, asked: Json) -> Json:
    model = answer.model or asked["model"]
    return {"id": "chatcmpl-scripted", "object": kind, "created": int(time.time()), "model": model}


def _usage(step: Step) -> Json:
    tokens = step.usage
    usage: Json = {
        "prompt_tokens": tokens.input or 0,
        "completion_tokens": tokens.output or 0,
        "total_tokens": (tokens.input or 0) + (tokens.output or 0),
        "prompt_tokens_details": {"cached_tokens": tokens.cached or 0},
        "completion_tokens_details": {"reasoning_tokens": tokens.reasoning or 0},
    }
    return usage if step.cost is None else {**usage, "cost": float(step.cost)}
