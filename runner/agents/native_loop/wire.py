"""One question to the model over HTTP: whole or as a stream, read into the same answer."""

import contextlib
import http.client
import json
import operator
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from .plainly import CHAT, PATHS, read

Json = dict[str, object]

ANSWER_BYTES = 32 << 20
HTTP_OK = 200


class ModelError(Exception):
    """The model gave no answer; asking again is not ours to decide."""

    def __init__(self, kind: str, message: str, status: int | None = None) -> None:
        super().__init__(f"{kind}: {message}")
        self.kind, self.message, self.status = kind, message, status


@dataclass
class Call:
    """A tool call as the model wrote it."""

    id: str = ""
    name: str = ""
    arguments: str = ""


@dataclass
class Answer:
    """What the model said. `more` are further members of its message, such as reasoning, for the history."""

    text: str = ""
    calls: list[Call] = field(default_factory=list)
    finish_reason: str | None = None
    more: Json = field(default_factory=dict)
    parts: int = 0
    """Chunks of the stream that it came in; none for one that came whole."""

    def message(self) -> Json:
        """Give the answer as the history holds it.

        Arguments that are no JSON object, and names no tool can have, would make some providers refuse the
        whole history: the error reply quotes them, and the history holds an empty object and `unknown`.
        """
        message: Json = {"role": "assistant", "content": self.text or None, **self.more}
        if self.calls:
            message["tool_calls"] = [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {"name": _sound_name(call.name), "arguments": _sound(call.arguments)},
                }
                for call in self.calls
            ]
        elif not self.text:
            message["content"] = ""
        return message


def ask(base_url: str, body: Json, patience_s: float, dialect: str = CHAT) -> Answer:
    """Ask once, in one of the protocols.

    Raises:
        ModelError: No answer came.
    """
    place = urlsplit(base_url)
    connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=patience_s)
    with contextlib.closing(connection):
        try:
            headers = {"content-type": "application/json", "authorization": "Bearer none"}
            connection.request("POST", f"{place.path}{PATHS[dialect]}", json.dumps(body), headers)
            response = connection.getresponse()
            if response.status != HTTP_OK:
                raise _error_of(response.read(ANSWER_BYTES), response.status)
            if response.headers.get_content_type() == "text/event-stream":
                answer = _read_stream(response)
            else:
                answer = _read_whole(response.read(ANSWER_BYTES), dialect)
        except (OSError, http.client.HTTPException) as error:
            raise ModelError("network", f"{type(error).__name__}: {error}") from error
    for number, call in enumerate(answer.calls):
        call.id = call.id or f"call_{number}"
    return answer


def _read_whole(data: bytes, dialect: str) -> Answer:
    document = _object(data)
    _raise_error(document)
    answer = Answer()
    if dialect != CHAT:
        told = read(dialect, document)
        if told is None:
            raise ModelError("malformed", "an answer without content", HTTP_OK)
        answer.text, answer.finish_reason = told
        return answer
    choice = _first_choice(document)
    if choice is None:
        raise ModelError("malformed", "an answer without choices", HTTP_OK)
    _take(answer, choice, choice.get("message"))
    return answer


def _read_stream(response: http.client.HTTPResponse) -> Answer:
    answer, empty, ended = Answer(), True, False
    for data in _events(response):
        if data == b"[DONE]":
            ended = True
            break
        chunk = _object(data)
        _raise_error(chunk)
        choice = _first_choice(chunk)
        if choice is not None:
            empty = False
            answer.parts += 1
            _take(answer, choice, choice.get("delta"))
    if empty:
        raise ModelError("malformed", "an empty stream", HTTP_OK)
    if not ended and answer.finish_reason is None:
        raise ModelError("network", "the stream was cut", HTTP_OK)
    return answer


def _events(response: http.client.HTTPResponse) -> Iterator[bytes]:
    size, lines = 0, list[bytes]()
    while line := response.readline(ANSWER_BYTES):
        size += len(line)
        if size > ANSWER_BYTES:
            raise ModelError("malformed", "an answer without end", HTTP_OK)
        line = line.rstrip(b"\r\n")
        if line.startswith(b"data:"):
            lines.append(line[5:].removeprefix(b" "))
        elif not line and lines:
            yield b"\n".join(lines)
            lines = []
    if lines:
        yield b"\n".join(lines)


def _object(data: bytes) -> Json:
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise ModelError("malformed", "an answer that is not JSON", HTTP_OK) from error
    if not isinstance(document, dict):
        raise ModelError("malformed", "an answer that is no object", HTTP_OK)
    return document


def _raise_error(document: Json) -> None:
    if document.get("error"):
        raise _error_of(json.dumps(document).encode(), HTTP_OK)


def _error_of(data: bytes, status: int) -> ModelError:
    try:
        error = json.loads(data).get("error")
    except (ValueError, AttributeError, RecursionError):
        error = None
    if not isinstance(error, dict):
        return ModelError("unknown", data[:500].decode("utf-8", "replace"), status)
    kind = error.get("code") or error.get("type") or "unknown"
    return ModelError(str(kind)[:200], str(error.get("message"))[:2_000], status)


def _first_choice(document: Json) -> Json | None:
    choices = document.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, dict) else None


def _take(answer: Answer, choice: Json, part: object) -> None:
    """Add a message, or a delta of one, to the answer."""
    reason = choice.get("finish_reason")
    answer.finish_reason = reason if isinstance(reason, str) else answer.finish_reason
    if not isinstance(part, dict):
        return
    for name, value in part.items():
        if name == "content":
            answer.text += _text(value)
        elif name == "tool_calls":
            _take_calls(answer.calls, value)
        elif name.startswith("reasoning"):
            _take_more(answer.more, name, value)


def _text(content: object) -> str:
    if isinstance(content, list):
        return "".join(_text(part.get("text")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def _take_more(more: Json, name: str, value: object) -> None:
    known = more.get(name)
    if isinstance(known, str | list) and type(known) is type(value):
        more[name] = operator.concat(known, value)
    elif value is not None:
        more[name] = value


def _take_calls(calls: list[Call], value: object) -> None:
    for part in value if isinstance(value, list) else []:
        if not isinstance(part, dict):
            continue
        index = part.get("index")
        if not isinstance(index, int) or not 0 <= index < len(calls):
            calls.append(Call())
            index = len(calls) - 1
        call, function = calls[index], part.get("function")
        call.id = part["id"] if isinstance(part.get("id"), str) and part["id"] else call.id
        if isinstance(function, dict):
            call.name += _text(function.get("name"))
            call.arguments += _arguments(function.get("arguments"))


def _arguments(value: object) -> str:
    # Some servers send the object itself instead of its text.
    return value if isinstance(value, str) else "" if value is None else json.dumps(value)


def _sound_name(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name) else "unknown"


def _sound(arguments: str) -> str:
    try:
        return arguments if isinstance(json.loads(arguments), dict) else "{}"
    except (ValueError, RecursionError):
        return "{}"
