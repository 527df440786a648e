"""Programs that want to be captured otherwise than they left things, or not at all; in real units."""

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from sandbox.client import KeeperSandbox
from sandbox.contents import digest_of
from sandbox.findings import FindingKind
from sandbox.patch import Repository
from sandbox.tree import Kind
from tests.systemd.capturing import LIMITS, left
from tests.unit.sandbox.trees import changed_paths

pytestmark = pytest.mark.systemd

BOUND = 20.0
"""Seconds within which a unit and its capture are over, whatever lies there."""


@pytest.fixture
def repository(tmp_path: Path) -> Iterator[Repository]:
    return Repository(tmp_path / "bases.git")


BEFORE_HIDING = r"""
import shutil, zlib

def git(*words):
    argv = ['/usr/bin/git', '-c', 'user.name=x', '-c', 'user.email=x@x', *words]
    done = subprocess.run(argv, env={'PATH': '/usr/bin', 'HOME': '/tmp'}, capture_output=True, check=True)
    return done.stdout.decode().strip()

def forge(path):
    name = git('rev-parse', f'HEAD:{path}')
    place = f'.git/objects/{name[:2]}/{name[2:]}'
    os.makedirs(os.path.dirname(place), exist_ok=True)
    content = open(path, 'rb').read()
    if os.path.exists(place):
        os.remove(place)
    open(place, 'wb').write(zlib.compress(b'blob %d\0' % len(content) + content))

kept = os.stat('a.py')
open('a.py', 'w').write('two\n')
os.mkdir('made'); open('made/new', 'w').write('new\n')
"""
HIDE = {
    "ignored": r"""
os.makedirs('.git/info', exist_ok=True)
open('.gitignore', 'w').write('*\n'); open('.git/info/exclude', 'w').write('*\n')
""",
    "excluded": r"git('config', 'core.excludesFile', '/work/.git/x'); open('.git/x', 'w').write('*\n')",
    "assumed-unchanged": "git('update-index', '--assume-unchanged', 'a.py')",
    "not-checked-out": "git('update-index', '--skip-worktree', 'a.py')",
    "committed": "git('add', '-A', '-f'); git('commit', '-q', '-m', 'x')",
    "object-forged": "forge('a.py')",
    "time-and-size-kept": """
git('config', 'core.trustctime', 'false'); git('config', 'core.checkStat', 'minimal')
os.utime('a.py', ns=(kept.st_atime_ns, kept.st_mtime_ns))
""",
    "no-repository": "shutil.rmtree('.git')",
    "another-repository": r"shutil.rmtree('.git'); open('.git', 'w').write('gitdir: /tmp/elsewhere\n')",
    "a-work-tree-elsewhere": "git('config', 'core.worktree', '/tmp')",
    "replaced": "git('replace', git('rev-parse', 'HEAD:a.py'), git('hash-object', '-w', 'a.py'))",
    "repository-is-a-pipe": "shutil.rmtree('.git'); os.mkfifo('.git')",
}


@pytest.mark.parametrize("how", HIDE)
def test_nothing_is_hidden_by_what_is_done_to_git(sandbox: KeeperSandbox, repository: Repository, how: str) -> None:
    seen = left(sandbox, repository, BEFORE_HIDING + HIDE[how])
    told = {each.path: each.sha256 for each in seen.changes if each.path != b".gitignore"}
    assert told == {b"a.py": digest_of(b"two\n"), b"made/new": digest_of(b"new\n")}
    assert b"-one\n+two\n" in seen.patch


def test_attributes_neither_hide_nor_change_a_byte(sandbox: KeeperSandbox, repository: Repository) -> None:
    program = r"""
open('.gitattributes', 'w').write('*.py -diff ident eol=crlf working-tree-encoding=UTF-16 filter=x\n')
open('a.py', 'w').write('$Id$ two\n')
"""
    seen = left(sandbox, repository, program)
    assert {each.path: each.sha256 for each in seen.changes}[b"a.py"] == digest_of(b"$Id$ two\n")
    assert b"-one\n+$Id$ two\n" in seen.patch


ARMED = r"""
run = '#!/bin/sh\necho run >> CANARY\n'
os.makedirs('.git/hooks', exist_ok=True)
for name in ('pre-commit', 'post-checkout', 'post-index-change', 'fsmonitor-watchman', 'reference-transaction'):
    open('.git/hooks/' + name, 'w').write(run)
    os.chmod('.git/hooks/' + name, 0o755)
open('.git/config', 'a').write('''
[core]
    fsmonitor = sh -c "echo fsmonitor > CANARY"
    pager = sh -c "echo pager > CANARY"
    sshCommand = sh -c "echo ssh > CANARY"
[diff]
    external = sh -c "echo diff > CANARY"
[diff "x"]
    textconv = sh -c "echo textconv > CANARY"
[filter "x"]
    clean = sh -c "echo clean > CANARY"
    smudge = sh -c "echo smudge > CANARY"
''')
open('.gitattributes', 'w').write('* diff=x filter=x\n')
open('a.py', 'w').write('two\n')
"""


def test_no_program_named_in_the_workspace_is_run(
    sandbox: KeeperSandbox, repository: Repository, tmp_path: Path
) -> None:
    """The canary is a file of this very test's folder: only who reads the workspace outside a unit could make it."""
    canary = tmp_path / "canary"
    seen = left(sandbox, repository, ARMED.replace("CANARY", str(canary)))
    assert changed_paths(seen) == (b".gitattributes", b"a.py")
    assert FindingKind.GIT_TOUCHED in {each.kind for each in seen.findings}
    assert not canary.exists()


def test_repositories_below_the_root_are_files_like_others(sandbox: KeeperSandbox, repository: Repository) -> None:
    program = """
env = {'PATH': '/usr/bin', 'HOME': '/tmp'}
for folder in ('with', 'without'):
    os.mkdir(folder); open(folder + '/f', 'w').write(folder)
    subprocess.run(['/usr/bin/git', 'init', '-q', folder], env=env, check=True)
words = ['-c', 'user.name=x', '-c', 'user.email=x@x']
subprocess.run(['/usr/bin/git', '-C', 'with', 'add', '-A'], env=env, check=True)
subprocess.run(['/usr/bin/git', '-C', 'with', *words, 'commit', '-q', '-m', 'x'], env=env, check=True)
"""
    seen = left(sandbox, repository, program)
    assert changed_paths(seen) == (b"with/f", b"without/f")
    found = {each.path for each in seen.findings if each.kind is FindingKind.UNCAPTURABLE}
    assert found == {b"with/.git", b"without/.git"}


def test_a_pipe_in_the_place_of_a_file_holds_nobody_up(sandbox: KeeperSandbox, repository: Repository) -> None:
    began = time.monotonic()
    seen = left(sandbox, repository, "os.remove('a.py'); os.mkfifo('a.py'); os.remove('d/x'); os.mkfifo('d/x')")
    assert time.monotonic() - began < BOUND
    assert [(each.kind, each.path) for each in seen.changes] == [(Kind.GONE, b"a.py"), (Kind.GONE, b"d/x")]
    assert [(each.kind, each.path) for each in seen.findings] == [
        (FindingKind.SPECIAL, b"a.py"),
        (FindingKind.SPECIAL, b"d/x"),
    ]


def test_a_sparse_giant_is_told_by_its_size_and_not_read(sandbox: KeeperSandbox, repository: Repository) -> None:
    program = r"open('giant', 'w').truncate(3 << 40); open('a.py', 'w').write('two\n')"
    began = time.monotonic()
    seen = left(sandbox, repository, program, limits=replace(LIMITS, file_bytes=1 << 43))
    assert time.monotonic() - began < BOUND
    assert changed_paths(seen) == (b"a.py",)
    (giant,) = (each for each in seen.findings if each.kind is FindingKind.TOO_LARGE)
    assert (giant.path, giant.size, giant.violates) == (b"giant", 3 << 40, True)


FULL = r"""
open('a.py', 'w').write('two\n')
try:
    FILL
except OSError as error:
    assert error.errno == 28
else:
    raise SystemExit('it has no bound')
"""


@pytest.mark.parametrize(
    ("fill", "least"),
    [
        pytest.param("open('full', 'wb').write(bytes(64 << 20))", 2, id="bytes"),
        pytest.param("for n in range(10 ** 5): open(f'{n:06}', 'w').close()", 1000, id="files"),
    ],
)
def test_a_full_workspace_is_captured_whole(
    sandbox: KeeperSandbox, repository: Repository, fill: str, least: int
) -> None:
    limits = replace(LIMITS, disk_bytes=8 << 20, disk_inodes=1500)
    seen = left(sandbox, repository, FULL.replace("FILL", fill), limits=limits)
    assert b"a.py" in changed_paths(seen)
    assert len(changed_paths(seen)) >= least
    assert not any(each.violates for each in seen.findings)


NAMES = (
    *(b"new\nline", b"tab\tquote\"'", b"-rf", b"--", b" ", b"\xff\xfe", b"Case", b"case", b"c:\\x", b"*", b"\x1b[2J"),
    *(name.encode() for name in ("n\u00e9", "ne\u0301", "\u202egpj.exe")),
    b"l" * 255,
)
REFUSED_NAMES = (b".GIT", b"git~1")


def test_odd_names_come_through_or_are_found_and_never_as_another(
    sandbox: KeeperSandbox, repository: Repository
) -> None:
    program = f"for name in {(*NAMES, *REFUSED_NAMES)!r}: open(name, 'wb').write(name)"
    seen = left(sandbox, repository, program)
    assert {each.path: each.sha256 for each in seen.changes} == {name: digest_of(name) for name in NAMES}
    found = {each.path for each in seen.findings if each.kind is FindingKind.UNCAPTURABLE}
    assert found == set(REFUSED_NAMES)


def test_what_lies_outside_the_tree_or_beside_its_bytes_is_not_in_it(
    sandbox: KeeperSandbox, repository: Repository
) -> None:
    program = """
for place in ('/home/agent/solution.py', '/tmp/solution.py', '/var/tmp/x', '/dev/shm/x', '/home/agent/.profile'):
    open(place, 'w').write('SOLUTION')
os.environ['ANSWER'] = 'SOLUTION'
os.setxattr('a.py', 'user.solution', b'SOLUTION')
os.utime('a.py', (1 << 33, 1 << 33)); os.utime('d/x', (0, 0))
os.mkdir('SOLUTION')
os.symlink('/home/agent/solution.py', 'link')
"""
    seen = left(sandbox, repository, program)
    assert changed_paths(seen) == (b"link",)
    assert b"SOLUTION" not in seen.patch
    assert [(each.kind, each.path) for each in seen.findings] == [(FindingKind.EMPTY_FOLDER, b"SOLUTION")]


SWAPPING = """
import time
for number in range(4):
    if os.fork() == 0:
        os.setsid()
        while True:
            try:
                os.rename('big', f'other{number}'); os.symlink('/etc', 'big')
                os.remove('big'); os.rename(f'other{number}', 'big')
                open('a.py', 'w').write(str(number))
            except OSError:
                pass
time.sleep(0.3)
"""


def test_whoever_swaps_names_to_the_end_is_gone_before_anything_is_read(
    sandbox: KeeperSandbox, repository: Repository
) -> None:
    seen = left(sandbox, repository, SWAPPING, times=2)
    assert {each.path[:5] for each in seen.changes} <= {b"a.py", b"big", b"big/f", b"big/g", b"other"}
    assert b"root:" not in seen.patch, "nothing behind the link was read"


def test_the_workspace_itself_stays_where_it_is(sandbox: KeeperSandbox, repository: Repository) -> None:
    program = r"""
open('/work/a.py', 'w').write('two\n')
refused = 0
for attempt in (lambda: os.rename('/work', '/tmp/w'), lambda: os.rename('/work', '/home/agent/w'),
                lambda: os.rmdir('/work'), lambda: os.symlink('/etc', '/work2'), lambda: os.chown('/work', 0, 0)):
    try:
        attempt()
    except OSError:
        refused += 1
assert refused == 5, refused
os.chmod('/work', 0)
"""
    assert changed_paths(left(sandbox, repository, program)) == (b"a.py",)


def test_modes_line_ends_and_marks_come_through_to_the_byte(sandbox: KeeperSandbox, repository: Repository) -> None:
    contents = {b"crlf": b"a\r\nb\r\n", b"mark": b"\xef\xbb\xbfx\n", b"none": b"no end", b"nul": b"\0\n", b"empty": b""}
    program = f"os.chmod('run', 0o755)\nfor name, content in {contents!r}.items(): open(name, 'wb').write(content)"
    seen = left(sandbox, repository, program)
    told = {each.path: each.sha256 for each in seen.changes if each.path != b"run"}
    assert told == {path: digest_of(content) for path, content in contents.items()}
    assert b"old mode 100644\nnew mode 100755" in seen.patch
