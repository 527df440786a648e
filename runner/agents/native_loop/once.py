"""One question and one answer: whole files, all of them written or none."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path

from .blocks import ANSWER_BYTES, AnswerError, read_answer
from .plainly import CHAT, body
from .text import sendable, shorten
from .wire import Answer, Json, ModelError, ask

ENDED, PROVIDER_FAILED, MALFORMED = 0, 3, 4
FINAL_CHARS = 50_000


def question(config: Mapping[str, object]) -> Json:
    """Give the one request that is made."""
    dialect = str(config.get("dialect", CHAT))
    return body(dialect, config["model"], config["messages"], as_json(config["more"]))


def as_json(value: object) -> Json:
    """Give an object; an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def main() -> int:
    """Read one JSON document from standard input, ask, and write what was answered."""
    config = json.loads(sys.stdin.buffer.read())
    try:
        answer = ask(config["base_url"], question(config), config["patience_s"], config["dialect"])
    except ModelError as error:
        tell("error", kind=error.kind, status=error.status, message=error.message)
        return PROVIDER_FAILED
    text = shorten(sendable(answer.text), ANSWER_BYTES)
    tell("turn", turn=1, finish_reason=answer.finish_reason, calls=len(answer.calls), parts=answer.parts, text=text)
    if config["probe"]:
        tell("end", reason="text", message=shorten(text, FINAL_CHARS))
        return ENDED
    try:
        files, said = taken(answer, config["targets"])
    except AnswerError as error:
        tell("error", kind="malformed_answer", status=None, message=str(error))
        return MALFORMED
    for path, data in files.items():
        Path(config["root"], path).write_bytes(data)
    tell("end", reason="answered", files=sorted(files), message=shorten(sendable(said), FINAL_CHARS))
    return ENDED


def taken(answer: Answer, targets: list[str]) -> tuple[dict[str, bytes], str]:
    """Give an answer's files, and what it says beside them.

    Raises:
        AnswerError: It was cut off, or is not in the form that was asked for.
    """
    if answer.finish_reason == "length":
        raise AnswerError("the answer was cut off at the length limit")
    return read_answer(answer.text, targets)


def tell(event: str, **members: object) -> None:
    """Write one event."""
    sys.stdout.write(json.dumps({"event": event, **members}) + "\n")
    sys.stdout.flush()
