"""Laws of the committed schemas: in step with the models, and as strict as they are."""

import json
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from runner.canonical import canonical
from runner.documents.model import Document
from runner.documents.seal import Seal, SealKind
from runner.schemas import WRITTEN_BY_PEOPLE, documents, out_of_step, schema_of
from tests.unit.runner.evidence_maker import HOST, SOLVER, a_manifest, a_store

ROOT = Path(__file__).parents[3]


def test_the_committed_schemas_are_what_the_models_say() -> None:
    assert out_of_step(ROOT / "schemas") == ()


def test_the_check_leaves_with_1_and_names_what_is_out_of_step(tmp_path: Path) -> None:
    for name in ("schemas", "scripts", "runner", "evaluators", "sandbox"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / "schemas").unlink()
    (tmp_path / "schemas").mkdir()
    (tmp_path / "scripts").unlink()
    (tmp_path / "scripts").mkdir()
    script = tmp_path / "scripts" / "schemas"
    script.write_bytes((ROOT / "scripts" / "schemas").read_bytes())
    (tmp_path / "schemas" / "stranger.json").touch()
    check = [sys.executable, "-B", str(script), "--check"]
    done = subprocess.run(check, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    assert "schemas/stranger.json is out of step" in done.stdout
    assert "schemas/seal.json is out of step" in done.stdout
    subprocess.run([sys.executable, "-B", str(script)], capture_output=True, check=True)
    assert subprocess.run(check, capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize("model", documents(), ids=lambda model: model.SCHEMA_NAME)
def test_every_schema_is_valid_closed_and_names_its_document(model: type[Document]) -> None:
    schema = schema_of(model)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["additionalProperties"] is False
    assert schema["properties"]["schema"]["const"].startswith(f"cleanroom/{model.SCHEMA_NAME}/")
    if model.SCHEMA_NAME not in WRITTEN_BY_PEOPLE:
        assert set(schema["required"]) == set(schema["properties"])


@pytest.mark.parametrize("model", documents(), ids=lambda model: model.SCHEMA_NAME)
def test_no_document_can_hold_a_float(model: type[Document]) -> None:
    assert '"type": "number"' not in json.dumps(schema_of(model))


def test_what_we_write_meets_its_schema(tmp_path: Path) -> None:
    manifest = a_manifest()
    trial = a_store(tmp_path, manifest).trial(SOLVER, 1)
    for document in (HOST, manifest, Seal(kind=SealKind.VOID, trial=trial, files=())):
        jsonschema.validate(json.loads(canonical(document)), schema_of(type(document)))


def test_a_field_left_out_or_added_breaks_the_schema() -> None:
    whole = json.loads(canonical(HOST))
    for broken in ({**whole, "gpu": "none"}, {name: whole[name] for name in whole if name != "kernel"}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(broken, schema_of(type(HOST)))
