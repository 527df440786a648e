"""Workspaces on the real kernel, in a mount namespace of the test's own. Needs root, but no systemd."""

import ctypes
import hashlib
import os
import stat
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from sandbox import loop
from sandbox.api import Changes, Pack
from sandbox.beneath import FOLDER, remove
from sandbox.errors import PackError, PatchError, TreeError, WorkspaceError
from sandbox.image import Bounds, Image, mount_image
from sandbox.inspected import CaptureLimits
from sandbox.layers import Layers, mount_store, probe_image, probe_layers
from sandbox.laying import FROZEN_TIME, LAID_TIME
from sandbox.mounts import Flag, mount, mount_points_below, unmount
from sandbox.objects import Objects
from sandbox.pack import write_pack
from sandbox.spec import ObjectId
from sandbox.tree import Entry, Kind
from sandbox.upper import read_upper
from sandbox.workspace import MOST_CHANGES, Paths, Plan, Workspaces

pytestmark = [
    pytest.mark.systemd,
    pytest.mark.skipif(os.geteuid() != 0, reason="mounting needs root"),
]

ACCOUNT, INSPECTOR = 1_900_000_007, 1_900_000_008
BOUNDS = Bounds(disk_bytes=32 << 20, disk_inodes=4000)
WAYS = [
    pytest.param((Layers.IDMAP, Image.LOOP), id="idmap-loop"),
    pytest.param((Layers.IDMAP, Image.TMPFS), id="idmap-tmpfs"),
    pytest.param((Layers.IDMAP_LOOP, Image.LOOP), id="store-in-an-image"),
    pytest.param((Layers.COPY, Image.LOOP), id="copy-loop"),
    pytest.param((Layers.COPY, Image.TMPFS), id="copy-tmpfs"),
]
Content = bytes | Kind | tuple[str, bytes]
"""A file's bytes, a folder or a deletion, or ("link", target)."""
TREE: dict[bytes, Content] = {
    b"top": b"top\n",
    b"run": b"#!/bin/sh\n",
    b"a/one": b"one\n",
    b"a/two": b"two\n",
    b"a/deep/er/three": b"three\n",
    b"b/four": b"four\n",
    b"c/five": b"five\n",
    b"link": ("link", b"a/one"),
    b".git/HEAD": b"ref: refs/heads/main\n",
}


@pytest.fixture(scope="module", autouse=True)
def _own_mounts() -> Iterator[None]:
    """Whatever is mounted here, nobody else sees."""
    libc = ctypes.CDLL(None, use_errno=True)
    before, here = os.open("/proc/self/ns/mnt", os.O_RDONLY), os.open(".", os.O_RDONLY)
    assert libc.unshare(0x20000) == 0
    subprocess.run(["/usr/bin/mount", "--make-rprivate", "/"], check=True)
    yield
    assert libc.setns(before, 0x20000) == 0
    os.fchdir(here)
    os.close(before)
    os.close(here)


@pytest.fixture(scope="module")
def own_disk(_own_mounts: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A file system of our own: writing it out does not wait for what others wrote."""
    folder = tmp_path_factory.mktemp("disk")
    (folder / "image").mkdir()
    bounds = Bounds(disk_bytes=1 << 30, disk_inodes=100_000)
    mount_image(Image.LOOP, bounds, folder / "templates", folder / "image")
    yield folder / "image"
    unmount(folder / "image")


@pytest.fixture
def disk(own_disk: Path) -> Iterator[Path]:
    """An empty folder on our own disk."""
    with TemporaryDirectory(dir=own_disk) as folder:
        yield Path(folder)


@dataclass(slots=True)
class Room:
    """A store and its workspaces, as a keeper has them."""

    state: Path
    objects: Objects
    workspaces: Workspaces

    def store(self, tree: dict[bytes, Content]) -> Path:
        """Keep a tree and give its folder."""
        return self.objects.path(self.objects.store(packed(tree)))

    def open(self, *trees: dict[bytes, Content], bounds: Bounds = BOUNDS, **packs: int) -> Paths:
        """Open the workspace `w` over some trees."""
        layers = tuple(self.store(tree) for tree in trees)
        plan = Plan(name="w", layers=layers, uid=ACCOUNT, bounds=bounds, **packs)
        return self.workspaces.open(plan)

    def laid(self, base: dict[bytes, Content], change: dict[bytes, Content]) -> Paths:
        """Open the workspace `w` over a tree, with a change laid on it."""
        return self.open(base, lay=packed(change))


def set_up(state: Path, layers: Layers, image: Image) -> Iterator[Room]:
    made = new_room(state, layers, image)
    if layers is Layers.IDMAP_LOOP:
        mount_store(state, state / "objects")
    yield made
    torn_down(made)


def new_room(state: Path, layers: Layers, image: Image) -> Room:
    workspaces = Workspaces(root=state / "run", templates=state / "templates", layers=layers, image=image)
    return Room(state, Objects(state / "objects"), workspaces)


def torn_down(room: Room) -> None:
    for name in tuple(room.workspaces.opened):
        room.workspaces.close(name)
    for point in reversed(mount_points_below(room.state)):
        unmount(point)
    assert not mount_points_below(room.state)
    assert not loop.backing_below(room.state)


@pytest.fixture
def room(disk: Path) -> Iterator[Room]:
    """A room on the usual mechanisms."""
    yield from set_up(disk, Layers.IDMAP, Image.LOOP)


@pytest.fixture(params=WAYS)
def any_room(disk: Path, request: pytest.FixtureRequest) -> Iterator[Room]:
    """A room on each pair of mechanisms."""
    yield from set_up(disk, *request.param)


@pytest.fixture(params=[WAYS[0], WAYS[-1]])
def either_room(disk: Path, request: pytest.FixtureRequest) -> Iterator[Room]:
    """A room on the best and on the plainest mechanisms."""
    yield from set_up(disk, *request.param)


def packed(tree: dict[bytes, Content]) -> int:
    """Pack a tree or change; the descriptor lives as long as the test process."""
    blobs = {hashlib.sha256(each).hexdigest(): each for each in tree.values() if isinstance(each, bytes)}
    memory = os.memfd_create("pack")
    entries = tuple(entry(path, content) for path, content in tree.items())
    write_pack(Pack(entries=entries, blobs=blobs.__getitem__), memory)
    return memory


def entry(path: bytes, content: Content) -> Entry:
    if isinstance(content, bytes):
        digest = hashlib.sha256(content).hexdigest()
        executable = content.startswith(b"#!")
        return Entry(path=path, kind=Kind.FILE, sha256=digest, size=len(content), executable=executable)
    if isinstance(content, Kind):
        return Entry(path=path, kind=content)
    return Entry(path=path, kind=Kind.LINK, target=content[1])


def seen(folder: Path) -> dict[bytes, Content]:
    """Read a small tree back in the form it was written in, empty folders included."""
    found: dict[bytes, Content] = {}
    for place, folders, files in os.walk(os.fsencode(folder)):
        for name in (*folders, *files):
            path = os.path.join(place, name)  # noqa: PTH118 - bytes
            short = os.path.relpath(path, os.fsencode(folder))
            if os.path.islink(path):  # noqa: PTH114 - bytes
                found[short] = ("link", os.readlink(path))  # noqa: PTH115 - bytes
            elif name in files:
                found[short] = Path(os.fsdecode(path)).read_bytes()
            elif not os.listdir(path):  # noqa: PTH208 - bytes
                found[short] = Kind.FOLDER
    return found


def stats(folder: Path) -> list[tuple[object, ...]]:
    """All that a write to a frozen tree would change."""
    listed: list[tuple[object, ...]] = []
    for path in sorted((folder, *folder.rglob("*"))):
        status = path.lstat()
        content = path.read_bytes() if stat.S_ISREG(status.st_mode) else b""
        times = (status.st_mtime_ns, status.st_ctime_ns)
        listed.append((path, status.st_mode, status.st_uid, status.st_nlink, times, content))
    return listed


def act(folder: Path, program: str, *, uid: int = ACCOUNT, capable: bool = False) -> str:
    """Run a Python program as an account, in a folder; it may be unable to come there by path."""
    argv = ["/usr/bin/setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", "--no-new-privs"]
    if capable:
        argv += ["--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"]
    argv += ["/usr/bin/python3", "-I", "-B", "-c", f"import os, errno\n{program}"]
    done = subprocess.run(argv, cwd=folder, env={}, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


EDITS = """
open("a/new", "w").write("new")
open("a/one", "a").write("more")
os.remove("a/two")
os.chmod("top", 0o700)
os.rename("a/deep", "moved")
os.mkdir("fresh"); open("fresh/x", "w").close()
os.symlink("/etc", "fresh/etc")
os.mkfifo("fifo")
os.truncate("b/four", 0)
"""
EDITED: dict[bytes, Content] = {
    b"top": b"top\n",
    b"run": b"#!/bin/sh\n",
    b"a/one": b"one\nmore",
    b"a/new": b"new",
    b"moved/er/three": b"three\n",
    b"b/four": b"",
    b"c/five": b"five\n",
    b"fresh/x": b"",
    b"fresh/etc": ("link", b"/etc"),
    b"link": ("link", b"a/one"),
    b".git/HEAD": b"ref: refs/heads/main\n",
}


# ---- the store


def test_a_stored_tree_is_roots_with_fixed_modes_and_times(room: Room) -> None:
    folder = room.store(TREE | {b"empty": Kind.FOLDER})
    assert seen(folder) == TREE | {b"empty": Kind.FOLDER}
    for path in (folder, *folder.rglob("*")):
        status = path.lstat()
        assert (status.st_uid, status.st_gid, status.st_mtime) == (0, 0, FROZEN_TIME)
        executable = path.is_dir() or path.name == "run"
        assert path.is_symlink() or stat.S_IMODE(status.st_mode) == (0o755 if executable else 0o644)


def test_storing_again_touches_nothing(room: Room) -> None:
    before = stats(room.store(TREE))
    assert stats(room.store(TREE)) == before


def test_a_lie_about_a_digest_leaves_nothing(room: Room) -> None:
    pack = packed({b"a": b"truth"})
    os.pwrite(pack, b"lies!", os.fstat(pack).st_size - 5)
    with pytest.raises(PackError, match="digest"):
        room.objects.store(pack)
    assert list(room.objects.root.iterdir()) == []


def test_deletions_are_no_tree(room: Room) -> None:
    with pytest.raises(TreeError):
        room.store({b"a": Kind.GONE})


@pytest.mark.parametrize("digest", ["", "..", "0" * 64, "building-x"])
def test_what_is_not_stored_has_no_path(room: Room, digest: str) -> None:
    with pytest.raises(WorkspaceError):
        room.objects.path(ObjectId(digest))


def test_what_a_killed_keeper_was_building_is_swept(room: Room) -> None:
    folder = room.store(TREE)
    (room.objects.root / "building-x" / "deep").mkdir(parents=True)
    assert room.objects.sweep() == ("building-x",)
    assert list(room.objects.root.iterdir()) == [folder]


def test_a_full_disk_is_told_and_nothing_is_left(disk: Path) -> None:
    mount("t", disk, "tmpfs", Flag.NONE, "size=1m")
    room = new_room(disk, Layers.IDMAP, Image.LOOP)
    with pytest.raises(WorkspaceError, match="No space"):
        room.store({b"small": b"x", b"big": bytes(2 << 20)})
    assert list(room.objects.root.iterdir()) == []
    with pytest.raises(WorkspaceError, match="free bytes"):
        room.open()
    assert list(room.workspaces.root.iterdir()) == []
    unmount(disk)


# ---- what an account may do


def test_an_account_edits_as_if_the_tree_were_its_own(any_room: Room) -> None:
    frozen = any_room.store(TREE)
    before = stats(frozen)
    paths = any_room.open(TREE)
    owners = act(paths.workspace, "print({os.lstat(x).st_uid for x in ('.', 'a', 'a/one', 'link')})")
    assert owners == str({ACCOUNT})
    act(paths.workspace, EDITS)
    (paths.workspace / "fifo").unlink()
    assert seen(paths.workspace) == EDITED
    assert stats(frozen) == before


def test_layers_lie_over_one_another(any_room: Room) -> None:
    top: dict[bytes, Content] = {b"a": b"a file over a folder", b"top/x": b"the other way round"}
    paths = any_room.open(top, {b"a/one": b"hidden", b"b": b"seen"}, {b"top": b"hidden", b"c": b"seen too"})
    assert seen(paths.workspace) == top | {b"b": b"seen", b"c": b"seen too"}


def test_home_and_temporary_folders_are_the_accounts(any_room: Room) -> None:
    paths = any_room.open(TREE, home=packed({b".config/agent.json": b"{}"}))
    assert act(paths.home, "open('mine', 'w'); print(open('.config/agent.json').read())") == "{}"
    laid = (paths.home / ".config/agent.json").stat()
    assert (laid.st_uid, stat.S_IMODE(laid.st_mode)) == (ACCOUNT, 0o600)
    for folder in (paths.tmp, paths.vartmp):
        act(folder, "open('mine', 'w')")
        assert stat.S_IMODE(folder.stat().st_mode) == 0o1777


def test_a_workspace_without_layers_is_an_empty_folder(any_room: Room) -> None:
    paths = any_room.open()
    act(paths.workspace, "open('x', 'w')")
    _, changes = any_room.workspaces.inspect("w", INSPECTOR)
    assert changes.touched == (b"x",)


def test_set_id_and_devices_mean_nothing_in_a_workspace(any_room: Room) -> None:
    paths = any_room.open(TREE)
    for folder in (paths.workspace, paths.home):
        flags = os.statvfs(folder).f_flag
        assert flags & os.ST_NOSUID
        assert flags & os.ST_NODEV


FILL = """
try:
    with open("big", "wb", buffering=0) as file:
        while True: file.write(bytes(1 << 20))
except OSError as error: print(errno.errorcode[error.errno])
print(os.path.getsize("big"))
"""
CROWD = """
n = 0
try:
    while True: os.close(os.open(f"f{n}", os.O_CREAT)); n += 1
except OSError as error: print(errno.errorcode[error.errno])
print(n)
"""


@pytest.mark.parametrize("place", ["workspace", "home", "tmp", "vartmp"])
def test_an_image_is_full_at_its_size(room: Room, place: str) -> None:
    reason, size = act(getattr(room.open(TREE), place), FILL).split()
    assert reason == "ENOSPC"
    assert BOUNDS.disk_bytes <= int(size) <= BOUNDS.disk_bytes * 1.1


def test_an_image_holds_no_more_files_than_its_inodes(room: Room) -> None:
    reason, count = act(room.open(TREE).workspace, CROWD).split()
    assert reason == "ENOSPC"
    assert BOUNDS.disk_inodes * 0.95 <= int(count) <= BOUNDS.disk_inodes * 1.1


def test_a_tmpfs_is_bounded_too(disk: Path) -> None:
    room = new_room(disk, Layers.IDMAP, Image.TMPFS)
    paths = room.open(TREE)
    assert int(act(paths.workspace, FILL).split()[1]) <= BOUNDS.disk_bytes
    act(paths.workspace, "os.remove('big')")
    assert int(act(paths.home, CROWD).split()[1]) <= BOUNDS.disk_inodes
    torn_down(room)


# ---- inspection


NESTED = (b"a", b"a/deep", b"a/deep/er", b"a/deep/er/three")


def changes_after(room: Room, program: str, *trees: dict[bytes, Content]) -> tuple[Path, Changes]:
    act(room.open(*(trees or (TREE,))).workspace, program)
    return room.workspaces.inspect("w", INSPECTOR)


@pytest.mark.parametrize(
    ("program", "touched", "whole"),
    [
        pytest.param("", (), (), id="nothing"),
        pytest.param("open('a/one', 'a').write('x')", (b"a", b"a/one"), (), id="append"),
        pytest.param("os.chmod('a', 0o700)", (b"a",), (), id="a-folders-mode"),
        pytest.param("os.remove('a/deep/er/three')", NESTED, (), id="nested-whiteout"),
        pytest.param("os.makedirs('n/m'); open('n/m/x', 'w')", (), (b"n",), id="a-new-folder"),
        pytest.param("os.mkdir('a/n'); os.mkfifo('a/n/f')", (b"a",), (b"a/n",), id="new-in-old"),
        pytest.param("os.remove('c/five'); os.rmdir('c')", (b"c",), (), id="a-removed-folder"),
        pytest.param("os.remove('c/five'); os.rmdir('c'); os.mkdir('c')", (), (b"c",), id="opaque"),
        pytest.param("os.remove('c/five'); os.rmdir('c'); open('c', 'w')", (b"c",), (), id="folder-to-file"),
        pytest.param("os.remove('top'); os.mkdir('top')", (), (b"top",), id="file-to-folder"),
        pytest.param("os.rename('a', 'z')", (b"a",), (b"z",), id="redirected"),
        pytest.param("os.rename('a/deep', 'b/deep')", (b"a", b"a/deep", b"b"), (b"b/deep",), id="moved"),
        pytest.param("os.rename('a', 'z'); os.rename('z', 'a')", (), (b"a",), id="there-and-back"),
        pytest.param("os.rename('a', 'z'); os.mkdir('a')", (), (b"a", b"z"), id="moved-and-replaced"),
        pytest.param("os.link('top', 'twin')", (b"top", b"twin"), (), id="hard-links"),
        pytest.param("os.remove('link'); os.symlink('b', 'link')", (b"link",), (), id="a-link"),
        pytest.param("open('a/\\udcff\\n', 'w')", (b"a", b"a/\xff\n"), (), id="an-odd-name"),
        pytest.param("os.mkdir('a/.git'); open('a/.git/x', 'w')", (b"a",), (b"a/.git",), id="nested-git"),
        pytest.param("os.mkfifo('f'); os.remove('top'); os.mkfifo('top')", (b"f", b"top"), (), id="fifos"),
    ],
)  # fmt: skip
def test_what_changed_is_listed(
    either_room: Room, program: str, touched: tuple[bytes, ...], whole: tuple[bytes, ...]
) -> None:
    _, changes = changes_after(either_room, program)
    assert changes == Changes(touched=touched, whole=whole)


@pytest.mark.parametrize(
    "program",
    [
        pytest.param("open('.git/HEAD', 'w')", id="written"),
        pytest.param("os.mkdir('.git/objects'); open('.git/objects/x', 'w')", id="grown"),
        pytest.param("os.remove('.git/HEAD'); os.rmdir('.git'); open('.git', 'w')", id="replaced"),
    ],
)
def test_the_roots_own_git_is_noted_and_otherwise_ignored(room: Room, program: str) -> None:
    assert changes_after(room, program)[1] == Changes(touched=(), whole=(), git_touched=True)


def test_a_folder_is_new_where_a_layer_above_has_a_file(room: Room) -> None:
    program = "os.remove('x'); os.mkdir('x'); open('x/one', 'w')"
    _, changes = changes_after(room, program, {b"x": b"file"}, {b"x/one": b"hidden", b"x/two": b"hidden"})
    assert changes.whole == (b"x",)


def test_an_inspector_sees_what_the_account_left_as_its_own(any_room: Room) -> None:
    folder, _ = changes_after(any_room, EDITS)
    assert stat.S_ISFIFO((folder / "fifo").lstat().st_mode)
    everything = [folder, *(each for each in folder.rglob("*") if ".git" not in each.parts)]
    assert {each.lstat().st_uid for each in everything} == {INSPECTOR}
    assert {each.lstat().st_gid for each in everything} == {INSPECTOR}
    assert (folder / "moved" / "er" / "three").read_bytes() == b"three\n"
    assert (folder / "a" / "one").read_bytes() == b"one\nmore"


def test_an_inspection_is_read_only_and_follows_no_link(any_room: Room) -> None:
    folder, _ = changes_after(any_room, EDITS)
    flags = os.statvfs(folder).f_flag
    assert flags & os.ST_RDONLY
    assert flags & os.ST_NOEXEC
    with pytest.raises(OSError, match="symbolic links"):
        (folder / "link").read_bytes()


HIDE = """
os.mkdir("dark"); open("dark/secret", "w").write("found")
os.chmod("dark/secret", 0); os.chmod("dark", 0)
"""
READ = """
try: print(open("dark/secret").read())
except PermissionError: print("denied")
"""


def test_unreadable_files_open_to_the_one_capability_alone(any_room: Room) -> None:
    folder, changes = changes_after(any_room, HIDE)
    assert changes.whole == (b"dark",)
    assert act(folder, READ, uid=INSPECTOR) == "denied"
    assert act(folder, READ, uid=INSPECTOR, capable=True) == "found"


OWN_USERS = """
import ctypes
uid, libc = os.getuid(), ctypes.CDLL(None)
assert libc.unshare(0x10000000) == 0
open("/proc/self/setgroups", "w").write("deny")
for name in ("uid_map", "gid_map"): open(f"/proc/self/{name}", "w").write(f"{uid} {uid} 1")
"""


def test_the_capability_is_enough_where_users_are_private(any_room: Room) -> None:
    folder, _ = changes_after(any_room, HIDE)
    assert act(folder, OWN_USERS + READ, uid=INSPECTOR) == "found"
    assert act(folder, OWN_USERS + READ, uid=ACCOUNT) == "denied"


def test_set_id_bits_and_hard_links_reach_the_inspector(any_room: Room) -> None:
    folder, _ = changes_after(any_room, "os.chmod('run', 0o6755); os.link('run', 'twin')")
    status = (folder / "run").lstat()
    assert stat.S_IMODE(status.st_mode) == 0o6755
    assert status.st_nlink == 2
    assert status.st_ino == (folder / "twin").lstat().st_ino


DEEP = """
os.chdir("a")
for _ in range(600):
    os.mkdir("d" * 250); os.chdir("d" * 250)
"""


def test_a_hostile_tree_is_listed_without_entering_it(any_room: Room) -> None:
    program = f"{DEEP}\nfor n in range(2000): os.symlink('x', b'\\xff%d' % n)\nos.mkfifo('f')"
    folder, changes = changes_after(any_room, program)
    assert changes == Changes(touched=(b"a",), whole=(b"a/" + b"d" * 250,))
    any_room.workspaces.end_inspection("w")
    assert not folder.exists()


def test_a_thousand_new_names_in_an_old_folder_are_listed(room: Room) -> None:
    _, changes = changes_after(room, "for n in range(3000): os.symlink('x', f'a/{n}')")
    assert len(changes.touched) == 3001


def test_a_socket_is_listed_and_not_opened(room: Room) -> None:
    paths = room.open(TREE)
    act(paths.workspace, "import socket; socket.socket(socket.AF_UNIX).bind('socket')")
    _, changes = room.workspaces.inspect("w", INSPECTOR)
    assert changes.touched == (b"socket",)


def test_a_reading_stops_at_its_bound(room: Room) -> None:
    upper = os.open(room.store({b"a": b"", b"b": b"", b"c": b""}), FOLDER)
    assert len(read_upper(upper, (), most=2).touched) == 2
    os.close(upper)


def test_a_capture_finds_a_change_incomplete_before_its_reading_stops() -> None:
    assert CaptureLimits().entries < MOST_CHANGES


def test_a_workspace_in_use_is_not_inspected(room: Room) -> None:
    paths = room.open(TREE)
    here = os.open(paths.workspace, FOLDER)
    with pytest.raises(WorkspaceError, match="still uses"):
        room.workspaces.inspect("w", INSPECTOR)
    os.close(here)
    room.workspaces.inspect("w", INSPECTOR)


def test_a_workspace_is_inspected_once_at_a_time(room: Room) -> None:
    changes_after(room, EDITS)
    with pytest.raises(WorkspaceError, match="inspection"):
        room.workspaces.inspect("w", INSPECTOR + 1)
    with pytest.raises(WorkspaceError, match="not open"):
        room.workspaces.inspect("v", INSPECTOR)


def test_a_failed_inspection_leaves_nothing_mounted(room: Room) -> None:
    room.open(TREE)
    frozen = room.store(TREE)
    mount("p", frozen, "proc", Flag.NONE, "")  # no owner can be mapped there
    with pytest.raises(WorkspaceError, match="inspection"):
        room.workspaces.inspect("w", INSPECTOR)
    unmount(frozen)
    assert mount_points_below(room.workspaces.root) == [room.workspaces.root / "w" / "image"]
    assert room.workspaces.inspect("w", INSPECTOR)[1] == Changes(touched=(), whole=())


def test_inspecting_again_shows_the_same_to_another_account(any_room: Room) -> None:
    _, first = changes_after(any_room, EDITS)
    any_room.workspaces.end_inspection("w")
    any_room.workspaces.end_inspection("w")
    folder, second = any_room.workspaces.inspect("w", INSPECTOR + 1)
    assert first == second
    assert (folder / "top").stat().st_uid == INSPECTOR + 1


# ---- laying


@pytest.mark.parametrize(
    ("base", "change", "after"),
    [
        pytest.param({b"a": b"1"}, {b"a": b"2"}, {b"a": b"2"}, id="a-file"),
        pytest.param({b"a": b"1"}, {b"a": b"#!2"}, {b"a": b"#!2"}, id="a-mode"),
        pytest.param({b"a": b"1"}, {b"x/y/z": b"2"}, {b"a": b"1", b"x/y/z": b"2"}, id="new-parents"),
        pytest.param({b"a/x": b"1", b"b": b""}, {b"a/x": Kind.GONE}, {b"b": b""}, id="an-emptied-folder"),
        pytest.param({b"a/b/c/x": b"1", b"y": b""}, {b"a/b/c/x": Kind.GONE}, {b"y": b""}, id="emptied"),
        pytest.param({b"a/x": b"1", b"a/y": b"2"}, {b"a/x": Kind.GONE, b"a/y": Kind.GONE}, {}, id="all-gone"),
        pytest.param({b"a/x": b"1"}, {b"a/x": Kind.GONE, b"a": Kind.GONE}, {}, id="gone-with-its-folder"),
        pytest.param({b"a/x": b"1", b"a/y/z": b"2"}, {b"a": Kind.GONE}, {}, id="a-whole-folder"),
        pytest.param({b"a/x": b"1"}, {b"a/x": Kind.GONE, b"a/y": b"2"}, {b"a/y": b"2"}, id="other"),
        pytest.param({b"a/x": b"1", b"a/y/z": b"2"}, {b"a": b"file"}, {b"a": b"file"}, id="folder-to-file"),
        pytest.param({b"a/x/y": b"1"}, {b"a/x/y": Kind.GONE, b"a": b"f"}, {b"a": b"f"}, id="gone-to-file"),
        pytest.param({b"a": b"1"}, {b"a/x": b"2"}, {b"a/x": b"2"}, id="file-to-folder"),
        pytest.param({b"a": b"1"}, {b"a": Kind.GONE, b"a/x/y": b"2"}, {b"a/x/y": b"2"}, id="gone-to-folder"),
        pytest.param({b"a": b"1"}, {b"a": ("link", b"b")}, {b"a": ("link", b"b")}, id="file-to-link"),
        pytest.param({b"a/x": b"1"}, {b"a": ("link", b"b")}, {b"a": ("link", b"b")}, id="folder-to-link"),
        pytest.param({b"a": ("link", b"b")}, {b"a": ("link", b"c")}, {b"a": ("link", b"c")}, id="relink"),
        pytest.param({b"a": ("link", b"b")}, {b"a": b"1"}, {b"a": b"1"}, id="link-to-file"),
        pytest.param({b"a": ("link", b"b")}, {b"a/x": b""}, {b"a/x": b""}, id="link-to-folder"),
        pytest.param({b"a": b"1"}, {b"a": Kind.FOLDER}, {b"a": Kind.FOLDER}, id="file-to-empty-folder"),
        pytest.param({b"a/x": b"1"}, {b"a": Kind.FOLDER}, {b"a/x": b"1"}, id="a-folder-that-is-there"),
        pytest.param({b"\xff\n": b"1"}, {b"\xff\n": Kind.GONE, b"-\t": b"2"}, {b"-\t": b"2"}, id="odd-names"),
    ],
)  # fmt: skip
def test_a_change_is_laid(
    either_room: Room, base: dict[bytes, Content], change: dict[bytes, Content], after: dict[bytes, Content]
) -> None:
    frozen = either_room.store(base)
    before = stats(frozen)
    workspace = either_room.laid(base, change).workspace
    assert seen(workspace) == after
    assert {each.lstat().st_uid for each in (workspace, *workspace.rglob("*"))} == {ACCOUNT}
    assert stats(frozen) == before


def test_what_is_laid_has_fixed_modes_and_times(room: Room) -> None:
    workspace = room.laid({b"a": b"1"}, {b"run": b"#!", b"n/x": b"2", b"l": ("link", b"x")}).workspace
    assert {each.lstat().st_mtime for each in workspace.rglob("*") if each.name != "a"} == {LAID_TIME}
    assert stat.S_IMODE((workspace / "run").stat().st_mode) == 0o755
    assert stat.S_IMODE((workspace / "n" / "x").stat().st_mode) == 0o644
    assert stat.S_IMODE((workspace / "n").stat().st_mode) == 0o755


@pytest.mark.parametrize("target", ["outside", "../../../../outside"])
@pytest.mark.parametrize(
    "change", [{b"link/x": b"evil"}, {b"link/a/b/x": b"evil"}, {b"link": b"evil"}, {b"link/d": Kind.FOLDER}]
)
def test_a_link_in_the_base_never_leads_outside(
    either_room: Room, disk: Path, target: str, change: dict[bytes, Content]
) -> None:
    outside = disk / "outside"
    outside.mkdir()
    link = os.fsencode(outside) if target == "outside" else target.encode()
    workspace = either_room.laid({b"link": ("link", link)}, change).workspace
    assert list(outside.iterdir()) == []
    assert seen(workspace) == change


def test_a_deletion_never_follows_a_link(any_room: Room, disk: Path) -> None:
    (disk / "outside").mkdir()
    (disk / "outside" / "x").touch()
    base: dict[bytes, Content] = {b"link": ("link", os.fsencode(disk / "outside"))}
    with pytest.raises(PatchError, match="not there"):
        any_room.laid(base, {b"link/x": Kind.GONE})
    assert (disk / "outside" / "x").exists()
    assert not list(any_room.workspaces.root.iterdir())


def test_a_path_longer_than_the_kernel_takes_is_laid_and_read(room: Room) -> None:
    path = b"/".join([b"n" * 200] * 60)
    base: dict[bytes, Content] = {path + b"/x": b"base", path + b"/y": b""}
    frozen = room.store(base)
    workspace = room.laid(base, {path + b"/x": b"changed", path + b"/y": Kind.GONE}).workspace
    show = "for _ in range(60): os.chdir('n' * 200)\nprint(sorted(os.listdir('.')), open('x').read())"
    assert act(workspace, show) == "['x'] changed"
    assert act(frozen, show) == "['x', 'y'] base"
    _, changes = room.workspaces.inspect("w", INSPECTOR)
    assert path + b"/x" in changes.touched


@pytest.mark.parametrize(
    ("spoil", "error"),
    [
        pytest.param(lambda: os.memfd_create("empty"), PackError, id="no-pack"),
        pytest.param(lambda: packed({b"nothing": Kind.GONE}), PatchError, id="gone-already"),
        pytest.param(lambda: packed({b"big": bytes(64 << 20)}), WorkspaceError, id="too-big"),
    ],
)
def test_a_workspace_that_cannot_be_laid_leaves_nothing(
    either_room: Room, spoil: Callable[[], int], error: type[Exception]
) -> None:
    with pytest.raises(error):
        either_room.open(TREE, lay=spoil())
    assert not list(either_room.workspaces.root.iterdir())
    assert not mount_points_below(either_room.workspaces.root)
    assert not loop.backing_below(either_room.workspaces.root)
    either_room.open(TREE)


# ---- the end


def test_closing_leaves_nothing_and_may_be_repeated(any_room: Room) -> None:
    changes_after(any_room, EDITS)
    assert any_room.workspaces.close("w") == ()
    assert any_room.workspaces.close("w") == ()
    assert not list(any_room.workspaces.root.iterdir())
    assert not mount_points_below(any_room.workspaces.root)
    assert not loop.backing_below(any_room.workspaces.root)


def test_a_workspace_that_is_held_is_detached_and_told(room: Room) -> None:
    here = os.open(room.open(TREE).workspace, FOLDER)
    told = room.workspaces.close("w")
    os.close(here)
    assert any("had to be detached" in line for line in told)
    assert any("still held" in line for line in told)
    assert not mount_points_below(room.workspaces.root)


def test_what_a_killed_keeper_left_is_swept_and_told(any_room: Room) -> None:
    changes_after(any_room, EDITS)
    fresh = new_room(any_room.state, any_room.workspaces.layers, any_room.workspaces.image)
    (told,) = fresh.workspaces.sweep()
    assert told.endswith("/w was left behind")
    assert not list(fresh.workspaces.root.iterdir())
    assert fresh.workspaces.sweep() == ()
    any_room.workspaces.opened.clear()


def test_sweeping_leaves_open_workspaces_alone(room: Room) -> None:
    paths = room.open(TREE)
    assert room.workspaces.sweep() == ()
    assert seen(paths.workspace) == TREE


@pytest.mark.parametrize("name", ["", "..", "a/b", "-x", "X", "n" * 81])
def test_a_bad_name_is_refused(room: Room, name: str) -> None:
    with pytest.raises(WorkspaceError, match="no name"):
        room.workspaces.open(Plan(name=name, layers=(), uid=ACCOUNT, bounds=BOUNDS))


def test_a_name_is_used_once_at_a_time(room: Room) -> None:
    room.open(TREE)
    with pytest.raises(WorkspaceError, match="open already"):
        room.open(TREE)
    assert room.workspaces.close("w") == ()
    room.open(TREE)


def test_removing_a_tree_stops_at_a_mount(disk: Path) -> None:
    (disk / "x" / "m").mkdir(parents=True)
    mount("t", disk / "x" / "m", "tmpfs", Flag.NONE, "")
    (disk / "x" / "m" / "precious").touch()
    parent = os.open(disk, FOLDER)
    with pytest.raises(OSError, match="mounted"):
        remove(parent, b"x")
    os.close(parent)
    assert (disk / "x" / "m" / "precious").exists()
    unmount(disk / "x" / "m")


# ---- probes


def test_this_host_maps_owners_and_has_loop_devices(disk: Path) -> None:
    assert (probe_layers(disk), probe_image(disk)) == (Layers.IDMAP, Image.LOOP)
    assert list(disk.iterdir()) == []


@pytest.fixture
def on_overlay(disk: Path) -> Iterator[Path]:
    """A folder on an overlay, as a container's root is."""
    for part in ("lower", "upper", "work", "root"):
        (disk / part).mkdir()
    options = f"lowerdir={disk}/lower,upperdir={disk}/upper,workdir={disk}/work"
    mount("o", disk / "root", "overlay", Flag.NONE, options)
    yield disk / "root"
    for point in reversed(mount_points_below(disk)):
        unmount(point)


def test_a_store_on_an_overlay_gets_an_image_of_its_own(on_overlay: Path) -> None:
    assert probe_layers(on_overlay) is Layers.IDMAP_LOOP
    mount_store(on_overlay, on_overlay / "objects")
    mount_store(on_overlay, on_overlay / "objects")
    room = new_room(on_overlay, Layers.IDMAP_LOOP, Image.LOOP)
    act(room.open(TREE).workspace, EDITS)
    folder, _ = room.workspaces.inspect("w", INSPECTOR)
    assert (folder / "top").stat().st_uid == INSPECTOR
    torn_down(room)
    mount_store(on_overlay, on_overlay / "objects")
    assert seen(room.store(TREE)) == TREE


@pytest.fixture
def _no_loops() -> Iterator[None]:
    subprocess.run(["/usr/bin/mount", "--bind", "/dev/null", "/dev/loop-control"], check=True)
    yield
    unmount(Path("/dev/loop-control"))


@pytest.mark.usefixtures("_no_loops")
def test_without_loop_devices_there_is_a_plain_way(on_overlay: Path) -> None:
    assert (probe_layers(on_overlay), probe_image(on_overlay)) == (Layers.COPY, Image.TMPFS)
