"""One question without tools in each protocol: how it is asked, and how a whole answer is read."""

from collections.abc import Iterator, Mapping

Json = dict[str, object]

CHAT, MESSAGES, RESPONSES = "chat", "messages", "responses"
PATHS: Mapping[str, str] = {CHAT: "/chat/completions", MESSAGES: "/messages", RESPONSES: "/responses"}


def body(dialect: str, model: object, messages: object, more: Json) -> Json:
    """Give the body of a question, with members that its protocol alone knows."""
    if dialect == CHAT:
        return {"model": model, "messages": messages, **more, "stream": True}
    return {"model": model, "input" if dialect == RESPONSES else "messages": messages, **more}


def read(dialect: str, document: Json) -> tuple[str, str | None] | None:
    """Give the text of a whole answer and why it ended, as the model said; None for what is no answer."""
    if dialect == MESSAGES:
        blocks = document.get("content")
        reason = document.get("stop_reason")
        if not isinstance(blocks, list):
            return None
        return "".join(_texts(blocks, {"text"})), reason if isinstance(reason, str) else None
    items = document.get("output")
    if not isinstance(items, list):
        return None
    parts = [part for item in items if isinstance(item, dict) for part in _list(item.get("content"))]
    details, status = document.get("incomplete_details"), document.get("status")
    reason = details.get("reason") if isinstance(details, dict) else status
    return "".join(_texts(parts, {"output_text", "refusal"})), reason if isinstance(reason, str) else None


def _texts(parts: "list[object]", kinds: "set[str]") -> Iterator[str]:
    for part in parts:
        if isinstance(part, dict) and part.get("type") in kinds:
            text = part.get("text", part.get("refusal"))
            if isinstance(text, str):
                yield text


def _list(value: object) -> "list[object]":
    return value if isinstance(value, list) else []
