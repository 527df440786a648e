"""A lock out of what a project says it needs: pip chooses, and nothing of the project is run."""

from pathlib import Path

import pytest

from runner.errors import SupplyError, ToolchainError
from runner.proposing.locking import given_lock, needs_of, read_report


def test_needs_are_read_from_the_project_table() -> None:
    assert needs_of(b'[project]\nname = "a"\ndependencies = ["click>=8; python_version > \'3\'"]\n') == (
        "click>=8; python_version > '3'",
    )
    assert needs_of(b'[project]\nname = "a"\ndynamic = ["version"]\n') == ()


@pytest.mark.parametrize(
    "project",
    [
        pytest.param(None, id="no-project"),
        pytest.param(b"[tool.poetry]\nname = 'a'\n", id="another-table"),
        pytest.param(b"[project]\nname = 'a'\ndynamic = ['dependencies']\n", id="computed"),
        pytest.param(b"[project]\ndependencies = ['--index-url=http://evil.example']\n", id="an-option"),
        pytest.param(b'[project]\ndependencies = ["a\\n--no-binary=:all:"]\n', id="an-option-in-a-second-line"),
        pytest.param(b"[project]\ndependencies = ['a @ http://evil.example/a.whl']\n", id="an-address"),
        pytest.param(b"[project\n", id="broken"),
        pytest.param(b"\xff", id="no-text"),
    ],
)
def test_where_needs_cannot_be_told_a_lock_is_asked_for(project: bytes | None) -> None:
    with pytest.raises(SupplyError, match="--requirements FILE"):
        needs_of(project)


def entry(name: str, digest: str | None) -> dict[str, object]:
    hashes = {} if digest is None else {"sha256": digest}
    return {"metadata": {"name": name, "version": "1.0"}, "download_info": {"archive_info": {"hashes": hashes}}}


def test_what_pip_would_install_becomes_sorted_lines_with_hashes() -> None:
    text = read_report({"install": [entry("Pluggy", "b" * 64), entry("a_b", "c" * 64)]})
    assert text == f"a-b==1.0 --hash=sha256:{'c' * 64}\npluggy==1.0 --hash=sha256:{'b' * 64}\n"


def test_a_file_without_a_digest_makes_no_lock() -> None:
    with pytest.raises(SupplyError, match="a file without a SHA-256"):
        read_report({"install": [entry("a", None)]})


def test_a_lock_that_is_given_must_be_one(tmp_path: Path) -> None:
    (tmp_path / "r.txt").write_text("pytest\n")
    with pytest.raises(ToolchainError):
        given_lock(tmp_path / "r.txt")
