import subprocess
from pathlib import Path

import pytest

from evaluators.errors import EvaluatorError, OptionError
from evaluators.model import Assurance, VerdictCause
from evaluators.packing import pack_files
from evaluators.pytest_suite import build_pytest_suite
from evaluators.pytest_unit import HARNESS
from evaluators.registry import build
from sandbox.spec import PYTHON, Reach, Role
from sandbox.termination import Cause, Termination, Usage
from tests.fakes import PlainSandbox
from tests.forgeries import HIDDEN, RIGHT, WRONG
from tests.unit.evaluators.judging import Court, hidden_folder, open_court, plain_bench, spec_of

FROZEN = {"cases": ["test_calc.py::test_adds_small_numbers"], "twins": []}


@pytest.fixture(scope="module")
def court(tmp_path_factory: pytest.TempPathFactory) -> Court:
    return open_court(tmp_path_factory.mktemp("court"))


def test_calibration_finds_every_case_in_order_and_twins_where_literals_are(court: Court) -> None:
    assert court.suite.expected_cases() == (
        "test_calc.py::test_adds_small_numbers",
        "test_calc.py::test_adds_negative_numbers",
        "test_calc.py::test_adds_a_table[1-1-2]",
        "test_calc.py::test_adds_a_table[2-5-7]",
        "test_calc.py::TestWords::test_splits",
        "test_calc.py::TestWords::test_shouts",
        "test_calc.py::TestWords::test_refuses_numbers",
    )
    calibration = court.suite.calibration
    assert calibration is not None
    assert {each.twin.test for each in calibration.twins} == {
        "test_adds_small_numbers",
        "test_adds_negative_numbers",
        "test_adds_a_table",
        "test_splits",
        "test_shouts",
        "test_refuses_numbers",
    }


def test_a_partly_right_submission_gets_reasons_without_disguised_names(court: Court) -> None:
    half = RIGHT.replace('text.upper() + "!"', "text")
    verdict = court.judge({"calc.py": half.encode()})
    assert (verdict.cause, verdict.assurance) == (VerdictCause.FAILED, Assurance.IN_PROCESS)
    assert verdict.score == 0
    (failed,) = [case for case in verdict.cases if not case.passed]
    assert failed.id == "test_calc.py::TestWords::test_shouts"
    assert "in test_shouts" in failed.detail
    assert "'no' == 'NO!'" in failed.detail
    assert str(court.bench.sandbox.folder) not in failed.detail  # type: ignore[attr-defined]  # a fake's own
    assert verdict.private_log


def test_the_unit_is_walled_off_and_runs_nothing_of_the_submission_first(court: Court) -> None:
    sandbox = court.bench.sandbox
    assert isinstance(sandbox, PlainSandbox)
    court.judge({"calc.py": RIGHT.encode()})
    spec = sandbox.started[-1]
    assert spec.role is Role.SUBMITTED
    assert spec.network.reach is Reach.NOTHING
    assert spec.argv[:4] == (PYTHON, "-I", "-S", "-B")
    assert spec.argv[-1] == "/opt/harness/pytest_harness.py"
    assert [mount.target for mount in spec.mounts] == ["/opt/harness", "/opt/toolchain"]
    assert dict(spec.environment) == {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}


def test_two_gradings_never_show_the_same_names(court: Court) -> None:
    left_over = RIGHT + "import sys\nprint([name for name in sys.modules], file=sys.stderr)\n"
    peek = left_over + (
        "import traceback, inspect\n"
        "def add(left, right):\n"
        "    print('NAME', inspect.stack()[1].function, file=sys.__stderr__)\n"
        "    raise ValueError\n"
    )
    logs = [court.judge({"calc.py": peek.encode()}).private_log for _ in range(2)]
    names = [{line for line in log.decode().splitlines() if "in test_" in line} for log in logs]
    assert names[0]
    assert not names[0] & names[1]


def test_a_suite_without_calibration_judges_nothing(court: Court) -> None:
    suite = build_pytest_suite(court.suite.spec)
    with pytest.raises(EvaluatorError, match="never calibrated"):
        suite.judge(court.submission({}), court.bench)
    with pytest.raises(EvaluatorError, match="never calibrated"):
        suite.expected_cases()


@pytest.mark.parametrize("cause", [Cause.MANAGER, Cause.KILLED])
def test_our_own_failure_is_a_fault_and_no_verdict(court: Court, cause: Cause) -> None:
    sandbox = court.bench.sandbox
    assert isinstance(sandbox, PlainSandbox)
    sandbox.ends.append(Termination(cause=cause, status=None, usage=Usage(wall_ms=1)))
    with pytest.raises(EvaluatorError, match=cause.value):
        court.judge({"calc.py": RIGHT.encode()})


def test_a_toolchain_without_pytest_is_a_fault(court: Court, tmp_path: Path) -> None:
    sandbox = PlainSandbox(tmp_path)
    base = sandbox.store(pack_files({"calc.py": RIGHT.encode()}))
    bench = plain_bench(sandbox)
    empty = type(bench)(sandbox=sandbox, toolchain=(), python_path=(), root=".", limits=bench.limits)
    here = Court(suite=court.suite, bench=empty, base=base)
    with pytest.raises(EvaluatorError, match="did not start"):
        here.judge({"calc.py": RIGHT.encode()})


def test_a_broken_solution_is_told_when_calibrating(court: Court) -> None:
    suite = build_pytest_suite(court.suite.spec)
    with pytest.raises(EvaluatorError, match="do not pass on the solution"):
        suite.calibrate(court.submission({"calc.py": WRONG.encode()}), court.bench)
    with pytest.raises(EvaluatorError, match="cannot be collected"):
        suite.calibrate(court.submission({"calc.py": b"1/0"}), court.bench)


def test_helpers_data_conftest_and_subtests_work(tmp_path: Path) -> None:
    files = {
        "conftest.py": "import pytest\n@pytest.fixture\ndef seven():\n    return 7\n",
        "helper.py": "def three():\n    return 3\n",
        "data/numbers.txt": "5",
        "deep/test_deep.py": "from calc import add\ndef test_deep():\n    assert add(0, 0) == 0\n",
        "test_calc.py": (
            "import pathlib, subprocess, sys\nfrom calc import add\nfrom helper import three\n"
            "def test_fixture(seven):\n    assert add(seven, 1) == 8\n"
            "def test_helper():\n    assert add(three(), 1) == 4\n"
            "def test_data():\n"
            "    text = (pathlib.Path(__file__).parent / 'data/numbers.txt').read_text()\n"
            "    assert add(int(text), 1) == 6\n"
            "def test_subtests(subtests):\n"
            "    for number in range(3):\n"
            "        with subtests.test(number=number):\n"
            "            assert add(number, 1) == number + 1\n"
            "def test_program():\n"
            "    code = 'import calc; print(calc.add(1, 1))'\n"
            "    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True)\n"
            "    assert done.stdout == '2\\n'\n"
        ),
    }
    court = open_court(tmp_path, files)
    assert court.judge({"calc.py": RIGHT.encode()}).passed
    verdict = court.judge(
        {"calc.py": RIGHT.encode() + b"\ndef add(a, b):\n    return 3 if b == 1 and a == 1 else a + b\n"}
    )
    assert {case.id for case in verdict.cases if not case.passed} == {
        "test_calc.py::test_subtests",
        "test_calc.py::test_program",
    }


def test_the_digest_follows_everything_a_verdict_depends_on(tmp_path: Path) -> None:
    private = hidden_folder(tmp_path)
    suites = [
        build_pytest_suite(spec_of(private)),
        build_pytest_suite(spec_of(private), FROZEN),
        build_pytest_suite(spec_of(private, wall_s=3)),
    ]
    (private / "helper.py").write_text("X = 1\n")
    suites.append(build_pytest_suite(spec_of(private)))
    (private / "helper.py").write_text("X = 2\n")
    suites.append(build_pytest_suite(spec_of(private)))
    assert len({suite.digest() for suite in suites}) == len(suites)
    assert suites[-1].digest() == build_pytest_suite(spec_of(private)).digest()


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"wall_s": 0}, "wall_s"),
        ({"wall_s": True}, "wall_s"),
        ({"wall_s": "3"}, "wall_s"),
        ({"plugins": "a"}, "plugins"),
        ({"plugins": ["a b"]}, "plugins"),
        ({"plugins": [1]}, "plugins"),
        ({"timeout": 1}, "timeout"),
    ],
)
def test_a_wrong_option_is_named(tmp_path: Path, options: dict[str, object], field: str) -> None:
    with pytest.raises(OptionError) as error:
        build(spec_of(hidden_folder(tmp_path), **options))
    assert error.value.field == field
    assert error.value.evaluator == "hidden"
    assert "found" in str(error.value)
    assert "expected" in str(error.value)


def test_an_unknown_kind_is_named(tmp_path: Path) -> None:
    spec = spec_of(tmp_path)
    with pytest.raises(OptionError, match="kind"):
        build(type(spec)(id="x", kind="guess", options={}, folder=tmp_path))


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"helper.py": ""}, "no test_"),
        ({"test_a.py": "", "twins/test_b.py": ""}, "mirrors no test module"),
    ],
)
def test_a_private_folder_that_makes_no_suite_is_refused(tmp_path: Path, files: dict[str, str], message: str) -> None:
    with pytest.raises(EvaluatorError, match=message):
        build(spec_of(hidden_folder(tmp_path, files)))


def test_links_are_refused_and_bytecode_is_passed_over(tmp_path: Path) -> None:
    private = hidden_folder(tmp_path, {"test_calc.py": HIDDEN, "__pycache__/x.pyc": "x", "y.pyc": "x"})
    assert set(build_pytest_suite(spec_of(private)).files.contents()) == {"test_calc.py"}
    (private / "link.py").symlink_to("/etc/passwd")
    with pytest.raises(EvaluatorError, match=r"link\.py"):
        build_pytest_suite(spec_of(private))
    with pytest.raises(EvaluatorError, match="no such file"):
        build_pytest_suite(spec_of(tmp_path / "nowhere"))


def test_the_harness_needs_nothing_of_ours() -> None:
    program = f"import runpy; runpy.run_path({str(HARNESS)!r}, run_name='harness')"
    subprocess.run([PYTHON, "-I", "-S", "-c", program], check=True, cwd="/")
