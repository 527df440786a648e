"""Anthropic's Messages: what Claude Code speaks. Pure."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from .dialect import asked_for, bounded, event, objects, told
from .tally import BrokenAnswerError, Tally, name_of
from .terms import Json, Terms

VERSION = "2023-06-01"
"""The protocol's version, for agents that name none."""

_FEATURES = frozenset({"container", "mcp_servers", "models", "plugins", "provider", "route"})
_OWN_TOOLS = ("bash_", "computer_", "custom", "memory_", "text_editor_", "tool_search_tool_")
"""Beginnings of tool types whose calls come back to the agent, or that search the agent's own list of tools."""
_ERRORS = {
    "auth": "authentication_error",
    "budget": "permission_error",
    "context_length": "invalid_request_error",
    "overloaded": "invalid_request_error",
    "quota": "billing_error",
    "refused": "invalid_request_error",
    "unknown_model": "not_found_error",
}
"""What an error of a ledger's failure kind is called; none is called what a client would retry."""

TOKENS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "input": (("input_tokens",),),
    "cached": (("cache_read_input_tokens",),),
    "cache_write": (("cache_creation_input_tokens",),),
    "output": (("output_tokens",),),
    "reasoning": (("output_tokens_details", "thinking_tokens"),),
}


@dataclass(frozen=True, slots=True)
class Messages:
    """The protocol of `/v1/messages`. Its input tokens do not count what was cached or written to the cache."""

    operation: str = "messages"
    path: str = "/v1/messages"
    passed_headers: frozenset[str] = frozenset({"anthropic-beta", "anthropic-version"})
    final_status: int = 403
    """Claude Code tries variants of a request after a 400."""

    def headers(self, credential: str | None) -> Mapping[str, str]:
        """Send the key in the protocol's own header."""
        known = {"anthropic-version": VERSION}
        return known if credential is None else {**known, "x-api-key": credential}

    def features(self, asked: Json) -> frozenset[str]:
        """Name provider features, tools that the provider runs, and content from elsewhere."""
        found = set(asked_for(asked, _FEATURES))
        tools = asked.get("tools") or []
        if not isinstance(tools, list):
            found.add("a tool that is not a function")
        found |= {_tool_name(tool) for tool in tools if not _is_own(tool)} if isinstance(tools, list) else set()
        blocks = [block for message in objects(asked.get("messages")) for block in objects(message.get("content"))]
        inner = [part for block in blocks for part in objects(block.get("content"))]
        if any(_is_remote(block) for block in (*blocks, *inner, *objects(asked.get("system")))):
            found.add("content from elsewhere")
        return frozenset(found)

    def changes(self, asked: Json, terms: Terms, *, stream: bool) -> Json:
        """Bound the answer's length; usage always comes."""
        del stream
        return {**terms.extra_body, **bounded(asked, "max_tokens", terms.ceilings.completion_tokens)}

    def hides_usage(self, asked: Json, terms: Terms, *, stream: bool) -> bool:
        """Hide nothing."""
        del asked, terms, stream
        return False

    def take(self, tally: Tally, part: Json) -> None:
        """Note what a message, or an event of its stream, says."""
        inner = part.get("message")
        message = inner if isinstance(inner, dict) else part
        tally.model = name_of(message.get("model")) or tally.model
        tally.provider = name_of(message.get("provider")) or tally.provider
        delta = part.get("delta")
        reason = delta.get("stop_reason") if isinstance(delta, dict) else message.get("stop_reason")
        tally.finish_reason = name_of(reason) or tally.finish_reason
        for usage in (message.get("usage"), part.get("usage")):
            tally.take_usage(usage, TOKENS)

    def spent(self, tally: Tally) -> int:
        """Add up all input, cached or not, and output."""
        return sum(tally.tokens[name] or 0 for name in ("input", "cached", "cache_write", "output"))

    def error_of(self, part: Json) -> object:
        """Give what an error says."""
        return part.get("error") or None

    def is_last(self, data: bytes, part: Json | None) -> bool:
        """End at `message_stop`."""
        del data
        return part is not None and part.get("type") == "message_stop"

    def check_whole(self, part: Json) -> None:
        """Accept what holds content."""
        if not isinstance(part.get("content"), list):
            raise BrokenAnswerError("no content")

    def error_body(self, code: str, message: str) -> bytes:
        """Give an error as Anthropic does."""
        return json.dumps(_error(code, message)).encode()

    def error_event(self, code: str, message: str) -> bytes:
        """Give it as an event."""
        return event("error", _error(code, message))


def _error(code: str, message: str) -> Json:
    kind = _ERRORS.get(code, "invalid_request_error")
    return {"type": "error", "error": {"type": kind, "message": f"{told(code)}: {message}"}}


def _is_own(tool: object) -> bool:
    if not isinstance(tool, dict):
        return False
    kind = tool.get("type")
    return kind is None or (isinstance(kind, str) and kind.startswith(_OWN_TOOLS))


def _tool_name(tool: object) -> str:
    kind = tool.get("type") if isinstance(tool, dict) else None
    return name_of(kind) or "a tool that is not a function"


def _is_remote(block: Json) -> bool:
    source = block.get("source")
    return isinstance(source, dict) and source.get("type") in {"url", "file"}
