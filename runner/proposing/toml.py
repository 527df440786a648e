"""Plain values as TOML: texts, numbers, flags, lists, tables and lists of tables. Pure."""

import json
import re
from collections.abc import Iterator, Mapping

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_WIDE = 100


def toml_text(document: Mapping[str, object]) -> str:
    """Write a document: plain values first, then its tables, in the order given."""
    return "\n".join(_table((), document)) + "\n"


def _table(place: tuple[str, ...], table: Mapping[str, object]) -> Iterator[str]:
    below = {key: value for key, value in table.items() if isinstance(value, Mapping) or _is_tables(value)}
    yield from (f"{_key(key)} = {_value(value)}" for key, value in table.items() if key not in below)
    for key, value in below.items():
        inner = (*place, key)
        name = ".".join(map(_key, inner))
        if isinstance(value, Mapping):
            yield from ("", f"[{name}]", *_table(inner, value))
        elif isinstance(value, list | tuple):
            for each in value:
                yield from ("", f"[[{name}]]", *_table(inner, each))


def _is_tables(value: object) -> bool:
    return isinstance(value, list | tuple) and bool(value) and all(isinstance(each, Mapping) for each in value)


def _value(value: object) -> str:
    match value:
        case bool() | int():
            return json.dumps(value)
        case str():
            return _text(value)
        case list() | tuple():
            parts = [_value(each) for each in value]
            short = f"[{', '.join(parts)}]"
            return short if len(short) <= _WIDE else "[\n" + "".join(f"    {part},\n" for part in parts) + "]"
        case _:
            raise TypeError(f"no TOML for {type(value).__name__}")


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _text(key)


def _text(text: str) -> str:
    """Write a basic string: as JSON does, but for one letter more that must be escaped."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
