"""Node in real units: hidden tests in JavaScript on the trusted side, submitted JavaScript as another account."""

from datetime import timedelta
from pathlib import Path

import pytest

from evaluators.model import Bench, EvaluatorSpec, Node, Submission, VerdictCause
from evaluators.node_test import build_node_test
from evaluators.packing import pack_files
from runner.node_toolchain import PROGRAM
from runner.toolchain_store import TARGET, stored
from sandbox.client import KeeperSandbox
from sandbox.spec import MIB, Limits
from tests.node import pinned_node

pytestmark = pytest.mark.systemd

LIMITS = Limits(wall=timedelta(seconds=30), memory_bytes=512 * MIB, disk_bytes=64 * MIB, disk_inodes=5000)
HIDDEN = """
import assert from 'node:assert/strict';
import test from 'node:test';
import { submitted } from 'cleanroom-driver';
test('answers', () => assert.equal(submitted('./work.mjs:answer')('copper'), 'copper-lantern-42'));
"""
RIGHT = "export const answer = (word) => `${word}-lantern-42`;\n"
CHEATS = {
    "looks for the tests": (
        "import { readdirSync, readFileSync } from 'node:fs';\n"
        "export const answer = () => readFileSync('/opt/driver/' + readdirSync('/opt/driver')[0], 'utf8')"
        ".match(/copper-lantern-../)[0];\n"
    ),
    "ends with 0": "process.on('exit', () => { process.exitCode = 0; });\nprocess.exit(0);\n",
    "prints results": "console.log('TAP version 13\\nok 1 - answers\\n1..1');\nexport const answer = () => true;\n",
}


def test_right_code_passes_and_cheats_get_nothing(sandbox: KeeperSandbox, tmp_path: Path) -> None:
    (tmp_path / "hidden.test.mjs").write_text(HIDDEN)
    spec = EvaluatorSpec(id="hidden", kind="node-test", options={"files": ["hidden.test.mjs"]}, folder=tmp_path)
    toolchain, node = (stored(pinned_node(), sandbox),), Node(program=f"{TARGET}/{PROGRAM}")
    bench = Bench(sandbox=sandbox, toolchain=toolchain, python_path=(), root=".", limits=LIMITS, node=node)
    base = (sandbox.store(pack_files({"README": b"x"})),)

    def submission(code: str) -> Submission:
        return Submission(base=base, change=pack_files({"work.mjs": code.encode()}), tree_digest="0" * 64)

    evaluator = build_node_test(spec, build_node_test(spec).calibrate(submission(RIGHT), bench))
    honest = evaluator.judge(submission(RIGHT), bench)
    assert honest.cause is VerdictCause.PASSED, honest
    for name, code in CHEATS.items():
        verdict = evaluator.judge(submission(code), bench)
        assert (verdict.passed, verdict.score) == (False, 0), (name, verdict)
