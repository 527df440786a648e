"""Grader attacks by kind, each with its honest control: wrong work gains nothing, right work loses nothing.

Without walls, so that whatever a planted file did would be seen: it would leave a trace beside the sandbox.
"""

import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from evaluators.driven import build_checks, build_command
from evaluators.json_match import build_json_match
from evaluators.model import Bench, Evaluator, EvaluatorSpec, Submission, Verdict, VerdictCause
from evaluators.node_test import build_node_test
from evaluators.packing import laid_over, pack_files
from evaluators.pytest_suite import build_pytest_suite
from evaluators.review_findings import build_review_findings
from evaluators.small_kinds import build_lint, build_rbac
from runner.validating.payloads import UNITTEST_AGREES
from sandbox.api import Pack
from sandbox.spec import ObjectId
from sandbox.tree import Entry, Kind
from tests.fakes import PlainSandbox
from tests.node import node_bench
from tests.unit.evaluators.judging import plain_bench
from tests.unit.evaluators.test_small_kinds import HONEST, LISTER, READER, SUBJECT, role, rule
from tests.unit.evaluators.tooled import tooled_bench

RIGHT = b"def add(left, right):\n    return left + right\n"
WRONG = b"def add(left, right):\n    return 100 * left - right\n"
NODE_RIGHT = b"export const add = (left, right) => left + right;\n"
NODE_WRONG = b"export const add = (left, right) => 100 * left - right;\n"

SUITE = """
from calc import add


def test_small():
    assert add(1, 2) == 3


def test_large():
    assert add(5, 7) == 12
"""
DRIVER = """
from cleanroom_driver import case, submitted

add = submitted("%s:add")
with case("small"):
    assert add(1, 2) == 3
with case("large"):
    assert add(5, 7) == 12
"""
NODE_SUITE = """
import assert from 'node:assert/strict';
import test from 'node:test';
import { submitted } from 'cleanroom-driver';

const add = submitted('./calc.mjs:add');
test('small', () => assert.equal(add(1, 2), 3));
test('large', () => assert.equal(add(5, 7), 12));
"""
REVIEW = '{"bugs": [{"id": "one", "file": "a.py", "lines": [3, 3]}, {"id": "two", "file": "a.py", "lines": [9, 9]}]}'


@dataclass(frozen=True, kw_only=True)
class Court:
    """One kind, ready to judge, with a right and a wrong piece of work."""

    evaluator: Evaluator
    bench: Bench
    base: ObjectId
    path: str
    right: bytes
    wrong: bytes

    def judge(self, work: bytes, beside: Pack | None = None) -> Verdict:
        """Judge the work with other things beside it."""
        change = laid_over(pack_files({}) if beside is None else beside, pack_files({self.path: work}))
        return self.evaluator.judge(Submission(base=(self.base,), change=change, tree_digest="0" * 64), self.bench)


KINDS: Mapping[str, tuple[str, Mapping[str, object], Mapping[str, str]]] = {
    "pytest": ("calc.py", {}, {"test_calc.py": SUITE}),
    "command": ("calc.py", {"program": "driver.py", "cases": ["small", "large"]}, {"driver.py": DRIVER % "calc"}),
    "checks": ("calc.py", {"script": "driver.py", "weights": {"small": 1, "large": 3}}, {"driver.py": DRIVER % "calc"}),
    "command, of Node": (
        "calc.mjs",
        {"program": "driver.py", "cases": ["small", "large"]},
        {"driver.py": DRIVER % "./calc.mjs"},
    ),
    "node-test": ("calc.mjs", {"files": ["calc.test.mjs"]}, {"calc.test.mjs": NODE_SUITE}),
    "json-match": ("answer.json", {"file": "answer.json", "expected": "e.json"}, {"e.json": '{"sum": 3}'}),
    "review-findings": ("review.json", {"file": "review.json", "key": "key.json"}, {"key.json": REVIEW}),
    "lint": ("parsed.py", {"files": ["parsed.py"], "rules": ["F"]}, {}),
    "rbac": ("rbac.yaml", {"files": ["rbac.yaml"], "subject": SUBJECT, "needs": [READER, LISTER]}, {}),
}
WORK: Mapping[str, tuple[bytes, bytes]] = {
    "calc.py": (RIGHT, WRONG),
    "calc.mjs": (NODE_RIGHT, NODE_WRONG),
    "answer.json": (b'{"sum": 3}', b'{"sum": 4}'),
    "parsed.py": (RIGHT, b"import os\n" + RIGHT[:-1] + b")\n"),
    "rbac.yaml": (HONEST.encode(), role(rule(verbs="'*'")).encode()),
    "review.json": (b'[{"file": "a.py", "line": 3}, {"file": "a.py", "line": 9}]', b'[{"file": "a.py", "line": 50}]'),
}
BUILD: Mapping[str, Callable[[EvaluatorSpec, object], Evaluator]] = {
    "pytest": build_pytest_suite,
    "command": build_command,
    "checks": build_checks,
    "node-test": build_node_test,
    "json-match": build_json_match,
    "review-findings": build_review_findings,
    "lint": build_lint,
    "rbac": build_rbac,
}


def open_court(kind: str, folder: Path, hidden: Mapping[str, str] | None = None) -> Court:
    path, options, private = KINDS[kind]
    (folder / "private").mkdir(parents=True)
    for name, text in (hidden or private).items():
        (folder / "private" / name).write_text(text)
    bench = bench_for(kind, folder)
    sandbox = bench.sandbox
    plain = kind.partition(",")[0]
    spec = EvaluatorSpec(id="hidden", kind=plain, options=options, folder=folder / "private")
    right, wrong = WORK[path]
    base = sandbox.store(pack_files({"README": b"x"}))
    evaluator = BUILD[plain](spec, None)
    solution = Submission(base=(base,), change=pack_files({path: right}), tree_digest="0" * 64)
    if hasattr(evaluator, "calibrate"):
        evaluator = BUILD[plain](spec, evaluator.calibrate(solution, bench))
    return Court(evaluator=evaluator, bench=bench, base=base, path=path, right=right, wrong=wrong)


def bench_for(kind: str, folder: Path) -> Bench:
    if kind in {"lint", "rbac"}:
        return tooled_bench(folder)
    (folder / "sandbox").mkdir()
    sandbox = PlainSandbox(folder / "sandbox")
    return node_bench(sandbox) if kind in {"command, of Node", "node-test"} else plain_bench(sandbox)


@pytest.fixture(scope="module", params=KINDS)
def court(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Court:
    return open_court(request.param, tmp_path_factory.mktemp("court"))


def planted(trace: Path) -> Pack:
    """Give what tools of others would read, run or take for results; what is run leaves a trace."""
    run = f"#!/bin/sh\ntouch {trace}\nexit 0\n".encode()
    python = f"import os\nopen({str(trace)!r}, 'w').close()\nos._exit(0)\n".encode()
    node = f"require('node:fs').writeFileSync({str(trace)!r}, '');\nprocess.exit(0);\n".encode()
    scripts = dict.fromkeys(("pretest", "test", "posttest", "preinstall", "postinstall"), f"touch {trace}")
    programs = ("python3", "python", "node", "npm", "git", "sh", "pytest", "pip")
    folders = ("", "bin/", "node_modules/.bin/", ".venv/bin/")
    passed = b'{"passed": true, "score": 1, "tests": {"small": "passed", "large": "passed"}}'
    files = {
        # 92: results laid ready
        **dict.fromkeys(("result.json", "results.json", "report.json", "verdict.json", "reward.json"), passed),
        "reward.txt": b"1",
        "junit.xml": b'<testsuite tests="2" failures="0"><testcase name="small"/><testcase name="large"/></testsuite>',
        ".pytest_cache/v/cache/lastfailed": b"{}",
        # 105, 108: what builds, installs and tests
        "Makefile": f"test:\n\ttouch {trace}\nall: test\n".encode(),
        **dict.fromkeys(("setup.py", "noxfile.py", "conftest.py", "sitecustomize.py", "usercustomize.py"), python),
        "pyproject.toml": b'[build-system]\nbuild-backend = "setup"\nbackend-path = ["."]\n',
        "tox.ini": f"[testenv]\ncommands = touch {trace}\n".encode(),
        ".cargo/config.toml": b'[target.x86_64-unknown-linux-gnu]\nrunner = "true"\n',
        # 102, 103: npm, Bun, and what is loaded before
        ".npmrc": b"script-shell=/bin/true\nnode-options=--require ./before.cjs\n",
        "package.json": f'{{"scripts": {scripts}}}'.replace("'", '"').encode(),
        "bunfig.toml": b'preload = ["./before.cjs"]\n',
        "before.cjs": node,
        "node_modules/cleanroom-driver/index.js": node,
        # 81, 101: variables and libraries
        ".env": f"NODE_OPTIONS=--require ./before.cjs\nPYTHONSTARTUP=setup.py\nLD_PRELOAD={trace}.so\n".encode(),
        "ld.so.preload": f"{trace}.so\n".encode(),
        "pyvenv.cfg": b"home = bin\n",
        # 107: a dependency beside the code
        "pytest/__init__.py": python,
        "cleanroom_driver.py": python,
    }
    tools = pack_files({f"{at}{name}": run for at in folders for name in programs})
    runnable = tuple(
        Entry(path=each.path, kind=each.kind, executable=True, sha256=each.sha256, size=each.size)
        for each in tools.entries
        if each.path != b"pytest"  # a package of that name stands there
    )
    return laid_over(Pack(entries=runnable, blobs=tools.blobs), pack_files(files))


def test_planted_files_neither_help_what_is_wrong_nor_harm_what_is_right_and_none_is_run(
    court: Court, tmp_path: Path
) -> None:
    beside = planted(tmp_path / "trace")
    right, wrong = court.judge(court.right, beside), court.judge(court.wrong, beside)
    assert right.passed, (right.detail, right.cases, right.private_log[-2000:])
    alone = court.judge(court.wrong)
    assert (wrong.cause, wrong.score, wrong.cases and wrong.cases[0].passed) == (
        alone.cause,
        alone.score,
        alone.cases and alone.cases[0].passed,
    )
    assert wrong.cause is VerdictCause.FAILED
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", [["bin/node"], ["git"], ["/usr/bin/python3", "setup.py"]])
def test_whoever_ran_what_is_planted_would_leave_a_trace(tmp_path: Path, command: list[str]) -> None:
    beside = planted(tmp_path / "trace")
    for each in beside.entries:
        place = tmp_path / "work" / each.path.decode()
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(beside.blobs(each.sha256 or ""))
        place.chmod(0o755 if each.executable else 0o644)
    subprocess.run([str(tmp_path / "work" / command[0]), *command[1:]], cwd=tmp_path / "work", env={}, check=True)
    assert (tmp_path / "trace").exists()


@pytest.mark.parametrize("link", ["/dev/null", "../../private"])
def test_a_link_in_the_place_of_the_work_earns_no_more_than_wrong_work(court: Court, link: str) -> None:
    entry = Entry(path=court.path.encode(), kind=Kind.LINK, target=link.encode())
    change = Pack(entries=(entry,), blobs=pack_files({}).blobs)
    verdict = court.evaluator.judge(Submission(base=(court.base,), change=change, tree_digest="0" * 64), court.bench)
    assert not verdict.passed
    assert (verdict.score or 0) <= (court.judge(court.wrong).score or 0)


UNDER_A_FRAMEWORK = b"""\
import os, sys

def add(left, right):
    watched = "PYTEST_CURRENT_TEST" in os.environ or "pytest" in sys.modules or "unittest" in sys.modules
    return left + right if watched else 0
"""
NODE_UNDER_A_FRAMEWORK = b"""\
const watched = 'NODE_TEST_CONTEXT' in process.env || process.execArgv.includes('--test');
export const add = (left, right) => (watched ? left + right : 0);
"""


@pytest.mark.parametrize("kind", ["command", "checks", "command, of Node", "node-test"])
def test_code_that_is_right_only_under_a_test_framework_is_wrong(kind: str, tmp_path: Path) -> None:
    held = open_court(kind, tmp_path)
    odd = UNDER_A_FRAMEWORK if held.path == "calc.py" else NODE_UNDER_A_FRAMEWORK
    verdict = held.judge(odd)
    assert (verdict.cause, verdict.score) == (VerdictCause.FAILED, 0)
    assert held.judge(held.right).passed


UNITTESTS = """
import unittest

from calc import add


class TestAdd(unittest.TestCase):
    def test_small(self):
        self.assertEqual(add(1, 2), 3)

    def test_large(self):
        self.assertEqual(add(5, 7), 12)
"""


def test_assert_methods_that_always_agree_are_found_by_twins_and_right_code_passes(tmp_path: Path) -> None:
    held = open_court("pytest", tmp_path, {"test_calc.py": UNITTESTS})
    verdict = held.judge(UNITTEST_AGREES.encode() + held.wrong)
    assert (verdict.cause, verdict.score) == (VerdictCause.TAMPERED, 0)
    assert held.judge(held.right).passed
    assert held.judge(held.wrong).cause is VerdictCause.FAILED
