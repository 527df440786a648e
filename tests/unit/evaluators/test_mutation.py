"""Whole judgements by kind `mutation`, in plain processes: honest suites, and suites that cheat."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from evaluators.errors import EvaluatorError
from evaluators.model import Assurance, Verdict, VerdictCause
from evaluators.mutation import BASELINES, build_mutation
from evaluators.packing import pack_files
from evaluators.registry import assurance_of, build
from evaluators.side_by_side import side_by_side
from runner.validating.suite_cheats import suite_cheats
from sandbox.spec import Role
from sandbox.termination import Cause, Termination, Usage
from tests.fakes import PlainSandbox
from tests.unit.evaluators.mutating import FEW, GOOD, MODULE, Mill, open_mill, versions_spec

WITH_HELPERS = {
    "tests/conftest.py": "import pytest\n@pytest.fixture\ndef six():\n    return 6\n",
    "tests/wanted.py": "COST = 2\n",
    "tests/test_price.py": (
        "from wanted import COST\nfrom price import fee\ndef test_cost(six):\n    assert fee(six) == COST\n"
    ),
}


@pytest.fixture(scope="module")
def mill(tmp_path_factory: pytest.TempPathFactory) -> Mill:
    return open_mill(tmp_path_factory.mktemp("mill"))


@pytest.fixture(scope="module")
def verdict(mill: Mill) -> Verdict:
    return mill.judge(GOOD + "\ndef test_none():\n    assert fee(0) == 0\n")


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Mill:
    return open_mill(tmp_path_factory.mktemp("small"), FEW)


def test_an_honest_suite_kills_what_its_tests_see_fail_and_nothing_else(mill: Mill, verdict: Verdict) -> None:
    assert (verdict.cause, str(verdict.score)) == (VerdictCause.PASSED, "0.666667")
    assert [case.id for case in verdict.cases] == list(mill.evaluator.expected_cases())
    (survivor,) = [case for case in verdict.cases if not case.passed]
    assert survivor.id == "mutant: the process ends"
    assert survivor.detail == "no test failed; the process ended by exit, which kills nothing"
    killed = next(case for case in verdict.cases if case.id == "mutant: paid twice")
    assert killed.detail == "2 tests failed, first tests/test_price.py::test_paid[6-2]"


def test_what_is_said_to_all_names_no_version(verdict: Verdict) -> None:
    assert verdict.detail == "2 of 3 mutants killed, 4 of 4 tests right"
    assert (verdict.assurance, b"== mutant: paid twice\n" in verdict.private_log) == (Assurance.IN_PROCESS, True)


def test_nothing_but_the_version_tells_one_run_from_another(mill: Mill, verdict: Verdict) -> None:
    assert verdict.passed
    sandbox = mill.bench.sandbox
    assert isinstance(sandbox, PlainSandbox)
    assert len(sandbox.started) == BASELINES + len(mill.evaluator.versions)
    assert len({spec.workspace for spec in sandbox.started}) == len(sandbox.started)
    assert len({replace(spec, workspace=None) for spec in sandbox.started}) == 1
    assert sandbox.started[0].role is Role.SUBMITTED
    assert [mount.target for mount in sandbox.started[0].mounts] == ["/opt/harness", "/opt/toolchain"]


def test_the_module_is_ours_whatever_a_submission_has_there_and_conftests_and_helpers_are_its_own(small: Mill) -> None:
    broken = {"price.py": MODULE.replace("* 2", "* 3")}
    assert small.evaluator.judge(small.submission(WITH_HELPERS | broken), small.bench).score == 1


def test_a_copy_of_the_module_that_is_imported_in_its_place_kills_nothing(small: Mill) -> None:
    verdict = small.judge(GOOD, {"price/__init__.py": MODULE})
    assert (verdict.score, verdict.detail) == (0, "0 of 1 mutants killed, 3 of 3 tests right")


CHEATS = dict(suite_cheats("price.py", MODULE.encode()))


@pytest.mark.parametrize(
    ("name", "killed"),
    [
        pytest.param("a test for each line of the module", True, id="lines"),
        pytest.param("failures are sent with the harness's own key", True, id="forged"),
        pytest.param("it ends its process unless it knows the module", False, id="ended"),
    ],
)
def test_a_suite_that_tests_no_behaviour_scores_nothing(small: Mill, name: str, *, killed: bool) -> None:
    verdict = small.judge(CHEATS[name].decode())
    assert (verdict.cause, verdict.score) == (VerdictCause.FAILED, 0)
    assert ("so nothing counts" in verdict.detail) is killed


def test_a_base_with_another_module_is_a_fault_and_no_verdict(small: Mill) -> None:
    submission = small.submission({"tests/test_price.py": GOOD})
    for files in ({}, {"price.py": MODULE.encode() + b"\n"}):
        with pytest.raises(EvaluatorError, match=r"price\.py in the base"):
            small.evaluator.judge(replace(submission, below=pack_files(files)), small.bench)


def test_our_own_failure_is_a_fault_and_no_verdict(tmp_path: Path) -> None:
    mill = open_mill(tmp_path, FEW)
    assert isinstance(mill.bench.sandbox, PlainSandbox)
    mill.bench.sandbox.ends.append(Termination(cause=Cause.MANAGER, status=None, usage=Usage(wall_ms=1)))
    with pytest.raises(EvaluatorError, match="manager"):
        mill.judge(GOOD)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        pytest.param({"sha256": "0" * 64}, "sha256: found '000.*which is that of price.py", id="another module"),
        pytest.param({"tests": []}, "tests: found", id="no tests"),
        pytest.param({"tests": ["../tests"]}, "tests: found", id="tests elsewhere"),
        pytest.param({"pass_threshold": "0"}, "more than nothing", id="nothing is enough"),
        pytest.param({"source": "other.py"}, "no such file", id="no module"),
        pytest.param({"twins": 2}, "an unknown option", id="unknown"),
    ],
)
def test_a_table_that_cannot_judge_is_refused(tmp_path: Path, options: dict[str, object], told: str) -> None:
    with pytest.raises(EvaluatorError, match=told):
        build(versions_spec(tmp_path, **options))


def test_drift_is_refused_wherever_the_evaluator_is_built(tmp_path: Path) -> None:
    spec = versions_spec(tmp_path, FEW.replace('find = ") * 2"', 'find = ") * 3"'))
    with pytest.raises(EvaluatorError, match=r"versions\.toml: what is to be found .* paid twice \(0 times\)"):
        build(spec)


def test_its_digest_follows_from_every_version(tmp_path: Path) -> None:
    first = build_mutation(versions_spec(tmp_path, FEW))
    other = build_mutation(versions_spec(tmp_path, FEW.replace("* 4", "* 5")))
    assert first.digest() != other.digest()
    assert assurance_of(first.spec) is Assurance.IN_PROCESS
    with pytest.raises(EvaluatorError, match="a calibration"):
        build(first.spec, {})


def test_work_is_done_side_by_side_and_told_in_order() -> None:
    work: list[Callable[[], int]] = [lambda number=number: number for number in range(20)]  # type: ignore[misc]
    assert side_by_side(work, 3) == list(range(20))


def test_after_a_fault_nothing_more_is_begun() -> None:
    begun: list[int] = []

    def fail() -> int:
        raise EvaluatorError("broken")

    with pytest.raises(EvaluatorError, match="broken"):
        side_by_side([fail, *[lambda: begun.append(1) or 1] * 50], 1)  # type: ignore[list-item]
    assert len(begun) < 50
