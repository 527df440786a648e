"""A checkout with what commands that only read need: a configuration, and the frozen manifest."""

import json
from pathlib import Path

from click.testing import CliRunner, Result

from runner.canonical import canonical
from runner.cli.app import app
from runner.documents.manifest import Manifest


def a_checkout(root: Path, manifest: Manifest) -> Path:
    """Write what `runner show` reads: a configuration, and the frozen manifest."""
    config = {
        "schema": "cleanroom/release-configuration/1",
        "release": "pilot",
        "nominations": ["slugs"],
        "candidates": [{"id": "solver", "agent": "oracle"}],
        "private_artifacts_dir": str(root / "store"),
    }
    (root / "config").mkdir()
    (root / "config/pilot.json").write_text(json.dumps(config))
    (root / "releases/pilot").mkdir(parents=True)
    (root / "releases/pilot/manifest.json").write_bytes(canonical(manifest))
    return root / "config/pilot.json"


def run(config: Path, *words: str) -> Result:
    return CliRunner().invoke(app, ["--config", str(config), *words], standalone_mode=False)
