"""JSON as the reference system reads and writes it: JavaScript's numbers, order of keys and escapes.

An artifact's hash is over the text that `JSON.stringify(value, null, 2)` gives of it, so that text has to be made
again from the value. Sources: ECMA-262, JSON.stringify, QuoteJSONString, Number::toString, OrdinaryOwnPropertyKeys.
"""

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import rfc8785

from runner.canonical import sha256

Value = Any
"""What JSON can say: texts (lone surrogates too), numbers, true, false, null, lists, tables."""

DEEPEST = 64
"""Levels of nesting; no artifact has a tenth of them."""

_EXACT = 1 << 53
"""Up to here every integer is a number of JavaScript's."""
_INDEX = re.compile(r"0|[1-9][0-9]{0,9}")
_LAST_INDEX = (1 << 32) - 2
_LONE = re.compile("[\ud800-\udfff]")


class ForeignJsonError(ValueError):
    """A text is no JSON, or none that says one thing only; its message says what was found."""


def read(data: bytes) -> Value:
    """Give the value of a JSON text as JavaScript has it.

    Raises:
        ForeignJsonError: it is no UTF-8, no JSON, says a key twice, or nests beyond all bounds.
    """
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise ForeignJsonError(f"a byte at {error.start} that is no UTF-8") from error
    try:
        value = json.loads(text, object_pairs_hook=_table, parse_int=_integer, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise ForeignJsonError(f"broken JSON at line {error.lineno}, column {error.colno} ({error.msg})") from error
    except RecursionError as error:
        raise ForeignJsonError("a nesting beyond all bounds") from error
    if _depth(value, 0) > DEEPEST:
        raise ForeignJsonError(f"more than {DEEPEST} levels")
    return value


def text_of(value: Value) -> str:
    """Write a value as `JSON.stringify(value, null, 2)` does."""
    return "".join(_written(value, "\n"))


def hash_without(value: Mapping[str, Value], name: str) -> str:
    """Give the hash that an artifact has: over the text of all its members but one, and a line feed."""
    return sha256(f"{text_of({key: each for key, each in value.items() if key != name})}\n".encode())


def _written(value: Value, line: str) -> Iterator[str]:
    """Write a value; `line` is a line feed and the indentation of where it stands."""
    if isinstance(value, str):
        yield _quoted(value)
    elif isinstance(value, bool) or value is None:
        yield {True: "true", False: "false", None: "null"}[value]
    elif isinstance(value, int | float):
        yield number(value)
    elif isinstance(value, list):
        parts = (tuple(_written(each, f"{line}  ")) for each in value)
        yield from _enclosed("[", parts, "]", line)
    else:
        members = ((_quoted(key), ": ", *_written(value[key], f"{line}  ")) for key in _in_order(value))
        yield from _enclosed("{", members, "}", line)


def _enclosed(begin: str, parts: Iterable[tuple[str, ...]], end: str, line: str) -> Iterator[str]:
    yield begin
    separator = ""
    for part in parts:
        yield f"{separator}{line}  "
        yield from part
        separator = ","
    yield f"{line}{end}" if separator else end


def number(value: float) -> str:
    """Write a number as JavaScript does: 1, 1e-7, 1e+21, 0 for -0, null for what JSON cannot say."""
    if isinstance(value, int) and abs(value) <= _EXACT:
        return str(value)
    try:
        double = float(value)
    except OverflowError:
        return "null"
    # RFC 8785 3.2.2.3 is Number::toString.
    return rfc8785.dumps(double).decode() if math.isfinite(double) else "null"


def _quoted(text: str) -> str:
    """Write a text between quotes; a surrogate without its other half is escaped."""
    return _LONE.sub(lambda lone: f"\\u{ord(lone[0]):04x}", json.dumps(text, ensure_ascii=False))


def _in_order(table: Mapping[str, Value]) -> Iterator[str]:
    """Give keys as JavaScript enumerates them: those that are indexes first, by number; others as they came."""
    indexes = {key for key in table if _INDEX.fullmatch(key) and int(key) <= _LAST_INDEX}
    yield from sorted(indexes, key=int)
    yield from (key for key in table if key not in indexes)


def _table(pairs: list[tuple[str, Value]]) -> dict[str, Value]:
    table: dict[str, Value] = {}
    for key, value in pairs:
        if key in table:
            raise ForeignJsonError(f"the key {key!r} stands twice")
        table[key] = value
    return table


def _integer(text: str) -> float:
    """Read an integer; one that is no number of JavaScript's becomes the one that is next to it."""
    if len(text) <= 15:  # noqa: PLR2004 - digits that are always exact
        return int(text)
    try:
        return float(text)
    except OverflowError:
        return math.inf


def _no_constant(text: str) -> Value:
    raise ForeignJsonError(f"{text}, which JSON does not know")


def _depth(value: Value, depth: int) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return depth if depth > DEEPEST else max((_depth(each, depth + 1) for each in inner), default=depth)
