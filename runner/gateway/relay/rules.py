"""What a request may be, and what the gateway makes of it. Pure."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from .terms import Json, Terms

CHAT_PATH, MODELS_PATH = "/v1/chat/completions", "/v1/models"

# Each gives a model a network, a memory or another model than the release names (attacks I, H 200, 209).
PROVIDER_FEATURES = frozenset(
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

# Objects and lists take up to fifty times their text in memory, and a gateway out of memory is a fault of ours.
BRACES = 500_000

REMOTE_PARTS = frozenset({"file", "input_file", "video_url"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """A request that reaches no provider. `refusal` is the ledger's word."""

    refusal: str
    status: int
    message: str
    model: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Chat:
    """A request for a completion, as it goes to the provider."""

    model: str
    stream: bool
    body: bytes
    amended: tuple[str, ...]
    hides_usage: bool
    """Usage was asked for by us alone: the agent must not see it."""


@dataclass(frozen=True, slots=True)
class Models:
    """A request for the list of models, answered by the gateway itself."""


def check_line(method: str, target: str) -> Refused | None:
    """Refuse every method and path but two, before a body is read."""
    wanted = {CHAT_PATH: "POST", MODELS_PATH: "GET"}.get(target.partition("?")[0])
    if wanted is None:
        return Refused(refusal="path", status=404, message=f"only {CHAT_PATH} and {MODELS_PATH} are served here")
    if method != wanted:
        return Refused(refusal="method", status=405, message=f"{target.partition('?')[0]} takes {wanted} alone")
    return None


def check_chat(body: bytes, terms: Terms) -> Chat | Refused:
    """Decide whether a completion may be asked for, and with which body."""
    asked = _parse(body)
    if isinstance(asked, Refused):
        return asked
    model, stream = asked.get("model"), asked.get("stream", False)
    named = model[:200] if isinstance(model, str) else None
    if model != terms.model:
        return Refused(
            refusal="model",
            status=404,
            message=f"the model is not {terms.model!r}, the only one here",
            model=named,
        )
    if not isinstance(stream, bool | None):
        return Refused(refusal="body", status=400, message="stream must be true or false", model=named)
    feature = _provider_feature(asked)
    if feature is not None:
        message = f"{feature} is not available here"
        return Refused(refusal="provider_feature", status=400, message=message, model=named)
    return _amend(body, asked, terms, stream=bool(stream))


def _parse(body: bytes) -> Json | Refused:
    if body.count(b"{") + body.count(b"[") > BRACES:
        return Refused(refusal="body", status=400, message=f"the body has more than {BRACES} objects and lists")
    try:
        asked = json.loads(body, object_pairs_hook=_unique, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        return Refused(refusal="body", status=400, message=f"the body is not JSON: {str(error)[:200]}")
    if not isinstance(asked, dict):
        return Refused(refusal="body", status=400, message="the body must be a JSON object")
    return asked


def _unique(pairs: list[tuple[str, object]]) -> Json:
    # Two members of one name would let the gateway check one and the provider read the other.
    names = [name for name, _ in pairs]
    if len(set(names)) != len(names):
        raise ValueError("an object has two members of one name")
    return dict(pairs)


def _no_constant(name: str) -> object:
    raise ValueError(f"{name} is not JSON")


def _provider_feature(asked: Json) -> str | None:
    named = sorted(PROVIDER_FEATURES & {key for key, value in asked.items() if value not in (None, False)})
    if named:
        return named[0]
    tools = asked.get("tools") or []
    if not isinstance(tools, list) or any(not _is_function(tool) for tool in tools):
        return "a tool that is not a function"
    messages = asked.get("messages")
    parts = [part for message in _objects(messages) for part in _objects(message.get("content"))]
    return "content from elsewhere" if any(_is_remote(part) for part in parts) else None


def _objects(value: object) -> list[Json]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _is_function(tool: object) -> bool:
    return isinstance(tool, dict) and tool.get("type") == "function"


def _is_remote(part: Json) -> bool:
    if part.get("type") in REMOTE_PARTS:
        return True
    image = part.get("image_url")
    url = image.get("url") if isinstance(image, dict) else image
    return url is not None and not (isinstance(url, str) and url.startswith("data:"))


def _amend(body: bytes, asked: Json, terms: Terms, *, stream: bool) -> Chat | Refused:
    changes: Json = dict(terms.extra_body)
    options = asked.get("stream_options") or {}
    if not isinstance(options, dict):
        return Refused(refusal="body", status=400, message="stream_options must be an object", model=terms.model)
    hides = stream and terms.usage_reporting and options.get("include_usage") is not True
    if hides:
        changes["stream_options"] = {**options, "include_usage": True}
    changes.update(_length_limit(asked, terms))
    changes = {name: value for name, value in changes.items() if asked.get(name) != value}
    try:
        sent = json.dumps({**asked, **changes}, allow_nan=False).encode() if changes else body
    except (ValueError, RecursionError):
        return Refused(refusal="body", status=400, message="a number is out of range", model=terms.model)
    return Chat(
        model=terms.model,
        stream=stream,
        body=sent,
        amended=tuple(sorted(changes)),
        hides_usage=hides,
    )


def _length_limit(asked: Json, terms: Terms) -> Json:
    most = terms.ceilings.completion_tokens
    if most is None:
        return {}
    named = [name for name in ("max_tokens", "max_completion_tokens") if asked.get(name) is not None]
    return {name: most for name in named or ["max_tokens"] if not _is_within(asked.get(name), most)}


def _is_within(value: object, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value <= most


def error_body(code: str, message: str) -> bytes:
    """Give an error in the shape that providers share; `code` is the ledger's failure kind."""
    kind = "invalid_request_error" if code in {"refused", "context_length"} else "provider_error"
    error: Mapping[str, object] = {"message": message, "type": kind, "param": None, "code": code}
    return json.dumps({"error": error}).encode()


def models_body(model: str) -> bytes:
    """List the one model there is."""
    return json.dumps({"object": "list", "data": [{"id": model, "object": "model"}]}).encode()
