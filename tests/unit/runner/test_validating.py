"""Laws of the quick validators: they find what the jsonschema package finds, in its words, also when asked again."""

import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from runner.documents.model import Document
from runner.schemas import documents
from runner.verification.validating import Validators
from runner.verify import read_schemas
from tests.unit.hostile import HOSTILE_JSON, TIMES, hostile_documents
from tests.unit.runner.documents import values

SCHEMAS = read_schemas(Path(__file__).parents[3] / "schemas")
SOME = settings(max_examples=3 * TIMES, deadline=None, suppress_health_check=list(HealthCheck))
SHARED = Validators(SCHEMAS)
"""Asked by all tests: what it remembers of one document may not change what it says of another."""


def said(validators: Validators, name: str, value: object) -> list[tuple[str, str]]:
    return [(each.json_path, each.message) for each in validators.errors(name, value)]


def stock(schema: Mapping[str, Any], value: object) -> list[tuple[str, str]]:
    return [(each.json_path, each.message) for each in Draft202012Validator(schema).iter_errors(value)]


@pytest.mark.parametrize("model", documents(), ids=lambda model: model.SCHEMA_NAME)
@SOME
@given(data=st.data())
def test_documents_whole_or_spoilt_are_judged_as_by_the_package(model: type[Document], data: st.DataObject) -> None:
    schema = dict(SCHEMAS[model.SCHEMA_NAME])
    whole = data.draw(values(schema, schema))
    assert said(SHARED, model.SCHEMA_NAME, whole) == []
    spoilt = data.draw(hostile_documents(whole))
    expected = stock(schema, spoilt)
    assert said(SHARED, model.SCHEMA_NAME, spoilt) == expected
    assert said(SHARED, model.SCHEMA_NAME, spoilt) == expected
    assert said(SHARED, model.SCHEMA_NAME, whole) == []


TREE = {"$ref": "#/$defs/Tree", "$defs": {"Tree": {"type": "object", "additionalProperties": {"$ref": "#/$defs/Tree"}}}}
ODD: tuple[tuple[dict[str, Any], tuple[object, ...]], ...] = (
    ({"type": "integer"}, (1, True, 1.0, 1.5, "1", None)),
    ({"const": 1}, (1, True, 1.0)),
    ({"enum": [False, None]}, (0, False, None, "")),
    ({"type": ["string", "null"]}, ("", None, 0)),
    ({"properties": {"a": False, "b": True}, "additionalProperties": False}, ({"a": 1}, {"b": 1}, {"c": 1}, [], {})),
    ({"patternProperties": {"^x": {"type": "null"}}, "additionalProperties": False}, ({"x": 1}, {"x": None}, {"y": 1})),
    ({"additionalProperties": {"maxLength": 1}}, ({"a": "b"}, {"a": "bc"}, {"a": 5})),
    ({"prefixItems": [{"type": "null"}], "items": {"type": "string"}}, ([None, "a"], [1], [None, 1], {}, "x")),
    ({"items": {"minimum": 2}, "minItems": 1}, ([], [1], [2], [2, 1], "no list")),
    ({"oneOf": [{"type": "integer"}, {"minimum": 2}]}, (1, 2, "a")),
    ({"anyOf": [{"type": "integer"}, {"required": ["a"]}]}, (1, {}, {"a": 1}, "x", [])),
    ({"not": {"type": "null"}, "propertyNames": {"pattern": "^[a-z]$"}}, (None, {"a": 1}, {"A": 1})),
    ({"$ref": "#/$defs/a", "minimum": 5, "$defs": {"a": {"type": "integer"}}}, (4, 5, "x")),
    ({"$ref": "#/$defs/a~1b", "$defs": {"a/b": {"type": "integer"}}}, (4, "x")),
    ({"$ref": "#own", "$defs": {"a": {"$anchor": "own", "type": "integer"}}}, (4, "x")),
    ({"properties": {"$ref": {"type": "null"}, "a": {"$ref": "#/$defs/title"}}, "$defs": {"title": {"type": "null"}}},
     ({"$ref": None}, {"$ref": 1}, {"a": 1})),
    (TREE, ({}, {"a": {"b": {}}}, {"a": {"b": 1}}, 1)),
)  # fmt: skip


@pytest.mark.parametrize(("schema", "answers"), ODD, ids=lambda each: str(each)[:40])
def test_every_keyword_means_what_it_means_to_the_package(schema: dict[str, Any], answers: tuple[object, ...]) -> None:
    validators = Validators({"odd": schema})
    for _ in range(2):
        for value in answers:
            assert said(validators, "odd", value) == stock(schema, value), value


@SOME
@given(value=HOSTILE_JSON)
def test_whatever_comes_is_judged_as_by_the_package(value: object) -> None:
    for name in ("seal", "grading", "launcher"):
        assert said(SHARED, name, value) == stock(SCHEMAS[name], value)


def test_another_process_is_given_the_schemas_alone() -> None:
    again = pickle.loads(pickle.dumps(SHARED))  # noqa: S301 - our own
    assert "seal" in again
    assert "stranger" not in again
    assert said(again, "seal", {}) == stock(SCHEMAS["seal"], {})
