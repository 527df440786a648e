"""JSON Schemas of every document, generated from the models; a test keeps the committed ones in step."""

import importlib
import json
import pkgutil
from collections.abc import Iterator
from pathlib import Path

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode, JsonSchemaValue
from pydantic_core import core_schema

import runner.config
import runner.documents
import runner.gateway.scenario
from runner.documents.model import Document

WRITTEN_BY_PEOPLE = frozenset(
    {"expected-table", "nomination", "publish-allow", "release-configuration", "runtimes", "scenario"}
)
"""Documents that may leave fields out; in all others every field stands, unknown ones as null."""

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


class _Whole(GenerateJsonSchema):
    """A schema in which every field is required: what we write leaves nothing out."""

    def field_is_required(
        self,
        field: core_schema.ModelField | core_schema.DataclassField | core_schema.TypedDictField,
        total: bool,  # noqa: FBT001 - pydantic's signature
    ) -> bool:
        """Say that a field must be there."""
        return self.mode == "serialization" or super().field_is_required(field, total)


def documents() -> tuple[type[Document], ...]:
    """List every document's model, by the name of its schema."""
    for module in pkgutil.iter_modules(runner.documents.__path__, "runner.documents."):
        importlib.import_module(module.name)
    return tuple(sorted(set(_below(Document)), key=lambda model: model.SCHEMA_NAME))


def schema_of(model: type[Document]) -> JsonSchemaValue:
    """Give a document's JSON Schema."""
    mode: JsonSchemaMode = "validation" if model.SCHEMA_NAME in WRITTEN_BY_PEOPLE else "serialization"
    schema = model.model_json_schema(by_alias=True, schema_generator=_Whole, mode=mode)
    return {"$schema": _DIALECT, "$id": f"cleanroom/{model.SCHEMA_NAME}", **schema}


def schema_files() -> dict[str, bytes]:
    """Give the files that stand in schemas/."""
    return {
        f"{model.SCHEMA_NAME}.json": (json.dumps(schema_of(model), indent=2, sort_keys=True) + "\n").encode()
        for model in documents()
    }


def out_of_step(folder: Path) -> tuple[str, ...]:
    """List the files in schemas/ that are not what the models say."""
    wanted = schema_files()
    found = {path.name: path.read_bytes() for path in folder.glob("*.json")}
    return tuple(sorted(name for name in wanted.keys() | found.keys() if wanted.get(name) != found.get(name)))


def _below(model: type[Document]) -> Iterator[type[Document]]:
    for each in model.__subclasses__():
        if hasattr(each, "SCHEMA_NAME") and each.__module__.startswith("runner."):
            yield each
        yield from _below(each)
