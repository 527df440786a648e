"""Reading an evaluator's options: strict; an error names field, found and expected. Pure."""

from collections.abc import Collection, Mapping

from evaluators.errors import OptionError
from evaluators.model import EvaluatorSpec


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
