"""Laws of the capture in real units: what a program left in an overlay is read whole, whatever it did to it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.client import KeeperSandbox
from sandbox.contents import digest_of
from sandbox.findings import FindingKind
from sandbox.patch import Repository
from tests.systemd.capturing import left
from tests.unit.sandbox.trees import changed_paths

pytestmark = pytest.mark.systemd


@pytest.fixture
def repository(tmp_path: Path) -> Iterator[Repository]:
    return Repository(tmp_path / "bases.git")


def test_nothing_done_is_nothing_captured(sandbox: KeeperSandbox, repository: Repository) -> None:
    seen = left(sandbox, repository, "pass")
    assert (seen.changes, seen.patch, seen.findings) == ((), b"", ())


def test_edits_deletions_and_renamed_folders_come_through(sandbox: KeeperSandbox, repository: Repository) -> None:
    program = """
open('a.py', 'w').write('two\\n')
os.chmod('run', 0o755)
os.remove('d/e/y'); os.rmdir('d/e')
os.rename('big', 'moved')
open('d/x', 'a').close()
os.mkdir('new'); open('new/f', 'w').write('n')
os.chmod('new/f', 0); os.chmod('new', 0)
"""
    seen = left(sandbox, repository, program)
    assert changed_paths(seen) == (
        b"a.py", b"big/f", b"big/g", b"d/e/y", b"moved/f", b"moved/g", b"new/f", b"run",
    )  # fmt: skip
    assert {each.path: each.sha256 for each in seen.changes}[b"moved/g"] == digest_of(b"g\n")
    assert {(each.kind, each.path) for each in seen.findings} == {
        (FindingKind.MODE, b"new"),
        (FindingKind.MODE, b"new/f"),
    }


def test_a_folder_replaced_by_another_holds_only_what_is_new(sandbox: KeeperSandbox, repository: Repository) -> None:
    program = """
os.remove('big/f'); os.remove('big/g'); os.rmdir('big'); os.mkdir('big'); open('big/g', 'w').write('g\\n')
os.remove('d/x'); os.mkdir('d/x'); os.symlink('../../a.py', 'd/x/l')
"""
    seen = left(sandbox, repository, program)
    assert changed_paths(seen) == (b"big/f", b"d/x", b"d/x/l")


def test_what_is_no_file_is_found(sandbox: KeeperSandbox, repository: Repository) -> None:
    program = """
os.mkfifo('fifo')
socket.socket(socket.AF_UNIX).bind('socket')
os.makedirs('sub/.git'); open('sub/.git/HEAD', 'w').write('x')
open('s', 'w').write('x'); os.link('s', 't')
os.mkdir('empty')
"""
    seen = left(sandbox, repository, program)
    assert changed_paths(seen) == (b"s", b"t")
    assert [(each.kind, each.path) for each in seen.findings] == [
        (FindingKind.EMPTY_FOLDER, b"empty"),
        (FindingKind.SPECIAL, b"fifo"),
        (FindingKind.HARD_LINK, b"s"),
        (FindingKind.SPECIAL, b"socket"),
        (FindingKind.UNCAPTURABLE, b"sub/.git"),
        (FindingKind.HARD_LINK, b"t"),
    ]


def test_what_happened_in_the_workspaces_own_repository_is_only_noted(
    sandbox: KeeperSandbox, repository: Repository
) -> None:
    program = """
subprocess.run(['git', 'commit', '-q', '--allow-empty', '-m', 'x'], env={
    'GIT_AUTHOR_NAME': 'x', 'GIT_AUTHOR_EMAIL': 'x@x', 'GIT_COMMITTER_NAME': 'x', 'GIT_COMMITTER_EMAIL': 'x@x',
    'PATH': '/usr/bin'}, check=True)
"""
    seen = left(sandbox, repository, program)
    assert (seen.changes, [each.kind for each in seen.findings]) == ((), [FindingKind.GIT_TOUCHED])
