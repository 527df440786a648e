"""A field's type and default in words."""

import json
from collections.abc import Callable, Mapping
from enum import Enum
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from annotated_types import Ge, Le, Lt, MaxLen, MinLen
from pydantic import JsonValue
from pydantic.fields import FieldInfo
from pydantic_core import to_jsonable_python

from runner import fields
from runner.documents import facts, model, nomination, seal
from runner.documents.model import Shape
from sandbox.spec import GIB, MIB

Link = Callable[[type[Shape]], str]
"""How a part of a document is pointed at."""

KINDS: tuple[tuple[object, str, str], ...] = (
    (model.Identifier, "identifier", "lower-case letters, digits, `.`, `_` and `-`, at most 80; also a folder's name"),
    (model.Sha256, "sha256", "a SHA-256 digest in lower-case hex"),
    (model.DecimalText, "decimal", "a decimal number as text; never a float"),
    (model.Milliseconds, "milliseconds", "a whole number, 0 or more"),
    (facts.Epoch, "time", "milliseconds since 1970, UTC"),
    (facts.Size, "size", "a whole number, 0 or more; bytes, unless it says otherwise"),
    (facts.PathText, "path text", "a path or a link's target; bytes that are not plain ASCII are written as `%XX`"),
    (seal.SealedPath, "sealed path", "a relative path of plain letters, digits, `.`, `_` and `-`"),
    (seal.Ordinal, "number from 1", "1 to 9999"),
    (fields.Line, "line", "one printable line of at most 500 letters, without blanks at its ends"),
    (fields.ModelName, "model name", "how the provider calls the model"),
    (fields.Criterion, "criterion", "lower-case letters, digits, `_` and `-`, at most 60"),
    (fields.VariableName, "variable name", "the name of an environment variable, never its value"),
    (fields.IsoDate, "day", "such as `2026-01-31`"),
    (fields.HeaderName, "header name", "letters, digits and `-`"),
    (fields.HeaderValue, "header value", "plain ASCII, at most 500"),
    (fields.PositiveDecimal, "decimal above 0", "as text, such as `0.25`"),
    (fields.RelativePath, "relative path", "with `/`; without `.`, `..`, `.git`, empty parts and control characters"),
    (fields.FolderPath, "folder", "a relative path, or `.` for the root itself"),
    (
        fields.ChangeRule,
        "change rule",
        "an exact path, a folder ending in `/`, or a glob: `*` and `?` within one part, `**` for any number of parts",
    ),
    (fields.HostPath, "host path", "a path on this host; a relative one counts from the checkout"),
    (fields.BaseUrl, "address", "http or https, without user, query and fragment"),
    (nomination.DistributionName, "package name", "as the package index has it"),
    (nomination.DistributionVersion, "package version", "as the package index has it"),
)
"""Kinds of text and numbers that have a name: the type, the name, and what it means."""

_PLAIN = {bool: "true or false", int: "whole number", str: "text", bytes: "bytes", NoneType: "null"}


def type_words(hint: Any, link: Link) -> str:  # noqa: ANN401 - a type, of whatever form
    """Say what a field may hold."""
    if hint is JsonValue:
        return "any JSON"
    if get_origin(hint) is Annotated:
        return _annotated(hint, link)
    if isinstance(hint, type):
        return _class_words(hint, link)
    return _generic(get_origin(hint), get_args(hint), link)


def _class_words(hint: type, link: Link) -> str:
    if issubclass(hint, Shape):
        return link(hint)
    if issubclass(hint, Enum):
        return _choice([each.value for each in hint])
    return _PLAIN[hint] if hint in _PLAIN else _generic(get_origin(hint), get_args(hint), link)


def _generic(origin: Any, parts: tuple[Any, ...], link: Link) -> str:  # noqa: ANN401 - as above
    if origin in {Union, UnionType}:
        said = [type_words(each, link) for each in parts if each is not NoneType]
        return " or ".join(dict.fromkeys([*said, *(["null"] if NoneType in parts else [])]))
    if origin is Literal:
        return _choice(list(parts))
    if origin is tuple:
        return f"list of {type_words(parts[0], link)}"
    if origin in {dict, Mapping}:
        return f"table: {type_words(parts[0], link)} to {type_words(parts[1], link)}"
    raise TypeError(f"no words for {origin}{parts}; add them to runner/reference/words.py")


def _annotated(hint: Any, link: Link) -> str:  # noqa: ANN401 - as above
    inner, *notes = get_args(hint)
    for kind, name, _ in KINDS:
        if get_args(kind)[1] is notes[0]:
            return name
    marks = [mark for note in notes for mark in (note.metadata if isinstance(note, FieldInfo) else [note])]
    return " ".join(filter(None, (type_words(inner, link), _bounds(marks))))


def _bounds(marks: list[object]) -> str:
    """Say how small and how large; of a length alone, only what people may run into."""
    low = high = None
    for mark in marks:
        match mark:
            case Ge(ge=int(value)) | MinLen(min_length=value):
                low = value
            case Le(le=int(value)) | MaxLen(max_length=value):
                high = value
            case Lt(lt=int(value)):
                high = value - 1
    if low is not None and high is not None:
        return f"({_amount(low)} to {_amount(high)})"
    if low is not None:
        return f"({_amount(low)} or more)"
    return "" if high is None else f"(at most {_amount(high)})"


def _amount(value: int) -> str:
    for unit, name in ((GIB, "GiB"), (MIB, "MiB")):
        if value >= unit and value % unit == 0:
            return f"{value // unit} {name}"
    return str(value)


def _choice(values: list[object]) -> str:
    *most, last = [f"`{each}`" for each in values]
    return f"{', '.join(most)} or {last}" if most else last


def default_words(field: FieldInfo) -> str:
    """Say what counts where a field is left out."""
    if field.is_required():
        return "must be given"
    value = field.get_default(call_default_factory=True)
    if isinstance(value, Shape):
        changed = value.model_dump(mode="json", exclude_defaults=True)
        return f"`{json.dumps(changed)}`" if changed and "kind" not in changed else _shape_default(changed)
    plain = to_jsonable_python(value)
    if plain in ([], {}):
        return "empty"
    if isinstance(plain, int) and not isinstance(plain, bool) and plain >= MIB:
        return _amount(plain)
    return f"`{json.dumps(plain)}`"


def _shape_default(changed: dict[str, object]) -> str:
    return f"kind `{changed['kind']}`" if "kind" in changed else "its defaults"
