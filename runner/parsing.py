"""From bytes that people wrote to checked values; whatever is wrong becomes a `DocumentError`."""

import json
import os
import re
import stat
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import BinaryIO, NoReturn, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from runner.errors import DocumentError, DocumentErrors

Model = TypeVar("Model", bound=BaseModel)

DOCUMENT_BYTES = 1 << 20
MAX_DEPTH = 32
MAX_PROBLEMS = 50
MAX_INTEGER = (1 << 53) - 1
"""Beyond this, canonical JSON has no integers (RFC 8785)."""

_CLIP = 60
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
_SECRET_FIELD = re.compile(r"key|token|secret|credential|header|password|body|url|login", re.IGNORECASE)
_SECRET_TEXT = re.compile(r"\bsk-|bearer|ghp_|\bAKIA", re.IGNORECASE)


class _DuplicateKeyError(Exception):
    """An object of a JSON text has a key twice."""

    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    table: dict[str, object] = {}
    for key, value in pairs:
        if key in table:
            raise _DuplicateKeyError(key)
        table[key] = value
    return table


@contextmanager
def open_file(path: Path) -> Iterator[tuple[BinaryIO, os.stat_result]]:
    """Open a regular file and give its facts; the last part of its path may not be a link.

    Raises:
        DocumentError: it cannot be opened or read, or is none.
    """
    try:
        # O_NONBLOCK: a FIFO in a file's place must not hold us up.
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from error
    try:
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode):
            found, mend = "something that is no file", "give the path of a file"
            raise _file_error(path, found, "a regular file", mend)
        with os.fdopen(descriptor, "rb", closefd=False) as stream:
            yield stream, facts
    except OSError as error:
        raise _unreadable(path, error) from error
    finally:
        os.close(descriptor)


def read_file(path: Path, cap: int = DOCUMENT_BYTES) -> bytes:
    """Read a regular file of at most `cap` bytes.

    Raises:
        DocumentError: it cannot be read, is none, or is bigger.
    """
    with open_file(path) as (stream, _):
        data = stream.read(cap + 1)
    if len(data) > cap:
        raise _file_error(path, f"more than {cap} bytes", f"at most {cap} bytes", "shorten the file")
    return data


def decode(data: bytes, file: str) -> str:
    """Give a document's text, which must be UTF-8 without a byte order mark."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        _refuse(file, "", f"a byte at {error.start} that is no UTF-8", "UTF-8 text", "save the file as UTF-8")
    if text.startswith("\ufeff"):
        _refuse(file, "", "a byte order mark", "plain UTF-8 text", "save the file without a byte order mark")
    return text


def parse_json(data: bytes, file: str, *, decimals_as_text: bool = False) -> dict[str, object]:
    """Parse a JSON object, refusing duplicate keys, floats, NaN, huge integers and control characters.

    With `decimals_as_text`, for documents of others, a number with a point becomes the text that stands there.
    """
    text = decode(data, file)
    try:
        value = json.loads(text, object_pairs_hook=_unique, parse_float=str if decimals_as_text else None)
    except _DuplicateKeyError as error:
        _refuse(file, field_name((error.key,)), "the same key twice", "each key once", "remove one of the two")
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        _refuse(file, place, f"broken JSON ({error.msg})", "a JSON object", "mend the syntax there")
    except (ValueError, RecursionError):
        _refuse(file, "", "a number or a nesting beyond all bounds", "a JSON object", "remove it")
    if not isinstance(value, dict):
        _refuse(file, "", describe(value), "a JSON object", "put the fields between { and }")
    _refuse_odd(value, file)
    return value


def parse_toml(data: bytes, file: str) -> dict[str, object]:
    """Parse a TOML table, refusing floats, times, huge integers and control characters."""
    text = decode(data, file)
    try:
        value: dict[str, object] = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        _refuse(file, "", f"broken TOML ({_clip(str(error))})", "a TOML document", "mend the syntax there")
    except (ValueError, RecursionError):
        _refuse(file, "", "a number or a nesting beyond all bounds", "a TOML document", "remove it")
    _refuse_odd(value, file)
    return value


def validate(
    model: type[Model],
    value: Mapping[str, object],
    file: str,
    removed: Mapping[str, str] = MappingProxyType({}),
) -> Model:
    """Turn a parsed object into a checked value; `removed` tells what replaces a field that is no more.

    Raises:
        DocumentErrors: with every problem found, in the order of the document's fields.
    """
    try:
        # Through JSON text: strict models take lists for tuples and texts for enums only there.
        return model.model_validate_json(json.dumps(value), by_alias=True, by_name=False)
    except ValidationError as error:
        problems = error.errors(include_url=False)
    places = [problem["loc"] for problem in problems]
    # A list whose entries are refused is called too short as well.
    told = [
        problem
        for problem in problems
        if problem["type"] != "too_short"
        or all(place[: len(problem["loc"])] != problem["loc"] or place == problem["loc"] for place in places)
    ][:MAX_PROBLEMS]
    # Outside the handler: pydantic's own message dumps the input, secrets included.
    raise DocumentErrors(errors=tuple(_translate(problem, value, file, removed) for problem in told))


def file_name(path: Path) -> str:
    """Spell a file's path so that any error can print it."""
    text = os.fsencode(path).decode("utf-8", "backslashreplace")
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def field_name(location: Sequence[int | str]) -> str:
    """Spell a place in a document: `candidates[3].route`."""
    name = ""
    for part in location:
        text = "…" if _SECRET_TEXT.search(str(part)) else _clip(str(part))
        name += f"[{part}]" if isinstance(part, int) else f".{text}"
    return name.removeprefix(".")


def describe(value: object, field: str = "") -> str:
    """Say what was found, in a few words that hold no secret and no whole document."""
    match value:
        case None | bool():
            words = json.dumps(value)
        case int() | float():
            words = _clip(repr(value)) if abs(value) <= MAX_INTEGER else "a huge number"
        case str() if _SECRET_FIELD.search(field) or _SECRET_TEXT.search(value):
            words = f"a text of {len(value)} characters"
        case str():
            words = f'"{_clip(value)}"'
        case dict():
            words = f"an object of {len(value)} keys"
        case list() | tuple():
            words = f"a list of {len(value)}"
        case _:
            words = f"a {type(value).__name__}"
    return words


_EXPECTED = {
    "missing": ("this field", "add it"),
    "extra_forbidden": ("no such field", "remove it, or mend its spelling"),
    "string_type": ("a text", "write it between quotes"),
    "int_type": ("a whole number", "write it as a whole number"),
    "bool_type": ("true or false", "write true or false"),
    "tuple_type": ("a list", "write it between [ and ]"),
    "dict_type": ("an object", "write it as keys with values"),
    "model_type": ("an object", "write it as keys with values"),
    "model_attributes_type": ("an object", "write it as keys with values"),
    "string_pattern_mismatch": ("a text like {pattern}", "change the text"),
    "string_too_short": ("at least {min_length} characters", "write more"),
    "string_too_long": ("at most {max_length} characters", "shorten it"),
    "too_short": ("at least {min_length} entries", "add one"),
    "too_long": ("at most {max_length} entries", "remove some"),
    "greater_than_equal": ("{ge} or more", "raise it"),
    "less_than_equal": ("{le} or less", "lower it"),
    "enum": ("one of {expected}", "choose one of them"),
    "literal_error": ("{expected}", "write exactly that"),
    "union_tag_invalid": ("one of {expected_tags}", "choose one of them in {discriminator}"),
    "union_tag_not_found": ("an object with the key {discriminator}", "add that key"),
    "cleanroom": ("{expected}", "{mend}"),
}
_SILENT = {"missing": "nothing", "extra_forbidden": "an unknown field"}
"""What is said in the place of a value that has none, or whose key we do not know."""


def _translate(problem: ErrorDetails, document: object, file: str, removed: Mapping[str, str]) -> DocumentError:
    field = field_name(tuple(_real_parts(problem["loc"], document)))
    kind = problem["type"]
    context = problem.get("ctx", {})
    expected, mend = (text.format_map(context) for text in _EXPECTED.get(kind, ("", "change it")))
    if kind == "extra_forbidden" and field in removed:
        mend = removed[field]
    return DocumentError(
        file=file,
        field=field,
        found=_SILENT.get(kind) or describe(problem["input"], field),
        expected=expected or problem["msg"].removeprefix("Value error, "),
        mend=mend,
    )


def _real_parts(location: Sequence[int | str], document: object) -> Iterator[int | str]:
    """Leave out the parts that pydantic adds for the members of a union."""
    here = document
    for index, part in enumerate(location):
        known, inner = _inside(here, part)
        if known:
            here = inner
            yield part
        elif isinstance(here, dict) and index + 1 == len(location):
            yield part


def _inside(here: object, part: int | str) -> tuple[bool, object]:
    if isinstance(here, dict) and part in here:
        return True, here[part]
    if isinstance(here, list) and isinstance(part, int) and part < len(here):
        return True, here[part]
    return False, None


def _refuse_odd(document: dict[str, object], file: str) -> None:
    """Refuse what no document of ours may hold, wherever it stands; without recursion."""
    pending: list[tuple[tuple[int | str, ...], object]] = [((), document)]
    while pending:
        place, value = pending.pop()
        if len(place) > MAX_DEPTH:
            _refuse(file, field_name(place[:3]), "a deep nesting", f"at most {MAX_DEPTH} levels", "flatten it")
        if isinstance(value, dict):
            for key in value:
                _refuse_text(key, place, file)
            pending += [((*place, key), inner) for key, inner in value.items()]
        elif isinstance(value, list):
            pending += [((*place, index), inner) for index, inner in enumerate(value)]
        elif isinstance(value, str):
            _refuse_text(value, place, file)
        elif not (value is None or (isinstance(value, int) and abs(value) <= MAX_INTEGER)):
            name = field_name(place)
            expected = "texts, lists, objects, true, false and whole numbers below 2^53"
            _refuse(file, name, describe(value, name), expected, 'write ratios and money as texts: "0.50"')


def _refuse_text(text: str, place: tuple[int | str, ...], file: str) -> None:
    if odd := _CONTROL.search(text):
        found = f"the character U+{ord(odd.group()):04X}"
        _refuse(file, field_name(place), found, "text without control characters", "remove it")


def _clip(text: str) -> str:
    plain = "".join(character if character.isprintable() else "?" for character in text)
    return plain if len(plain) <= _CLIP else plain[: _CLIP - 1] + "…"


def _unreadable(path: Path, error: OSError | ValueError) -> DocumentError:
    reason = error.strerror if isinstance(error, OSError) and error.strerror else "an impossible path"
    return _file_error(path, reason.lower(), "a readable file that is no symbolic link", "give the path of such a file")


def _file_error(path: Path, found: str, expected: str, mend: str) -> DocumentError:
    return DocumentError(file=file_name(path), field="", found=found, expected=expected, mend=mend)


def _refuse(file: str, field: str, found: str, expected: str, mend: str) -> NoReturn:
    raise DocumentError(file=file, field=field, found=found, expected=expected, mend=mend)
