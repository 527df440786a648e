"""Documents of every kind, drawn from their schemas."""

from typing import Any

from hypothesis import strategies as st

from runner.parsing import MAX_INTEGER

Schema = dict[str, Any]

_WORDS = st.sampled_from(
    ["a", "b", "src/a.py", "0.50", "hi", "no", "a" * 60, "straße", "\U0001f600", "%00", "{python}"]
)
_TEXTS = _WORDS | st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=8)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-MAX_INTEGER, MAX_INTEGER) | _TEXTS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(_TEXTS, inner, max_size=2),
    max_leaves=4,
)


def values(schema: Schema, whole: Schema) -> st.SearchStrategy[Any]:
    """Give the values that a JSON Schema allows; `whole` is the document that its references point into."""
    if "$ref" in schema:
        name = schema["$ref"].removeprefix("#/$defs/")
        return st.deferred(lambda: values(whole["$defs"][name], whole))
    if "const" in schema:
        return st.just(schema["const"])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    for union in ("anyOf", "oneOf"):
        if union in schema:
            return st.one_of(*(values(each, whole) for each in schema[union]))
    return _TYPES[schema["type"]](schema, whole) if "type" in schema else _JSON


def _texts(schema: Schema, _: Schema) -> st.SearchStrategy[str]:
    shortest, longest = schema.get("minLength", 0), schema.get("maxLength", 100)
    drawn = st.from_regex(schema["pattern"].replace("$", r"\Z")) if "pattern" in schema else _TEXTS
    return drawn.filter(lambda text: shortest <= len(text) <= longest)


def _numbers(schema: Schema, _: Schema) -> st.SearchStrategy[int]:
    least, most = schema.get("minimum", -MAX_INTEGER), schema.get("maximum", MAX_INTEGER)
    most = min(most, schema.get("exclusiveMaximum", MAX_INTEGER) - 1)
    return st.integers(least, most) | st.sampled_from([least, most])


def _lists(schema: Schema, whole: Schema) -> st.SearchStrategy[list[Any]]:
    least = schema.get("minItems", 0)
    return st.lists(values(schema.get("items", {}), whole), min_size=least, max_size=least + 1)


def _objects(schema: Schema, whole: Schema) -> st.SearchStrategy[dict[str, Any]]:
    if "properties" in schema:
        properties = {name: values(each, whole) for name, each in schema["properties"].items()}
        needed = set(schema.get("required", ()))
        given = {name: each for name, each in properties.items() if name in needed}
        return st.fixed_dictionaries(given, optional={name: properties[name] for name in properties.keys() - needed})
    more = schema.get("additionalProperties", {})
    patterns = schema.get("patternProperties", {})
    for pattern, inner in patterns.items():
        names, more = st.from_regex(pattern.replace("$", r"\Z")), inner
        break
    else:
        names = values({"type": "string"} | schema.get("propertyNames", {}), whole)
    least = schema.get("minProperties", 0)
    return st.dictionaries(
        names, values(more if isinstance(more, dict) else {}, whole), min_size=least, max_size=least + 1
    )


_TYPES = {
    "array": _lists,
    "boolean": lambda *_: st.booleans(),
    "integer": _numbers,
    "null": lambda *_: st.none(),
    "object": _objects,
    "string": _texts,
}
