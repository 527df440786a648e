"""Laws of every document: what a schema allows reads back byte for byte; whatever else comes is told, or is equal."""

import json
import tomllib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from runner.canonical import canonical, parse
from runner.documents.model import Document
from runner.errors import DocumentError, DocumentErrors, NotCanonicalError
from runner.parsing import parse_json, validate
from runner.schemas import WRITTEN_BY_PEOPLE, documents, schema_of
from tests.unit.hostile import TIMES, hostile_bytes, hostile_documents
from tests.unit.runner.documents import Schema, values
from tests.unit.runner.evidence_maker import a_manifest
from tests.unit.runner.written import NOMINATION, config_fields

FILE = "evidence/document.json"
ROOT = Path(__file__).parents[3]
SOME = settings(max_examples=20 * TIMES, deadline=None, suppress_health_check=list(HealthCheck))
Fields = dict[str, Any]
Model = type[Document]
every_document = pytest.mark.parametrize("model", documents(), ids=lambda model: model.SCHEMA_NAME)


def samples() -> dict[str, list[Fields]]:
    """Give whole documents where parts must fit each other, which drawn ones hardly ever do."""
    scenarios = [json.loads(path.read_bytes()) for path in sorted((ROOT / "config/scenarios").glob("*.json"))]
    return {
        "manifest": [json.loads(canonical(a_manifest()))],
        "nomination": [tomllib.loads(NOMINATION)],
        "release-configuration": [json.loads(json.dumps(config_fields()))],
        "scenario": scenarios,
    }


SAMPLES = samples()


def added_up(proof: Fields) -> Fields:
    held = sum(each["held"] for each in proof["proofs"])
    tried = len(proof["proofs"])
    return proof | {"counts": {"tried": tried, "held": held, "broken": tried - held}}


def all_scored(verdict: Fields) -> Fields:
    score = verdict["scores"][0]
    asked = verdict["item"]["criteria"]
    return verdict | {"scores": [score | {"criterion": criterion} for criterion in asked]}


def of_a_roster(document: Fields) -> Fields:
    return document | {"candidate": SAMPLES["manifest"][0]["candidates"][0]}


FITTED: dict[str, Callable[[Fields], Fields]] = {
    "sandbox-proof": added_up,
    "rubric-verdict": all_scored,
    "run": of_a_roster,
    "published-preflight": of_a_roster,
}


@cache
def schema_for(model: Model) -> Schema:
    return schema_of(model)


@cache
def drawn(model: Model) -> st.SearchStrategy[Fields]:
    """Give documents of a kind: samples where there are some, else what the schema allows."""
    if model.SCHEMA_NAME in SAMPLES:
        return st.sampled_from(SAMPLES[model.SCHEMA_NAME])
    return values(schema_for(model), schema_for(model)).map(FITTED.get(model.SCHEMA_NAME, dict))


def read(model: Model, data: bytes) -> Document:
    if model.SCHEMA_NAME in WRITTEN_BY_PEOPLE:
        return validate(model, parse_json(data, FILE), FILE)
    return parse(model, data, FILE)


def told(model: Model, data: bytes) -> Document | None:
    """Read a document, or see that what is wrong is told, and give nothing."""
    try:
        return read(model, data)
    except (DocumentError, DocumentErrors) as error:
        for each in error.errors if isinstance(error, DocumentErrors) else (error,):
            assert each.file == FILE
            assert each.found
            assert each.expected
            assert each.mend
            assert len(str(each)) < 2000
            assert str(each).isprintable()
        return None


def unmet(model: Model, value: object) -> set[str]:
    """Name the kinds of problems that a model has with a value."""
    try:
        model.model_validate_json(json.dumps(value), by_alias=True, by_name=False)
    except ValidationError as error:
        problems = {each["type"] for each in error.errors()}
        # A list whose entries are refused is called too short as well.
        return problems - {"too_short"} or problems
    return set()


def allowed(model: Model, value: object) -> bool:
    return jsonschema.Draft202012Validator(schema_for(model)).is_valid(value)


@every_document
@SOME
@given(data=st.data())
def test_what_a_schema_allows_reads_back_byte_for_byte(model: Model, data: st.DataObject) -> None:
    value = data.draw(drawn(model))
    assert allowed(model, value)
    document = told(model, canonical(value))
    assume(document is not None)
    assert document is not None
    again = canonical(document)
    assert read(model, again) == document
    assert canonical(read(model, again)) == again
    assert model.SCHEMA_NAME in WRITTEN_BY_PEOPLE or again == canonical(value)


UNSAID = {"cleanroom", "value_error", "string_pattern_mismatch", "json_invalid"}
"""What no schema says: rules of our own, a nesting too deep, and (to Python's `re` alone) a line feed at the end."""


@every_document
@SOME
@given(data=st.data())
def test_a_model_refuses_what_its_schema_refuses_and_the_other_way_round(model: Model, data: st.DataObject) -> None:
    value = data.draw(drawn(model) | st.deferred(lambda: drawn(model).flatmap(hostile_documents)))
    try:
        document = told(model, canonical(value))
    except NotCanonicalError:
        document = told(model, json.dumps(value).encode())
    if document is not None:
        assert allowed(model, value)
    if allowed(model, value):
        assert unmet(model, value) <= UNSAID


@every_document
@SOME
@given(data=st.data())
def test_a_document_that_was_spoilt_is_told_or_is_another_in_its_one_form(model: Model, data: st.DataObject) -> None:
    value = data.draw(drawn(model))
    spoilt = data.draw(hostile_bytes(canonical(value)))
    document = told(model, spoilt)
    if document is not None:
        form = canonical(document)
        assert read(model, form) == document
        assert model.SCHEMA_NAME in WRITTEN_BY_PEOPLE or form == spoilt
