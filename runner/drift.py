"""What differs between two documents, field by field. Pure."""

import json
from collections.abc import Iterator

from runner.errors import Drift

_CLIP = 160
_NAMES = ("id", "path", "owner", "name")
_NOTHING = "nothing"


def compare(frozen: object, found: object, field: str = "") -> Iterator[Drift]:
    """List the differences of two JSON values; list elements with a name are matched by it."""
    if isinstance(frozen, dict) and isinstance(found, dict):
        for key in sorted(frozen.keys() | found.keys()):
            inside = f"{field}.{key}" if field else key
            yield from _both(frozen, found, key, inside)
    elif isinstance(frozen, list) and isinstance(found, list):
        before, after = _by_name(frozen), _by_name(found)
        for name in (*before, *(name for name in after if name not in before)):
            yield from _both(before, after, name, f"{field}[{name}]")
        if before == after and list(before) != list(after):
            yield Drift(field=field, frozen=f"the order {_told(list(before))}", found=_told(list(after)))
    elif type(frozen) is not type(found) or frozen != found:
        yield Drift(field=field, frozen=_told(frozen), found=_told(found))


def _both(frozen: dict[str, object], found: dict[str, object], key: str, field: str) -> Iterator[Drift]:
    if key not in frozen:
        yield Drift(field=field, frozen=_NOTHING, found=_told(found[key]))
    elif key not in found:
        yield Drift(field=field, frozen=_told(frozen[key]), found=_NOTHING)
    else:
        yield from compare(frozen[key], found[key], field)


def _by_name(values: list[object]) -> dict[str, object]:
    named = {str(_name(value, place)): value for place, value in enumerate(values)}
    return named if len(named) == len(values) else {str(place): value for place, value in enumerate(values)}


def _name(value: object, place: int) -> object:
    if isinstance(value, dict):
        return next((value[key] for key in _NAMES if isinstance(value.get(key), str)), place)
    return place


def _told(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True, ensure_ascii=True)
    return text if len(text) <= _CLIP else f"{text[: _CLIP - 1]}…"
