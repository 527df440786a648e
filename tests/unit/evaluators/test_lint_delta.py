"""Laws of the lint norm: settings of ours alone, the base's findings are nobody's, and a fault is never a verdict."""

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from evaluators.lint_delta import Looked, delta, lint, read
from evaluators.model import Bench
from evaluators.norm_counts import Asked
from evaluators.norm_scale import NormId
from evaluators.norms import measure
from evaluators.presets.ruff import RuffError, look
from evaluators.two_trees import changes_of
from sandbox.errors import KeeperError, WorkspaceError
from sandbox.termination import Cause, Termination, Usage
from tests.fakes import PlainSandbox
from tests.unit.evaluators.tooled import RUFF, changed, tooled_bench

CLEAN = "def add(a, b):\n    return a + b\n"
HIDING = (
    "# ruff: noqa\n# flake8: noqa\n# ruff: file-ignore[F401]\n# ruff: disable[F401]\n"
    "import os  # noqa\nimport sys  # noqa: F401\nimport re  # ruff: ignore[F401]\n"
)
SETTINGS = {
    "ruff.toml": 'exclude = ["*"]\n[lint]\nselect = []\n',
    ".ruff.toml": "[lint]\nignore = ['ALL']\n",
    "pyproject.toml": "[tool.ruff]\nexclude = ['*']\n[tool.ruff.lint]\nselect = []\n",
    ".gitignore": "*\n",
}


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return tooled_bench(tmp_path_factory.mktemp("tooled"))


def counts(bench: Bench, before: dict[str, str], after: dict[str, str | None]) -> dict[str, int]:
    norm, _ = lint(changes_of(changed(before, after)), bench)
    assert not norm.reason
    return dict(norm.counts)


def test_comments_and_settings_of_a_submission_hide_nothing(bench: Bench) -> None:
    found = counts(bench, {"a.py": CLEAN}, {"a.py": HIDING + CLEAN, **SETTINGS})
    assert found == {"base": 0, "submission": 3, "new": 3}


def test_what_the_base_had_is_nobodys_wherever_it_stands_now(bench: Bench) -> None:
    base = {"a.py": "import os\n" + CLEAN}
    assert counts(bench, base, {"a.py": "\n\n\nimport os\n" + CLEAN})["new"] == 0
    assert counts(bench, base, {"a.py": "import sys\n" + CLEAN}) == {"base": 1, "submission": 1, "new": 1}
    assert counts(bench, base, {"a.py": CLEAN}) == {"base": 1, "submission": 0, "new": 0}


def test_a_file_that_can_no_longer_be_read_counts_in_full(bench: Bench) -> None:
    assert counts(bench, {"a.py": CLEAN}, {"a.py": "def (\n"})["new"] >= 5


def test_a_base_that_cannot_be_read_is_no_measure(bench: Bench) -> None:
    norm, _ = lint(changes_of(changed({"a.py": "def (\n"}, {"a.py": CLEAN})), bench)
    assert "cannot read the base" in norm.reason


def test_without_python_there_is_nothing_or_no_linter(bench: Bench) -> None:
    assert counts(bench, {}, {"notes.md": "x\n"}) == {"base": 0, "submission": 0, "new": 0}
    norm, log = lint(changes_of(changed({}, {"web/a.js": "x\n"})), bench)
    assert (norm.reason, log) == ("no linter is pinned for .js", b"")
    norm, _ = lint(changes_of(changed({}, {"a.py": "x\n"})), replace(bench, tools=()))
    assert norm.reason == "the pinned ruff is not at hand"
    norm, _ = lint(changes_of(changed({}, {"a.py": "x" * (5 << 20)})), bench)
    assert "larger than" in norm.reason


@pytest.mark.parametrize(
    "name", ["-x.py", "a b.py", "\udcff.py", "ä.py", ".hidden.py", "x/../../y.py".replace("..", "dd")]
)
def test_odd_names_are_looked_at_like_others(bench: Bench, name: str) -> None:
    submission = changed({}, {"plain.py": "import os\n"})
    entry = replace(submission.change.entries[0], path=name.encode("utf-8", "surrogateescape"))
    odd = replace(submission, change=replace(submission.change, entries=(entry,)))
    norm, _ = lint(changes_of(odd), bench)
    assert norm.counts == {"base": 0, "submission": 1, "new": 1}


@pytest.mark.parametrize(
    ("looked", "new", "reason"),
    [
        pytest.param(Looked(base=None, submission=None), None, "no answer on the base", id="nothing"),
        pytest.param(Looked(base=None, submission=None, broke=True), None, "no answer on the base", id="early end"),
        pytest.param(Looked(base=(), submission=None), None, "no answer on the submission", id="a fault"),
        pytest.param(Looked(base=(), submission=None, broke=True), 5, "", id="the submission ends it"),
        pytest.param(Looked(base=(), submission=()), 0, "", id="clean"),
    ],
)
def test_who_ends_the_linter_after_the_base_went_through_pays_and_a_fault_is_nobodys(
    looked: Looked, new: int | None, reason: str
) -> None:
    norm = delta(looked)
    assert norm.counts.get("new") == new
    assert reason in norm.reason


def test_answers_in_another_form_are_none() -> None:
    told = b'{"side": "base", "found": [["a.py", "F401", "said", 1]]}\nnoise\n{"side": "submission", "error": "x"}\n'
    assert read(told) == Looked(base=(("a.py", "F401", "said", 1),), submission=None)


class Broken(PlainSandbox):
    """A sandbox whose units do not start."""

    fault: Exception = WorkspaceError("no unit")

    def start(self, _spec: object) -> object:  # type: ignore[override]
        raise self.fault


def test_a_fault_leaves_lint_unknown_and_the_rest_measured(bench: Bench, tmp_path: Path) -> None:
    sandbox = Broken(tmp_path)
    asked = Asked(target_files=("a.py",), tests_allowed=True, solution_lines=2)
    submission = changed({"a.py": CLEAN}, {"a.py": CLEAN + "x = 1\n"})
    norms = measure(asked, submission, replace(bench, sandbox=sandbox)).norms
    assert [each.id for each in norms.norms if each.reason] == [NormId.LINT]
    assert "a fault: no unit" in next(each.reason for each in norms.norms if each.id is NormId.LINT)
    assert norms.score is not None
    sandbox.fault = KeeperError("gone")
    with pytest.raises(KeeperError):
        measure(asked, submission, replace(bench, sandbox=sandbox))


def test_a_unit_that_the_manager_ended_is_a_fault_and_lint_unknown(bench: Bench) -> None:
    sandbox = bench.sandbox
    assert isinstance(sandbox, PlainSandbox)
    sandbox.ends.append(Termination(cause=Cause.MANAGER, status=None, usage=Usage(wall_ms=1), detail="lost"))
    asked = Asked(target_files=(), tests_allowed=True, solution_lines=2)
    norms = measure(asked, changed({}, {"a.py": CLEAN}), bench).norms
    assert "manager" in next(each.reason for each in norms.norms if each.id is NormId.LINT)


def test_nothing_changed_has_no_norms(bench: Bench) -> None:
    measured = measure(Asked(target_files=(), tests_allowed=True, solution_lines=2), changed({}, {}), bench)
    assert (measured.norms.score, measured.norms.reason) == (None, "nothing is changed")


def test_the_unit_has_no_network_no_workspace_and_an_account_of_its_own(bench: Bench) -> None:
    sandbox = bench.sandbox
    assert isinstance(sandbox, PlainSandbox)
    lint(changes_of(changed({}, {"a.py": CLEAN})), bench)
    spec = sandbox.started[-1]
    assert (spec.role.value, spec.workspace, spec.network.reach.value) == ("driver", None, "nothing")


def test_a_ruff_that_fails_has_no_findings_to_tell() -> None:
    with pytest.raises(RuffError):
        look({"a.py": b"x\n"}, program=str(shutil.which("false")))
    with pytest.raises(RuffError):
        look({"a.py": b"x\n"}, program="/nonexistent")


def test_the_ruff_of_these_tests_is_the_pinned_one() -> None:
    said = subprocess.run([RUFF, "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
    lock = (Path(__file__).parents[3] / "evaluators/tools.txt").read_text()
    assert f"ruff=={said} " in lock
