"""Laws of sites: each is judged by itself with the guards in it, and one forgery is worth all of them."""

from decimal import Decimal
from pathlib import Path

import pytest

from evaluators.errors import EvaluatorError
from evaluators.model import Assurance, Case, EvaluatorSpec, Verdict, VerdictCause
from evaluators.packing import pack_files
from evaluators.pytest_sites import SitedSuite, build_pytest, rule
from tests.fakes import PlainSandbox
from tests.unit.evaluators.judging import Court, hidden_folder, plain_bench

OLD = "".join(f"def test_old_{n}():\n    assert keep({n}) == {n}\n\n" for n in range(2))
FILES = {
    "test_up.py": "from work import keep, up\n\n"
    + "".join(f"def test_up_{n}():\n    assert up({n}) == {n + 1}\n\n" for n in range(3)),
    "test_down.py": "from work import down\n\n"
    + "".join(f"def test_down_{n}():\n    assert down({n}) == {n - 1}\n\n" for n in range(3)),
    "test_old.py": "from work import keep\n\n" + OLD,
}
SITES = {"up": ["test_up.py"], "down": ["test_down.py"]}
KEEP = "def keep(n):\n    return n\n\n"
UP, NO_UP = "def up(n):\n    return n + 1\n\n", "def up(n):\n    return 100 * n + 50\n\n"
DOWN, NO_DOWN = "def down(n):\n    return n - 1\n\n", "def down(n):\n    return 100 * n + 50\n\n"


def table(folder: Path, **options: object) -> EvaluatorSpec:
    whole = {"sites": SITES, "guards": ["test_old.py"], **options}
    return EvaluatorSpec(id="hidden", kind="pytest", options=whole, folder=folder)


@pytest.fixture(scope="module")
def sited(tmp_path_factory: pytest.TempPathFactory) -> tuple[SitedSuite, Court]:
    folder = tmp_path_factory.mktemp("sites")
    sandbox = PlainSandbox(folder / "sandbox")
    sandbox.folder.mkdir()
    spec, bench = table(hidden_folder(folder, FILES)), plain_bench(sandbox)
    built = build_pytest(spec)
    assert isinstance(built, SitedSuite)
    court = Court(suite=built.sites["up"], bench=bench, base=sandbox.store(pack_files({"work.py": b""})))
    learned = built.calibrate(court.submission({"work.py": (KEEP + UP + DOWN).encode()}), bench)
    again = build_pytest(spec, learned)
    assert isinstance(again, SitedSuite)
    return again, court


@pytest.mark.parametrize(
    ("code", "points", "cause"),
    [
        (KEEP + UP + DOWN, "1", VerdictCause.PASSED),
        (KEEP + UP + NO_DOWN, "0.5", VerdictCause.FAILED),
        (UP + DOWN + "def keep(n):\n    return 100 * n + 50\n", "0", VerdictCause.FAILED),
        (KEEP + UP, "0.5", VerdictCause.FAILED),
        ("import os\nos._exit(0)\n", "0", VerdictCause.CRASHED),
    ],
)
def test_the_score_is_the_part_of_the_sites_that_is_fixed(
    sited: tuple[SitedSuite, Court], code: str, points: str, cause: VerdictCause
) -> None:
    suite, court = sited
    verdict = suite.judge(court.submission({"work.py": code.encode()}), court.bench)
    assert (verdict.score, verdict.cause) == (Decimal(points), cause), verdict.detail
    assert tuple(case.id for case in verdict.cases) == suite.expected_cases()


def test_guards_stand_in_every_site_and_cases_tell_their_site(sited: tuple[SitedSuite, Court]) -> None:
    cases = sited[0].expected_cases()
    assert {"up: test_old.py::test_old_0", "down: test_old.py::test_old_0"} <= set(cases)
    assert "up: test_up.py::test_up_2" in cases
    assert len(cases) == 10


def verdict(cause: VerdictCause, *cases: Case) -> Verdict:
    passed = cause is VerdictCause.PASSED
    return Verdict(cause=cause, assurance=Assurance.IN_PROCESS, cases=cases, score=Decimal(passed))


def test_one_forgery_is_worth_all_sites() -> None:
    good = verdict(VerdictCause.PASSED, Case(id="a", passed=True))
    found = rule({"one": good, "two": verdict(VerdictCause.TAMPERED)}, Decimal("0.5"))
    assert (found.cause, found.score) == (VerdictCause.TAMPERED, Decimal(0))
    assert found.cases == (Case(id="one: a", passed=False),)


@pytest.mark.parametrize(
    ("causes", "cause"),
    [
        ((VerdictCause.TIMEOUT, VerdictCause.TIMEOUT), VerdictCause.TIMEOUT),
        ((VerdictCause.TIMEOUT, VerdictCause.CRASHED), VerdictCause.FAILED),
        ((VerdictCause.PASSED, VerdictCause.TIMEOUT), VerdictCause.FAILED),
    ],
)
def test_there_is_no_result_only_where_no_site_gave_one(causes: tuple[VerdictCause, ...], cause: VerdictCause) -> None:
    found = rule({f"site-{at}": verdict(each) for at, each in enumerate(causes)}, Decimal(1))
    assert found.cause is cause


def test_a_bar_below_one_passes_with_a_part() -> None:
    found = rule({"one": verdict(VerdictCause.PASSED), "two": verdict(VerdictCause.FAILED)}, Decimal("0.5"))
    assert (found.cause, found.score) == (VerdictCause.PASSED, Decimal("0.5"))


@pytest.mark.parametrize(
    "options",
    [
        {"sites": {}},
        {"sites": {"up": []}},
        {"sites": {"up": ["test_missing.py"]}},
        {"sites": {**SITES, "old": ["test_old.py"]}, "guards": []},
        {"sites": {"up": ["test_up.py"]}},
        {"guards": []},
        {"sites": ["test_up.py"]},
        {"guards": ["test_none.py"]},
        {"pass_threshold": "2"},
        {"more": 1},
    ],
)
def test_options_that_are_wrong_are_refused(tmp_path: Path, options: dict[str, object]) -> None:
    with pytest.raises(EvaluatorError):
        build_pytest(table(hidden_folder(tmp_path, FILES), **options))


@pytest.mark.parametrize("frozen", [{"cases": [], "twins": []}, {"sites": {"up": {"cases": [], "twins": []}}}, 3])
def test_a_calibration_of_something_else_is_refused(tmp_path: Path, frozen: object) -> None:
    with pytest.raises(EvaluatorError):
        build_pytest(table(hidden_folder(tmp_path, FILES)), frozen)


@pytest.mark.parametrize(
    "options", [{"pass_threshold": "0.5"}, {"sites": {"up": [*SITES["up"], *SITES["down"]]}}, {"wall_s": 9}]
)
def test_the_digest_follows_sites_bar_and_options(tmp_path: Path, options: dict[str, object]) -> None:
    private = hidden_folder(tmp_path, FILES)
    assert build_pytest(table(private)).digest() != build_pytest(table(private, **options)).digest()
