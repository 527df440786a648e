"""OpenAI's Responses: what Codex speaks. Pure."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from .dialect import asked_for, bounded, event, kind_of, objects, told
from .tally import BrokenAnswerError, Tally, name_of
from .terms import Json, Terms

_FEATURES = frozenset(
    {
        "background",
        "container",
        "conversation",
        "mcp_servers",
        "models",
        "plugins",
        "previous_response_id",
        "prompt",
        "provider",
        "route",
        "store",
    },
)
_OWN_TOOLS = frozenset({"function", "custom", "local_shell", "apply_patch", "shell"})
"""Tools whose calls come back to the agent, which runs them itself."""
_TOOL_FOLDERS = frozenset({"namespace"})
_ENDS = frozenset({"response.completed", "response.incomplete", "response.failed"})

TOKENS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "input": (("input_tokens",),),
    "cached": (("input_tokens_details", "cached_tokens"),),
    "cache_write": (("input_tokens_details", "cache_write_tokens"),),
    "output": (("output_tokens",),),
    "reasoning": (("output_tokens_details", "reasoning_tokens"),),
}


@dataclass(frozen=True, slots=True)
class Responses:
    """The protocol of `/v1/responses`."""

    operation: str = "responses"
    path: str = "/v1/responses"
    passed_headers: frozenset[str] = frozenset({"openai-beta", "x-openai-internal-codex-responses-lite"})
    final_status: int = 400

    def headers(self, credential: str | None) -> Mapping[str, str]:
        """Send the key as a bearer's."""
        return {} if credential is None else {"authorization": f"Bearer {credential}"}

    def features(self, asked: Json) -> frozenset[str]:
        """Name provider features, tools that the provider runs, and content from elsewhere."""
        found = set(asked_for(asked, _FEATURES))
        items = objects(asked.get("input"))
        offered = [asked.get("tools"), *(item.get("tools") for item in items)]
        found |= {kind for tools in offered for kind in _foreign_tools(tools)}
        parts = [part for item in items for part in (item, *objects(item.get("content")), *objects(item.get("output")))]
        if any(_is_remote(part) for part in parts):
            found.add("content from elsewhere")
        return frozenset(found)

    def changes(self, asked: Json, terms: Terms, *, stream: bool) -> Json:
        """Bound the answer's length; usage always comes."""
        del stream
        return {**terms.extra_body, **bounded(asked, "max_output_tokens", terms.ceilings.completion_tokens)}

    def hides_usage(self, asked: Json, terms: Terms, *, stream: bool) -> bool:
        """Hide nothing."""
        del asked, terms, stream
        return False

    def take(self, tally: Tally, part: Json) -> None:
        """Note what a response says, whole or in the event that carries it."""
        inner = part.get("response")
        response = inner if isinstance(inner, dict) else part if part.get("object") == "response" else {}
        tally.model = name_of(response.get("model")) or tally.model
        tally.provider = name_of(response.get("provider")) or tally.provider
        details = response.get("incomplete_details")
        reason = details.get("reason") if isinstance(details, dict) else None
        status = response.get("status")
        ended = status if status in {"completed", "incomplete", "failed"} else None
        tally.finish_reason = name_of(reason) or name_of(ended) or tally.finish_reason
        tally.take_usage(response.get("usage"), TOKENS)

    def spent(self, tally: Tally) -> int:
        """Add up input and output; what was cached is in the input."""
        return (tally.tokens["input"] or 0) + (tally.tokens["output"] or 0)

    def error_of(self, part: Json) -> object:
        """Give what an error event, or a failed response, says."""
        if part.get("type") == "error":
            inner = part.get("error")
            return inner if isinstance(inner, dict) else {key: part.get(key) for key in ("code", "message", "param")}
        inner = part.get("response")
        response = inner if isinstance(inner, dict) else part
        return response.get("error") or None

    def is_last(self, data: bytes, part: Json | None) -> bool:
        """End at the event that carries the whole response."""
        del data
        return part is not None and part.get("type") in _ENDS

    def check_whole(self, part: Json) -> None:
        """Accept what holds a list of output."""
        if not isinstance(part.get("output"), list):
            raise BrokenAnswerError("no output")

    def error_body(self, code: str, message: str) -> bytes:
        """Give an error as OpenAI does; Codex shows the message alone, so its code stands in that too."""
        return json.dumps({"error": {**_error(code, message), "type": kind_of(code), "param": None}}).encode()

    def error_event(self, code: str, message: str) -> bytes:
        """Give it as the end of a response."""
        failed: Json = {"object": "response", "status": "failed", "error": _error(code, message)}
        return event("response.failed", {"type": "response.failed", "response": failed})


def _error(code: str, message: str) -> Json:
    return {"code": told(code), "message": f"{told(code)}: {message}"}


def _foreign_tools(tools: object) -> Iterator[str]:
    """Name the kinds of tools that are not the agent's own, in folders of tools too."""
    if tools is None:
        return
    if not isinstance(tools, list):
        yield "a tool that is not a function"
        return
    for tool in tools:
        kind = tool.get("type") if isinstance(tool, dict) else None
        if kind in _TOOL_FOLDERS and isinstance(tool, dict):
            yield from _foreign_tools(tool.get("tools"))
        elif kind not in _OWN_TOOLS:
            yield name_of(kind) or "a tool that is not a function"


def _is_remote(part: Json) -> bool:
    if part.get("type") in {"input_file", "item_reference"} or part.get("file_id") or part.get("file_url"):
        return True
    url = part.get("image_url")
    return url is not None and not (isinstance(url, str) and url.startswith("data:"))
