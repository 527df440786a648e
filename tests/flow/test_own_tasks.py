"""From a real repository to a nomination, by the commands that a user enters.

`scripts/bench init` goes on from here: it proves such a nomination, freezes it with its controls, and runs the release.
"""

import json
import shutil
import tomllib
from pathlib import Path

import pytest

from tests.flow.bench import LOCK, RUNNER, Bench, entered
from tests.flow.histories import PARSE, TASK, package_repository

pytestmark = pytest.mark.systemd


def test_a_fix_of_a_real_package_becomes_a_nomination_that_was_tried_in_real_units(
    benches: Path, frozen: Bench
) -> None:
    folder = benches / "own"
    repository = package_repository(benches / "upstream/parse", PARSE, benches / "downloads")
    (benches / "task.md").write_text(TASK)
    (benches / "lock.txt").write_text(LOCK)
    assert entered([str(RUNNER), "init", str(folder)]).code == 0
    # Its toolchain was built when the bench was frozen.
    shutil.copytree(frozen.checkout / ".cleanroom/toolchains", folder / ".cleanroom/toolchains", symlinks=True)
    config = folder / "config/bench.json"
    runner = (str(RUNNER), "--config", str(config))

    given = ("--prompt", str(benches / "task.md"), "--requirements", str(benches / "lock.txt"), "--repeats", "0")
    made = entered([*runner, "init", "nomination", "--from-git", str(repository), "HEAD", "--id", "dates", *given])
    assert made.code == 0, made.err
    nomination = folder / "config/nominations/dates"
    evaluator = tomllib.loads((nomination / "nomination.toml").read_text())["evaluators"][0]
    assert (len(evaluator["fail_to_pass"]), len(evaluator["pass_to_pass"])) == (8, 54)
    assert "tests/test_parse.py::test_too_many_fields" not in evaluator["pass_to_pass"]
    assert len(list((nomination / "wrong").iterdir())) == 2

    fields = json.loads(config.read_text())
    config.write_text(json.dumps(fields | {"nominations": ["size-units", "dates"]}))
    assert entered([*runner, "lint"]).err == "0 errors, 0 warnings\n"
