"""Norms and the small kinds in real units: pinned tools, no network, and a submission that counts as data alone."""

import os
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from evaluators.model import Assurance, Bench, EvaluatorSpec, Submission, Verdict, VerdictCause
from evaluators.norm_counts import Asked
from evaluators.norm_scale import NormId
from evaluators.norms import measure
from evaluators.packing import pack_files
from evaluators.registry import build
from runner.package_index import ConfiguredIndex
from runner.settings import DEFAULT_STATE
from runner.toolchain_store import Workshop
from runner.tools import HELM_TARGET, helm_pack, shown_tools
from sandbox.client import KeeperSandbox
from sandbox.spec import MIB, Limits, Mount
from tests.helm import helm
from tests.unit.evaluators.test_small_kinds import CHART, DEPLOYMENT, HONEST, READER, SUBJECT, binding
from tests.unit.evaluators.tooled import changed

pytestmark = pytest.mark.systemd

LIMITS = Limits(wall=timedelta(seconds=30), memory_bytes=512 * MIB, disk_bytes=64 * MIB, disk_inodes=5000)
HIDING = "# ruff: noqa\nimport os  # noqa\n\n\ndef add(a, b):\n    return a + b\n"


@pytest.fixture(scope="module")
def bench(sandbox: KeeperSandbox) -> Bench:
    """A bench with the tools, built where this host keeps its toolchains."""
    index = ConfiguredIndex(environment=os.environ)
    workshop = Workshop(folder=DEFAULT_STATE / "toolchains", find_index=index.settings)
    tools = shown_tools(workshop, sandbox)
    return Bench(sandbox=sandbox, toolchain=(), python_path=(), root=".", limits=LIMITS, tools=tools)


def judged(kind: str, tree: dict[str, str], bench: Bench, folder: Path, **options: object) -> Verdict:
    base = bench.sandbox.store(pack_files({"README": b"x"}))
    change = pack_files({path: text.encode() for path, text in tree.items()})
    made = build(EvaluatorSpec(id="hidden", kind=kind, options=options, folder=folder))
    return made.judge(Submission(base=(base,), change=change, tree_digest="0" * 64), bench)


def test_norms_are_measured_by_the_pinned_ruff_and_a_submissions_settings_count_nothing(bench: Bench) -> None:
    settings = {"ruff.toml": "exclude = ['*']\n", "pyproject.toml": "[tool.ruff.lint]\nselect = []\n"}
    base = {"calc.py": "def add(a, b):\n    return a - b\n"}
    asked = Asked(target_files=("calc.py",), tests_allowed=True, solution_lines=2)
    norms = measure(asked, changed(base, {"calc.py": HIDING, **settings}), bench).norms
    lint = next(each for each in norms.norms if each.id is NormId.LINT)
    assert lint.counts == {"base": 0, "submission": 1, "new": 1}, lint
    assert all(not each.reason for each in norms.norms if each.id is not NormId.COMMENTS), norms


def test_manifests_and_files_are_judged_in_units_that_run_nothing_of_them(bench: Bench, tmp_path: Path) -> None:
    options = {"files": ["rbac.yaml"], "subject": SUBJECT, "needs": [READER, {**READER, "verb": "list"}]}
    good = judged("rbac", {"rbac.yaml": HONEST}, bench, tmp_path, **options)
    assert (good.cause, good.assurance) == (VerdictCause.PASSED, Assurance.SPLIT), good
    wide = {"rbac.yaml": HONEST, "zz.yaml": binding("cluster-admin", "ClusterRoleBinding", "ClusterRole", "admin")}
    bad = judged("rbac", wide, bench, tmp_path, **options)
    assert [each.id for each in bad.cases if not each.passed] == ["nothing more is granted"], bad
    lint = judged("lint", {"a.py": HIDING, "yaml.py": "raise SystemExit\n"}, bench, tmp_path, files=["a.py"])
    assert lint.cause is VerdictCause.FAILED, lint


def test_helm_is_run_beside_the_chart_and_judged_by_what_it_renders(bench: Bench, tmp_path: Path) -> None:
    program = Mount(object=bench.sandbox.store(helm_pack(helm(tmp_path / "bin"))), target=HELM_TARGET)
    expected = {"kind": "Deployment", "name": "web", "path": "spec.replicas", "value": 1}
    beside = replace(bench, helm=(program,))
    tree = {**CHART, "chart/templates/a.yaml": DEPLOYMENT}
    verdict = judged("helm", tree, beside, tmp_path, chart="chart", release="web", expect=[expected])
    assert verdict.cause is VerdictCause.PASSED, verdict
