from pathlib import Path

import pytest

from evaluators.errors import EvaluatorError
from evaluators.model import Submission
from evaluators.packing import laid_over, pack_files
from evaluators.public_tests import PublicTests, TestsResult, run_public_tests
from sandbox.api import Pack
from sandbox.spec import PYTHON, Reach, Role
from sandbox.termination import Cause, Termination, Usage
from sandbox.tree import Entry, Kind
from tests.fakes import PlainSandbox
from tests.unit.evaluators.judging import plain_bench

COMMAND = ("{python}", "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests")
TEST = b"from calc import add\ndef test_add():\n    assert add(1, 2) == 3\n"
PUBLIC = pack_files({"tests/test_public.py": TEST})


def run(
    folder: Path, tree: dict[str, bytes], command: tuple[str, ...] = COMMAND, wall_seconds: float = 60.0
) -> tuple[TestsResult, PlainSandbox]:
    sandbox = PlainSandbox(folder)
    base = sandbox.store(pack_files({"calc.py": b"def add(a, b): return 0\n", "tests/test_public.py": TEST}))
    submission = Submission(base=(base,), change=pack_files(tree), tree_digest="0" * 64)
    tests = PublicTests(command=command, files=PUBLIC)
    return run_public_tests(tests, submission, plain_bench(sandbox, wall_seconds)), sandbox


def test_a_right_change_passes_and_the_base_fails(tmp_path: Path) -> None:
    result, sandbox = run(tmp_path, {"calc.py": b"def add(a, b): return a + b\n"})
    assert result.passed
    assert b"1 passed" in result.stdout
    spec = sandbox.started[0]
    assert (spec.role, spec.network.reach, spec.argv[0]) == (Role.TESTS, Reach.NOTHING, PYTHON)
    assert dict(spec.environment) == {
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": "/work:/opt/toolchain",
    }


def test_the_nominations_own_tests_are_what_runs(tmp_path: Path) -> None:
    result, _ = run(tmp_path, {"tests/test_public.py": b"def test_add(): pass\n"})
    assert not result.passed
    assert result.termination.status == 1


@pytest.mark.parametrize(
    ("command", "cause"),
    [
        (("/bin/sh", "-c", "kill -9 $$"), Cause.SIGNAL),
        (("/bin/sh", "-c", "exit 3"), Cause.EXIT),
        (("/bin/sleep", "20"), Cause.TIMEOUT),
    ],
)
def test_another_end_is_no_pass_and_keeps_its_cause(tmp_path: Path, command: tuple[str, ...], cause: Cause) -> None:
    result, _ = run(tmp_path, {}, command, wall_seconds=1.0)
    assert not result.passed
    assert result.termination.cause is cause


def test_our_own_failure_is_a_fault(tmp_path: Path) -> None:
    sandbox = PlainSandbox(tmp_path)
    sandbox.ends.append(Termination(cause=Cause.MANAGER, status=None, usage=Usage(wall_ms=1), detail="gone"))
    base = sandbox.store(PUBLIC)
    submission = Submission(base=(base,), change=pack_files({}), tree_digest="0" * 64)
    with pytest.raises(EvaluatorError, match="gone"):
        run_public_tests(PublicTests(command=COMMAND, files=PUBLIC), submission, plain_bench(sandbox))


def change(*entries: Entry) -> Pack:
    return Pack(entries=entries, blobs=lambda _: b"")


def test_what_stands_in_the_way_of_what_is_laid_on_top_is_left_out() -> None:
    digest = "0" * 64
    below = change(
        Entry(path=b"tests", kind=Kind.LINK, target=b"/etc"),
        Entry(path=b"tests/test_public.py", kind=Kind.GONE),
        Entry(path=b"tests/test_public.py/deep", kind=Kind.FILE, sha256=digest),
        Entry(path=b"tests/other.py", kind=Kind.FILE, sha256=digest),
        Entry(path=b"testss", kind=Kind.GONE),
    )
    laid = laid_over(below, PUBLIC)
    assert [entry.path for entry in laid.entries] == [b"tests/other.py", b"testss", b"tests/test_public.py"]
    (public,) = PUBLIC.entries
    assert laid.blobs(public.sha256 or "") == TEST


def test_laying_nothing_changes_nothing() -> None:
    below = change(Entry(path=b"a", kind=Kind.GONE), Entry(path=b"b", kind=Kind.FOLDER))
    assert laid_over(below, change()).entries == below.entries
