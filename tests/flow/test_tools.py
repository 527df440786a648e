"""A program that clean rooms are made with is missing: the sentence names it and the command that installs it."""

from pathlib import Path

import pytest

from tests.flow.bench import Bench

pytestmark = pytest.mark.systemd


def without(program: str, scratch: Path) -> tuple[str, ...]:
    """Give how a command is run in a mount namespace where one program of the system's is not there."""
    folder, name = program.rsplit("/", 1)
    script = (
        f'mkdir -p "{scratch}/upper" "{scratch}/work" && mknod "{scratch}/upper/{name}" c 0 0'
        f' && mount -t overlay -o "lowerdir={folder},upperdir={scratch}/upper,workdir={scratch}/work" tools {folder}'
        ' && exec "$@"'
    )
    return ("/usr/bin/unshare", "--mount", "--propagation", "private", "/bin/bash", "-c", script, "-")


@pytest.mark.parametrize(
    ("program", "package"),
    [
        ("/usr/bin/git", "git"),
        ("/usr/sbin/mkfs.ext4", "e2fsprogs"),
        ("/usr/bin/dbus-daemon", "dbus"),
        ("/lib/systemd/systemd", "systemd"),
    ],
)
def test_a_missing_tool_is_named_with_its_package(bench: Bench, program: str, package: str) -> None:
    said = bench.run("pilot", "--candidate", "oracle", within=without(program, bench.checkout / "without"))
    assert said.code == 4, said
    assert program in said.err
    assert f"apt-get install --no-install-recommends {package}\n" in said.err
    assert not bench.attempt("oracle").exists()
