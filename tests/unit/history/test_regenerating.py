"""`runner snapshot` on real repositories: the same files anywhere, and never half of them."""

import json
import os
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner

from runner.cli.app import app
from runner.disk import Disk
from runner.errors import FixtureError, StorageError
from runner.members import Member
from runner.replacing import replace_tree
from tests.unit.history.repositories import commit, git
from tests.unit.runner.written import NOMINATION, nomination_files, written

SNAPSHOT = """
[snapshot]
commit = "{commit}^"
paths = ["src/"]
strip = 1
patches = [{{ file = "wordcount.py", find = "blank", replace = "gap" }}]
"""


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "theirs"
    commit(folder, {"src/wordcount.py": "blank = 1\n", "src/tool.sh": "true\n", "other": "x"})
    (folder / "src/tool.sh").chmod(0o755)
    commit(folder, {})
    commit(folder, {"src/wordcount.py": "fixed = 1\n"})
    return folder


def bench(folder: Path, repository: Path) -> Path:
    """Write a checkout with one nomination that is made of a repository's history; give its configuration."""
    files = nomination_files() | {
        "nomination.toml": NOMINATION.replace(
            "[source]", SNAPSHOT.format(commit=git(repository, "rev-parse", "HEAD")) + "\n[source]", 1
        )
    }
    written(folder / "config/nominations/wordcount", files)
    fields = {
        "schema": "cleanroom/release-configuration/1",
        "release": "r-1",
        "clean_room": {"state_dir": str(folder / "state")},
        "nominations": ["wordcount"],
        "candidates": [{"id": "nop", "agent": "nop"}],
    }
    config = folder / "config/bench.json"
    config.write_text(json.dumps(fields))
    return config


def said(config: Path, *words: str) -> tuple[int, str]:
    """Give a command's status and what it printed."""
    done = CliRunner().invoke(app, ["--config", str(config), "snapshot", *words], standalone_mode=False)
    if done.exception is not None:
        raise done.exception
    return int(done.return_value or 0), done.output


def test_a_fixture_is_made_the_same_on_two_machines_and_checked_from_the_clone_alone(
    tmp_path: Path, repository: Path
) -> None:
    trees = []
    for name in ("one", "other"):
        config = bench(tmp_path / name, repository)
        copy = tmp_path / f"copy-{name}"
        git(tmp_path, "clone", "-q", "--no-local", str(repository), copy.name)
        code, out = said(config, "--from-git", str(copy), "--json")
        trees.append(json.loads(out)["tree"])
        assert code == 0
        assert said(config, "--check")[0] == 0
    assert trees[0] == trees[1]
    fixture = tmp_path / "one/config/nominations/wordcount/fixture"
    assert (fixture / "wordcount.py").read_text() == "gap = 1\n"
    assert [bool(path.stat().st_mode & 0o100) for path in sorted(fixture.iterdir())] == [True, False]


def test_a_check_changes_nothing_and_ends_with_three_where_a_file_strays(tmp_path: Path, repository: Path) -> None:
    config = bench(tmp_path / "one", repository)
    said(config, "--from-git", str(repository))
    stray = tmp_path / "one/config/nominations/wordcount/fixture/stray.py"
    stray.write_text("x")
    code, out = said(config, "wordcount", "--check")
    assert (code, "another than history gives: stray.py" in out) == (3, True)
    assert stray.exists()
    assert said(config)[0] == 0
    assert not stray.exists()


def test_the_old_fixture_stands_where_history_does_not_give_what_is_asked_for(tmp_path: Path, repository: Path) -> None:
    config = bench(tmp_path / "one", repository)
    document = tmp_path / "one/config/nominations/wordcount/nomination.toml"
    document.write_text(document.read_text().replace('find = "blank"', 'find = "nowhere"'))
    with pytest.raises(FixtureError, match="the text 0 times"):
        said(config, "--from-git", str(repository))
    assert (document.parent / "fixture/wordcount.py").read_text() == nomination_files()["fixture/wordcount.py"]


def test_a_fixture_that_was_never_made_is_asked_for_and_then_there(tmp_path: Path, repository: Path) -> None:
    config = bench(tmp_path / "one", repository)
    fixture = tmp_path / "one/config/nominations/wordcount/fixture"
    (fixture / "wordcount.py").unlink()
    fixture.rmdir()
    with pytest.raises(Exception, match="run: runner snapshot wordcount"):
        CliRunner().invoke(app, ["--config", str(config), "lint"], standalone_mode=False, catch_exceptions=False)
    said(config, "--from-git", str(repository))
    assert (fixture / "wordcount.py").is_file()


class Refusing(Disk):
    """A disk on which names cannot change places."""

    def exchange(self, one: Path, other: Path) -> None:
        raise OSError(22, "Invalid argument", f"{one} {other}")


def test_a_folder_is_replaced_whole_or_stays(tmp_path: Path) -> None:
    final = tmp_path / "n/fixture"
    members = (Member(path=b"a/b.py", data=b"new", executable=True),)
    replace_tree(final_made(final), tmp_path, members)
    assert {path.name for path in final.rglob("*")} == {"a", "b.py"}
    (tmp_path / ".tmp-n-fixture-0123").mkdir()
    (tmp_path / ".tmp-other").mkdir()
    with pytest.raises(StorageError):
        replace_tree(final, tmp_path, (Member(path=b"c", data=b""),), disk=Refusing())
    assert (final / "a/b.py").read_bytes() == b"new"
    assert sorted(path.name for path in tmp_path.iterdir()) == [".tmp-other", "n"]


@dataclass
class Dying(Disk):
    """A disk on which the process is gone, before or after two names change places."""

    is_after: bool

    def exchange(self, one: Path, other: Path) -> None:
        if self.is_after:
            super().exchange(one, other)
        os._exit(9)


@pytest.mark.parametrize("is_after", [False, True])
def test_a_killed_call_leaves_the_old_folder_or_the_new_one_whole_and_the_next_clears_up(
    tmp_path: Path,
    is_after: bool,  # noqa: FBT001 - a table
) -> None:
    final = final_made(tmp_path / "n/fixture")
    members = (Member(path=b"new/file", data=b"new"),)
    if (child := os.fork()) == 0:
        replace_tree(final, tmp_path, members, disk=Dying(is_after=is_after))
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    held = {path.relative_to(final).as_posix() for path in final.rglob("*") if path.is_file()}
    assert held == ({"new/file"} if is_after else {"old/file"})
    assert len(list(tmp_path.glob(".tmp-*"))) == 1
    replace_tree(final, tmp_path, members)
    assert (final / "new/file").read_text() == "new"
    assert [path.name for path in tmp_path.iterdir()] == ["n"]


def final_made(final: Path) -> Path:
    (final / "old").mkdir(parents=True)
    (final / "old/file").write_text("old")
    return final
