"""Whole files in a text: how they are shown to a model, and how its answer must hold them."""

import re
from collections.abc import Collection
from dataclasses import dataclass, field

ANSWER_BYTES = 256 << 10
"""What an answer may hold at most; a longer one is refused whole."""

_MARK = re.compile(r"=== (begin|end) (.+) ===")
_TOLD = 200


class AnswerError(Exception):
    """An answer that is not in the form that was asked for; nothing of it is used."""


@dataclass
class Reading:
    """An answer being read: the files that are whole, the one that is open, and what stands outside."""

    files: dict[str, str] = field(default_factory=dict)
    outside: list[str] = field(default_factory=list)
    path: str | None = None
    lines: list[str] = field(default_factory=list)


def is_mark(line: str) -> bool:
    """Say whether a line would be taken for the begin or the end of a file."""
    return _MARK.fullmatch(line.rstrip()) is not None


def block(path: str, text: str) -> str:
    """Write a file down between its two marks."""
    ended = text if not text or text.endswith("\n") else f"{text}\n"
    return f"=== begin {path} ===\n{ended}=== end {path} ===\n"


def read_answer(answer: str, allowed: Collection[str]) -> tuple[dict[str, bytes], str]:
    """Give the files of an answer, and what it says beside them.

    Raises:
        AnswerError: It is not in the one form, or holds a file that may not be answered.
    """
    size = len(answer.encode("utf-8", "surrogatepass"))
    if size > ANSWER_BYTES:
        raise AnswerError(f"the answer has {size} bytes; at most {ANSWER_BYTES} are read")
    reading = Reading()
    for line in answer.split("\n"):
        _take(reading, line, allowed)
    if reading.path is not None:
        raise AnswerError(f"{_told(reading.path)} has a begin and no end")
    if not reading.files:
        raise AnswerError("the answer holds no file between two marks")
    try:
        files = {path: text.encode() for path, text in reading.files.items()}
    except UnicodeEncodeError as error:
        raise AnswerError("a file holds what is no text") from error
    return files, "\n".join(reading.outside).strip()


def _take(reading: Reading, line: str, allowed: Collection[str]) -> None:
    mark = _MARK.fullmatch(line.rstrip())
    if mark is None:
        (reading.outside if reading.path is None else reading.lines).append(line)
    elif reading.path is None:
        _open(reading, mark[1], mark[2], allowed)
    elif (mark[1], mark[2]) == ("end", reading.path):
        reading.files[reading.path] = "".join(f"{each}\n" for each in reading.lines)
        reading.path, reading.lines = None, []
    else:
        raise AnswerError(f"within {_told(reading.path)} stands a mark of {_told(mark[2])}")


def _open(reading: Reading, kind: str, path: str, allowed: Collection[str]) -> None:
    if kind == "end":
        raise AnswerError(f"{_told(path)} has an end and no begin")
    if path not in allowed:
        raise AnswerError(f"{_told(path)} is none of the files that may be answered")
    if path in reading.files:
        raise AnswerError(f"{_told(path)} stands in the answer twice")
    reading.path = path


def _told(path: str) -> str:
    return ascii(path[:_TOLD])
