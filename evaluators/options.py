"""Reading an evaluator's options: strict; an error names field, found and expected. Pure."""

import re
from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from decimal import Decimal

from evaluators.errors import OptionError
from evaluators.model import EvaluatorSpec

_MOST_SECONDS = 86_400
_FRACTION = re.compile(r"0(\.[0-9]{1,6})?|1(\.0{1,6})?")


def refuse_unknown(spec: EvaluatorSpec, known: Collection[str]) -> None:
    """Refuse options that the kind does not have."""
    for field in spec.options:
        if field not in known:
            raise _wrong(spec, field, "an unknown option", ", ".join(sorted(known)) or "no option at all")


def read_count(spec: EvaluatorSpec, field: str, default: int | None = None) -> int | None:
    """Read a whole number above zero."""
    value = spec.options.get(field)
    if value is None:
        return default
    if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
        raise _wrong(spec, field, repr(value), "a whole number above zero")
    return value


def read_wall(spec: EvaluatorSpec) -> timedelta | None:
    """Read `wall_s`, seconds of at most a day; None where it is missing."""
    seconds = read_count(spec, "wall_s")
    if seconds is not None and seconds > _MOST_SECONDS:
        raise _wrong(spec, "wall_s", str(seconds), f"at most {_MOST_SECONDS} seconds")
    return None if seconds is None else timedelta(seconds=seconds)


def read_flag(spec: EvaluatorSpec, field: str) -> bool:
    """Read a yes or no; no where it is missing."""
    value = spec.options.get(field, False)
    if not isinstance(value, bool):
        raise _wrong(spec, field, repr(value), "true or false")
    return value


def read_path(spec: EvaluatorSpec, field: str) -> str:
    """Read a relative path, which must be there."""
    value = spec.options.get(field)
    if not isinstance(value, str) or not is_relative(value):
        raise _wrong(spec, field, repr(value), "a relative path with '/' between its parts and without '..'")
    return value


def read_choice(spec: EvaluatorSpec, field: str, known: Sequence[str]) -> str:
    """Read one of the known words; the first where it is missing."""
    value = spec.options.get(field, known[0])
    if not isinstance(value, str) or value not in known:
        raise _wrong(spec, field, repr(value), " or ".join(known))
    return value


def read_fraction(spec: EvaluatorSpec, field: str, default: str) -> Decimal:
    """Read a number from 0 to 1, written as a decimal text, since binary fractions are none of them."""
    value = spec.options.get(field, default)
    if not isinstance(value, str) or not _FRACTION.fullmatch(value):
        raise _wrong(spec, field, repr(value), "a text from '0' to '1', such as '0.85'")
    return Decimal(value)


def read_texts(spec: EvaluatorSpec, field: str) -> tuple[str, ...]:
    """Read a list of texts; empty where it is missing."""
    return _texts(spec, field, spec.options.get(field, []))


def read_groups(spec: EvaluatorSpec, field: str) -> dict[str, tuple[str, ...]]:
    """Read a table of named lists of texts, none of them empty."""
    value = spec.options.get(field)
    if not isinstance(value, Mapping) or not value:
        raise _wrong(spec, field, repr(value), "a table of lists")
    return {str(name): _texts(spec, f"{field}.{name}", each, empty=False) for name, each in value.items()}


def _texts(spec: EvaluatorSpec, field: str, value: object, *, empty: bool = True) -> tuple[str, ...]:
    texts = tuple(each for each in value if isinstance(each, str)) if isinstance(value, list | tuple) else ()
    if not isinstance(value, list | tuple) or len(set(texts)) != len(value) or not (texts or empty):
        raise _wrong(spec, field, repr(value), "a list of texts, each of them once")
    return texts


def read_weights(spec: EvaluatorSpec, field: str) -> dict[str, int]:
    """Read a table of names and whole numbers above zero."""
    value = spec.options.get(field)
    if not isinstance(value, Mapping) or not value:
        raise _wrong(spec, field, repr(value), "a table: a name -> a whole number above zero")
    for name, weight in value.items():
        if not isinstance(weight, int) or isinstance(weight, bool) or weight <= 0:
            raise _wrong(spec, f"{field}.{name}", repr(weight), "a whole number above zero")
    return {str(name): int(weight) for name, weight in value.items()}


def is_relative(path: str) -> bool:
    """Whether a text is a relative path in its only spelling."""
    return path.isprintable() and "\\" not in path and not {"", ".", ".."} & set(path.split("/"))


def read_names(spec: EvaluatorSpec, field: str) -> tuple[str, ...]:
    """Read a list of dotted names; empty where it is missing."""
    value = spec.options.get(field, [])
    if not isinstance(value, list | tuple):
        raise _wrong(spec, field, repr(value), "a list of names")
    names = tuple(item for item in value if isinstance(item, str) and _is_dotted(item))
    if len(names) != len(value):
        raise _wrong(spec, field, repr(value), "a list of dotted names")
    return names


def as_values(options: Mapping[str, object]) -> dict[str, object]:
    """Give options as plain JSON values, for a digest."""
    return {field: list(value) if isinstance(value, tuple) else value for field, value in options.items()}


def _is_dotted(text: str) -> bool:
    return all(part.isidentifier() for part in text.split("."))


def _wrong(spec: EvaluatorSpec, field: str, found: str, expected: str) -> OptionError:
    return OptionError(evaluator=spec.id, field=field, found=found, expected=expected)
