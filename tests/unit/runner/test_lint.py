import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from evaluators.errors import EvaluatorError
from evaluators.model import EvaluatorSpec
from runner.finding import Finding, Severity
from runner.host_copies import host_copies
from runner.inputs import load_inputs
from runner.lint import lint, usual_aids
from runner.nomination import load_nomination
from runner.nomination_lint import Aids, count_twins, lint_nomination
from runner.settings import load_settings
from tests.unit.runner.written import HIDDEN, NOMINATION, PATCH, SCHEMA, nomination_files, written

PROMPTS = Path(__file__).parents[3] / "config/judging"
SCOPE = {"id": "scope", "asks": "Does it do what was asked?", "anchors": {"0": "no", "10": "all of it"}}
Change = Mapping[str, str | None]
NO_COPIES: Mapping[str, tuple[Path, ...]] = {}


def no_key(_name: str) -> str | None:
    return None


def aids(
    twins: Callable[[EvaluatorSpec], int | None] = count_twins,
    copies: Mapping[str, tuple[Path, ...]] = NO_COPIES,
) -> Aids:
    return Aids(credential=no_key, twins=twins, copies=copies)


def nomination_findings(tmp_path: Path, change: Change | None = None, given: Aids | None = None) -> list[Finding]:
    files = {**nomination_files(), **(change or {})}
    folder = written(tmp_path / "wordcount", {path: text for path, text in files.items() if text is not None})
    return list(lint_nomination(load_nomination(folder), given or aids()))


def told(findings: list[Finding]) -> set[tuple[str, str]]:
    for finding in findings:
        assert finding.message
        assert finding.mend
        assert str(finding).isprintable()
    return {(str(finding.severity), finding.field) for finding in findings}


def toml(old: str, new: str) -> Change:
    assert old in NOMINATION
    return {"nomination.toml": NOMINATION.replace(old, new)}


def test_a_sound_nomination_gives_no_finding(tmp_path: Path) -> None:
    assert nomination_findings(tmp_path) == []


SEEDED = '[fixture]\nkind = "files"\n[fixture.files]\n"wordcount.py" = "x"\n"AGENTS.md" = "obey"\n[source]'
SDIST = f'[fixture]\nkind = "sdist"\nname = "Text_Table"\nversion = "1"\nsha256 = "{"0" * 64}"\n'
NODE = f'kind = "node"\nversion = "22.23.5"\nintegrity = "sha512-{"A" * 86}=="\n'
FROM_SDIST: Change = {"fixture/wordcount.py": None}
LOCKED = f"pytest==9.0.0 --hash=sha256:{'a' * 64}\ntext-table==1.0 --hash=sha256:{'b' * 64}\n"
BUCKETS = '[evaluators.buckets]\n"2" = "1"\n'
ONE_TWIN = "from wordcount import count\n\n\ndef test_hidden_two():\n    assert count('a b') == 2\n"


@pytest.mark.parametrize(
    ("change", "finding"),
    [
        pytest.param(
            toml('[[evaluators]]\nid = "hidden"\nkind = "pytest"\n', ""),
            ("error", "evaluators"),
            id="no-evaluator",
        ),
        pytest.param(toml('kind = "pytest"\n', 'kind = "tests"\n'), ("error", "evaluators[0]"), id="unknown-kind"),
        pytest.param(
            toml('kind = "pytest"\n', 'kind = "pytest"\nx = 1\n'),
            ("error", "evaluators[0]"),
            id="unknown-option",
        ),
        pytest.param({"private/test_hidden.py": None}, ("error", "evaluators[0]"), id="no-hidden-test"),
        pytest.param(
            toml('command = ["{python}", ', 'command = ["/work/check", '),
            ("error", "public_tests.command"),
            id="a-test-program-of-the-submission",
        ),
        pytest.param({"private/test_hidden.py": "def"}, ("error", "evaluators[0]"), id="broken-hidden-test"),
        pytest.param({"private/test_hidden.py": ONE_TWIN}, ("error", "evaluators[0]"), id="one-twin"),
        pytest.param({"prompt.md": "Make test_hidden_two pass.\n"}, ("error", "prompt"), id="hidden-test-in-prompt"),
        pytest.param({"prompt.md": "See private/test_hidden.py.\n"}, ("error", "prompt"), id="private-file-in-prompt"),
        pytest.param({"fixture/copy.py": HIDDEN}, ("error", "fixture/copy.py"), id="hidden-test-in-fixture"),
        pytest.param({"public/copy.py": HIDDEN}, ("error", "public/copy.py"), id="hidden-test-in-public"),
        pytest.param(toml('["wordcount.py"]\n\n', '["**"]\n\n'), ("error", "allowed_changes"), id="everything-allowed"),
        pytest.param(
            toml("[source]", '[policy]\ndeny = ["wordcount.py"]\n[source]'),
            ("error", "policy.deny"),
            id="nothing-left",
        ),
        pytest.param(toml("[source]", '[policy]\ndeny = ["**"]\n[source]'), ("error", "policy.deny"), id="all-denied"),
        pytest.param(
            toml('["wordcount.py"]\n\n', '["wordcount.py", "wordcout.py"]\n\n'),
            ("warning", "allowed_changes[1]"),
            id="rule-without-file",
        ),
        pytest.param(
            toml('["wordcount.py"]\n\n', '["wordcount.py", "tests/"]\n\n'),
            ("warning", "allowed_changes"),
            id="public-tests",
        ),
        pytest.param(
            {**toml('["wordcount.py"]\n\n', '["*.py"]\n\n'), "fixture/conftest.py": ""},
            ("warning", "allowed_changes"),
            id="conftest",
        ),
        pytest.param(
            toml('target_files = ["wordcount.py"]', 'target_files = ["wordcuont.py"]'),
            ("error", "target_files[0]"),
            id="target-missing",
        ),
        pytest.param(toml('target_files = ["wordcount.py"]', ""), ("warning", "target_files"), id="no-target"),
        pytest.param(
            {"solution/solution.patch": PATCH.replace("wordcount", "other")},
            ("error", ""),
            id="solution-strays",
        ),
        pytest.param(
            {"alternative/a.patch": PATCH.replace("wordcount", "other")},
            ("error", ""),
            id="alternative-strays",
        ),
        pytest.param(
            {"solution/solution.patch": "diff --git a/x b/y\nnonsense\n"}, ("error", ""), id="broken-solution"
        ),
        pytest.param({"wrong/one.patch": None}, ("warning", "wrong/"), id="no-wrong-repair"),
        pytest.param(
            toml('kind = "pytest"', 'kind = "command"\nargv = ["{python}", "-c", "import wordcount"]'),
            ("warning", "evaluators[0]"),
            id="exit-status",
        ),
        pytest.param(
            toml('kind = "pytest"', f'kind = "speedup"\nprotocol = "self-reported"\nargv = ["{{python}}"]\n{BUCKETS}'),
            ("warning", "evaluators[0]"),
            id="speed-of-itself",
        ),
        pytest.param(
            toml('kind = "pytest"', f'kind = "speedup"\nfunction = "wordcount:count"\nplan = "none.py"\n{BUCKETS}'),
            ("error", "evaluators[0]"),
            id="speed-without-a-plan",
        ),
        pytest.param(
            {**toml('requirements = "requirements.txt"\n', NODE), "requirements.txt": None},
            ("error", "evaluators[0].kind"),
            id="pytest-beside-node",
        ),
        pytest.param(
            {
                **toml('requirements = "requirements.txt"\n', f'{NODE}packages = "package-lock.json"\n'),
                "requirements.txt": None,
                "package-lock.json": '{"lockfileVersion": 1}',
            },
            ("error", "lockfileVersion"),
            id="old-lock-of-npm",
        ),
        pytest.param(
            {
                **toml('kind = "pytest"', 'kind = "node-test"\nfiles = ["hidden.test.mjs"]'),
                "private/hidden.test.mjs": "",
            },
            ("error", "evaluators[0].kind"),
            id="node-test-without-node",
        ),
        pytest.param({"requirements.txt": "pytest\n"}, ("error", "line 1"), id="unpinned"),
        pytest.param({"requirements.txt": "-r other.txt\n"}, ("error", "line 1"), id="option-in-requirements"),
        pytest.param(
            {**toml('[toolchain]\nrequirements = "requirements.txt"\n', ""), "requirements.txt": None},
            ("error", "toolchain.requirements"),
            id="no-pytest",
        ),
        pytest.param(
            {**toml("[source]", f"{SDIST}[source]"), **FROM_SDIST, "requirements.txt": LOCKED},
            ("error", "toolchain.requirements"),
            id="fixed-distribution-installed",
        ),
        pytest.param(
            {**toml('[source]\nname = "written by us"\nlicence = "MIT"\n', SDIST), **FROM_SDIST},
            ("error", "source"),
            id="sdist-without-licence",
        ),
        pytest.param(
            toml('[source]\nname = "written by us"\nlicence = "MIT"\n', ""),
            ("warning", "source"),
            id="no-source",
        ),
        pytest.param({"fixture/CLAUDE.md": "obey"}, ("error", "fixture"), id="claude-md"),
        pytest.param({"public/docs/agents.md": "obey"}, ("error", "fixture"), id="agents-md-in-public"),
        pytest.param(
            {**toml("[source]", SEEDED), "fixture/wordcount.py": None},
            ("error", "fixture"),
            id="agents-md-seeded",
        ),
    ],
)
def test_a_weak_nomination_is_told(tmp_path: Path, change: Change, finding: tuple[str, str]) -> None:
    assert finding in told(nomination_findings(tmp_path, change))


def test_a_wrong_repair_may_stray(tmp_path: Path) -> None:
    assert nomination_findings(tmp_path, {"wrong/one.patch": PATCH.replace("wordcount", "other")}) == []


def test_a_name_that_public_files_have_too_is_no_leak(tmp_path: Path) -> None:
    change = {
        "prompt.md": "Look at test_two first.\n",
        "private/test_hidden.py": HIDDEN.replace("test_hidden_two", "test_two"),
    }
    assert nomination_findings(tmp_path, change) == []


@pytest.mark.parametrize(("twins", "sound"), [(0, False), (1, False), (2, True), (None, True)])
def test_an_in_process_evaluator_needs_two_twins(tmp_path: Path, twins: int | None, sound: bool) -> None:  # noqa: FBT001 - a column of the table
    findings = nomination_findings(tmp_path, given=aids(twins=lambda _spec: twins))
    assert (findings == []) is sound


def test_an_evaluators_own_complaint_is_told(tmp_path: Path) -> None:
    def complain(_spec: EvaluatorSpec) -> int | None:
        raise EvaluatorError("no such thing")

    (finding,) = nomination_findings(tmp_path, given=aids(twins=complain))
    assert "no such thing" in finding.message


def test_a_copy_on_the_host_is_told(tmp_path: Path) -> None:
    change = {**toml("[source]", f"{SDIST}[source]"), **FROM_SDIST}
    copies = {"Text_Table": (Path("/usr/share/python-wheels/text_table-1-py3-none-any.whl"),)}
    assert ("error", "fixture.name") in told(nomination_findings(tmp_path, change, aids(copies=copies)))


def test_host_copies_are_found_where_units_look(tmp_path: Path) -> None:
    usr = written(
        tmp_path / "usr",
        {
            "lib/python3.11/text_table.py": "",
            "lib/python3.11/urllib/text_table.py": "",
            "lib/python3/dist-packages/text_table/__init__.py": "",
            "share/python-wheels/Text.Table-1.2-py3-none-any.whl": "",
            "share/doc/text-table/readme": "",
            "lib/x/_vendor/text_table/__init__.py": "",
            "share/pkgs/text-table-1.0.tar.gz": "",
            "share/pkgs/other-text-table-1.0.tar.gz": "",
        },
    )
    found = host_copies(["text-table", "absent"], usr, (usr / "lib/python3/dist-packages",))
    assert found["absent"] == ()
    assert {str(path.relative_to(usr)) for path in found["text-table"]} == {
        "lib/python3.11/text_table.py",
        "share/python-wheels/Text.Table-1.2-py3-none-any.whl",
        "lib/x/_vendor/text_table",
        "share/pkgs/text-table-1.0.tar.gz",
    }


def test_nobody_looks_at_the_host_for_nothing(tmp_path: Path) -> None:
    assert host_copies([], tmp_path / "none") == {}


CANDIDATE: dict[str, object] = {"id": "m", "agent": "native", "model": "v/m", "route": "r"}
JUDGE: dict[str, object] = {"id": "j", "model": "w/j", "route": "r", "family": "w"}
LOOKER: dict[str, object] = {**JUDGE, "agent": "native", "kind": "rubric", "budget": {"usd": "1", "requests": 9}}
DIRECT: dict[str, object] = {"id": "d", "agent": "codex", "model": "m", "network": "direct"}
REAL: dict[str, object] = {
    "id": "r",
    "base_url": "https://models.example/v1",
    "credential": "EXAMPLE_API_KEY",
}


def config_findings(tmp_path: Path, files: Change = {}, **change: Any) -> list[Finding]:  # noqa: ANN401, B006 - JSON values of all kinds; never changed
    written(tmp_path / "config/nominations/wordcount", {**nomination_files(), **files})
    written(tmp_path / "config/scenarios", {"right.json": "{}"})
    if not (tmp_path / "config/judging").exists():
        written(tmp_path / "config/judging", {each.name: each.read_text() for each in PROMPTS.glob("*.md")})
    fields: dict[str, Any] = {
        "schema": SCHEMA,
        "release": "pilot",
        "nominations": ["wordcount"],
        "candidates": [{"id": "oracle", "agent": "oracle"}, CANDIDATE],
        "routes": [{"id": "r", "scripted": "config/scenarios"}],
        "clean_room": {"state_dir": "/srv/state"},
        **change,
    }
    written(tmp_path, {"config/pilot.json": json.dumps(fields)})
    settings = load_settings({}, checkout=tmp_path)
    inputs = load_inputs(settings)
    return list(lint(inputs, settings, usual_aids(inputs, settings)))


def test_a_sound_release_gives_no_finding(tmp_path: Path) -> None:
    assert config_findings(tmp_path) == []


@pytest.mark.parametrize(
    ("change", "finding"),
    [
        pytest.param(
            {"candidates": [{**CANDIDATE, "agent": "single-shot"}]},
            ("error", "candidates[0].nominations"),
            id="agent-of-another-mode",
        ),
        pytest.param(
            {"candidates": [{**CANDIDATE, "agent": "codex"}], "routes": [REAL]},
            ("error", "candidates[0].route"),
            id="protocol",
        ),
        pytest.param({"candidates": [{**CANDIDATE, "id": "controls"}]}, ("error", "candidates[0].id"), id="controls"),
        pytest.param({"candidates": [{**CANDIDATE, "id": "proofs"}]}, ("error", "candidates[0].id"), id="proofs"),
        pytest.param(
            {"candidates": [DIRECT]},
            ("warning", "candidates[0].network"),
            id="direct",
        ),
        pytest.param(
            {"candidates": [{**DIRECT, "budget": {"usd": "1"}}]}, ("error", "candidates[0]"), id="direct-with-budget"
        ),
        pytest.param(
            {"candidates": [{**DIRECT, "provider_tools": ["web_search"]}]},
            ("error", "candidates[0]"),
            id="direct-with-tools",
        ),
        pytest.param(
            {"candidates": [{**DIRECT, "agent": "opencode"}]},
            ("error", "candidates[0].model"),
            id="direct-without-provider",
        ),
        pytest.param({"routes": [REAL]}, ("warning", "candidates[1].budget"), id="no-ceiling"),
        pytest.param({"routes": [REAL]}, ("warning", "routes[0].credential"), id="no-key"),
        pytest.param(
            {"routes": [{**REAL, "base_url": "http://models.example/v1"}]},
            ("error", "routes[0].base_url"),
            id="plain-http",
        ),
        pytest.param({"routes": [{"id": "r", "scripted": "none"}]}, ("error", "routes[0].scripted"), id="no-scenario"),
        pytest.param(
            {"candidates": [{"id": "nop", "agent": "nop"}]}, ("warning", "routes[0]"), id="route-nobody-takes"
        ),
        pytest.param({"candidates": [CANDIDATE, {**CANDIDATE, "id": "n"}]}, ("warning", "candidates"), id="same-model"),
        pytest.param(
            {"candidates": [{"id": "p", "agent": "patch", "patches": "config/patches"}]},
            ("error", "candidates[0].patches"),
            id="no-recorded-patch",
        ),
        pytest.param(
            {"judges": [JUDGE]},
            ("error", "criteria"),
            id="no-criteria",
        ),
        pytest.param({"judges": [JUDGE], "criteria": ["scope"]}, ("warning", "criteria[0]"), id="no-anchors"),
        pytest.param({"judges": [{**JUDGE, "family": None}]}, ("error", "judges[0].family"), id="judge-of-no-family"),
        pytest.param(
            {"judges": [{**JUDGE, "agent": "codex"}]}, ("error", "judges[0].agent"), id="judge-by-running-commands"
        ),
        pytest.param(
            {"judges": [{**LOOKER, "agent": "claude"}], "routes": [REAL]},
            ("error", "judges[0].route"),
            id="looking-judge-by-another-protocol",
        ),
        pytest.param(
            {"judges": [{**LOOKER, "kind": "both"}]}, ("error", "judges[0].kind"), id="looking-judge-of-pairs"
        ),
        pytest.param(
            {"judges": [{**LOOKER, "budget": {"usd": "1"}}]},
            ("error", "judges[0].budget.requests"),
            id="looking-judge-without-end",
        ),
        pytest.param(
            {
                "judges": [{**JUDGE, "reasoning_variant": "high"}],
                "routes": [{**REAL, "protocol": "messages"}],
            },
            ("error", "judges[0].reasoning_variant"),
            id="judge-with-a-variant-nobody-passes-on",
        ),
        pytest.param(
            {"judges": [JUDGE], "routes": [REAL]}, ("warning", "judges[0].budget"), id="judge-without-a-ceiling"
        ),
        pytest.param({"judges": [JUDGE]}, ("error", "candidates[1].family"), id="candidate-of-no-family"),
        pytest.param(
            {"judges": [JUDGE], "judging": {"own_family": True}}, ("warning", "judging.own_family"), id="own-family"
        ),
        pytest.param(
            {"judges": [JUDGE], "judging": {"fallback": "j"}}, ("error", "judging.fallback"), id="fallback-alone"
        ),
        pytest.param(
            {"judges": [JUDGE, {**JUDGE, "id": "k"}], "judging": {"fallback": "k"}},
            ("warning", "judging.fallback"),
            id="fallback-of-the-same-family",
        ),
        pytest.param({"analysis": {"require_split": True}}, ("error", "analysis.require_split"), id="split"),
        pytest.param({"clean_room": {"state_dir": "/run/x"}}, ("error", "clean_room.state_dir"), id="hidden-state"),
        pytest.param(
            {"results_dir": "/srv", "private_artifacts_dir": "/srv/store"},
            ("error", "private_artifacts_dir"),
            id="public",
        ),
        pytest.param(
            {
                "candidates": [
                    {
                        "id": "nop",
                        "agent": "nop",
                        "status": "retired",
                        "retired": {"reason": "done", "date": "2026-11-29"},
                    }
                ]
            },
            ("error", "candidates"),
            id="idle",
        ),
        pytest.param(
            {"candidates": [{"id": "nop", "agent": "nop", "nominations": []}]},
            ("warning", "nominations[0]"),
            id="untaken",
        ),
    ],
)
def test_a_weak_release_is_told(tmp_path: Path, change: dict[str, object], finding: tuple[str, str]) -> None:
    assert finding in told(config_findings(tmp_path, **change))


@pytest.mark.parametrize("protocol", ["chat-completions", "responses", "messages"])
def test_a_judge_may_be_asked_in_each_protocol_and_look_around(tmp_path: Path, protocol: str) -> None:
    judge = {**JUDGE, "id": "k", "budget": {"usd": "1"}}
    looker = {**LOOKER, "agent": "claude" if protocol == "messages" else "native"}
    judges = [judge, looker] if protocol != "responses" else [judge]
    routes = [{**REAL, "id": "r", "protocol": protocol}]
    candidates = [{"id": "oracle", "agent": "oracle"}]
    found = config_findings(tmp_path, judges=judges, routes=routes, criteria=[SCOPE], candidates=candidates)
    assert {each for each in told(found) if each[0] == "error"} == set()


@pytest.mark.parametrize("name", ["rubric.md", "pairwise.md", "in-depth.md"])
def test_a_prompt_of_judges_that_lacks_a_place_or_is_not_there_is_told(tmp_path: Path, name: str) -> None:
    def about(folder: Path, text: str | None) -> list[str]:
        files = {each.name: each.read_text() for each in PROMPTS.glob("*.md")} | ({} if text is None else {name: text})
        written(folder / "config/judging", {path: text for path, text in files.items() if text})
        found = config_findings(folder, judges=[LOOKER], criteria=[SCOPE])
        return [each.file for each in found if each.file.endswith(name) and each.severity is Severity.ERROR]

    shipped = (PROMPTS / name).read_text()
    assert about(tmp_path / "shipped", None) == []
    assert about(tmp_path / "lacking", shipped.replace("{{canary}}", "")) != []
    assert about(tmp_path / "strange", shipped + "{{author}}") != []
    assert about(tmp_path / "gone", "") != []


def test_a_nomination_of_mode_single_shot_is_for_that_agent_and_controls_alone(tmp_path: Path) -> None:
    mode = toml('mode = "agentic"', 'mode = "single-shot"')
    shooter = {**CANDIDATE, "id": "s", "agent": "single-shot"}
    oracle = {"id": "oracle", "agent": "oracle"}
    fits = config_findings(tmp_path / "fits", mode, candidates=[oracle, shooter])
    assert fits == []
    findings = config_findings(tmp_path / "strays", mode, candidates=[oracle, CANDIDATE, shooter])
    assert told(findings) == {("error", "candidates[1].nominations")}
    assert "wordcount, of mode single-shot" in findings[0].message


def test_a_free_text_nomination_needs_a_judge_that_gives_points_and_no_evaluator(tmp_path: Path) -> None:
    evaluator = '[[evaluators]]\nid = "hidden"\nkind = "pytest"\n'
    free = {"nomination.toml": NOMINATION.replace('class = "code-fix"', 'class = "free-text"')}
    answer = {"nomination.toml": free["nomination.toml"].replace(evaluator, "")}
    judges = {"judges": [JUDGE], "criteria": ["scope"]}
    families = [{"id": "oracle", "agent": "oracle"}, {**CANDIDATE, "family": "w"}]
    fits = config_findings(tmp_path / "fits", answer, candidates=families, **judges)
    assert {finding.severity for finding in fits} <= {Severity.WARNING}
    nobody = config_findings(tmp_path / "nobody", answer, candidates=families)
    assert ("error", "judges") in told(nobody)
    both = config_findings(tmp_path / "both", free, candidates=families, **judges)
    assert ("error", "evaluators") in told(both)


def test_a_retired_candidate_is_left_in_peace(tmp_path: Path) -> None:
    gone = {
        **CANDIDATE,
        "agent": "single-shot",
        "status": "retired",
        "retired": {"reason": "gone", "date": "2026-01-01"},
    }
    findings = config_findings(tmp_path, candidates=[{"id": "oracle", "agent": "oracle"}, gone])
    assert {finding.severity for finding in findings} <= {Severity.WARNING}


@pytest.mark.parametrize("address", ["http://127.0.0.1:8000/v1", "http://localhost/v1", "http://[::1]:1/v1"])
def test_a_key_may_travel_unencrypted_on_this_machine(tmp_path: Path, address: str) -> None:
    findings = config_findings(tmp_path, routes=[{**REAL, "base_url": address}])
    assert ("error", "routes[0].base_url") not in told(findings)
