"""A JSON answer read strictly: no key twice, no NaN, bounded in size and depth. Pure."""

import json
from typing import NoReturn

MOST_BYTES = 4 * 1024 * 1024
DEEPEST = 200


class NotJsonError(ValueError):
    """The bytes are no JSON as it is wanted here; the text says why, for people."""


def read_json(data: bytes) -> object:
    """Give the value; objects, lists, texts, integers, floats, booleans and None alone.

    Raises:
        NotJsonError: it is none.
    """
    try:
        text = data.decode("utf-8")
        value = json.loads(text, object_pairs_hook=_no_twins, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        why = "it nests too deep" if isinstance(error, RecursionError) else str(error).partition(":")[0]
        raise NotJsonError(why) from error
    if _is_deeper(value, DEEPEST):
        raise NotJsonError("it nests too deep")
    return value


def _is_deeper(value: object, left: int) -> bool:
    level = [value]
    for _ in range(left):
        level = [child for each in level for child in _children(each)]
        if not level:
            return False
    return True


def _children(value: object) -> list[object]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def _no_twins(pairs: list[tuple[str, object]]) -> dict[str, object]:
    whole = dict(pairs)
    if len(whole) != len(pairs):
        raise NotJsonError("a key stands twice")
    return whole


def _no_constant(text: str) -> NoReturn:
    raise NotJsonError(f"{text} is no JSON")
