"""What a killed run left is found; what nobody can be using is removed and named; the rest keeps the room refused."""

import ctypes
import os
import signal
import subprocess
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox import clearing, loop, roots
from sandbox.clearing import clear
from sandbox.errors import BusyError
from sandbox.inventory import Kind, Scope, Thing, inventory, left, looked_at
from sandbox.mounts import Flag, mount
from sandbox.room import MARK, AccountRange, leftovers, locked, mark_dirty
from sandbox.scratch import abandoned, scratch_folder, sweep_scratch

SPAN = AccountRange(first=1_899_990_000, last=1_899_990_999)
"""Of no clean room: whatever runs beside these tests has others."""
KEY = 0x5EA5
LIBC = ctypes.CDLL(None, use_errno=True)

THINGS = st.builds(Thing, kind=st.sampled_from(Kind), name=st.text(max_size=2), note=st.text(max_size=1))


@pytest.fixture(name="scope")
def _scope(tmp_path: Path) -> Scope:
    for name in ("state", "host", "groups"):
        (tmp_path / name).mkdir()
    return Scope(accounts=SPAN, states=(tmp_path / "state",), host=tmp_path / "host", groups=(tmp_path / "groups",))


@contextmanager
def asleep(account: int, do: Callable[[], object] = lambda: None) -> Iterator[int]:
    """Give a child process of an account, which may do something first."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgid(account)
            os.setuid(account)
            do()
            os.write(writing, b"x")
            signal.pause()
        finally:
            os._exit(1)
    try:
        assert os.read(reading, 1) == b"x"
        yield child
    finally:
        os.close(reading)
        os.close(writing)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


@given(before=st.sets(THINGS), after=st.sets(THINGS))
def test_what_is_left_is_what_was_not_there_before(before: set[Thing], after: set[Thing]) -> None:
    found = left(before, after)
    assert set(found) == after - before
    assert list(found) == sorted(found)
    assert left(after, after) == ()


def test_nothing_left_is_nothing_done_and_takes_the_mark_away(scope: Scope) -> None:
    assert inventory(scope) == ()
    assert not clear(scope).marked
    mark_dirty(scope.host, ("process 7",))
    done = clear(scope)
    assert (done.marked, done.removed, done.left) == (True, (), ())
    assert not (scope.host / MARK).exists()


def test_a_room_that_a_run_holds_is_not_cleared(scope: Scope) -> None:
    with locked(scope.host), pytest.raises(BusyError):
        clear(scope)


def test_a_process_that_is_left_is_named_and_keeps_the_mark(scope: Scope, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clearing, "_SECONDS", 0.0)
    mark_dirty(scope.host, ("process 7",))
    with asleep(SPAN.first, lambda: LIBC.prctl(4, 0, 0, 0, 0)) as child:
        assert leftovers(SPAN.first) == (f"process {child}",), "one that let nobody look at it, too"
        done = clear(scope)
        (thing,) = done.left
        assert (thing.kind, thing.name) == (Kind.PROCESS, str(child))
        assert str(SPAN.first) in thing.note
        assert (scope.host / MARK).exists()
    assert leftovers(SPAN.first) == ()


def test_what_a_killed_run_leaves_in_files_is_removed_and_named(scope: Scope) -> None:
    state = scope.states[0]
    (state / "run/rooms/0123/image").mkdir(parents=True)
    (state / "run/rooms/0123/image").chmod(0)
    (state / "probe-x/store").mkdir(parents=True)
    (state / "objects/building-x").mkdir(parents=True)
    (state / "objects" / ("0" * 64)).mkdir()
    (state / "objects.new").touch()
    (state / "templates").mkdir()
    (state / "templates/1-2.ext4").touch()
    (state / "templates/1-2.77").touch()
    (state / "link").symlink_to("/nowhere")
    (scope.host / "accounts.json.tmp-7").touch()
    (scope.host / "run.json").touch()
    wanted = ("run", "probe-x", "objects/building-x", "objects.new", "templates/1-2.77")
    expected = {str(state / name) for name in wanted} | {
        str(scope.host / name) for name in ("accounts.json.tmp-7", "run.json")
    }
    assert {thing.name for thing in inventory(scope)} == expected
    done = clear(scope)
    assert {thing.name for thing in done.removed} == expected
    assert done.left == ()
    kept = {str(path.relative_to(state)) for path in state.rglob("*")}
    assert kept == {"objects", f"objects/{'0' * 64}", "templates", "templates/1-2.ext4", "link"}


def test_the_state_that_a_killed_keeper_had_is_cleared_too(scope: Scope, tmp_path: Path) -> None:
    other = tmp_path / "other"
    (other / "run/rooms").mkdir(parents=True)
    (scope.host / "run.json").write_text(f'{{"run": "{other}/run"}}')
    assert str(other / "run") in {thing.name for thing in clear(scope).removed}
    assert list(other.iterdir()) == []


def test_objects_of_an_account_of_ours_are_removed_and_those_of_others_stay(scope: Scope) -> None:
    others = replace(scope, accounts=AccountRange(first=SPAN.last + 1, last=SPAN.last + 1))
    for account, key in ((SPAN.last, KEY), (SPAN.last + 1, KEY + 3)):
        with asleep(account, partial(make_objects, key)):
            assert len(objects_of(account)) == 3
    try:
        assert {thing.name.split()[0] for thing in inventory(scope)} == {"shm", "sem", "msg"}
        assert [thing.kind for thing in clear(scope).removed] == [Kind.IPC] * 3
        assert objects_of(SPAN.last) == []
    finally:
        assert len(clear(others).removed) == 3


def make_objects(key: int) -> None:
    assert min(LIBC.shmget(key, 4096, 0o1600), LIBC.semget(key, 1, 0o1600), LIBC.msgget(key, 0o1600)) >= 0


def objects_of(account: int) -> list[str]:
    lines = [line for name in ("shm", "sem", "msg") for line in Path("/proc/sysvipc", name).read_text().splitlines()]
    return [line for line in lines if str(account) in line.split()]


def test_a_file_of_an_account_of_ours_in_a_shared_folder_is_removed(scope: Scope) -> None:
    name = f"/tmp/cleanroom-test-{os.getpid()}"
    with asleep(SPAN.first, Path(name).mkdir):
        pass
    assert [thing.name for thing in inventory(scope)] == [name]
    assert [thing.name for thing in clear(scope).removed] == [name]
    assert not Path(name).exists()


def test_a_mount_and_its_loop_device_are_let_go(scope: Scope) -> None:
    """The device frees itself with its last user: no second step is needed."""
    place = scope.states[0] / "run/rooms/0123/image"
    place.mkdir(parents=True)
    image = place.with_name("image.ext4")
    with image.open("wb") as stream:
        stream.truncate(1 << 20)
    subprocess.run(["/usr/sbin/mkfs.ext4", "-q", "-F", "-O", "^has_journal", str(image)], check=True)
    in_own_mounts(lambda: mounted_then_cleared(scope, image, place))


def mounted_then_cleared(scope: Scope, image: Path, place: Path) -> None:
    opened = os.open(image, os.O_RDWR)
    number, device = loop.attach(opened)
    mount(loop.node(number), place, "ext4", Flag.NONE, "")
    os.close(device)
    os.close(opened)
    image.unlink()
    kinds = {thing.kind: thing.name for thing in inventory(scope)}
    assert kinds == {Kind.MOUNT: str(place), Kind.DEVICE: loop.node(number), Kind.FILE: str(scope.states[0] / "run")}
    done = clear(scope)
    assert {thing.kind for thing in done.removed} == kinds.keys()
    assert done.left == ()
    assert number not in loop.backing_files()


def in_own_mounts(do: Callable[[], None]) -> None:
    """Do something in a mount namespace of its own: nobody else's then holds what is mounted there."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            LIBC.unshare(0x20000)
            LIBC.mount(b"none", b"/", None, ctypes.c_ulong(0x44000), None)  # private, and all below
            do()
            status = 0
        except AssertionError:
            traceback.print_exc()
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_device_that_nobody_uses_any_more_is_freed(scope: Scope) -> None:
    (scope.states[0] / "run").mkdir()
    image = scope.states[0] / "run/image.ext4"
    image.write_bytes(bytes(1 << 20))
    told = subprocess.run(
        ["/usr/sbin/losetup", "--find", "--show", str(image)], check=True, capture_output=True, text=True
    )
    assert told.stdout.strip() in {thing.name for thing in inventory(scope)}
    done = clear(scope)
    assert done.left == ()
    assert Kind.DEVICE in {thing.kind for thing in done.removed}


def test_a_scratch_folder_is_left_alone_while_its_maker_lives(tmp_path: Path) -> None:
    places = (str(tmp_path),)
    with scratch_folder(str(tmp_path)) as folder:
        assert abandoned(places) == ()
        assert sweep_scratch(places) == ()
        assert folder.is_dir()
    assert list(tmp_path.iterdir()) == []


def test_a_scratch_folder_whose_maker_was_killed_is_removed(tmp_path: Path) -> None:
    places = (str(tmp_path),)
    stack = scratch_folder(str(tmp_path))
    with asleep(0, lambda: stack.__enter__().joinpath("file").touch()):
        assert abandoned(places) == ()
    (folder,) = abandoned(places)
    assert sweep_scratch(places) == (str(folder),)
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "cleanroom-scratch-link").symlink_to("/")
    assert sweep_scratch(places) == ()


def test_roots_that_a_killed_keeper_left_are_removed_and_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "jobs"
    monkeypatch.setattr(roots, "ROOTS", place)
    (place / "1/etc").mkdir(parents=True)
    with roots.standing_roots():
        assert list(place.iterdir()) == []
        assert f"killed; ended or removed what it left: {place}\n" in capfd.readouterr().err
    with roots.standing_roots():
        assert capfd.readouterr().err == ""
    assert not place.exists()


@pytest.mark.parametrize(("own", "word"), [(True, "machine's own systemd"), (False, "PID 1 is no systemd")])
def test_it_is_said_what_is_looked_at(scope: Scope, own: bool, word: str) -> None:  # noqa: FBT001 - a table's column
    said = looked_at(scope, own_systemd=own)
    assert word in said
    assert f"{SPAN.first} to {SPAN.last}" in said
