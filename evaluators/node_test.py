"""Evaluator `node-test`: hidden tests in JavaScript, run by Node's own test runner on the trusted side.

The tests reach the submission through `cleanroom-driver` alone, in another unit. Submitted code therefore shares no
process with the runner, its assertions or its report: what it does to its own `assert` or `node:test` moves nothing.
"""

from dataclasses import dataclass, replace

from evaluators.digests import digest_of
from evaluators.driven import Driven, read_side
from evaluators.driven_ruling import Scale, rule
from evaluators.errors import EvaluatorError, OptionError
from evaluators.model import Bench, EvaluatorSpec, Submission, Verdict
from evaluators.options import read_texts, read_wall, refuse_unknown
from evaluators.private_files import read_folder_files
from evaluators.text import clean

_ROUNDS = 2
_LONGEST_ID = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeTest:
    """Hidden tests. Without the ids of its cases it can be calibrated, but judges nothing."""

    driven: Driven
    cases: tuple[str, ...] | None = None

    @property
    def id(self) -> str:
        """Name in the nomination."""
        return self.driven.id

    def digest(self) -> str:
        """SHA-256 over both sides' programs, private files, options and expected cases."""
        whole = {"driven": self.driven.digest(), "tests": self.driven.tests, "cases": self.cases}
        return digest_of(whole)

    def expected_cases(self) -> tuple[str, ...]:
        """Ids of the hidden cases, in order."""
        if self.cases is None:
            raise EvaluatorError(f"evaluator {self.id} was never calibrated on the solution: freeze with controls")
        return self.cases

    def calibrate(self, solution: Submission, bench: Bench) -> dict[str, object]:
        """Learn from runs on the solution which cases there are; give them as JSON values.

        Raises:
            EvaluatorError: not every test passes, two share an id, or two runs differ.
            SandboxError: a fault.
        """
        rounds = {self._learned(solution, bench) for _ in range(_ROUNDS)}
        if len(rounds) > 1:
            raise EvaluatorError(f"evaluator {self.id}: two runs on the solution have different tests")
        return {"cases": list(rounds.pop())}

    def judge(self, submission: Submission, bench: Bench) -> Verdict:
        """Judge one submission.

        Raises:
            EvaluatorError, SandboxError: a fault, before submitted code started.
        """
        scale = Scale(weights=dict.fromkeys(self.expected_cases(), 1))
        return replace(self.driven, scale=scale).judge(submission, self._with_node(bench))

    def _learned(self, solution: Submission, bench: Bench) -> tuple[str, ...]:
        talk = self.driven.converse(solution, self._with_node(bench))
        ids = tuple(str(each["id"]) for each in talk.told if each.get("tell") == "case")
        if len(set(ids)) < len(ids):
            twice = next(each for each in ids if ids.count(each) > 1)
            raise EvaluatorError(f"evaluator {self.id}: two tests share the name {clean(twice)!r}")
        if not ids or max(map(len, ids)) > _LONGEST_ID:
            said = clean(talk.driver_log[-500:].decode(errors="replace"))
            raise EvaluatorError(f"evaluator {self.id}: no test ran, or one has too long a name; it printed {said!r}")
        verdict = rule(Scale(weights=dict.fromkeys(ids, 1)), talk)
        if not verdict.passed:
            failed = next((each for each in verdict.cases if not each.passed), None)
            what = verdict.detail if failed is None else f"{failed.id}: {failed.detail}"
            raise EvaluatorError(f"evaluator {self.id} does not pass on the solution: {clean(what)}")
        return ids

    def _with_node(self, bench: Bench) -> Bench:
        if bench.node is None:
            raise EvaluatorError(f"evaluator {self.id} needs a toolchain of kind 'node'")
        return bench


def build_node_test(spec: EvaluatorSpec, frozen: object = None) -> NodeTest:
    """Read the options of kind `node-test`; `frozen` is what `calibrate` gave at freeze.

    Raises:
        EvaluatorError: options, files or calibration are not what they must be.
    """
    refuse_unknown(spec, {"files", "wall_s"})
    tests, files = read_texts(spec, "files"), read_folder_files(spec.folder)
    if not tests or not set(tests) <= files.keys():
        expected = "modules of private/"
        raise OptionError(evaluator=spec.id, field="files", found=repr(tests), expected=expected)
    driven = Driven(
        spec=spec,
        program=tests[0],
        scale=Scale(weights={}),
        files=files,
        side=read_side(),
        wall=read_wall(spec),
        tests=tests,
    )
    return NodeTest(driven=driven, cases=None if frozen is None else _cases(spec, frozen))


def _cases(spec: EvaluatorSpec, frozen: object) -> tuple[str, ...]:
    match frozen:
        case {"cases": [str(), *_] as cases} if all(isinstance(each, str) for each in cases):
            return tuple(cases)
    raise EvaluatorError(f"evaluator {spec.id}: {clean(repr(frozen))} is no calibration")
