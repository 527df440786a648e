"""Documents against their committed schemas, by the jsonschema package; quick where it has nothing to say.

The package makes a validator for each part of each document that it looks at, which is most of its work. Here one is
made for each part of a schema, once, and a plain value that it has admitted is not shown to it again. A document that
is not admitted like this is put to the package as it comes, and what it says then is what is found.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from jsonschema import Draft202012Validator, ValidationError
from jsonschema.protocols import Validator
from jsonschema.validators import extend

Value = Any
"""What JSON can say."""
Schema = Mapping[str, Any]
Rule = Schema | bool
Said = Any
"""What a keyword's function gives: errors to go through, or nothing."""
Schemas = Mapping[str, Schema]
"""JSON Schemas by name."""

_NOTES = frozenset({"title", "description", "default", "$schema", "$id", "$defs"})
"""What forbids nothing."""
_MOST_SEEN = 1 << 16
"""Plain values that one part remembers."""
_CLASSES = {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int, "null": type(None)}
"""What the package takes for a type without a doubt."""
_NOT = (ValidationError("not admitted"),)
"""Said instead of errors, which the package gives when it is asked again."""
_STOCK = Draft202012Validator.VALIDATORS


class Validators:
    """The validators of some schemas; pickled as the schemas alone. The schemas may not change."""

    def __init__(self, schemas: Schemas) -> None:
        self._schemas = schemas
        self._whole: dict[str, tuple[_Part, Validator]] = {}
        # Parts of schemas are known by their identity, which they keep as long as the schemas are held.
        self._parts: dict[int, _Part] = {}
        self._members: dict[int, dict[str, _Part]] = {}
        self._targets: dict[int, Rule] = {}
        self._alike: dict[str, _Part] = {}
        self._class = extend(  # type: ignore[no-untyped-call]
            Draft202012Validator,
            {
                "$ref": self._ref,
                "additionalProperties": self._additional,
                "anyOf": self._any_of,
                "items": self._items,
                "properties": self._properties,
                "required": _required,
                "type": _type,
            },
        )

    def __reduce__(self) -> tuple[type["Validators"], tuple[Schemas]]:
        return Validators, (self._schemas,)

    def __contains__(self, name: str) -> bool:
        return name in self._schemas

    def errors(self, name: str, value: Value) -> Iterator[ValidationError]:
        """Find what a schema does not allow, in the package's own words.

        Raises:
            KeyError: there is no schema of that name.
        """
        if name not in self._whole:
            schema = self._schemas[name]
            self._targets |= _local_targets(schema)
            self._whole[name] = _Part(self._class(schema), schema), Draft202012Validator(schema)
        quick, stock = self._whole[name]
        if not quick.admits(value):
            yield from stock.iter_errors(value)

    def _part(self, validator: Validator, rule: Rule) -> "_Part":
        """Give a part of a schema; those that say the same, and refer to nothing, are one."""
        part = self._parts.get(id(rule))
        if part is None:
            said = {key: each for key, each in rule.items() if key not in _NOTES} if isinstance(rule, dict) else rule
            text = json.dumps(said, sort_keys=True)
            if isinstance(said, dict) and said.keys() == {"$ref"} and id(rule) in self._targets:
                part = self._part(validator, self._targets[id(rule)])
            else:
                part = _Part(validator.evolve(schema=rule), rule)
            if '"$ref"' not in text:
                part = self._alike.setdefault(text, part)
            self._parts[id(rule)] = part
        return part

    def _properties(self, validator: Validator, rules: Mapping[str, Rule], value: Value, _schema: Schema) -> Said:
        if type(value) is not dict:
            return ()
        parts = self._members.get(id(rules))
        if parts is None:
            parts = self._members[id(rules)] = {name: self._part(validator, each) for name, each in rules.items()}
        for name, inner in value.items():
            part = parts.get(name)
            if part is None:
                continue
            kind = type(inner)
            if (kind is dict or kind is list or (kind, inner) not in part.seen) and not part.admits(inner):
                return _NOT
        return ()

    def _additional(self, validator: Validator, rule: Rule, value: Value, schema: Schema) -> Said:
        if type(value) is not dict or "patternProperties" in schema:
            return _STOCK["additionalProperties"](validator, rule, value, schema)
        extras = value.keys() - schema.get("properties", {}).keys()
        if not extras:
            return ()
        part = self._part(validator, rule)
        return () if all(part.admits(value[name]) for name in extras) else _NOT

    def _items(self, validator: Validator, rule: Rule, value: Value, schema: Schema) -> Said:
        if type(value) is not list or "prefixItems" in schema:
            return _STOCK["items"](validator, rule, value, schema)
        part = self._part(validator, rule)
        return () if all(map(part.admits, value)) else _NOT

    def _any_of(self, validator: Validator, rules: list[Rule], value: Value, _schema: Schema) -> Said:
        return () if any(self._part(validator, each).admits(value) for each in rules) else _NOT

    def _ref(self, validator: Validator, reference: str, value: Value, schema: Schema) -> Said:
        target = self._targets.get(id(schema))
        if target is None:
            return _STOCK["$ref"](validator, reference, value, schema)
        return () if self._part(validator, target).admits(value) else _NOT


def _required(validator: Validator, names: list[str], value: Value, schema: Schema) -> Said:
    if type(value) is dict and all(map(value.__contains__, names)):
        return ()
    return _STOCK["required"](validator, names, value, schema)


def _type(validator: Validator, names: str | list[str], value: Value, schema: Schema) -> Said:
    if isinstance(names, str) and type(value) is _CLASSES.get(names):
        return ()
    return _STOCK["type"](validator, names, value, schema)


class _Part:
    """A part of a schema, with the plain values that it has admitted."""

    __slots__ = ("_checks", "_rule", "_validator", "seen")

    def __init__(self, validator: Validator, rule: Rule) -> None:
        self._validator = validator
        self._rule = rule
        keywords = rule.items() if isinstance(rule, dict) else ()
        self._checks = tuple((validator.VALIDATORS[key], each) for key, each in keywords if key in validator.VALIDATORS)
        self.seen: set[tuple[type, object]] = set()

    def admits(self, value: Value) -> bool:
        """Whether the package finds nothing; `seen` has what it found nothing of."""
        if type(value) is dict or type(value) is list:
            return self._finds_nothing(value)
        key = (type(value), value)  # 1 and True are equal
        if key in self.seen:
            return True
        if not self._finds_nothing(value):
            return False
        if len(self.seen) >= _MOST_SEEN:
            self.seen.clear()
        self.seen.add(key)
        return True

    def _finds_nothing(self, value: Value) -> bool:
        for check, given in self._checks:
            said = check(self._validator, given, value, self._rule)
            if said and next(iter(said), None) is not None:
                return False
        return self._rule is not False


def _local_targets(root: Schema) -> dict[int, Rule]:
    """Find what each reference within a schema means, by the identity of the object that holds it.

    A schema with names of its own for its parts is left to the package.
    """
    inner = tuple(_objects(root))
    if any(each.keys() & {"$id", "$anchor", "$dynamicRef"} for each in inner if each is not root):
        return {}
    found = ((id(each), _pointed(root, each["$ref"])) for each in inner if isinstance(each.get("$ref"), str))
    return {place: target for place, target in found if isinstance(target, dict | bool)}


def _objects(value: Value) -> Iterator[Schema]:
    if isinstance(value, dict):
        yield value
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _objects(each)


def _pointed(root: Schema, reference: str) -> object:
    """Follow a plain pointer (RFC 6901) within a schema; None where it leads nowhere, or is not plain."""
    here: object = root
    if not reference.startswith("#/") or "~" in reference or "%" in reference:
        return None
    for part in reference.removeprefix("#/").split("/"):
        here = here.get(part) if isinstance(here, dict) else None
    return here
