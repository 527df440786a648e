"""`runner init` on real repositories, without units: what is written, and what is refused before anything is."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from runner.cli.app import app
from runner.errors import FixtureError, SupplyError, UsageError
from runner.inputs import load_inputs
from runner.lint import lint, usual_aids
from runner.settings import load_settings
from tests.unit.history.repositories import commit, git

LOCK = f"pytest==9.2.0 --hash=sha256:{'a' * 64}\n"
TESTS = """\
from clamp import clamp


def test_low():
    assert clamp(-5, 2, 3) == 2


def test_high_end():
    assert clamp(50, 2, 30) == 30
"""
WRONG = "def clamp(value, low, high):\n    return max(low, value)\n"
RIGHT = "def clamp(value, low, high):\n    upper_end = high\n    return min(upper_end, max(low, value))\n"
MESSAGE = "clamp: hold the upper end (#4)\n\nIt gives more than it may. Now upper_end bounds it.\n\nFixes #4\n"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "clamping"
    commit(folder, {"clamp.py": WRONG, "README.md": "old\n", "tests/test_clamp.py": TESTS[:73], "AGENTS.md": "obey\n"})
    commit(folder, {"clamp.py": RIGHT, "README.md": "new\n", "tests/test_clamp.py": TESTS}, MESSAGE)
    return folder


@pytest.fixture
def bench(tmp_path: Path) -> Path:
    """A bench that was just begun; its configuration."""
    assert ran("init", str(tmp_path / "bench")).exception is None
    (tmp_path / "lock.txt").write_text(LOCK)
    config = tmp_path / "bench/config/bench.json"
    config.write_text(config.read_text().replace('".cleanroom"', json.dumps(str(tmp_path / "state"))))
    return config


def ran(*words: str) -> Result:
    return CliRunner().invoke(app, list(words), standalone_mode=False)


def made(bench: Path, repository: Path, *words: str, fix: str = "HEAD", lock: bool = True) -> Path:
    """Make a nomination without running anything, and give its folder."""
    given = ("--requirements", str(bench.parents[2] / "lock.txt")) if lock else ()
    words = (
        "--config",
        str(bench),
        "init",
        "nomination",
        "--from-git",
        str(repository),
        fix,
        "--untried",
        *given,
        *words,
    )
    done = ran(*words)
    if done.exception is not None:
        raise done.exception
    assert done.return_value == 0
    return bench.parent / "nominations/clamping-head"


def test_a_bench_that_was_just_begun_has_nothing_against_it(bench: Path) -> None:
    settings = load_settings({}, config=bench)
    inputs = load_inputs(settings)
    told = [str(each) for each in lint(inputs, settings, usual_aids(inputs, settings))]
    assert [each for each in told if "private systemd" not in each] == []  # it lies below /tmp here
    assert settings.checkout == bench.parents[1].resolve()
    assert (bench.parent / "judging").is_dir()
    assert {path.name for path in bench.parents[1].iterdir()} == {"config", "README.md", ".gitignore"}


def test_beginning_again_replaces_nothing(bench: Path) -> None:
    bench.write_text("mine")
    done = ran("init", str(bench.parents[1]))
    assert isinstance(done.exception, UsageError)
    assert bench.read_text() == "mine"


def test_a_folder_with_files_of_its_own_keeps_them(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("mine")
    done = ran("init", str(tmp_path))
    assert f"left as it is: {tmp_path / 'README.md'}" in done.output
    assert (tmp_path / "README.md").read_text() == "mine"
    assert (tmp_path / "config/bench.json").is_file()


def test_a_nomination_is_made_of_a_fix_and_what_stood_before_it(bench: Path, repository: Path) -> None:
    folder = made(bench, repository)
    assert (folder / "fixture/clamp.py").read_text() == WRONG
    assert (folder / "fixture/README.md").read_text() == "old\n"
    assert not (folder / "fixture/AGENTS.md").exists()
    assert (folder / "private/tests/test_clamp.py").read_text() == TESTS
    patch = (folder / "solution/solution.patch").read_text()
    assert "+    return min(upper_end" in patch
    assert "README" not in patch
    assert "test_clamp" not in patch


def test_its_prompt_is_a_draft_without_leaks_and_lint_says_so(bench: Path, repository: Path) -> None:
    folder = made(bench, repository)
    prompt = (folder / "prompt.md").read_text()
    assert "It gives more than it may." in prompt
    for telling in ("upper_end", "#4", "test_high_end", git(repository, "rev-parse", "HEAD")[:7]):
        assert telling not in prompt
    config = json.loads(bench.read_text())
    bench.write_text(json.dumps(config | {"nominations": ["clamping-head"]}))
    settings = load_settings({}, config=bench)
    inputs = load_inputs(settings)
    said = [str(each) for each in lint(inputs, settings, usual_aids(inputs, settings))]
    assert [each for each in said if each.startswith("error") and "DRAFT" not in each and "/tmp" not in each] == []
    assert any("DRAFT:" in each for each in said)


def test_words_of_the_authors_own_are_no_draft(bench: Path, repository: Path, tmp_path: Path) -> None:
    (tmp_path / "prompt.md").write_text("# Clamp\n\nMend it.\n")
    folder = made(bench, repository, "--prompt", str(tmp_path / "prompt.md"))
    assert (folder / "prompt.md").read_text() == "# Clamp\n\nMend it.\n"
    assert 'title = "Clamp"' in (folder / "nomination.toml").read_text()


def test_its_snapshot_gives_the_fixture_again(bench: Path, repository: Path) -> None:
    folder = made(bench, repository, "--exclude", "*.md")
    assert not (folder / "fixture/README.md").exists()
    done = ran("--config", str(bench), "snapshot", "clamping-head", "--check")
    assert (done.return_value, "as history gives it" in done.output) == (0, True)


def test_a_nomination_that_is_there_is_never_replaced(bench: Path, repository: Path) -> None:
    folder = made(bench, repository)
    (folder / "prompt.md").write_text("mine")
    with pytest.raises(UsageError, match="is there already, and is left as it is"):
        made(bench, repository)
    assert (folder / "prompt.md").read_text() == "mine"


@pytest.mark.parametrize(
    ("words", "fix", "error", "said"),
    [
        pytest.param((), "HEAD^", UsageError, "nothing stands before it", id="the-first-commit"),
        pytest.param((), "nobody", FixtureError, "no commit of that name", id="no-commit"),
        pytest.param(("--source", "*.rs"), "HEAD", UsageError, "changes no source file", id="no-source"),
        pytest.param(("--exclude", "clamp.py"), "HEAD", FixtureError, "the fixture lacks", id="source-excluded"),
        pytest.param(("--path", "src/"), "HEAD", FixtureError, "which means no file of", id="no-such-path"),
        pytest.param(("--id", "../out"), "HEAD", UsageError, "no id", id="a-strange-id"),
    ],
)
def test_what_makes_no_nomination_is_refused_and_nothing_is_written(
    bench: Path, repository: Path, words: tuple[str, ...], fix: str, error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        made(bench, repository, *words, fix=fix)
    assert [path.name for path in (bench.parent / "nominations").iterdir()] == ["size-units"]


def test_where_needs_are_not_told_a_lock_is_asked_for(bench: Path, repository: Path) -> None:
    with pytest.raises(SupplyError, match="--requirements FILE"):
        made(bench, repository, lock=False)


def test_a_fix_without_tests_is_proposed_with_what_is_left_to_do(bench: Path, tmp_path: Path) -> None:
    folder = tmp_path / "clamping"
    commit(folder, {"clamp.py": WRONG})
    commit(folder, {"clamp.py": RIGHT})
    nomination = made(bench, folder)
    assert "write hidden tests in private/" in (nomination / "README.md").read_text()
    assert not (nomination / "private").exists()


def test_a_part_of_a_repository_loses_leading_parts(bench: Path, tmp_path: Path) -> None:
    folder = tmp_path / "clamping"
    commit(folder, {"back/clamp.py": WRONG, "front/a.js": "x", "back/tests/test_clamp.py": TESTS[:73]})
    commit(folder, {"back/clamp.py": RIGHT, "front/a.js": "y", "back/tests/test_clamp.py": TESTS})
    nomination = made(bench, folder, "--path", "back/", "--strip", "1")
    assert sorted(path.name for path in (nomination / "fixture").iterdir()) == ["clamp.py", "tests"]
    assert (nomination / "private/tests/test_clamp.py").is_file()
    assert "a/clamp.py" in (nomination / "solution/solution.patch").read_text()
