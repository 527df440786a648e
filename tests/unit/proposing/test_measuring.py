"""A draft that was tried: what does not judge is gone, what does is listed, and wrong repairs are refused."""

from pathlib import Path

import pytest

from evaluators.packing import pack_files
from evaluators.public_tests import PublicTests
from evaluators.pytest_suite import build_pytest_suite
from runner.fixture import build_fixture
from runner.nomination import load_nomination
from runner.proposing.draft import Draft, nomination_members
from runner.proposing.measuring import Ground, measured
from runner.release import PreparedNomination
from runner.replacing import new_tree
from runner.sdist import Downloads
from runner.solution import build_solution
from runner.staging import Staged
from sandbox.capture import Base
from sandbox.patch import Repository
from tests.fakes import PlainSandbox
from tests.unit.evaluators.judging import plain_bench
from tests.unit.proposing.fixes import asked, fix

BEFORE = "def clamp(value, low, high):\n    return value\n\n\ndef half(value):\n    return value\n"
AFTER = (
    "def clamp(value, low, high):\n    return max(low, min(high, value))\n\n\ndef half(value):\n    return value // 2\n"
)
OLD = "from clamp import half\n\n\ndef test_half():\n    assert half(4) == 4\n"
TESTS = """\
import pytest
from clamp import clamp, half


def test_low():
    assert clamp(-5, 2, 3) == 2


def test_between():
    assert clamp(5, 2, 30) == 5


def test_half():
    assert half(4) == 2


def test_that_fails_here():
    assert half(4) == 3


@pytest.mark.skip(reason="not here")
def test_that_is_skipped():
    pass
"""
BROKEN = "import nothing_that_is_there\n\n\ndef test_a():\n    assert 1\n"
COMMAND = ("{python}", "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests")


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory) -> Draft:
    folder = tmp_path_factory.mktemp("tried")
    known = fix(
        before={"clamp.py": BEFORE, "tests/test_clamp.py": OLD},
        after={"clamp.py": AFTER, "tests/test_clamp.py": TESTS, "tests/test_broken.py": BROKEN},
    )
    repository = Repository(folder / "bases.git")
    solution = pack_files({"clamp.py": AFTER.encode()})
    base = pack_files({"clamp.py": BEFORE.encode(), "tests/test_clamp.py": OLD.encode()})
    draft = Draft(
        asked=asked(id="clamping"),
        fix=known,
        lock="",
        solution=repository.patch(repository.ingest(base.entries, base.blobs), solution.entries, solution.blobs),
        modules={"tests/test_clamp.py": TESTS, "tests/test_broken.py": BROKEN},
        helpers={},
        telling=frozenset(),
    )
    return measured(draft, ground(folder, draft, repository), lambda _: None)


def ground(folder: Path, draft: Draft, repository: Repository) -> Ground:
    """Set the draft up in a sandbox without walls."""
    new_tree(folder / "clamping", nomination_members(draft))
    nomination = load_nomination(folder / "clamping")
    downloads = Downloads(folder=folder / "downloads", index=None)
    fixture = build_fixture(nomination, downloads)
    prepared = PreparedNomination(
        nomination=nomination,
        fixture=fixture,
        solution=build_solution(nomination, fixture, downloads, repository),
        lock=None,
        evaluators=(),
        controls=None,
    )
    sandbox = PlainSandbox(folder / "sandbox")
    sandbox.folder.mkdir()
    bench, stored = plain_bench(sandbox), sandbox.store(fixture.pack)
    staged = Staged(
        prepared=prepared,
        base=Base(digest=fixture.digest, commit="", listings=fixture.contents),
        fixture=stored,
        git=stored,
        toolchain=bench.toolchain,
        tests=PublicTests(command=COMMAND, files=fixture.public_pack),
        bench=bench,
        tests_bench=bench,
    )
    return Ground(staged=staged, repository=repository, suite=build_pytest_suite(nomination.evaluators[0]))


def test_cases_are_listed_by_what_they_say_of_the_base(tried: Draft) -> None:
    assert tried.fail_to_pass == ("tests/test_clamp.py::test_half", "tests/test_clamp.py::test_low")
    assert tried.pass_to_pass == ("tests/test_clamp.py::test_between",)


def test_tests_that_judge_nobody_are_taken_out_and_named(tried: Draft) -> None:
    assert set(tried.modules) == {"tests/test_clamp.py"}
    assert "test_that_fails_here" not in tried.modules["tests/test_clamp.py"]
    assert "test_that_is_skipped" not in tried.modules["tests/test_clamp.py"]
    said = " ".join(tried.notes)
    assert "test_that_fails_here, test_that_is_skipped" in said
    assert "test_broken.py does not run on the solution" in said


def test_a_public_test_that_the_fix_rewrote_leaves_the_fixture(tried: Draft) -> None:
    assert tried.exclude == ("tests/test_clamp.py",)
    assert [member.path for member in tried.fixture] == [b"clamp.py"]
    text = next(member.data.decode() for member in nomination_members(tried) if member.path == b"nomination.toml")
    assert 'exclude = ["tests/test_clamp.py"]' in text


def test_wrong_repairs_are_refused_in_some_case_and_not_in_all(tried: Draft) -> None:
    assert list(tried.wrong) == ["without-part-1", "without-part-2"]
    assert all(b"diff --git a/clamp.py b/clamp.py" in patch for patch in tried.wrong.values())
    assert all(patch.startswith(b"Proposed: the solution without its change") for patch in tried.wrong.values())
