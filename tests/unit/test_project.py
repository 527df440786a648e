"""The house as it was drawn: who imports what, which dependencies there are, and what a quick command loads."""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("runner", "evaluators", "sandbox")
ALLOWED = ["pystemd", "pydantic", "jsonschema", "httpx", "click", "cryptography", "rich", "rfc8785", "h11"]


def modules() -> Iterator[tuple[str, ast.Module]]:
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            yield path.relative_to(ROOT).as_posix(), ast.parse(path.read_text())


def imported(tree: ast.Module) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.partition(".")[0])
    return names


@pytest.mark.parametrize(
    ("library", "home"),
    [
        pytest.param("pystemd", r"sandbox/bus\.py", id="systemd"),
        pytest.param("click", r"runner/cli/.*", id="commands"),
        pytest.param("httpx", r"runner/gateway/relay/.*", id="providers"),
        pytest.param("h11", r"runner/gateway/.*", id="http"),
        pytest.param("numpy", r"runner/judging/newton\.py", id="arrays"),
    ],
)
def test_a_library_is_imported_in_its_room_alone(library: str, home: str) -> None:
    importers = [path for path, tree in modules() if library in imported(tree)]
    assert importers
    assert [path for path in importers if not re.fullmatch(home, path)] == []


def test_the_environment_is_read_in_one_place() -> None:
    inside_units = {"sandbox/launcher.py", "evaluators/pytest_harness.py", "evaluators/mutation_harness.py"}
    readers = {
        path
        for path, tree in modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr in {"environ", "getenv", "environb"} and _is_os(node.value)
    }
    inside_units |= {path for path in readers if path.startswith("sandbox/probes/")}
    assert readers - inside_units == {"runner/settings.py"}


def _is_os(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "os"


def test_the_runtime_dependencies_are_these_and_no_more() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert sorted(re.split(r"[><=]", each)[0] for each in project["dependencies"]) == sorted(ALLOWED)
    assert project["name"] == "cleanroom-runner"
    assert project["scripts"] == {"runner": "runner.cli:main"}


def test_numpy_is_an_extra_that_ratings_alone_load() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert [re.split(r"[><=]", each)[0] for each in project["optional-dependencies"]["stats"]] == ["numpy"]
    loaders = {path for path, tree in modules() if "runner.judging.newton" in {*_modules_of(tree)}}
    assert loaders == {"runner/judging/ratings.py"}
    code = "import sys\nimport runner.judging.ratings\nprint('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout == "False\n"


def _modules_of(tree: ast.Module) -> Iterator[str]:
    yield from (node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module)


def test_help_loads_nothing_heavy() -> None:
    code = "import sys\nfrom runner.cli.app import app\ntry:\n    app(['--help'])\nexcept SystemExit:\n    pass\n"
    code += "print(sorted({'pydantic', 'httpx', 'rich', 'cryptography', 'jsonschema', 'pystemd'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.rstrip().splitlines()[-1] == "[]"
    assert "pilot" in done.stdout


def test_the_sudo_rule_in_the_how_to_is_the_one_that_is_written() -> None:
    rule = subprocess.run(
        [sys.executable, ROOT / "scripts/host", "rule", "cleanroom"], capture_output=True, text=True, check=True
    ).stdout
    assert rule.endswith(' ""\n')
    assert f"```\n{rule}```\n" in (ROOT / "docs/how-to/real-host.md").read_text()
