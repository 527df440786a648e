"""Two units at once: neither sees, reads, signals or outlives the other, and what the first leaves goes with it."""

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest

from sandbox import profiles
from sandbox.api import Pack, Running, WorkspaceRequest
from sandbox.client import KeeperSandbox
from sandbox.contents import MemoryContents
from sandbox.processes import namespaces, read_processes
from sandbox.room import leftovers
from sandbox.spec import MIB, PYTHON, Limits, Mount, Role, UnitSpec
from sandbox.termination import Cause
from sandbox.tree import Entry, Kind

pytestmark = pytest.mark.systemd

LIMITS = Limits(
    wall=timedelta(seconds=60), memory_bytes=128 * MIB, disk_bytes=16 * MIB, disk_inodes=2000, tmp_bytes=8 * MIB
)
PROGRAM = Path(__file__).with_name("neighbour.py")
PAIRS = [
    (Role.CANDIDATE, Role.TESTS),
    (Role.CANDIDATE, Role.DRIVER),
    (Role.CANDIDATE, Role.INSPECTION),
    (Role.TESTS, Role.TESTS),
    (Role.CANDIDATE, Role.CANDIDATE),
]
NOT_THERE = {"ENOENT", "ESRCH", "EPERM", "EACCES", "ECONNREFUSED", "EAFNOSUPPORT"}
OPEN_ROOM = """
import ctypes, fcntl, os, socket, struct, sys
for place in ("/tmp", "/var/tmp", "/dev/shm", "/work", "/home"):
    if os.path.isdir(place) and ctypes.CDLL(None).mount(b"tmpfs", place.encode(), b"tmpfs", 0, None):
        sys.exit(place + " cannot be hidden")
os.mkdir("/home/agent")
with socket.socket() as control:
    fcntl.ioctl(control, 0x8914, struct.pack("16sh22x", b"lo", 1))
"""
"""Makes a place for two neighbours without walls, in namespaces that hold them both and nothing of the machine's."""


def tell(stdin: int, **what: object) -> None:
    os.write(stdin, json.dumps(what).encode() + b"\n")


def said(stdout: int) -> dict[str, object]:
    line = b""
    while not line.endswith(b"\n"):
        more = os.read(stdout, 1 << 16)
        assert more, "it ended before it spoke"
        line += more
    return dict(json.loads(line))


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbour:
    """A unit that runs the program, and its account."""

    running: Running
    account: int

    def tell(self, **what: object) -> None:
        tell(self.running.stdin, **what)

    def said(self) -> dict[str, object]:
        return said(self.running.stdout)

    def namespaces(self) -> frozenset[str]:
        """Name the namespaces it is in that its neighbours are not in; its gate's network stays with the keeper."""
        own = namespaces(os.getpid())
        held = {name for pid in self.processes() for name in namespaces(pid) - own}
        return frozenset(name for name in held if not name.startswith(("pid:", "cgroup:", "net:")))

    def processes(self) -> list[int]:
        """List its processes as the machine sees them."""
        numbers = (int(each.name) for each in Path("/proc").iterdir() if each.name.isdigit())
        return [pid for pid in numbers if owner(pid) == self.account]


def owner(pid: int) -> int | None:
    try:
        return Path(f"/proc/{pid}").stat().st_uid
    except (FileNotFoundError, ProcessLookupError):
        return None


def specs(stack: ExitStack, sandbox: KeeperSandbox, role: Role) -> UnitSpec:
    """Make what a unit of a role stands in, as the runner does."""
    kept = MemoryContents()
    code = PROGRAM.read_bytes()
    entry = Entry(path=b"neighbour.py", kind=Kind.FILE, sha256=kept.put(code), size=len(code))
    shown = Mount(object=sandbox.store(Pack(entries=(entry,), blobs=kept.get)), target="/opt/neighbour")
    argv = (PYTHON, "-I", "-S", "-B", "/opt/neighbour/neighbour.py")
    program = profiles.Program(argv=argv, mounts=(shown,), environment=(("SECRET", f"of-the-{role}"),))
    if role is Role.DRIVER:
        return profiles.driver(program, LIMITS)
    layer = sandbox.store(Pack(entries=(), blobs=kept.get))
    workspace = stack.enter_context(sandbox.workspace(WorkspaceRequest(layers=(layer,), limits=LIMITS)))
    if role is Role.CANDIDATE:
        return profiles.candidate(program, LIMITS, workspace, stack.enter_context(sandbox.gate()))
    if role is Role.TESTS:
        return profiles.tests(program, LIMITS, workspace)
    view, _ = stack.enter_context(sandbox.changes(workspace))
    return profiles.inspection(program, view)


@contextmanager
def neighbour(sandbox: KeeperSandbox, role: Role) -> Iterator[Neighbour]:
    with ExitStack() as stack:
        running = stack.enter_context(sandbox.start(specs(stack, sandbox, role)))
        running.go()
        yield Neighbour(running=running, account=int(str(running.report.seen["status"]).split("Uid:\t")[1].split()[0]))


@pytest.mark.parametrize("pair", PAIRS, ids="-and-".join)
def test_neighbours_neither_see_nor_read_nor_signal_nor_outlive_each_other(
    sandbox: KeeperSandbox, pair: tuple[Role, Role]
) -> None:
    with neighbour(sandbox, pair[0]) as first, neighbour(sandbox, pair[1]) as second:
        both = (first, second)
        assert first.account != second.account
        for each, (own, other) in zip(both, ((1, 2), (2, 1)), strict=True):
            each.tell(own=own, other=other)
        where = [each.said() for each in both]
        for place, role in zip(where, pair, strict=True):
            assert_kept_something(place, role)
        for each, place in zip(both, reversed(where), strict=True):
            each.tell(**{name: place[name] for name in ("pid", "child", "address")})
        for each in both:
            assert_found_nothing(each.said())
        assert [len(each.processes()) for each in both] == [2, 2], "each with the child it left alone"

        end(first)
        assert len(second.processes()) == 2, "the other lives on"
        end(second)


def assert_kept_something(place: dict[str, object], role: Role) -> None:
    """Make sure that there was something to be found."""
    files = {Role.CANDIDATE: 5, Role.TESTS: 5, Role.DRIVER: 3, Role.INSPECTION: 3}
    assert place["sockets"] == (3 if role is Role.CANDIDATE else 2)
    assert len(list(place["files"])) == files[role]  # type: ignore[call-overload]  # a list, read from JSON
    assert int(str(place["shared"])) >= 0


def assert_found_nothing(found: dict[str, object]) -> None:
    tries = found["tries"]
    assert isinstance(tries, dict)
    assert len(tries) > 35
    assert {name: came for name, came in tries.items() if came not in NOT_THERE} == {}
    assert found["child"] == "EPERM"
    assert (found["listed"], found["guessed"], found["named"], found["sockets"]) == ([], [], [], [])


def end(one: Neighbour) -> None:
    """Let a neighbour say whether anybody touched it, let it end, and see that nothing of it is left."""
    one.tell()
    kept = one.said()
    alone = one.namespaces()
    assert {name.partition(":")[0] for name in alone} == {"ipc", "mnt", "user", "uts"}
    assert (kept["signals"], kept["visits"], kept["changed"], kept["strange"]) == ([], 0, [], [])
    assert kept["shared"] == kept["memory"]
    assert str(kept["memory"]).startswith("a-neighbours-secret-")
    assert kept["child"] is True
    one.tell()
    ended = one.running.termination()
    assert (ended.cause, ended.status) == (Cause.EXIT, 0)
    assert one.processes() == []
    assert leftovers(one.account) == ()
    assert not [each for each in read_processes() if alone & namespaces(each)]


def test_without_walls_all_of_it_is_found() -> None:
    """The tries themselves work: two neighbours of one account, in one set of namespaces."""
    code = PROGRAM.read_text()
    own = ("/usr/bin/unshare", "--pid", "--ipc", "--net", "--mount", "--fork", "--kill-child", "--mount-proc")
    with started(*own, PYTHON, "-I", "-S", "-c", OPEN_ROOM + code) as first:
        tell(first[0], own=1, other=2)
        place = said(first[1])
        (inner,) = Path(f"/proc/{first[2]}/task/{first[2]}/children").read_text().split()
        joined = ("/usr/bin/nsenter", "--target", inner, "--pid", "--ipc", "--net", "--mount", "--")
        with started(*joined, PYTHON, "-I", "-S", "-c", code) as second:
            tell(second[0], own=2, other=1)
            said(second[1])
            tell(second[0], **{name: place[name] for name in ("pid", "child", "address")})
            found = said(second[1])
    tries = found["tries"]
    assert isinstance(tries, dict)
    missing = {"/work"} - {path.rpartition("/")[0] for path in place["files"]}  # type: ignore[attr-defined]
    assert {name for name, came in tries.items() if not came.startswith("got")} == missing
    assert str(found["child"]).startswith("got")
    for what in ("listed", "guessed", "named", "sockets"):
        assert found[what], what


@contextmanager
def started(*argv: str) -> Iterator[tuple[int, int, int]]:
    """Give a program's input and output, and its number."""
    pipe = subprocess.PIPE
    with subprocess.Popen(argv, stdin=pipe, stdout=pipe, env={"SECRET": "x"}, cwd="/") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield process.stdin.fileno(), process.stdout.fileno(), process.pid
        finally:
            process.kill()
