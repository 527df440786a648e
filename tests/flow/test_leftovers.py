"""Whatever ends a run, and however: afterwards this machine has nothing of it, or the next start removes and tells it.

The inventory looks at all of the machine; here at the accounts, the state and the control groups of these tests alone,
so that other runs beside them are not seen.
"""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from secrets import token_hex

import pytest

from sandbox import boot, profiles
from sandbox.api import Pack, WorkspaceRequest
from sandbox.boot import base, hierarchies, make_groups
from sandbox.client import KeeperSandbox, open_sandbox
from sandbox.host import machine_runs_systemd, own_groups, sweep_groups
from sandbox.inventory import Kind, Scope, Thing, inventory, left
from sandbox.room import HOST_FOLDER, MARK, AccountRange, _used, free_numbers
from sandbox.spec import MIB, Limits
from sandbox.unit import run
from tests.flow.bench import Bench, await_, finished
from tests.flow.test_killed import kill, sleepers, start_asleep
from tests.flow.traces import Traces, await_gone, traces

pytestmark = pytest.mark.systemd

ACCOUNTS = 20_000
LIMITS = Limits(wall=timedelta(seconds=60), memory_bytes=64 * MIB, disk_bytes=16 * MIB, disk_inodes=2000)
JOIN = 'for each in $GROUPS_OF_ITS_OWN; do echo $$ > "$each/cgroup.procs"; done; exec "$@"'
ENDING = {Kind.PROCESS, Kind.NAMESPACE}
"""What may have gone by itself, a moment after its keeper was killed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Corner:
    """A bench whose commands run in control groups of their own, and what there was before."""

    bench: Bench
    scope: Scope
    before: tuple[Thing, ...]

    def left(self) -> tuple[Thing, ...]:
        return left(self.before, inventory(self.scope))

    def await_clean(self) -> None:
        """Wait until nothing is left: the kernel frees keys, devices and processes a moment later."""
        await_(lambda: not self.left(), f"the end of {[str(each) for each in self.left()]}", seconds=60)


@pytest.fixture(name="groups")
def _groups() -> Iterator[tuple[Path, ...]]:
    if machine_runs_systemd():
        yield ()  # No private one is booted, and no groups are made for it.
        return
    name = f"leftovers-{token_hex(4)}"
    make_groups(name)
    made = tuple(base(path, mount) / name for _, path, mount in hierarchies())
    yield made
    for group in made:
        for folder, _, _ in os.walk(group, topdown=False):
            Path(folder).rmdir()


def joining(groups: tuple[Path, ...]) -> tuple[str, ...]:
    """Give how a program is started in control groups."""
    return ("/bin/sh", "-c", JOIN.replace("$GROUPS_OF_ITS_OWN", " ".join(map(str, groups))), "join")


@pytest.fixture(name="corner")
def _corner(bench: Bench, groups: tuple[Path, ...]) -> Iterator[Corner]:
    first, _ = free_numbers(_used(HOST_FOLDER / "accounts.json"), AccountRange())
    scope = Scope(
        accounts=AccountRange(first=first, last=first + ACCOUNTS),
        states=(bench.checkout / ".cleanroom",),
        groups=groups,
    )
    config = json.loads(bench.config.read_text())
    config["clean_room"]["accounts"] = {"first": scope.accounts.first, "last": scope.accounts.last}
    bench.config.write_text(json.dumps(config))
    yield Corner(bench=replace(bench, within=joining(groups)), scope=scope, before=inventory(scope))
    (HOST_FOLDER / MARK).unlink(missing_ok=True)


def test_a_pilot_leaves_nothing(corner: Corner) -> None:
    said = corner.bench.run("pilot", "--candidate", "right,nop")
    assert said.code == 0, said.err
    assert "was killed" not in said.err
    corner.await_clean()


@pytest.mark.parametrize("whom", ["runner", "gateway", "outer", "inner", "init"])
def test_whoever_is_killed_nothing_is_left_or_the_next_start_removes_and_tells_it(
    corner: Corner, whom: str, capfd: pytest.CaptureFixture[str]
) -> None:
    runner, seen = start_asleep(corner.bench)
    assert not kinds(corner) & {Kind.PROCESS, Kind.NAMESPACE, Kind.GROUP}, "what a keeper at work has is not left over"
    kill(runner.pid if whom == "runner" else victim(seen, whom))
    for pid in sleepers(seen) if whom == "gateway" else ():
        kill(pid)  # Its candidate wakes up, and finds nobody to ask.
    finished(runner)
    await_gone(seen, corner.bench.checkout)
    if whom in {"runner", "gateway"}:
        corner.await_clean()
        return
    await_(lambda: kinds(corner) <= SWEPT, f"the end of all but {SWEPT}: {corner.left()}", seconds=60)
    waiting = corner.left()
    assert waiting
    with open_sandbox(corner.scope.states[0], corner.scope.accounts):
        pass
    corner.await_clean()
    told = capfd.readouterr().err
    for thing in waiting:
        if thing.name != str(HOST_FOLDER / "run.json"):
            assert thing.name.rpartition("/")[2] in told, (str(thing), told)


SWEPT = {Kind.GROUP, Kind.FILE} | (
    {Kind.UNIT, Kind.MOUNT, Kind.DEVICE, Kind.RECORD} if machine_runs_systemd() else set()
)
"""What a killed keeper may leave for the next one. A private manager takes mounts, devices and units with it."""


def kinds(corner: Corner) -> set[Kind]:
    return {thing.kind for thing in corner.left()}


def victim(seen: Traces, whom: str) -> int:
    if whom == "gateway":
        return seen.named("/opt/gateway").pid
    return {"outer": seen.outer, "inner": seen.inner, "init": seen.init}[whom].pid


def test_an_operator_clears_what_a_killed_keeper_left(corner: Corner) -> None:
    runner, seen = start_asleep(corner.bench)
    held = finished(corner.bench.start("host", "clear"))
    assert (held.code, held.out) == (4, "")
    assert "another run holds this host's clean room" in held.err
    kill(seen.outer.pid)
    finished(runner)
    await_gone(seen, corner.bench.checkout)
    (HOST_FOLDER / MARK).write_text("{}")
    waiting = corner.left()
    assert {each.kind for each in waiting} - ENDING
    said = corner.bench.run("host", "clear")
    assert said.code == 0, said
    removed = set(re.findall("^removed: (.*)$", said.out, re.MULTILINE))
    assert {each.kind for each in waiting if str(each) not in removed} <= ENDING
    assert "the clean room is usable again\n" in said.out
    assert "looked at: " in said.out
    corner.await_clean()
    assert not (HOST_FOLDER / MARK).exists()


def test_a_private_systemd_without_a_keeper_is_ended(groups: tuple[Path, ...]) -> None:
    name = f"cleanroom-{token_hex(6)}"
    with booting(groups, name, keeper=os.getpid()) as process:
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        await_(lambda: [pid for pid in children.read_text().split() if is_up(pid)], "a private systemd")
        assert f"control group {name}" in sweep_groups(groups or None)
        assert process.wait(timeout=60) != 0
    assert name not in {each.name for each in own_groups(groups or None)}


def test_a_private_systemd_whose_keeper_died_before_it_began_never_begins(groups: tuple[Path, ...]) -> None:
    name = f"cleanroom-{token_hex(6)}"
    with booting(groups, name, keeper=1) as process:
        assert process.wait(timeout=60) == 1
        assert process.communicate()[1] == "the keeper is gone\n"
    assert name not in {each.name for each in own_groups(groups or None)}


@contextmanager
def booting(groups: tuple[Path, ...], name: str, *, keeper: int) -> "Iterator[subprocess.Popen[str]]":
    """Start what a keeper starts; it is no keeper's, for nobody here holds a host's lock."""
    plan = json.dumps({"group": name, "machine_id": token_hex(16), "keeper": str(keeper)})
    argv = (sys.executable, "-I", "-S", "-B", boot.__file__, "outside", plan)
    with subprocess.Popen([*joining(groups), *argv], stderr=subprocess.PIPE, text=True, cwd="/") as process:
        try:
            yield process
        finally:
            process.kill()


def is_up(pid: str) -> bool:
    return Path(f"/proc/{pid}/root/run/systemd/private").exists()


def test_fifty_units_leave_nothing_and_their_keeper_does_not_grow(corner: Corner) -> None:
    state = corner.scope.states[0]
    with open_sandbox(state, corner.scope.accounts) as sandbox:
        keeper = traces(os.getpid()).inner.pid
        one_of_each(sandbox)
        after_a_few = at_rest(keeper, state)
        for _ in range(9):
            one_of_each(sandbox)
        assert {name: count for name, count in at_rest(keeper, state).items() if count > after_a_few[name]} == {}
    corner.await_clean()


def one_of_each(sandbox: KeeperSandbox) -> None:
    """Run five units of as many kinds, one after another."""
    program = profiles.Program(argv=("/usr/bin/true",), working_directory="/tmp")
    request = WorkspaceRequest(layers=(sandbox.store(Pack(entries=(), blobs=lambda _: b"")),), limits=LIMITS)
    with sandbox.workspace(request) as workspace:
        with sandbox.gate() as gate:
            assert run(sandbox, profiles.candidate(program, LIMITS, workspace, gate)).termination.succeeded
        with sandbox.changes(workspace) as (view, _):
            assert run(sandbox, profiles.inspection(program, view)).termination.succeeded
    with sandbox.workspace(request) as workspace:
        assert run(sandbox, profiles.tests(program, LIMITS, workspace)).termination.succeeded
        assert run(sandbox, profiles.submitted(program, LIMITS, workspace)).termination.succeeded
    assert run(sandbox, profiles.driver(program, LIMITS)).termination.succeeded


def at_rest(keeper: int, state: Path) -> dict[str, int]:
    """Count what a keeper and its manager hold, once it stays the same for a while."""
    found = held_by(keeper, state)
    for _ in range(100):
        time.sleep(0.3)
        before, found = found, held_by(keeper, state)
        if found == before and not found["accounts"]:
            return found
    raise AssertionError(f"a keeper does not come to rest: {found}")


def held_by(keeper: int, state: Path) -> dict[str, int]:
    proc = Path(f"/proc/{keeper}")
    run_folder = proc / "root/run"
    units = [each for name in ("transient", "units") for each in (run_folder / "systemd" / name).glob("*job*")]
    return {
        "descriptors": len(list((proc / "fd").iterdir())),
        "mounts": len((proc / "mountinfo").read_text().splitlines()),
        "processes": len(traces(os.getpid()).programs),
        "rooms": len(list((state / "run/rooms").iterdir())),
        "accounts": len(list((run_folder / "userdb").iterdir())),
        "units": len(units),
        "tens of roots": len(list((run_folder / "jobs").iterdir())) // 10,  # Used again: as many as units at once.
    }
