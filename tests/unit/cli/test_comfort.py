"""Laws of the command line's comfort: JSON everywhere, names completed, colours where they are wanted alone."""

import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from runner.cli.app import app
from runner.cli.names import Name
from runner.versions import commit_of, versions
from tests.unit.runner.evidence_maker import SOLVER, Run, a_manifest, a_store, attempt
from tests.unit.runner.written import written
from tests.unit.showing.checkout import a_checkout

RUNNER = Path(sys.executable).with_name("runner")
COMMIT, OTHER = "a" * 40, "b" * 40


def leaves(command: click.Command, context: click.Context) -> Iterator[tuple[str, click.Command]]:
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from leaves(below, click.Context(below, info_name=name, parent=context))
    else:
        yield context.command_path, command


COMMANDS = dict(leaves(app, click.Context(app, info_name="runner")))


@pytest.mark.parametrize("path", COMMANDS)
def test_every_command_can_speak_json(path: str) -> None:
    assert any("--json" in each.opts for each in COMMANDS[path].params)


def test_whatever_takes_a_name_that_is_known_here_can_be_completed() -> None:
    named = {"candidate", "candidates", "nomination", "nominations", "attempts", "release", "releases"}
    free = {"runner drop: release", "runner pilot: tasks"}  # a new id; what is hidden
    lacking = {
        f"{path}: {each.name}"
        for path, command in COMMANDS.items()
        for each in command.params
        if each.name in named and not isinstance(each.type, Name)
    }
    assert lacking - free == set()


def test_the_version_tells_what_runs_here() -> None:
    told = dict(versions())
    assert list(told) == ["runner", "checkout", "python", "kernel", "systemd", "PID 1"]
    assert all(told.values())
    assert told["kernel"].startswith(os.uname().release)


@pytest.mark.parametrize(
    ("word", "said"),
    [
        pytest.param("lst", "did you mean list?", id="close"),
        pytest.param("agregate", "did you mean aggregate", id="a letter"),
        pytest.param("xyzzy", "see: runner --help", id="nothing like it"),
    ],
)
def test_a_command_that_is_none_is_told_what_it_may_have_meant(word: str, said: str) -> None:
    done = CliRunner().invoke(app, [word])
    assert done.exit_code == 2
    assert said in done.stderr


GIT = {
    "a branch": {".git/HEAD": "ref: refs/heads/main\n", ".git/refs/heads/main": f"{COMMIT}\n"},
    "a packed branch": {
        ".git/HEAD": "ref: refs/heads/main\n",
        ".git/packed-refs": f"# pack-refs with: peeled\n{OTHER} refs/heads/other\n{COMMIT} refs/heads/main\n",
    },
    "no branch": {".git/HEAD": f"{COMMIT}\n"},
    "another work tree": {
        ".git": "gitdir: repository/worktrees/x\n",
        "repository/worktrees/x/HEAD": "ref: refs/heads/x\n",
        "repository/worktrees/x/commondir": "../..\n",
        "repository/refs/heads/x": f"{COMMIT}\n",
    },
}
NO_GIT: dict[str, dict[str, str]] = {
    "nothing": {"x": ""},
    "an empty repository": {".git/HEAD": "ref: refs/heads/main\n"},
    "a way out": {".git/HEAD": "ref: refs/../../x\n", "x": COMMIT},
    "no commit": {".git/HEAD": "hello\n"},
    "a broken link": {".git": "gitdir: nowhere\n"},
}


@pytest.mark.parametrize("files", GIT.values(), ids=GIT)
def test_a_checkouts_commit_is_read_without_git(tmp_path: Path, files: dict[str, str]) -> None:
    written(tmp_path, files)
    assert commit_of(tmp_path) == COMMIT


@pytest.mark.parametrize("files", NO_GIT.values(), ids=NO_GIT)
def test_what_is_no_checkout_has_no_commit(tmp_path: Path, files: dict[str, str]) -> None:
    written(tmp_path, files)
    assert commit_of(tmp_path) is None


def on_a_terminal(*words: str, **environment: str) -> str:
    """Run a command on a terminal of its own, and give what stands there."""
    ours, theirs = pty.openpty()
    known = {"PATH": "/usr/bin", "TERM": "xterm", "COLUMNS": "100", **environment}
    process = subprocess.Popen([RUNNER, *words], stdin=theirs, stdout=theirs, stderr=theirs, env=known)
    os.close(theirs)
    said = b""
    try:
        while part := os.read(ours, 1 << 16):
            said += part
    except OSError:
        pass  # That is how a terminal ends.
    os.close(ours)
    assert process.wait() == 0, said
    return said.decode()


def test_no_color_takes_every_colour_from_a_terminal(tmp_path: Path) -> None:
    manifest = a_manifest()
    config = a_checkout(tmp_path, manifest)
    attempt(a_store(tmp_path / "store", manifest), SOLVER, Run())
    show = ("--config", str(config), "show", "solver/slugs/attempt-1")
    assert "\x1b[32m" in on_a_terminal(*show)
    assert "\x1b" not in on_a_terminal(*show, NO_COLOR="1")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_is_given_what_completes(shell: str) -> None:
    known = {"PATH": "/usr/bin:/bin", "_RUNNER_COMPLETE": f"{shell}_source"}
    done = subprocess.run([RUNNER], env=known, capture_output=True, text=True, check=True)
    assert "_RUNNER_COMPLETE" in done.stdout
    known |= {"_RUNNER_COMPLETE": f"{shell}_complete", "COMP_WORDS": "runner ver", "COMP_CWORD": "1"}
    known["COMP_CWORD"] = "ver" if shell == "fish" else "1"  # fish tells the word, the others its place
    offered = subprocess.run([RUNNER], env=known, capture_output=True, text=True, check=True).stdout
    assert "verify" in offered
    assert "verify-sandbox" in offered
