"""Plain data, the only thing that crosses between the two sides: exact built-in types, by value, bounded.

None, booleans, integers, finite floats, texts and lists are written as JSON has them; everything else as an object with
the one key of its tag. A subclass is not plain: what computes its answer later has to do so before it is sent.
"""

import base64
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

Json = Any
"""What the json module writes and reads."""

DEEPEST = 100
"""Levels of nesting that are carried."""

_LONGEST_BITS = 12_000
"""Of an integer that is carried; Python reads no more than 4,300 digits."""


_FLOAT = re.compile(r"nan|-?inf|-?[0-9]{1,17}(\.[0-9]{1,17})?(e[+-][0-9]{1,3})?")
"""A float that would be read as an integer, or that JSON has none of."""


class NotPlainError(ValueError):
    """A value is no plain data, or what was read is no writing of one. The text names the type."""


@dataclass(frozen=True)
class Foreign:
    """A plain value of JavaScript's that Python has no like of: its kind, and plain data that says which one."""

    kind: str
    value: object = None


def encode(value: object, depth: int = 0) -> Json:
    """Write a value down.

    Raises:
        NotPlainError: it, or something in it, is of another type, or nests too deep.
    """
    if depth > DEEPEST:
        raise NotPlainError("a value that nests too deep")
    kind = type(value)
    if value is None or kind is bool or kind is str:
        return value
    writer = _WRITERS.get(kind)
    if writer is None:
        raise NotPlainError(f"a {kind.__name__}, which is no plain data")
    return writer(value, depth + 1)


def decode(value: Json, depth: int = 0) -> object:
    """Read a value back.

    Raises:
        NotPlainError: it is no writing of one.
    """
    if depth > DEEPEST:
        raise NotPlainError("a value that nests too deep")
    if isinstance(value, list):
        return [decode(each, depth + 1) for each in value]
    if not isinstance(value, dict):
        return value
    if len(value) != 1:
        raise NotPlainError("an object without a tag")
    tag, inside = next(iter(value.items()))
    reader = _READERS.get(tag)
    if reader is None:
        raise NotPlainError("an unknown tag")
    try:
        return reader(inside, depth + 1)
    except (TypeError, ValueError, AttributeError, LookupError) as error:
        raise NotPlainError(f"no {tag}") from error


def _integer(value: Json, _: int) -> Json:
    if value.bit_length() > _LONGEST_BITS:
        raise NotPlainError("an integer that is too long")
    return value


def _float(value: Json, _: int) -> Json:
    return value if math.isfinite(value) else {"float": repr(value)}


def _read_float(inside: Json, _: int) -> object:
    if not isinstance(inside, str) or _FLOAT.fullmatch(inside) is None:
        raise NotPlainError("no float")
    return float(inside)


def _list(value: Json, depth: int) -> Json:
    return [encode(each, depth) for each in value]


def _tagged(tag: str) -> Callable[[Any, int], Json]:
    return lambda value, depth: {tag: [encode(each, depth) for each in value]}


def _mapping(value: Json, depth: int) -> Json:
    return {"dict": [[encode(key, depth), encode(each, depth)] for key, each in value.items()]}


def _bytes(value: Json, _: int) -> Json:
    return {"bytes": base64.b64encode(value).decode("ascii")}


def _complex(value: Json, _: int) -> Json:
    return {"complex": [repr(value.real), repr(value.imag)]}


def _read_mapping(inside: Json, depth: int) -> object:
    pairs = [(decode(key, depth), decode(each, depth)) for key, each in inside]
    whole = dict(pairs)
    if len(whole) != len(pairs):
        raise NotPlainError("a key twice")
    return whole


def _read_foreign(inside: Json, depth: int) -> object:
    kind, value = inside
    if not isinstance(kind, str):
        raise NotPlainError("no foreign value")
    return Foreign(kind, decode(value, depth))


_WRITERS: Final[Mapping[type, Callable[[Any, int], Json]]] = {
    int: _integer,
    float: _float,
    list: _list,
    tuple: _tagged("tuple"),
    set: _tagged("set"),
    frozenset: _tagged("frozenset"),
    dict: _mapping,
    bytes: _bytes,
    bytearray: _bytes,
    complex: _complex,
    Foreign: lambda value, depth: {"foreign": [value.kind, encode(value.value, depth)]},
}

_READERS: Final[Mapping[str, Callable[[Any, int], object]]] = {
    "float": _read_float,
    "tuple": lambda inside, depth: tuple(decode(each, depth) for each in inside),
    "set": lambda inside, depth: {decode(each, depth) for each in inside},
    "frozenset": lambda inside, depth: frozenset(decode(each, depth) for each in inside),
    "dict": _read_mapping,
    "bytes": lambda inside, _: base64.b64decode(inside, validate=True),
    "complex": lambda inside, _: complex(float(inside[0]), float(inside[1])),
    "foreign": _read_foreign,
}
