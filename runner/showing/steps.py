"""One step of a conversation between an agent and its model, whatever the protocol. Pure."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from runner.agents.reading import Event, member


class Kind(StrEnum):
    """What a step is."""

    SYSTEM = "system"
    """What the agent told its model about itself."""
    TOLD = "told"
    """What the model was told in the user's name: the task, and what the agent adds."""
    SAID = "said"
    """The model's words."""
    THOUGHT = "thought"
    """What it lets see of its thoughts."""
    CALL = "call"
    """It calls a tool."""
    REPLY = "reply"
    """What the tool answered."""
    ERROR = "error"
    """The request brought no answer."""
    NOTE = "note"
    """A remark of ours."""


OF_THE_MODEL = frozenset({Kind.SAID, Kind.THOUGHT, Kind.CALL})


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step. All but notes is text of a candidate or a provider."""

    kind: Kind
    text: str
    name: str = ""
    """Of the tool."""
    key: str = ""
    """What joins a reply to its call."""
    failed: bool = False
    """The reply says that it is an error."""
    request: int | None = None
    """The request that it was seen in; null in a stream."""


def text_in(value: object) -> str:
    """Give the text of a message's content: a text, or a list of parts; a part without text is named."""
    if isinstance(value, str):
        return value
    parts = value if isinstance(value, list) else [] if value is None else [value]
    return "\n".join(text for part in parts if (text := _text_of(part)))


def _text_of(part: object) -> str:
    if isinstance(part, str):
        return part
    for name in ("text", "refusal", "thinking", "output"):
        found = member(part, name)
        if isinstance(found, str):
            return found
    inner = member(part, "content")
    return text_in(inner) if inner is not None else f"[{word(member(part, 'type'), 'something')}]"


def word(value: object, otherwise: str = "") -> str:
    """Give a short text; something else where it is none."""
    return value[:200] if isinstance(value, str) and value else otherwise


def arguments(value: object) -> str:
    """Give a call's arguments in one form, whether they came as an object or as its text."""
    if isinstance(value, str):
        try:
            value = json.loads(value) if value else {}
        except (ValueError, RecursionError):
            return str(value)
    try:
        return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)
    except (ValueError, RecursionError):
        return str(value)


def dicts(value: object) -> Iterator[Event]:
    """Give the objects of a list; nothing of anything else."""
    yield from (each for each in value if isinstance(each, dict)) if isinstance(value, list) else ()


def said(value: object, kind: Kind = Kind.SAID) -> Iterator[Step]:
    """Give a step for a text, unless it is empty."""
    text = text_in(value)
    if text.strip():
        yield Step(kind=kind, text=text)
