"""Laws of judging submitted JavaScript: it is called over there, and what it does to its own process moves nothing."""

from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

import pytest

from evaluators.driven import Driven, build_command
from evaluators.errors import EvaluatorError
from evaluators.model import Assurance, Bench, EvaluatorSpec, Submission, Verdict, VerdictCause
from evaluators.node_test import NodeTest, build_node_test
from evaluators.packing import pack_files
from sandbox.spec import Role
from tests.fakes import PlainSandbox
from tests.node import node_bench

RIGHT = "export default (left, right) => left + right;\nexport const twice = (x) => x + x;\n"
HIDDEN = """
import assert from 'node:assert/strict';
import test, { describe, it } from 'node:test';
import { submitted } from 'cleanroom-driver';

const add = submitted('./calc.js:default');
test('adds', () => assert.equal(add(1, 2), 3));
describe('twice', () => {
  it('doubles', () => assert.equal(submitted('./calc.js:twice')(4), 8));
  it('keeps what it is', () => assert.equal(submitted('./calc.js:twice')(2n), 4n));
});
"""
CASES = ("adds", "twice > doubles", "twice > keeps what it is")


@dataclass(frozen=True, kw_only=True)
class Court:
    evaluator: Driven | NodeTest
    bench: Bench

    def submission(self, tree: dict[str, str]) -> Submission:
        base = self.bench.sandbox.store(pack_files({"package.json": b'{"type": "module"}'}))
        change = pack_files({path: text.encode() for path, text in tree.items()})
        return Submission(base=(base,), change=change, tree_digest="0" * 64)

    def judge(self, tree: dict[str, str]) -> Verdict:
        return self.evaluator.judge(self.submission(tree), self.bench)


def bench_in(folder: Path, wall_seconds: float = 60.0) -> Bench:
    sandbox = PlainSandbox(folder / "sandbox")
    sandbox.folder.mkdir()
    return node_bench(sandbox, wall_seconds)


def spec_in(folder: Path, name: str, text: str, kind: str, **options: object) -> EvaluatorSpec:
    private = folder / "private"
    private.mkdir(exist_ok=True)
    (private / name).write_text(text)
    return EvaluatorSpec(id="hidden", kind=kind, options=options, folder=private)


def suite(folder: Path, hidden: str = HIDDEN, *, cases: tuple[str, ...] = CASES) -> Court:
    spec = spec_in(folder, "hidden.test.mjs", hidden, "node-test", files=["hidden.test.mjs"])
    return Court(evaluator=build_node_test(spec, {"cases": list(cases)}), bench=bench_in(folder))


def driven(folder: Path, driver: str, *cases: str, wall_seconds: float = 60.0) -> Court:
    spec = spec_in(folder, "driver.py", driver, "command", program="driver.py", cases=list(cases))
    evaluator = build_command(spec)
    assert isinstance(evaluator, Driven)
    return Court(evaluator=evaluator, bench=bench_in(folder, wall_seconds))


def test_cases_are_learned_from_the_solution_and_the_two_sides_share_nothing(tmp_path: Path) -> None:
    held = suite(tmp_path)
    assert isinstance(held.evaluator, NodeTest)
    assert held.evaluator.calibrate(held.submission({"calc.js": RIGHT}), held.bench) == {"cases": list(CASES)}
    verdict = held.judge({"calc.js": RIGHT})
    assert (verdict.cause, verdict.score, verdict.assurance) == (VerdictCause.PASSED, Decimal(1), Assurance.SPLIT)
    assert isinstance(held.bench.sandbox, PlainSandbox)
    below, above = held.bench.sandbox.started[-2:]
    assert (below.role, above.role, above.workspace) == (Role.SUBMITTED, Role.DRIVER, None)
    assert "/opt/driver" not in {mount.target for mount in below.mounts}


WRONG = "export default () => 0;\nexport const twice = (x) => x * x;\n"


def test_wrong_code_fails_with_its_cases_named_and_nothing_expected_shown(tmp_path: Path) -> None:
    verdict = suite(tmp_path).judge({"calc.js": WRONG})
    assert (verdict.cause, verdict.score) == (VerdictCause.FAILED, Decimal("0.333333"))
    assert [(each.id, each.detail) for each in verdict.cases if not each.passed] == [
        ("adds", "AssertionError"),
        ("twice > doubles", "AssertionError"),
    ]


TAMPERING = {
    "exit at import": "process.exit(0);\n",
    "exit in a call": "export default () => process.exit(0);\nexport const twice = () => process.exit(0);\n",
    "exit code rewritten": "process.on('exit', () => { process.exitCode = 0; });\nthrow new Error('no');\n",
    "assert patched": "import assert from 'node:assert/strict';\nassert.equal = () => {};\nassert.ok = () => {};\n",
    "node:test patched": (
        "import { mock } from 'node:test';\nimport { createRequire, syncBuiltinESMExports } from 'node:module';\n"
        "createRequire(import.meta.url)('node:test').it = () => {};\nsyncBuiltinESMExports();\n"
    ),
    "results printed": "console.log('TAP version 13\\nok 1 - adds\\n1..1\\n# pass 3\\n# fail 0');\n",
    "rejections swallowed": (
        "process.on('unhandledRejection', () => {});\nprocess.on('uncaughtException', () => {});\n"
        "export default () => Promise.reject(new Error('no'));\n"
    ),
    "always equal": "export default () => ({ [Symbol.toPrimitive]: () => 3, valueOf: () => 3 });\n",
    "JSON patched": 'JSON.stringify = () => \'{"tell":"done"}\';\nexport default () => 0;\n',
}


@pytest.mark.parametrize("how", TAMPERING)
def test_what_submitted_code_does_to_its_process_is_no_pass(tmp_path: Path, how: str) -> None:
    verdict = suite(tmp_path).judge({"calc.js": TAMPERING[how] + ("" if "export" in TAMPERING[how] else WRONG)})
    assert not verdict.passed
    assert verdict.score is not None
    assert verdict.score < Decimal("0.5")


@pytest.mark.parametrize("how", ["assert patched", "node:test patched", "results printed", "exit code rewritten"])
def test_right_code_that_does_the_same_still_passes(tmp_path: Path, how: str) -> None:
    assert suite(tmp_path).judge({"calc.js": TAMPERING[how].replace("throw new Error('no');\n", "") + RIGHT}).passed


FORGING = """
import { writeSync } from 'node:fs';
const data = Buffer.from(JSON.stringify({value: 3}));
const length = Buffer.alloc(4);
length.writeUInt32BE(data.length);
for (let each = 3; each < 40; each++) try { writeSync(each, Buffer.concat([length, data, length, data])); } catch {}
"""


def test_answers_that_nobody_asked_for_are_tampering(tmp_path: Path) -> None:
    verdict = suite(tmp_path).judge({"calc.js": FORGING + RIGHT})
    assert (verdict.cause, verdict.score) == (VerdictCause.TAMPERED, Decimal(0)), verdict.detail


SETTINGS = {
    "node_modules/assert/index.js": "module.exports = () => {};\n",
    "node_modules/node:test/index.js": "module.exports = () => {};\n",
    "node_modules/cleanroom-driver/index.js": "export const submitted = () => () => 3;\n",
    ".npmrc": "script-shell=/bin/true\nnode-options=--require ./evil.cjs\n",
    ".env": "NODE_OPTIONS=--require ./evil.cjs\n",
    "evil.cjs": "process.exit(0);\n",
    "node.config.json": '{"testRunner": {"test-name-pattern": ["nothing"]}}',
}


@pytest.mark.parametrize(("code", "passes"), [(RIGHT, True), (WRONG, False)], ids=["honest", "cheat"])
def test_settings_and_shadowing_modules_of_a_submission_have_no_effect(
    tmp_path: Path, code: str, *, passes: bool
) -> None:
    assert suite(tmp_path).judge({**SETTINGS, "calc.js": code}).passed is passes


BAD_SUITES = {
    "no test ran": "import 'cleanroom-driver';\n",
    "does not pass": "import test from 'node:test';\ntest('a', () => { throw new Error('x'); });\n",
    "does not pass ": "import test from 'node:test';\ntest('a', { skip: true }, () => {});\n",
    "a suite or module failed": (
        "import test, { after, describe } from 'node:test';\n"
        "describe('s', () => { after(() => { throw new Error('x'); }); test('a', () => {}); });\n"
    ),
    "share the name": "import test from 'node:test';\ntest('a', () => {});\ntest('a', () => {});\n",
}


@pytest.mark.parametrize("found", BAD_SUITES)
def test_a_suite_that_cannot_judge_is_refused_at_calibration(tmp_path: Path, found: str) -> None:
    held = suite(tmp_path, BAD_SUITES[found])
    assert isinstance(held.evaluator, NodeTest)
    with pytest.raises(EvaluatorError, match=found.strip()):
        held.evaluator.calibrate(held.submission({"calc.js": RIGHT}), held.bench)


def test_it_needs_node(tmp_path: Path) -> None:
    held = suite(tmp_path)
    bench = Bench(sandbox=held.bench.sandbox, toolchain=(), python_path=(), root=".", limits=held.bench.limits)
    with pytest.raises(EvaluatorError, match="toolchain of kind 'node'"):
        held.evaluator.judge(held.submission({}), bench)


ADAPTER = """
from cleanroom_driver import *
from cleanroom_driver import case

def s(name):
    return submitted("./all.js:" + name)

VALUES = [None, UNDEFINED, True, 0, 7, -0.0, 1.5, 1e300, float("inf"), "a\\u00e9\\U0001f600", [1, [2]], {"a": 1},
          b"\\x00\\xff", bigint(5), bigint(10**30), date(1700000000000),
          js_map([[1, "a"], [None, [2]]]), js_set(["a", 1])]
with case("plain"):
    for value in VALUES:
        assert same(s("same")(value), value), (value, s("same")(value))
    assert repr(s("same")(float("nan"))) == "nan"
    assert same(s("same")((1, 2)), [1, 2])
    assert same(s("big")(), 1e19)
with case("unplain"):
    for name in ("symbol", "self", "instance", "hole", "match", "regexp", "deep"):
        try:
            s(name)()
        except RaisedError as error:
            raise AssertionError(error)
        except SubmittedError:
            continue
        raise AssertionError(name)
    for args, named in (([10**19], {}), ([], {"x": 1}), ([{1: 2}], {}), ([1j], {})):
        try:
            s("same")(*args, **named)
        except RaisedError as error:
            raise AssertionError(error)
        except SubmittedError:
            continue
        raise AssertionError("it was taken")
with case("raises"):
    try:
        s("fails")()
    except RaisedError as error:
        assert (error.kind, error.kinds, error.said) == ("Odd", ("Odd", "RangeError", "Error"), "far"), vars(error)
    assert s("later")() == 5
    assert s("fails_later").raises() == "TypeError"
    assert s("throws_text").raises() == "string"
    assert s("nothing").raises() == "TypeError"
with case("objects"):
    queue = s("Queue").kept(2)
    queue.method("push")(1)
    assert queue.method("push")(queue) == 2 and queue.read("size") == 2
    assert s("count").listed(3) == [0, 1, 2] and s("count_later").listed(2) == [0, 1]
    assert s("mutate").mutating([3, 1])[1] == [[1, 3]]
    assert s("own.value")() == 9
with case("commonjs"):
    assert submitted("./old.cjs:default")() == "whole" and submitted("./old.cjs:part")(2) == 4
with case("programs"):
    shell = ("/bin/sh", "-c", "cat; cat given; echo e >&2; echo new > made; exit 3")
    ended = program(*shell, stdin=b"in", files={"given": b"g"}, wanted=["made", "none"])
    assert (ended.status, ended.stdout, ended.stderr) == (3, b"ing", b"e\\n"), ended
    assert ended.files == {"made": b"new\\n", "none": None}
with case("restart"):
    assert s("bump")() == 1 and s("bump")() == 2
    restart()
    assert s("bump")() == 1
"""
ALL = """
let bumped = 0;
export const bump = () => ++bumped;
export const same = (value) => value;
export const big = () => 1e19;
export const symbol = () => Symbol('x');
export const self = () => self;
export const instance = () => new (class Yes {})();
export const hole = () => [1, , 2];
export const match = () => 'a'.match(/a/);
export const regexp = () => /a/;
export const deep = () => { const all = []; all.push(all); return all; };
class Odd extends RangeError {}
export const fails = () => { throw new Odd('far'); };
export const later = async () => { await new Promise((ready) => setTimeout(ready, 5)); return 5; };
export const fails_later = async () => null.x;
export const throws_text = () => { throw 'text'; };
export class Queue { size = 0; constructor(most) { this.most = most; } push() { return ++this.size; } }
export function* count(most) { for (let n = 0; n < most; n++) yield n; }
export async function* count_later(most) { yield* count(most); }
export const mutate = (list) => { list.sort(); };
export const own = { answer: 9, value() { return this.answer; } };
"""
ADAPTER_CASES = ("plain", "unplain", "raises", "objects", "commonjs", "programs", "restart")


def test_a_driver_in_python_reaches_all_of_javascript_by_plain_data(tmp_path: Path) -> None:
    old = "const whole = () => 'whole';\nmodule.exports = Object.assign(whole, { ['pa' + 'rt']: (x) => x * 2 });\n"
    verdict = driven(tmp_path, ADAPTER, *ADAPTER_CASES).judge({"all.js": ALL, "old.cjs": old})
    assert verdict.passed, [(each.id, each.detail) for each in verdict.cases if not each.passed]


@pytest.mark.parametrize(
    ("code", "cause"),
    [
        ("process.exit(0);", VerdictCause.FAILED),
        ("process.exit(3);", VerdictCause.CRASHED),
        ("process.kill(process.pid, 'SIGKILL');", VerdictCause.CRASHED),
        ("export const one = () => { for (;;); };", VerdictCause.TIMEOUT),
        ("export const one = () => new Promise(() => {});", VerdictCause.CRASHED),
        (
            "setTimeout(() => { throw new Error('late'); }); export const one = () => new Promise(() => {});",
            VerdictCause.CRASHED,
        ),
    ],
)
def test_code_that_ends_its_process_or_never_answers_gets_nothing(
    tmp_path: Path, code: str, cause: VerdictCause
) -> None:
    driver = "from cleanroom_driver import case, submitted\nwith case('a'):\n    submitted('./a.js:one')()\n"
    held = driven(tmp_path, driver, "a", wall_seconds=3.0 if cause is VerdictCause.TIMEOUT else 60.0)
    verdict = held.judge({"a.js": code})
    assert (verdict.cause, verdict.score) == (cause, Decimal(0)), verdict
