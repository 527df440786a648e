"""Canonical JSON (RFC 8785) without floats: documents to bytes, and bytes to documents."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn, TypeVar

import rfc8785

from runner.documents.model import Document
from runner.errors import DocumentError, NotCanonicalError
from runner.parsing import describe, validate

D = TypeVar("D", bound=Document)

DEEPEST = 64
"""Levels of nesting; what is deeper is an attack on readers, not a document."""

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
    _check(value, 0)
    try:
        return rfc8785.dumps(value)
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
    value = _load(data, file)
    if not isinstance(value, dict):
        _refuse(file, "", describe(value), "a JSON object")
    expected = model.model_fields["schema_"].default
    if value.get("schema") != expected:
        _refuse(file, "schema", describe(value.get("schema")), repr(expected))
    document = validate(model, value, file)
    if canonical(document) != data:
        _refuse(file, "", "a document that leaves fields out", "every field, unknown ones as null")
    return document


def parse_lines(model: type[D], data: bytes, file: str) -> tuple[D, ...]:
    """Read a file with one canonical document a line; the last line ends too."""
    if data and not data.endswith(b"\n"):
        _refuse(file, "", "a last line without its end", "one whole document a line")
    lines = data.split(b"\n")[:-1]
    return tuple(parse(model, line, f"{file}:{number}") for number, line in enumerate(lines, 1))


def _why(error: ValueError) -> str:
    return "a lone surrogate" if isinstance(error, UnicodeEncodeError) else str(error)


def _check(value: object, depth: int) -> None:
    if depth > DEEPEST:
        raise NotCanonicalError(found=f"more than {DEEPEST} levels")
    if isinstance(value, float):
        raise NotCanonicalError(found=f"the float {value!r}, which is written as a decimal string")
    if isinstance(value, Mapping):
        for each in value.values():
            _check(each, depth + 1)
    elif isinstance(value, list | tuple):
        for each in value:
            _check(each, depth + 1)


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
