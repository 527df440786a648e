"""Whether two answers, as they came over the wire, are the same plain value. Pure."""

import json

_DEEPEST = 320
"""Levels of JSON that a plain value of the deepest nesting can have."""


def spelled(value: object, depth: int = 0) -> str:
    """Give a text that two written values share if, and only if, they are the same.

    Types count; the order of sets' members and of dictionaries' keys does not. `evaluators.split_side.plain` writes.

    Raises:
        ValueError: it is no writing of a plain value.
    """
    if depth > _DEEPEST:
        raise ValueError("a value that nests too deep")
    if isinstance(value, list):
        return f"[{','.join([spelled(each, depth + 1) for each in value])}]"
    if not isinstance(value, dict):
        return json.dumps(value)
    if len(value) != 1:
        raise ValueError("an object without a tag")
    tag, inside = next(iter(value.items()))
    if tag in {"set", "frozenset", "dict"} and isinstance(inside, list):
        return f"{tag}[{','.join(sorted([spelled(each, depth + 1) for each in inside]))}]"
    return f"{json.dumps(tag)}{spelled(inside, depth + 1)}"


def is_same(found: object, wanted: object) -> bool:
    """Say whether two written values are the same; what is no writing of one is the same as nothing."""
    try:
        return spelled(found) == spelled(wanted)
    except (ValueError, RecursionError):
        return False
