"""OpenAI's chat completions, as most providers speak them. Pure."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from .dialect import BodyError, asked_for, is_within, kind_of, objects, told
from .tally import DONE, BrokenAnswerError, Tally, name_of
from .terms import Json, Terms

# Each gives a model a network, a memory or another model than the release names (attacks I, H 200, 209).
_FEATURES = frozenset(
    {
        "background",
        "container",
        "conversation",
        "mcp_servers",
        "models",
        "plugins",
        "previous_response_id",
        "provider",
        "route",
        "store",
        "web_search_options",
    },
)
_REMOTE_PARTS = frozenset({"file", "input_file", "video_url"})

TOKENS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "input": (("prompt_tokens",),),
    "cached": (("prompt_tokens_details", "cached_tokens"), ("prompt_cache_hit_tokens",)),
    "cache_write": (("prompt_tokens_details", "cache_write_tokens"), ("cache_creation_input_tokens",)),
    "output": (("completion_tokens",),),
    "reasoning": (("completion_tokens_details", "reasoning_tokens"),),
}


@dataclass(frozen=True, slots=True)
class Chat:
    """The protocol of `/v1/chat/completions`."""

    operation: str = "chat"
    path: str = "/v1/chat/completions"
    passed_headers: frozenset[str] = frozenset()
    final_status: int = 400

    def headers(self, credential: str | None) -> Mapping[str, str]:
        """Send the key as a bearer's."""
        return {} if credential is None else {"authorization": f"Bearer {credential}"}

    def features(self, asked: Json) -> frozenset[str]:
        """Name provider features, foreign tools and content from elsewhere."""
        found = set(asked_for(asked, _FEATURES))
        tools = asked.get("tools") or []
        if not isinstance(tools, list):
            found.add("a tool that is not a function")
        found |= {_tool_name(tool) for tool in tools if not _is_function(tool)} if isinstance(tools, list) else set()
        parts = [part for message in objects(asked.get("messages")) for part in objects(message.get("content"))]
        if any(_is_remote(part) for part in parts):
            found.add("content from elsewhere")
        return frozenset(found)

    def changes(self, asked: Json, terms: Terms, *, stream: bool) -> Json:
        """Ask for usage where nobody did, and bound the answer's length."""
        changed: Json = dict(terms.extra_body)
        if self.hides_usage(asked, terms, stream=stream):
            changed["stream_options"] = {**_stream_options(asked), "include_usage": True}
        most = terms.ceilings.completion_tokens
        if most is not None:
            named = [name for name in ("max_tokens", "max_completion_tokens") if asked.get(name) is not None]
            changed |= {name: most for name in named or ["max_tokens"] if not is_within(asked.get(name), most)}
        return changed

    def hides_usage(self, asked: Json, terms: Terms, *, stream: bool) -> bool:
        """Hide it where the agent did not ask for a usage chunk."""
        options = _stream_options(asked)
        return stream and terms.usage_reporting and options.get("include_usage") is not True

    def take(self, tally: Tally, part: Json) -> None:
        """Note model, provider, end and usage of a completion or a chunk."""
        tally.model = name_of(part.get("model")) or tally.model
        tally.provider = name_of(part.get("provider")) or tally.provider
        choices = objects(part.get("choices"))
        finish = choices[0].get("finish_reason") if choices else None
        tally.finish_reason = name_of(finish) or tally.finish_reason
        tally.take_usage(part.get("usage"), TOKENS)

    def spent(self, tally: Tally) -> int:
        """Add up input and output; what was cached is in the input."""
        return (tally.tokens["input"] or 0) + (tally.tokens["output"] or 0)

    def error_of(self, part: Json) -> object:
        """Give the `error` member that some providers send with status 200 or amid a stream."""
        return part.get("error") or None

    def is_last(self, data: bytes, part: Json | None) -> bool:
        """End at `[DONE]`."""
        del part
        return data == DONE

    def check_whole(self, part: Json) -> None:
        """Accept what holds a choice."""
        choices = part.get("choices")
        if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
            raise BrokenAnswerError("no choices")

    def error_body(self, code: str, message: str) -> bytes:
        """Give an error as OpenAI does."""
        error: Json = {"message": message, "type": kind_of(code), "param": None, "code": told(code)}
        return json.dumps({"error": error}).encode()

    def error_event(self, code: str, message: str) -> bytes:
        """Give it as a chunk."""
        return b"data: " + self.error_body(code, message) + b"\n\n"


def _stream_options(asked: Json) -> Json:
    options = asked.get("stream_options") or {}
    if not isinstance(options, dict):
        raise BodyError("stream_options must be an object")
    return options


def _is_function(tool: object) -> bool:
    return isinstance(tool, dict) and tool.get("type") == "function"


def _tool_name(tool: object) -> str:
    kind = tool.get("type") if isinstance(tool, dict) else None
    return name_of(kind) or "a tool that is not a function"


def _is_remote(part: Json) -> bool:
    if part.get("type") in _REMOTE_PARTS:
        return True
    image = part.get("image_url")
    url = image.get("url") if isinstance(image, dict) else image
    return url is not None and not (isinstance(url, str) and url.startswith("data:"))
