"""A submitted suite in real units: each run is alone, and what hangs has killed nothing."""

from dataclasses import replace
from pathlib import Path

import pytest

from evaluators.model import Bench
from evaluators.packing import pack_files
from runner.validating.suite_cheats import suite_cheats
from sandbox.client import KeeperSandbox
from tests.systemd.test_pytest_suite import bench
from tests.unit.evaluators.mutating import ENDLESS, FEW, GOOD, MODULE, Mill, build_mutation, versions_spec

pytestmark = pytest.mark.systemd

__all__ = ["bench"]
NONE = "\ndef test_none():\n    assert fee(0) == 0\n"
TWICE = dict(suite_cheats("price.py", MODULE.encode()))["tests fail from the second run on"].decode()


def test_units_are_fresh_and_a_mutant_that_hangs_is_not_killed(bench: Bench, tmp_path: Path) -> None:
    assert isinstance(bench.sandbox, KeeperSandbox)
    evaluator = build_mutation(versions_spec(tmp_path, FEW + ENDLESS, wall_s=4))
    base = bench.sandbox.store(pack_files({"price.py": MODULE.encode()}))
    mill = Mill(evaluator=evaluator, bench=replace(bench, units_at_once=3), base=base)
    verdict = mill.judge(GOOD + NONE, {"tests/test_again.py": TWICE})
    assert verdict.detail == "1 of 2 mutants killed, 4 of 4 tests right"
    assert [case.id for case in verdict.cases if not case.passed] == ["mutant: endless"]
    again = replace(mill, evaluator=build_mutation(versions_spec(tmp_path, FEW, tests=["tests"])))
    assert again.judge(GOOD, {"tests/test_again.py": TWICE}).detail == "1 of 1 mutants killed, 5 of 5 tests right"
