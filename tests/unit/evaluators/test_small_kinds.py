"""Laws of the small kinds: all that is granted is seen, settings of a submission count nothing, text is no verdict."""

import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from evaluators.errors import EvaluatorError, OptionError
from evaluators.model import Assurance, Bench, EvaluatorSpec, Submission, Verdict, VerdictCause
from evaluators.packing import pack_files
from evaluators.presets import charting, compiling, granting, linting
from evaluators.presets.grants import Grant
from evaluators.presets.yaml_reading import RefusedError, documents
from evaluators.registry import assurance_of, build
from evaluators.split_side.cleanroom_driver import same
from sandbox.spec import Mount
from sandbox.tree import Entry, Kind
from tests.fakes import PlainSandbox
from tests.helm import helm
from tests.unit.evaluators.tooled import RUFF, tooled_bench

READER = {"group": "", "resource": "pods", "verb": "get", "namespace": "shop"}
LISTER = {**READER, "verb": "list"}
SUBJECT = "ServiceAccount:shop/reader"


@dataclass
class Ended:
    status: int
    stdout: bytes
    stderr: bytes


@dataclass
class ToldDriver:
    """A driver over files in memory; programs run in a folder with those files."""

    files: Mapping[str, bytes | None]
    folder: Path | None = None
    named: frozenset[str] = frozenset()
    """Files of the base: not changed."""
    said: dict[str, tuple[bool, str]] = field(default_factory=dict)

    def check(self, name: str, passed: object, detail: str = "") -> None:
        assert name not in self.said
        self.said[name] = (passed is True, detail)

    def read(self, path: str) -> bytes | None:
        return self.files.get(path)

    def changed(self) -> tuple[str, ...]:
        return tuple(sorted(self.files.keys() - self.named))

    def same(self, found: object, wanted: object) -> bool:
        return same(found, wanted)

    def program(self, *argv: str, files: Mapping[str, bytes], within: float) -> Ended:
        assert self.folder is not None
        for path, content in {**self.files, **files}.items():
            place = self.folder / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content or b"")
        ended = subprocess.run(argv, cwd=self.folder, capture_output=True, timeout=within, check=False)
        return Ended(ended.returncode, ended.stdout, ended.stderr)

    @property
    def failed(self) -> set[str]:
        return {name for name, (passed, _) in self.said.items() if not passed}


def role(*rules: str, name: str = "reader", kind: str = "Role", **more: str) -> str:
    about = f"  name: {name}\n" + ("  namespace: shop\n" if kind == "Role" else "")
    about += "".join(f"  {key}: {value}\n" for key, value in more.items())
    listed = "".join(f"- {each}\n" for each in rules) or "[]\n"
    return f"apiVersion: rbac.authorization.k8s.io/v1\nkind: {kind}\nmetadata:\n{about}rules:\n{listed}---\n"


def rule(resources: str = "pods", verbs: str = "get, list", groups: str = '""', more: str = "") -> str:
    return f"{{apiGroups: [{groups}], resources: [{resources}], verbs: [{verbs}]{more}}}"


def binding(
    to: str = "reader",
    kind: str = "RoleBinding",
    role_kind: str = "Role",
    name: str = "bind",
    subjects: str | None = None,
) -> str:
    who = subjects or "{kind: ServiceAccount, name: reader, namespace: shop}"
    space = "  namespace: shop\n" if kind == "RoleBinding" else ""
    return (
        f"apiVersion: rbac.authorization.k8s.io/v1\nkind: {kind}\nmetadata:\n  name: {name}\n{space}"
        f"roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: {role_kind}, name: {to}}}\nsubjects: [{who}]\n---\n"
    )


HONEST = role(rule()) + binding()


def granted(text: str, files: Mapping[str, str | None] | None = None, **options: Any) -> ToldDriver:  # noqa: ANN401 - options
    told = {"files": ["rbac.yaml"], "subject": SUBJECT, "needs": [READER, LISTER], "may": [], "others": []} | options
    known = {"rbac.yaml": text, **(files or {})}
    driver = ToldDriver({path: None if each is None else each.encode() for path, each in known.items()})
    granting.main(driver, told)
    return driver


NO_MORE, NOBODY = "nothing more is granted", "nobody else is granted anything"
GETS, LISTS = "grants: get pods in shop", "grants: list pods in shop"
EVERYTHING = {GETS, LISTS, NO_MORE, NOBODY}


@pytest.mark.parametrize(
    ("text", "failed"),
    [
        pytest.param(HONEST, set(), id="honest"),
        pytest.param(role(rule(verbs="get"), rule(verbs="list")) + binding(), set(), id="honest, in two rules"),
        pytest.param(
            role(rule(verbs="get")) + role(rule(verbs="list"), name="two") + binding() + binding("two", name="more"),
            set(), id="honest, by two bindings"),
        pytest.param(role(rule(), kind="ClusterRole") + binding(role_kind="ClusterRole"), set(),
                     id="honest, a cluster role in one namespace"),
        pytest.param(role(rule(verbs='"*"')) + binding(), {NO_MORE}, id="every verb"),
        pytest.param(role(rule(resources='"*"')) + binding(), {NO_MORE}, id="every resource"),
        pytest.param(role(rule(groups='"*"')) + binding(), {NO_MORE}, id="every group"),
        pytest.param(role(rule(resources='pods, "*/log"')) + binding(), {NO_MORE}, id="every log"),
        pytest.param(role(rule(resources="pods, secrets")) + binding(), {NO_MORE}, id="one resource more"),
        pytest.param(role(rule(verbs="get, list, watch")) + binding(), {NO_MORE}, id="one verb more"),
        pytest.param(role(rule(), '{nonResourceURLs: ["/metrics"], verbs: [get]}', kind="ClusterRole")
                     + binding(role_kind="ClusterRole"), {NO_MORE}, id="an address more"),
        pytest.param(role(rule(), kind="ClusterRole") + binding(kind="ClusterRoleBinding", role_kind="ClusterRole"),
                     {NO_MORE}, id="everywhere"),
        pytest.param(HONEST + role(rule("secrets", "get"), name="more") + binding("more", name="second"), {NO_MORE},
                     id="a second binding"),
        pytest.param(HONEST + binding("cluster-admin", "ClusterRoleBinding", "ClusterRole", "admin"), {NO_MORE},
                     id="a role of the cluster's"),
        pytest.param(
            HONEST + binding("cluster-admin", "ClusterRoleBinding", "ClusterRole", "g",
                             "{kind: Group, name: 'system:serviceaccounts:shop'}"),
            {NO_MORE, NOBODY}, id="by its group"),
        pytest.param(
            HONEST + binding("cluster-admin", "ClusterRoleBinding", "ClusterRole", "u",
                             "{kind: User, name: 'system:serviceaccount:shop:reader'}"),
            {NO_MORE, NOBODY}, id="by its user"),
        pytest.param(HONEST + binding(name="other", subjects="{kind: Group, name: 'system:unauthenticated'}"), {NOBODY},
                     id="to others"),
        pytest.param(role(rule(), labels="{rbac.authorization.k8s.io/aggregate-to-view: 'true'}", kind="ClusterRole")
                     + binding(role_kind="ClusterRole"), {NO_MORE}, id="feeds a built-in role"),
        pytest.param(role(rule(verbs="get")) + binding(), {LISTS}, id="too little"),
        pytest.param(role(rule(verbs="Get, LIST")) + binding(), {GETS, LISTS, NO_MORE}, id="verbs in another spelling"),
        pytest.param(role(rule(more=", resourceNames: [web]")) + binding(), {GETS, LISTS}, id="one pod alone"),
        pytest.param(role(rule()), {GETS, LISTS}, id="not bound"),
        pytest.param(role(rule(resources="pods/log")) + binding(), {GETS, LISTS, NO_MORE}, id="a part of a pod"),
        pytest.param("kind: [", EVERYTHING, id="no YAML"),
        pytest.param("- a\n", EVERYTHING, id="no object"),
        pytest.param(role("7") + binding(), EVERYTHING, id="rules that are none"),
        pytest.param(role(rule(verbs="get, on")) + binding(), EVERYTHING, id="a truth for a verb"),
        pytest.param(HONEST + role(rule()), EVERYTHING, id="a role twice"),
        pytest.param(HONEST.replace("rules:", "rules: []\nrules:"), EVERYTHING, id="a key twice"),
        pytest.param(HONEST.replace("rules:\n-", "rules:\n- &a"), EVERYTHING, id="an anchor"),
        pytest.param(HONEST.replace("rbac.authorization.k8s.io/v1\nkind: Role\n", "v1\nkind: Role\n"), EVERYTHING,
                     id="another apiVersion"),
        pytest.param("", {GETS, LISTS}, id="empty"),
        pytest.param("{apiVersion: v1, kind: List, items: [{apiVersion: rbac.authorization.k8s.io/v1, "
                     "kind: ClusterRoleBinding, metadata: {name: x}, roleRef: {kind: ClusterRole, name: admin}, "
                     "subjects: [{kind: ServiceAccount, name: reader, namespace: shop}]}]}\n---\n" + HONEST, {NO_MORE},
                     id="inside a list"),
    ],
)  # fmt: skip
def test_what_is_granted_is_seen_whole_and_an_honest_grant_passes(text: str, failed: set[str]) -> None:
    assert granted(text).failed == failed


AGGREGATE = """apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: reader}
aggregationRule: {clusterRoleSelectors: [SELECTOR]}
rules: [{apiGroups: [""], resources: [pods], verbs: [get, list]}]
---
"""


@pytest.mark.parametrize(
    ("selector", "failed"),
    [
        pytest.param("{matchLabels: {part: read}}", set(), id="honest"),
        pytest.param("{matchExpressions: [{key: part, operator: In, values: [read]}]}", set(), id="honest, in words"),
        pytest.param("{matchLabels: {part: none}}", {GETS, LISTS}, id="its own rules do not count"),
        pytest.param("{matchExpressions: [{key: part, operator: Exists}]}", {NO_MORE}, id="more than it should"),
        pytest.param("{}", {NO_MORE}, id="everything"),
        pytest.param("{matchExpressions: [{key: x, operator: DoesNotExist}]}", {NO_MORE}, id="all without a label"),
        pytest.param("{matchLabels: {'rbac.authorization.k8s.io/aggregate-to-admin': 'true'}}",
                     {GETS, LISTS, NO_MORE}, id="an administrator's"),
    ],
)  # fmt: skip
def test_what_a_role_gathers_from_others_is_granted_too(selector: str, failed: set[str]) -> None:
    parts = role(rule(), name="a", kind="ClusterRole", labels="{part: read}")
    parts += role(rule("secrets", "get"), name="b", kind="ClusterRole", labels="{part: write}")
    text = AGGREGATE.replace("SELECTOR", selector) + parts + binding(role_kind="ClusterRole")
    assert granted(text).failed == failed


def test_roles_that_gather_each_other_come_to_an_end() -> None:
    text = AGGREGATE.replace("SELECTOR", "{matchLabels: {part: read}}").replace(
        "{name: reader}", "{name: reader, labels: {part: read}}"
    )
    other = text.replace("name: reader", "name: other")
    assert granted(text + other + binding(role_kind="ClusterRole")).failed == {GETS, LISTS}


def test_another_changed_manifest_is_looked_at_too_and_files_that_are_gone_are_not() -> None:
    more = binding("cluster-admin", "ClusterRoleBinding", "ClusterRole", "admin")
    assert granted(HONEST, {"extra/zz.yml": more}).failed == {NO_MORE}
    assert granted(HONEST, {"extra/zz.json": "{{"}).failed == EVERYTHING
    assert granted(HONEST, {"gone.yaml": None, "notes.txt": more}).failed == set()
    assert granted(HONEST, {"rbac.yaml": None}).failed == EVERYTHING


def test_who_else_may_be_granted_something_is_named_by_the_nomination() -> None:
    text = HONEST + binding(name="other", subjects="{kind: User, name: eve}")
    assert granted(text, others=["User:eve"]).failed == set()
    assert granted(role(rule(verbs="get, list, watch")) + binding(), may=[{**READER, "verb": "watch"}]).failed == set()


@pytest.mark.parametrize(
    ("rules", "failed"),
    [
        pytest.param([rule("deployments", "get", "apps")], set(), id="one rule"),
        pytest.param([rule("deployments", "list", "apps"), rule("deployments", "get", "apps, batch")], {"more"},
                     id="more"),
        pytest.param([rule('"*"', '"*"', '"*"')], {"more"}, id="everything"),
        pytest.param([rule("deployments", "get", '""')], {"enough", "more"}, id="another group"),
    ],
)  # fmt: skip
def test_a_cluster_role_by_itself_covers_what_it_must_by_one_rule(rules: list[str], failed: set[str]) -> None:
    need = {"group": "apps", "resource": "deployments", "verb": "get"}
    driver = granted(role(*rules, name="app", kind="ClusterRole"), subject=None, role="ClusterRole/app", needs=[need])
    names = {"enough": "grants: get apps/deployments", "more": NO_MORE}
    assert driver.failed == {names[each] for each in failed}


@pytest.mark.parametrize(
    ("wide", "narrow", "wanted"),
    [
        (Grant("", "pods", "get"), Grant("", "pods", "get", namespace="shop"), True),
        (Grant("", "pods", "get", namespace="shop"), Grant("", "pods", "get"), False),
        (Grant("*", "*", "*"), Grant("apps", "deployments", "delete", name="web"), True),
        (Grant("", "*/log", "get"), Grant("", "pods/log", "get"), True),
        (Grant("", "pods", "get"), Grant("", "pods/log", "get"), False),
        (Grant("*", "*", "*"), Grant("", "", "get", url="/metrics"), False),
        (Grant("", "", "get", url="/api/*"), Grant("", "", "get", url="/api/v1"), True),
    ],
)
def test_what_covers_what(wide: Grant, narrow: Grant, wanted: bool) -> None:  # noqa: FBT001 - a case
    assert wide.covers(narrow) is wanted


@pytest.mark.parametrize(
    "text", ["a: &x 1\nb: *x\n", "a: 1\na: 2\n", "1: a\n", "!!python/object:os.system {}\n", "a: \xff"]
)
def test_yaml_that_two_read_differently_is_refused(text: str) -> None:
    with pytest.raises(RefusedError):
        documents(text.encode("latin-1"))
    with pytest.raises(RefusedError):
        documents(b"[" * 100_000)


@pytest.mark.parametrize(
    ("path", "content", "passed"),
    [
        pytest.param("a.py", b"def f(x):\n    return x\n", True, id="python"),
        pytest.param("a.py", b"raise SystemExit(0)\n", True, id="python that ends when it runs"),
        pytest.param("a.py", b"import os\nos._exit(0)\ndef (\n", False, id="python that would end first"),
        pytest.param("a.py", b"x = 1\0\n", False, id="a NUL"),
        pytest.param("a.py", b"# coding: no-such\nx = 1\n", False, id="an unknown coding"),
        pytest.param("a.py", b"return 1\n", False, id="return outside"),
        pytest.param("a.py", b"(" * 5000 + b")" * 5000, False, id="too deep"),
        pytest.param("a.json", b'{"a": [1]}', True, id="json"),
        pytest.param("a.json", b'{"a": [1],}', False, id="json with a comma more"),
        pytest.param("a.json", b"[" * 100_000, False, id="json too deep"),
        pytest.param("a.toml", b'a = "b"\n', True, id="toml"),
        pytest.param("a.toml", b"a = b\n", False, id="no toml"),
    ],
)
def test_files_are_parsed_and_never_run(path: str, content: bytes, passed: bool) -> None:  # noqa: FBT001 - a case
    driver = ToldDriver({path: content})
    compiling.main(driver, {"files": [path]})
    assert driver.failed == (set() if passed else {path})


def test_whatever_else_is_changed_must_compile_too() -> None:
    driver = ToldDriver({"a.py": b"x = 1\n", "b.py": b"def (\n", "notes.md": b"(", "gone.py": None})
    compiling.main(driver, {"files": ["a.py"]})
    assert driver.failed == {"what else is changed"}
    driver = ToldDriver({"b.py": None})
    compiling.main(driver, {"files": ["a.py"]})
    assert driver.failed == {"a.py"}


@pytest.mark.parametrize(
    ("content", "passed"), [(b"export const a = 1;\n", True), (b"module.exports = 1;\n", True), (b"let = (\n", False)]
)
def test_javascript_is_checked_by_node_as_script_or_module(content: bytes, passed: bool, tmp_path: Path) -> None:  # noqa: FBT001 - a case
    node = tmp_path / "node"
    told = "import pathlib, sys\ntext = pathlib.Path(sys.argv[2]).read_text()\nmjs = sys.argv[2].endswith('.mjs')\n"
    told += "sys.exit('(' in text or ('export ' in text) != mjs)\n"
    node.write_text(f"#!{sys.executable}\n{told}")
    node.chmod(0o755)
    driver = ToldDriver({"a.js": content})
    compiling.main(driver, {"files": ["a.js"]}, node=str(node))
    assert (driver.failed == set()) is passed


HIDING = "# ruff: noqa\nimport os  # noqa\n"


@pytest.mark.parametrize(
    ("files", "most", "failed"),
    [
        pytest.param({"a.py": "x = 1\n"}, 0, set(), id="honest"),
        pytest.param({"a.py": "import os\n"}, 0, {linting.CLEAN}, id="a finding"),
        pytest.param({"a.py": "import os\n"}, 1, set(), id="a finding that may be"),
        pytest.param({"a.py": HIDING}, 0, {linting.CLEAN}, id="hidden by comments"),
        pytest.param({"a.py": HIDING, "ruff.toml": "exclude = ['*']\n"}, 0, {linting.CLEAN}, id="and by settings"),
        pytest.param({"a.py": "x = 1\n", "b.py": HIDING}, 0, {linting.CLEAN}, id="in another file"),
        pytest.param({"a.py": "def (\n"}, 99, {linting.READ, linting.CLEAN}, id="unreadable"),
        pytest.param({"b.py": "x = 1\n"}, 0, {linting.READ, linting.CLEAN}, id="missing"),
    ],
)
def test_lint_goes_by_the_nominations_rules_alone(files: dict[str, str], most: int, failed: set[str]) -> None:
    driver = ToldDriver({path: text.encode() for path, text in files.items()})
    linting.main(driver, {"files": ["a.py"], "rules": ["F"], "most": most}, program=str(RUFF))
    assert driver.failed == failed


DEPLOYMENT = (
    "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: {{ .Release.Name }}\n"
    "spec:\n  replicas: {{ .Values.replicas }}\n  args: [a, b]\n"
)
CHART = {"chart/Chart.yaml": "name: web\n", "chart/values.yaml": "replicas: 1\n"}
WANTED = {
    "chart": "chart",
    "release": "web",
    "values": ["replicas: 3\n"],
    "expect": [{"kind": "Deployment", "name": "web", "path": "spec.replicas", "value": 3}],
    "contains": ["replicas: 3"],
    "refutes": ["hostNetwork"],
}
RENDERS, AT = "the chart renders", "Deployment/web: spec.replicas"
HOLDS, LACKS = "holds: replicas: 3", "lacks: hostNetwork"


@pytest.mark.parametrize(
    ("template", "failed"),
    [
        pytest.param(DEPLOYMENT, set(), id="honest"),
        pytest.param(DEPLOYMENT.replace("{{ .Values.replicas }}", "1"), {AT, HOLDS}, id="another value"),
        pytest.param(DEPLOYMENT.replace("{{ .Values.replicas }}", "1  # replicas: 3"), {AT, HOLDS}, id="in a comment"),
        pytest.param(DEPLOYMENT.replace("{{ .Values.replicas }}", '"3"'), {AT, HOLDS}, id="a text for a number"),
        pytest.param(
            DEPLOYMENT.replace("{{ .Values.replicas }}", "1")
            + "---\nkind: Note\nmetadata: {name: x}\nsays: |\n  replicas: 3\n",
            {AT}, id="in words of another object"),
        pytest.param(DEPLOYMENT + "---\n" + DEPLOYMENT.replace("{{ .Values.replicas }}", "1"),
                     {RENDERS, AT, HOLDS, LACKS}, id="the object twice"),
        pytest.param(DEPLOYMENT + "  hostNetwork: true\n", {LACKS}, id="what must not be"),
        pytest.param('{"passed": true}', {RENDERS, AT, HOLDS, LACKS}, id="a verdict of its own"),
        pytest.param("{{ .Values.missing }}", {RENDERS, AT, HOLDS, LACKS}, id="it does not render"),
        pytest.param("# nothing\n", {RENDERS, AT, HOLDS, LACKS}, id="nothing"),
    ],
)  # fmt: skip
def test_a_chart_is_judged_by_what_it_becomes(tmp_path: Path, template: str, failed: set[str]) -> None:
    files = {path: text.encode() for path, text in {**CHART, "chart/templates/a.yaml": template}.items()}
    driver = ToldDriver(files, folder=tmp_path / "work")
    charting.main(driver, WANTED, helm=str(helm(tmp_path / "bin")))
    assert driver.failed == failed
    assert len(driver.said) == 4


def spec_of(kind: str, folder: Path, **options: object) -> EvaluatorSpec:
    folder.mkdir(exist_ok=True)
    return EvaluatorSpec(id="hidden", kind=kind, options=options, folder=folder)


OPTIONS: dict[str, dict[str, object]] = {
    "compile": {"files": ["a.py"]},
    "lint": {"files": ["a.py"], "rules": ["F"], "most": 1},
    "rbac": {"files": ["a.yaml"], "subject": SUBJECT, "needs": [READER]},
    "helm": {"chart": "chart", "release": "web", "expect": WANTED["expect"], "contains": ["x"]},
}


@pytest.mark.parametrize("kind", sorted(OPTIONS))
def test_a_kind_declares_its_cases_and_depends_on_tools_and_options(kind: str, tmp_path: Path) -> None:
    made = build(spec_of(kind, tmp_path / "private", **OPTIONS[kind]))
    assert made.digest() == build(spec_of(kind, tmp_path / "private", **OPTIONS[kind])).digest()
    assert made.digest() != build(spec_of(kind, tmp_path / "private", **OPTIONS[kind], wall_s=7)).digest()
    assert len(set(made.expected_cases())) == len(made.expected_cases()) > 1
    assert assurance_of(spec_of(kind, tmp_path / "private", **OPTIONS[kind])) is Assurance.SPLIT
    with pytest.raises(EvaluatorError):
        build(spec_of(kind, tmp_path / "private", **OPTIONS[kind]), {"learned": 1})


@pytest.mark.parametrize(
    ("kind", "options", "field"),
    [
        ("compile", {"files": []}, "files"),
        ("compile", {"files": ["a.c"]}, "files"),
        ("compile", {"files": ["../a.py"]}, "files"),
        ("compile", {"files": ["a.py"], "rules": []}, "rules"),
        ("lint", {"files": ["a.py"], "most": -1}, "most"),
        ("lint", {"files": ["a.py"], "most": True}, "most"),
        ("lint", {"files": ["a.py"], "rules": ["F,--config"]}, "rules"),
        ("rbac", {"files": ["a.yaml"], "needs": [READER]}, "subject or role"),
        ("rbac", {"files": ["a.yaml"], "subject": "x", "role": "y", "needs": [READER]}, "subject or role"),
        ("rbac", {"files": ["a.yaml"], "subject": SUBJECT}, "needs"),
        ("rbac", {"files": ["a.yaml"], "subject": SUBJECT, "needs": [{"verb": "get"}]}, "needs[0]"),
        ("rbac", {"files": ["a.yaml"], "subject": SUBJECT, "needs": [{**READER, "verbs": "x"}]}, "needs[0]"),
        ("rbac", {"files": ["a.yaml"], "subject": SUBJECT, "needs": [READER, READER]}, "cases"),
        ("helm", {"chart": "/etc"}, "chart"),
        ("helm", {"chart": "chart", "release": "--post-renderer"}, "release"),
        ("helm", {"chart": "chart", "expect": [{"kind": "x"}]}, "expect[0]"),
    ],
)
def test_options_that_mean_nothing_are_refused_by_name(
    kind: str, options: dict[str, object], field: str, tmp_path: Path
) -> None:
    with pytest.raises(OptionError) as refused:
        build(spec_of(kind, tmp_path / "private", **options))
    assert refused.value.field == field


def judged(kind: str, tree: Mapping[str, str], bench: Bench, folder: Path, **options: object) -> Verdict:
    base = bench.sandbox.store(pack_files({"README": b"x"}))
    change = pack_files({path: text.encode() for path, text in tree.items()})
    made = build(spec_of(kind, folder / "private", **(options or OPTIONS[kind])))
    return made.judge(Submission(base=(base,), change=change, tree_digest="0" * 64), bench)


EXITS = "import os\nos._exit(0)\n"


def test_a_whole_conversation_gives_a_verdict_that_nothing_of_the_submission_ran_for(tmp_path: Path) -> None:
    bench = tooled_bench(tmp_path)
    good = judged("lint", {"a.py": "x = 1\n"}, bench, tmp_path)
    assert (good.cause, good.assurance, good.score) == (VerdictCause.PASSED, Assurance.SPLIT, 1)
    bad = judged(
        "lint",
        {"a.py": "import os\nimport sys\n", **dict.fromkeys(("ruff.py", "presets.py", "json.py"), EXITS)},
        bench,
        tmp_path,
    )
    assert (bad.cause, [each.passed for each in bad.cases]) == (VerdictCause.FAILED, [True, False])
    assert judged("compile", {"a.py": EXITS}, bench, tmp_path).passed
    assert not judged("compile", {"a.py": EXITS + "def (\n", "sitecustomize.py": EXITS}, bench, tmp_path).passed


def test_helm_is_the_program_that_the_host_names_and_without_one_it_is_our_fault(tmp_path: Path) -> None:
    bench = tooled_bench(tmp_path)
    with pytest.raises(EvaluatorError, match=r"\$HELM"):
        judged("helm", CHART, bench, tmp_path)
    with pytest.raises(EvaluatorError, match="tools"):
        judged("lint", {"a.py": "x\n"}, replace(bench, tools=()), tmp_path)
    sandbox = bench.sandbox
    assert isinstance(sandbox, PlainSandbox)
    named = helm(tmp_path / "bin")
    beside = replace(bench, helm=(Mount(object=sandbox.adopt(named.parent), target="/opt/helm"),))
    verdict = judged("helm", {**CHART, "chart/templates/a.yaml": DEPLOYMENT}, beside, tmp_path)
    assert verdict.cause is VerdictCause.FAILED  # no value is laid over: one replica, and `x` nowhere
    assert [each.passed for each in verdict.cases] == [True, False, False]


FORGING = {"Makefile": "all:\n\t@true\n", "a.c": "int main( {\n"}


@pytest.mark.parametrize(
    ("files", "tree", "passed"),
    [
        pytest.param({}, FORGING, True, id="the submission's own Makefile says what it likes"),
        pytest.param({"Makefile": "Makefile"}, FORGING, False, id="the nomination's is laid over it"),
        pytest.param({"Makefile": "Makefile"}, {"a.c": "int main;\n"}, True, id="honest"),
    ],
)
def test_a_build_is_believed_by_its_exit_status_and_says_so(
    tmp_path: Path,
    files: dict[str, str],
    tree: dict[str, str],
    passed: bool,  # noqa: FBT001 - a case
) -> None:
    private = tmp_path / "private"
    private.mkdir()
    (private / "Makefile").write_text("all:\n\tgrep -q 'main;' a.c\n")
    bench = tooled_bench(tmp_path)
    argv = ["/bin/sh", "-c", "sh -c \"$(sed -n 's/^\\t@*//p' Makefile)\""]
    verdict = judged("compile", tree, bench, tmp_path, argv=argv, files=files)
    assert (verdict.passed, verdict.assurance) == (passed, Assurance.EXIT_CODE)
    assert assurance_of(spec_of("compile", private, argv=argv)) is Assurance.EXIT_CODE


def test_a_link_in_the_place_of_a_file_is_no_file(tmp_path: Path) -> None:
    bench = tooled_bench(tmp_path)
    base = bench.sandbox.store(pack_files({"good.py": b"x = 1\n"}))
    link = Entry(path=b"a.py", kind=Kind.LINK, target=b"good.py")
    change = replace(pack_files({}), entries=(link,))
    made = build(spec_of("compile", tmp_path / "private", **OPTIONS["compile"]))
    assert not made.judge(Submission(base=(base,), change=change, tree_digest="0" * 64), bench).passed
