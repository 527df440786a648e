"""What the scripted provider needs of a protocol. Pure."""

import json
from collections.abc import Iterator
from typing import Protocol

from runner.gateway.scenario import Answer, Step, ToolCall

Json = dict[str, object]

PART = 40
"""Characters of text in one event."""


class Voice(Protocol):
    """One protocol, as a provider speaks it."""

    @property
    def path(self) -> str:
        """Where it is asked."""

    def prompt(self, asked: Json) -> str:
        """Give what the user said before the model first answered."""

    def turn(self, asked: Json) -> int:
        """Count the answers of the model that a request holds."""

    def whole(self, step: Step, answer: Answer, asked: Json) -> Json:
        """Give an answer in one piece."""

    def events(self, step: Step, answer: Answer, asked: Json) -> Iterator[bytes]:
        """Give its events, each with the empty line that ends it, the last one included."""

    def error(self, status: int, message: str, code: str | None) -> Json:
        """Give an error."""


def objects(value: object) -> list[Json]:
    """Give the objects of a list; none where it is no list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def text_of(content: object) -> str:
    """Give the text of a message: a string, or the texts among its parts."""
    if isinstance(content, str):
        return content
    return "\n".join(str(part["text"]) for part in objects(content) if isinstance(part.get("text"), str))


def texts(answer: Answer) -> Iterator[str]:
    """Give an answer's text in parts: short ones, or, of a text that is said again and again, each time as one."""
    text = answer.text or ""
    if answer.text_times > 1:
        yield from (text for _ in range(answer.text_times))
    else:
        yield from (text[at : at + PART] for at in range(0, len(text), PART))


def whole_text(answer: Answer) -> str | None:
    """Give an answer's text at once."""
    return None if answer.text is None else answer.text * answer.text_times


def arguments_of(call: ToolCall) -> str:
    """Give a tool call's arguments as text."""
    return call.raw if call.raw is not None else json.dumps(call.arguments)


def named_event(document: Json) -> bytes:
    """Write an event under the name that is its type."""
    return f"event: {document['type']}\n".encode() + plain_event(document)


def plain_event(document: Json) -> bytes:
    """Write an event without a name."""
    return b"data: " + json.dumps(document).encode() + b"\n\n"
