"""Canonical JSON (RFC 8785) without floats: documents to bytes, and bytes to documents."""

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping
from typing import Any, NoReturn, TypeVar

import rfc8785
from pydantic import ValidationError
from pydantic_core import from_json, to_json

from runner.documents.model import Document
from runner.errors import DocumentError, NotCanonicalError
from runner.parsing import describe, validate

D = TypeVar("D", bound=Document)

DEEPEST = 64
"""Levels of nesting; what is deeper is an attack on readers, not a document."""

_PLAIN = json.JSONEncoder(
    ensure_ascii=False, check_circular=False, allow_nan=False, sort_keys=True, separators=(",", ":")
)
"""Writes what is plain in its RFC 8785 form, ten times as fast as rfc8785.

Plain: no floats, no integers beyond 2**53 - 1, and only ASCII in keys. RFC 8785 3.2.3 sorts keys by UTF-16 units,
which differ from code points beyond U+FFFF alone, and escapes in texts what JSONEncoder escapes.
`tests/unit/runner/test_canonical.py` holds one against the other.
"""
_EXACT = (1 << 53) - 1
_SKETCH = bytes(
    ord("0") if chr(code).isdecimal() else ord(":") if chr(code) in ":,[-" else ord(" ") for code in range(256)
)
_LONG_NUMBER = b":" + b"0" * 16
"""What the sketch of a text with a greater integer has: each digit is a 0, what stands before numbers a colon."""

_MEND = "restore the file from a copy; such a document is never edited by hand"


def sha256(data: bytes) -> str:
    """Give the SHA-256 in lower-case hex."""
    return hashlib.sha256(data).hexdigest()


def canonical(document: Document | Mapping[str, object]) -> bytes:
    """Give a document's only form.

    Raises:
        NotCanonicalError: it holds a float, an integer beyond 2**53 - 1 or a lone surrogate, or nests too deep.
    """
    value: Any = document
    if isinstance(document, Document):
        value = document.model_dump(mode="json", by_alias=True)
    try:
        return _PLAIN.encode(value).encode() if _check(value, 0) else rfc8785.dumps(value)
    except ValueError as error:
        raise NotCanonicalError(found=_why(error)) from error


def canonical_lines(documents: Iterable[Document]) -> bytes:
    """Give one canonical document a line."""
    return b"".join(canonical(each) + b"\n" for each in documents)


def parse(model: type[D], data: bytes, file: str) -> D:
    """Read a document that must be in its only form.

    Raises:
        DocumentError, DocumentErrors: it is not canonical, not of this schema, or not JSON at all.
    """
    return parse_value(model, data, file)[0]


def parse_value(model: type[D], data: bytes, file: str) -> tuple[D, dict[str, object]]:
    """Read a document that must be in its only form; give it, and the JSON value that it is.

    Raises:
        DocumentError, DocumentErrors: as `parse`.
    """
    value = _load_plain(data)
    if value is _ODD:
        value = _load(data, file)
    if not isinstance(value, dict):
        _refuse(file, "", describe(value), "a JSON object")
    expected = model.model_fields["schema_"].default
    if value.get("schema") != expected:
        _refuse(file, "schema", describe(value.get("schema")), repr(expected))
    try:
        document = model.model_validate_json(data, by_alias=True, by_name=False)
    except ValidationError:
        document = validate(model, value, file)  # which tells each problem in our words
    # Equal values have one form, and that of `value` is `data`.
    if document.model_dump(mode="json", by_alias=True) != value:
        _refuse(file, "", "a document that leaves fields out", "every field, unknown ones as null")
    return document, value


def parse_lines(model: type[D], data: bytes, file: str) -> tuple[D, ...]:
    """Read a file with one canonical document a line; the last line ends too."""
    return tuple(document for document, _ in parse_line_values(model, data, file))


def parse_line_values(model: type[D], data: bytes, file: str) -> tuple[tuple[D, dict[str, object]], ...]:
    """Read a file with one canonical document a line; give each, and the JSON value that it is.

    Raises:
        DocumentError, DocumentErrors: as `parse`.
    """
    if data and not data.endswith(b"\n"):
        _refuse(file, "", "a last line without its end", "one whole document a line")
    lines = data.split(b"\n")[:-1]
    return tuple(parse_value(model, line, f"{file}:{number}") for number, line in enumerate(lines, 1))


def _why(error: ValueError) -> str:
    return "a lone surrogate" if isinstance(error, UnicodeEncodeError) else str(error)


def _check(value: object, depth: int) -> bool:
    """Refuse floats and what nests too deep; say whether the rest is plain."""
    if depth > DEEPEST:
        raise NotCanonicalError(found=f"more than {DEEPEST} levels")
    if isinstance(value, Mapping):
        plain = type(value) is dict and all(type(key) is str and key.isascii() for key in value)
        inner: Iterable[object] = value.values()
    elif isinstance(value, list | tuple):
        plain, inner = True, value
    elif isinstance(value, float):
        raise NotCanonicalError(found=f"the float {value!r}, which is written as a decimal string")
    else:
        return value is None or type(value) in {str, bool} or (type(value) is int and abs(value) <= _EXACT)
    for each in inner:
        # What most of any document is, without a call.
        if each is not None and type(each) is not str:
            plain = _check(each, depth + 1) and plain
    return plain


_ODD = object()
"""What cannot be said to be canonical without a closer look."""


def _load_plain(data: bytes) -> object:
    """Give the value of a text that is surely canonical, quickly; `_ODD` for all that may not be.

    What pydantic's writer writes differs from RFC 8785 in the order of keys and in numbers, and in nothing else; a
    text that says a key twice, or writes a value in another way, is not written again as it was.
    """
    try:
        value: object = from_json(data)
        if to_json(value) != data:
            return _ODD
    except ValueError:
        return _ODD
    is_easy = data.isascii() and _LONG_NUMBER not in data.translate(_SKETCH)
    return value if type(value) is dict and _is_plain(value, 0) and (is_easy or _is_exact(value)) else _ODD


def _is_plain(value: dict[str, object] | list[object], depth: int) -> bool:
    """Whether keys are in order, nothing is a float, and nothing too deep."""
    inner: Collection[object] = value
    if type(value) is dict:
        keys, inner = list(value), value.values()
        if keys != sorted(keys):
            return False
    for each in inner:
        kind = type(each)
        if kind is float:
            return False
        if (kind is dict or kind is list) and (depth >= DEEPEST or not _is_plain(each, depth + 1)):  # type: ignore[arg-type]
            return False
    return True


def _is_exact(value: object) -> bool:
    """Whether all keys are ASCII, and all integers exact."""
    if isinstance(value, dict):
        return all(map(str.isascii, value)) and all(map(_is_exact, value.values()))
    if isinstance(value, list):
        return all(map(_is_exact, value))
    return not isinstance(value, int) or -_EXACT <= value <= _EXACT


def _load(data: bytes, file: str) -> object:
    try:
        value = json.loads(
            data.decode("utf-8"),
            object_pairs_hook=_no_twins,
            parse_float=_no_float,
            parse_constant=_no_float,
        )
        form = rfc8785.dumps(value)
        _check(value, 0)
    except (ValueError, RecursionError, NotCanonicalError) as error:
        _refuse(file, "", str(error), "canonical JSON (RFC 8785) without floats", cause=error)
    if form != data:
        _refuse(file, "", f"another form from byte {_differs(form, data)}", "canonical JSON (RFC 8785)")
    return value


def _no_twins(pairs: list[tuple[str, object]]) -> dict[str, object]:
    whole = dict(pairs)
    if len(whole) != len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"the key {next(n for n in names if names.count(n) > 1)!r} stands twice")
    return whole


def _no_float(text: str) -> NoReturn:
    raise ValueError(f"the number {text}, where only integers may stand")


def _differs(form: bytes, data: bytes) -> int:
    pairs = zip(form, data, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(form), len(data)))


def _refuse(file: str, field: str, found: str, expected: str, *, cause: Exception | None = None) -> NoReturn:
    raise DocumentError(file=file, field=field, found=found, expected=expected, mend=_MEND) from cause
