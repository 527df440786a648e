"""Proven nominations: freeze asks for a certificate, says so without one, and those that are shipped have theirs."""

import json
from pathlib import Path

import pytest

from runner.inputs import load_inputs
from runner.preparing import open_workbench, prepare
from runner.settings import load_settings
from runner.validating.certificates import unproven
from tests.flow.bench import Bench

pytestmark = pytest.mark.systemd

CONFIG = Path(__file__).parents[2] / "config"


@pytest.mark.parametrize("name", ["pilot", "tasks", "crafts"])
def test_every_shipped_nomination_is_proven(name: str) -> None:
    settings = load_settings({}, config=CONFIG / f"{name}.json")
    inputs = load_inputs(settings)
    prepared = prepare(inputs, settings, open_workbench(inputs.places, settings), {})
    assert [str(error) for each in prepared.nominations if (error := unproven(each)) is not None] == []


def test_an_unproven_nomination_is_refused_before_anything_is_run(bench: Bench) -> None:
    config = json.loads(bench.config.read_text())
    bench.config.write_text(json.dumps(config | {"release": "unproven-1"}))
    said = bench.run("freeze", "--proven")
    assert said.code == 2
    assert "records/certificate.json: found no certificate" in said.err
    assert "runner validate --nomination clamp" in said.err
    assert not (bench.checkout / "releases/unproven-1").exists()


def test_what_is_frozen_unproven_is_called_so_by_every_table_and_document(piloted: Bench) -> None:
    submission = json.loads((piloted.attempt("oracle") / "try-1/submission/submission.json").read_bytes())
    assert submission["origin"]["proven"] is False
    said = piloted.run("aggregate")
    assert "unproven: nominations were frozen without a certificate" in said.out
