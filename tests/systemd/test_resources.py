"""Programs that eat all there is: each ends within its bound, for the right cause, and nobody else goes short.

Each runs twice at once, as a candidate and as somebody's tests, with a third unit and plain processes of the host
started beside them all the while.
"""

import ctypes
import hashlib
import os
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from secrets import token_hex

import pytest

from runner.gateway.bundle import gateway_bundle
from runner.gateway.client import Terms, open_gateway
from sandbox import loop, profiles
from sandbox.api import Gate, Pack, Running, WorkspaceRequest
from sandbox.client import KeeperSandbox
from sandbox.image import Bounds, Image, mount_image
from sandbox.mounts import unmount
from sandbox.profiles import Program
from sandbox.spec import GIB, MIB, PYTHON, Limits, Mount, ObjectId, Role, UnitSpec, WorkspaceId
from sandbox.termination import Cause, Stop, Termination
from sandbox.tree import Entry, Kind
from sandbox.unit import _pump, _Sink, run
from tests.systemd.conftest import STATES

pytestmark = pytest.mark.systemd

GRACE = 2.0
"""Seconds beyond its wall time within which a unit must be gone."""
NEIGHBOUR, PROCESS = 5.0, 2.0
"""Seconds within which a unit, or a process of the host, must have come and gone meanwhile: usable, not fast."""
PAGE = 4096
SMALL = Limits(
    wall=timedelta(seconds=2),
    memory_bytes=128 * MIB,
    tasks=32,
    descriptors=256,
    disk_bytes=16 * MIB,
    disk_inodes=2000,
    tmp_bytes=8 * MIB,
    output_bytes=MIB,
    file_bytes=64 * MIB,
)
WIDE: dict[str, object] = {"descriptors": 4096}


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A program, what differs from the small limits, and how it must end."""

    eater: str
    cause: Cause
    status: int | None = None
    says: bytes | None = None
    limits: dict[str, object] = field(default_factory=dict)

    def within(self) -> Limits:
        return replace(SMALL, **self.limits)  # type: ignore[arg-type]  # fields of Limits


@dataclass(frozen=True, slots=True, kw_only=True)
class Eaten:
    """How one program came to its end."""

    role: Role
    termination: Termination
    stdout: bytes
    stderr: bytes
    seconds: float
    """From the go until nothing of it was left."""


@dataclass(slots=True, kw_only=True)
class Eating:
    """A unit under way, with a thread that takes its output."""

    role: Role
    running: Running
    out: _Sink
    err: _Sink
    began: float = 0.0
    seconds: float = 0.0

    def follow(self) -> None:
        _pump(self.running, b"", self.out, self.err)
        self.running.termination()
        self.seconds = time.monotonic() - self.began

    def eaten(self) -> Eaten:
        return Eaten(
            role=self.role,
            termination=self.running.termination(),
            stdout=bytes(self.out.kept),
            stderr=bytes(self.err.kept),
            seconds=self.seconds,
        )


@pytest.fixture(scope="module")
def state() -> Iterator[Path]:
    """A state on a disk of its own: what is free there is nobody else's doing."""
    folder = STATES / f"test-{token_hex(4)}"
    disk = folder / "disk"
    disk.mkdir(parents=True)
    mount_image(Image.LOOP, Bounds(disk_bytes=2 * GIB, disk_inodes=50_000), folder / "templates", disk)
    yield disk
    unmount(disk)
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def eaters(sandbox: KeeperSandbox) -> ObjectId:
    source = Path(__file__).with_name("eaters.py").read_bytes()
    digest = hashlib.sha256(source).hexdigest()
    entry = Entry(path=b"eaters.py", kind=Kind.FILE, sha256=digest, size=len(source))
    return sandbox.store(Pack(entries=(entry,), blobs={digest: source}.__getitem__))


@pytest.fixture(scope="module")
def gate(sandbox: KeeperSandbox) -> Iterator[Gate]:
    with sandbox.gate() as opened:
        yield opened


@pytest.fixture
def room(sandbox: KeeperSandbox, state: Path, eaters: ObjectId, gate: Gate) -> "Room":
    return Room(sandbox=sandbox, state=state, eaters=eaters, gate=gate)


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """Where programs are let loose."""

    sandbox: KeeperSandbox
    state: Path
    eaters: ObjectId
    gate: Gate

    def spec(self, role: Role, eater: str, limits: Limits, workspace: WorkspaceId) -> UnitSpec:
        """Give the production profile of a role."""
        argv = (PYTHON, "-I", "-S", "-B", "/opt/eaters/eaters.py", eater)
        program = Program(argv=argv, mounts=(Mount(object=self.eaters, target="/opt/eaters"),))
        match role:
            case Role.CANDIDATE:
                return profiles.candidate(program, limits, workspace, self.gate)
            case Role.TESTS:
                return profiles.tests(program, limits, workspace)
            case _:
                return profiles.driver(program, limits)

    @contextmanager
    def eating(self, eater: str, limits: Limits, roles: tuple[Role, ...]) -> Iterator[list[Eating]]:
        """Let a program loose in some units at once."""
        with ExitStack() as stack:
            let: list[Eating] = []
            for role in roles:
                request = WorkspaceRequest(layers=(self.eaters,), limits=limits)
                workspace = stack.enter_context(self.sandbox.workspace(request))
                running = stack.enter_context(self.sandbox.start(self.spec(role, eater, limits, workspace)))
                sinks = (_Sink(cap=limits.output_bytes) for _ in range(2))
                let.append(Eating(role=role, running=running, out=next(sinks), err=next(sinks)))
            for each in let:
                each.running.go()
                each.began = time.monotonic()
            yield let

    def eaten(self, eater: str, limits: Limits, *roles: Role, alone: bool = True) -> list[Eaten]:
        """Let a program loose and see it end, while units and processes beside it come and go."""
        with self.eating(eater, limits, roles or (Role.CANDIDATE, Role.TESTS)) as let:
            threads = [threading.Thread(target=each.follow) for each in let]
            for thread in threads:
                thread.start()
            while True:
                self.see_that_all_is_well()
                if not any(thread.is_alive() for thread in threads):
                    break
                threads[0].join(0.2)
            ended = [each.eaten() for each in let]
        assert not (alone and loop.backing_below(self.state)), "its disk is gone, and its space is the host's again"
        for each in ended:
            assert each.seconds < limits.wall.total_seconds() + GRACE, each
            usage = each.termination.usage
            assert usage.cpu_ms is not None
            assert usage.memory_peak_bytes is not None
            assert 0 < usage.memory_peak_bytes < limits.memory_bytes + MIB
        return ended

    def see_that_all_is_well(self) -> None:
        """Start a unit and a process, and see both end soon."""
        limits = replace(SMALL, wall=timedelta(seconds=NEIGHBOUR))
        began = time.monotonic()
        beside = run(self.sandbox, UnitSpec(role=Role.DRIVER, argv=("/usr/bin/echo", "well"), limits=limits))
        assert (beside.termination.cause, beside.stdout) == (Cause.EXIT, b"well\n")
        assert time.monotonic() - began < NEIGHBOUR
        began = time.monotonic()
        subprocess.run(["/usr/bin/true"], check=True)
        assert time.monotonic() - began < PROCESS


def ids(cases: tuple[Case, ...]) -> list[object]:
    return [pytest.param(case, id=case.eater) for case in cases]


MEMORY = (
    Case(eater="heap", cause=Cause.OOM),
    Case(eater="shared-map", cause=Cause.OOM),
    Case(eater="memfd", cause=Cause.OOM),
    Case(eater="shm", cause=Cause.OOM, limits={"tmp_bytes": 256 * MIB, "file_bytes": 256 * MIB}),
    Case(eater="sysv", cause=Cause.OOM),
    Case(eater="pipes", cause=Cause.OOM, limits={"memory_bytes": 48 * MIB, **WIDE}),
    Case(eater="unix-sockets", cause=Cause.OOM, limits=WIDE),
    Case(
        eater="page-cache",
        cause=Cause.EXIT,
        status=0,
        says=b"cached 160\n",
        limits={
            "wall": timedelta(seconds=20),
            "memory_bytes": 64 * MIB,
            "disk_bytes": 192 * MIB,
            "file_bytes": 256 * MIB,
        },
    ),
)
PROCESSES = (
    Case(eater="forks", cause=Cause.TIMEOUT),
    Case(eater="threads", cause=Cause.TIMEOUT),
    Case(eater="daemons", cause=Cause.TIMEOUT),
    Case(eater="spawns", cause=Cause.TIMEOUT),
    Case(eater="bomb-and-leave", cause=Cause.EXIT, status=3, limits={"wall": timedelta(seconds=10)}),
)
DISK = (
    Case(eater="one-file", cause=Cause.EXIT, status=0, says=b"bytes ENOSPC\n"),
    Case(eater="many-files", cause=Cause.EXIT, status=0, says=b"files ENOSPC\n"),
    Case(eater="fallocated", cause=Cause.EXIT, status=0, says=b"bytes ENOSPC\n"),
    Case(eater="deleted", cause=Cause.EXIT, status=0, says=b"bytes ENOSPC\n"),
    Case(eater="nameless", cause=Cause.EXIT, status=0, says=b"bytes ENOSPC\n"),
    Case(eater="deep", cause=Cause.EXIT, status=0, says=b"folders ENOSPC\n"),
    Case(eater="sparse", cause=Cause.EXIT, status=0, says=b"blocks 800\n", limits={"file_bytes": 1 << 43}),
    Case(eater="too-long", cause=Cause.SIGNAL, status=25, limits={"file_bytes": 4 * MIB}),
    Case(eater="links", cause=Cause.EXIT, status=0, says=b"links ENOSPC\n", limits={"wall": timedelta(seconds=60)}),
    Case(eater="syncs", cause=Cause.TIMEOUT),
)
STREAMS = (
    Case(eater="flood", cause=Cause.OUTPUT_LIMIT),
    Case(eater="flood-both", cause=Cause.OUTPUT_LIMIT),
    Case(eater="one-line", cause=Cause.OUTPUT_LIMIT),
    Case(eater="mute", cause=Cause.EXIT, status=5),
    Case(eater="orphan", cause=Cause.EXIT, status=0, says=b"main done\n"),
)
ENDS = (
    Case(eater="ignores", cause=Cause.TIMEOUT),
    Case(eater="stops", cause=Cause.TIMEOUT),
    Case(eater="hang", cause=Cause.TIMEOUT),
)


@pytest.mark.parametrize("case", ids((*MEMORY, *PROCESSES, *DISK, *STREAMS, *ENDS)))
def test_whatever_a_program_eats_it_ends_in_time_with_its_cause_and_the_host_goes_on(room: Room, case: Case) -> None:
    for each in room.eaten(case.eater, case.within()):
        assert (each.termination.cause, each.termination.status) == (case.cause, case.status), each
        assert case.says is None or case.says in each.stdout, each
        if case.cause is Cause.OOM:
            assert (each.termination.usage.memory_peak_bytes or 0) > case.within().memory_bytes - MIB


def test_a_temporary_folder_in_memory_is_memory(room: Room) -> None:
    limits = replace(SMALL, tmp_bytes=256 * MIB, file_bytes=256 * MIB)
    (eaten,) = room.eaten("tmp", limits, Role.DRIVER)
    assert eaten.termination.cause is Cause.OOM


@pytest.mark.parametrize("eater", ["tcp-sockets", "udp-sockets"])
def test_what_waits_in_sockets_is_bounded_too(room: Room, eater: str) -> None:
    """Where control groups are v1, socket buffers are nobody's memory until their own limit is set."""
    (eaten,) = room.eaten(eater, replace(SMALL, **WIDE), Role.CANDIDATE)  # type: ignore[arg-type]  # fields of Limits
    if eaten.termination.cause is not Cause.OOM:
        assert eaten.termination.cause is Cause.TIMEOUT
        word, pages = eaten.stdout.split()
        assert word == b"pages", eaten
        assert int(pages) * PAGE < 384 * MIB, "all sockets of this machine together"


def test_a_full_disk_of_a_workspace_is_the_hosts_again_afterwards(room: Room) -> None:
    size = 128 * MIB
    limits = replace(SMALL, wall=timedelta(seconds=30), disk_bytes=size, file_bytes=2 * size)
    before = free(room.state)
    room.eaten("one-file", limits, Role.CANDIDATE)
    deadline = time.monotonic() + 10
    while free(room.state) < before - 8 * MIB and time.monotonic() < deadline:
        time.sleep(0.1)
    assert free(room.state) >= before - 8 * MIB, "less a template of an empty disk"


def free(folder: Path) -> int:
    found = os.statvfs(folder)
    return found.f_bavail * found.f_frsize


def test_sparse_giants_take_no_space_of_the_host(room: Room) -> None:
    """A hundred files of 4 TiB each, on a disk of 16 MiB."""
    before = free(room.state)
    with room.eating("sparse", replace(SMALL, file_bytes=1 << 43), (Role.CANDIDATE,)) as (let,):
        let.follow()
        assert let.eaten().stdout == b"blocks 800\n"
        assert before - free(room.state) < 16 * MIB


def test_a_flood_is_kept_up_to_its_limit_and_costs_no_memory(room: Room) -> None:
    for each in room.eaten("one-line", SMALL):
        assert each.stdout == b"x" * MIB
    for each in room.eaten("flood-both", SMALL):
        assert max(len(each.stdout), len(each.stderr)) == MIB


def test_much_on_both_streams_is_taken_whole(room: Room) -> None:
    limits = replace(SMALL, wall=timedelta(seconds=20), output_bytes=16 * MIB)
    for each in room.eaten("both-whole", limits):
        assert each.termination.succeeded
        assert (len(each.stdout), len(each.stderr)) == (10 * MIB, 10 * MIB)


def test_a_slow_drip_is_kept_until_the_time_is_up(room: Room) -> None:
    for each in room.eaten("drip", SMALL):
        assert each.termination.cause is Cause.TIMEOUT
        assert set(each.stdout) == set(b".")
        assert 2 <= len(each.stdout) <= 11


def test_an_input_that_nobody_reads_holds_nobody_up(room: Room) -> None:
    spec = UnitSpec(role=Role.TESTS, argv=(PYTHON, "-I", "-S", "-c", "import time; time.sleep(0.2)"), limits=SMALL)
    began = time.monotonic()
    assert run(room.sandbox, spec, stdin=bytes(32 * MIB)).termination.succeeded
    assert time.monotonic() - began < SMALL.wall.total_seconds() + GRACE


def test_no_notification_gains_time(room: Room) -> None:
    for each in room.eaten("notifies", SMALL):
        assert each.termination.cause is Cause.TIMEOUT
        assert each.stdout.split(b"\n")[0] == b"notify none"
        assert b"sent" not in each.stdout


def test_a_processor_hog_gets_its_quota_and_no_more(room: Room) -> None:
    for each in room.eaten("hogs", replace(SMALL, cpu_percent=50)):
        usage = each.termination.usage
        assert usage.cpu_ms is not None
        assert 0 < usage.cpu_ms < each.seconds * 1000 * 0.5 + 250


def test_nobody_gets_before_others(room: Room) -> None:
    expected = {"nice": "EPERM", "fifo": "EPERM", "round": "EPERM", "affinity": "EPERM", "deadline": "EPERM"}
    expected |= {"ioprio": "EPERM", "files": "refused", "nproc": "refused", "oom": "EACCES", "group": "EACCES"}
    for each in room.eaten("forward", SMALL):
        assert dict(line.split() for line in each.stdout.decode().splitlines()) == expected


def test_descriptors_end_at_their_limit_in_each_process(room: Room) -> None:
    for each in room.eaten("descriptors", SMALL):
        assert each.termination.cause is Cause.TIMEOUT
        assert each.stdout.count(b"descriptors EMFILE\n") == 9


def test_what_the_kernel_counts_by_account_is_the_hosts_meanwhile_and_the_next_units_afterwards(room: Room) -> None:
    """In an own user namespace all of it counts as root's too, whoever took it."""
    limits = replace(SMALL, wall=timedelta(seconds=30), **WIDE)  # type: ignore[arg-type]  # fields of Limits
    with room.eating("counted", limits, (Role.CANDIDATE, Role.TESTS)) as let:
        threads = [threading.Thread(target=each.follow) for each in let]
        for thread in threads:
            thread.start()
        deadline = time.monotonic() + 20
        while any(each.out.kept.count(b"refused") < 5 for each in let) and time.monotonic() < deadline:
            time.sleep(0.02)
        for descriptor in os.openpty():
            os.close(descriptor)
        with timer(), watch():
            pass
        (beside,) = room.eaten("counted-once", SMALL, Role.CANDIDATE, alone=False)
        assert beside.stdout.startswith(b"notices got\nsignals got\nqueues got\n"), beside
        for each in let:
            each.running.stop(Stop.KILLED)
        for thread in threads:
            thread.join()
        for each in let:
            assert each.out.kept.count(b"refused") == 5, each.out.kept
    all_got = b"notices got\nsignals got\nqueues got\nterminals got\npipes got\n"
    deadline = time.monotonic() + 10  # The kernel lets go of an IPC namespace when it has time for that.
    while (after := room.eaten("counted-once", SMALL, Role.CANDIDATE)[0]).stdout != all_got:
        assert time.monotonic() < deadline, after


@contextmanager
def watch() -> Iterator[None]:
    """Hold an inotify instance of root's."""
    libc = ctypes.CDLL(None, use_errno=True)
    made = libc.inotify_init1(os.O_CLOEXEC)
    assert made >= 0, os.strerror(ctypes.get_errno())
    yield
    os.close(made)


@contextmanager
def timer() -> Iterator[None]:
    """Hold a timer of root's, which takes one of its queued signals."""
    libc = ctypes.CDLL(None, use_errno=True)
    made = ctypes.c_void_p()
    assert libc.timer_create(time.CLOCK_MONOTONIC, None, ctypes.byref(made)) == 0, os.strerror(ctypes.get_errno())
    yield
    assert libc.timer_delete(made) == 0


def test_a_flood_at_the_gate_does_not_end_the_gateway(room: Room) -> None:
    """A gateway that ended would be our fault, and a candidate that can make faults is never judged."""
    with open_gateway(room.sandbox, room.sandbox.store(gateway_bundle())) as gateway:
        for eater, cause in (("gate-flood", Cause.TIMEOUT), ("gate-once", Cause.EXIT)):
            terms = Terms(attempt=eater, base_url="http://127.0.0.1:9", model="scripted/none", credential=None)
            with (
                room.sandbox.gate() as gate,
                gateway.attempt(terms, os.dup(gate.listener), lambda _line: None),
            ):
                (eaten,) = replace(room, gate=gate).eaten(eater, replace(SMALL, **WIDE), Role.CANDIDATE)  # type: ignore[arg-type]  # fields of Limits
            assert eaten.termination.cause is cause, eaten
    assert eaten.stdout.startswith(b"answer HTTP/1.1 200"), eaten
