"""A runner gone mad: whatever comes over its sockets, the keeper refuses it, keeps nothing of it, and serves on."""

import json
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sandbox.api import Pack, WorkspaceRequest
from sandbox.client import KeeperSandbox
from sandbox.requests import (
    CloseGate,
    CloseWorkspace,
    Has,
    OpenGate,
    OpenInspection,
    OpenWorkspace,
    Start,
    Store,
    request_message,
)
from sandbox.spec import (
    MIB,
    PYTHON,
    Limits,
    Mount,
    NamespaceId,
    Network,
    ObjectId,
    Reach,
    Role,
    UnitSpec,
    WorkspaceId,
)
from sandbox.tree import Entry, Kind
from sandbox.unit import run
from sandbox.wire import receive
from tests.systemd.conftest import patiently
from tests.unit.hostile import TIMES, hostile_bytes, hostile_documents
from tests.unit.sandbox.asking import specs

pytestmark = pytest.mark.systemd


MANY = settings(
    max_examples=120 * TIMES,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
FEWER = settings(MANY, max_examples=12 * TIMES)
LIMITS = Limits(wall=timedelta(seconds=3), memory_bytes=128 * MIB, disk_bytes=8 * MIB, disk_inodes=1000, tmp_bytes=MIB)
LINKS = Pack(
    entries=(
        Entry(path=b"etc", kind=Kind.LINK, target=b"/etc"),
        Entry(path=b"up", kind=Kind.LINK, target=b"../../.."),
    ),
    blobs=lambda _: b"",
)
Fields = dict[str, Any]


@dataclass
class Mad:
    """A keeper, and the socket on which it is asked anything."""

    sandbox: KeeperSandbox
    channel: socket.socket
    pid: int
    """Of the half that serves."""
    said: Path
    """What it wrote to its standard error since it was open; before that it may tell what it swept."""
    stored: ObjectId
    state: Path
    held: tuple[list[str], ...] = ()
    """What it held when it had run one unit."""

    def ask(self, packet: bytes, descriptors: tuple[int, ...] = ()) -> Fields:
        """Send a packet as it is, give the answer, and let go of whatever came with it or was made for it."""
        socket.send_fds(self.channel, [packet], descriptors)
        received = receive(self.channel)
        assert received is not None, f"the keeper is gone: {self.said.read_text()}"
        answer, passed = received
        for descriptor in passed:
            os.close(descriptor)
        if "workspace" in answer:
            assert "error" not in self.told(CloseWorkspace(workspace=WorkspaceId(answer["workspace"])))
        if "namespace" in answer:
            assert "error" not in self.told(CloseGate(namespace=NamespaceId(answer["namespace"])))
        return answer

    def told(self, request: CloseWorkspace | CloseGate) -> Fields:
        return self.ask(json.dumps(request_message(request)).encode())

    def holds(self) -> tuple[list[str], list[str], list[str]]:
        """List what the keeper has open, what is mounted where it is, and what stands where it writes."""
        own = Path(f"/proc/{self.pid}")
        opened = sorted(re.sub(r"\d+", "N", link) for link in links(own / "fd"))
        mounts = [line.split(" ")[4] for line in (own / "mountinfo").read_text().splitlines()]
        root = own / "root"
        beside = ("", "run", "opt", "etc", str(self.state)[1:], f"{self.state}/run/rooms"[1:])
        files = sorted(str(each) for folder in beside for each in (root / folder).iterdir())
        return opened, mounts, files


@pytest.fixture(scope="module")
def mad(state: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mad]:
    said = tmp_path_factory.mktemp("keeper") / "stderr"
    with ExitStack() as stack:
        with said.open("ab") as file, as_standard_error(file.fileno()):
            sandbox = stack.enter_context(patiently(state))
        os.truncate(said, 0)
        channel = sandbox._channel.socket
        channel.settimeout(60)
        stored = sandbox.store(LINKS)
        (state / "templates").mkdir(exist_ok=True)
        mad = Mad(sandbox, channel, serving_half(), said, stored, state)
        served(mad)
        time.sleep(0.5)  # what is held of the unit goes while nobody asks
        mad.held = mad.holds()
        yield mad
    assert said.read_text() == ""


def links(folder: Path) -> Iterator[str]:
    """Tell where each link of a folder leads that is not gone again meanwhile."""
    for each in folder.iterdir():
        with suppress(FileNotFoundError):
            yield str(each.readlink())


@contextmanager
def as_standard_error(descriptor: int) -> Iterator[None]:
    before = os.dup(2)
    os.dup2(descriptor, 2)
    try:
        yield
    finally:
        os.dup2(before, 2)
        os.close(before)


def serving_half() -> int:
    """Find the keeper's innermost process: the youngest child of a child of ours."""
    parents = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(FileNotFoundError, ProcessLookupError):
            parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
    found = {pid for pid, parent in parents.items() if parent == os.getpid()}
    while below := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= below
    keepers = [pid for pid in found if b"sandbox.keeper" in Path(f"/proc/{pid}/cmdline").read_bytes()]
    (inner,) = [pid for pid in keepers if not any(parents[other] == pid for other in keepers)]
    return inner


@pytest.fixture(autouse=True)
def _nothing_stays(request: pytest.FixtureRequest) -> Iterator[None]:
    """After each law the keeper runs a unit, and holds what it held at first."""
    yield
    if "mad" in request.fixturenames:
        mad: Mad = request.getfixturevalue("mad")
        served(mad)
        deadline = time.monotonic() + 10
        while mad.holds() != mad.held and time.monotonic() < deadline:
            time.sleep(0.01)
        assert mad.holds() == mad.held
        assert mad.said.read_text() == ""


def served(mad: Mad) -> None:
    spec = UnitSpec(role=Role.TESTS, argv=(PYTHON, "-I", "-S", "-c", "print('here')"), limits=LIMITS)
    assert run(mad.sandbox, spec).stdout == b"here\n"


def spec(**changed: object) -> Fields:
    message = request_message(Start(spec=UnitSpec(role=Role.TESTS, argv=(PYTHON, "-c", "pass"), limits=LIMITS)))
    fields: Fields = json.loads(json.dumps(message))
    fields["spec"] |= changed
    return fields


def templates(stored: ObjectId) -> list[Fields]:
    """Give a good request of each kind, whether or not what it names is there."""
    requests = (
        Has(digest=stored),
        Store(digest=stored),
        OpenWorkspace(layers=(stored,), limits=LIMITS, lay=False, home=False),
        OpenWorkspace(layers=(stored,), limits=LIMITS, lay=True, home=True),
        CloseWorkspace(workspace=WorkspaceId("none")),
        OpenInspection(workspace=WorkspaceId("none")),
        OpenGate(port=8080),
        CloseGate(namespace=NamespaceId("none")),
    )
    return [
        *(json.loads(json.dumps(request_message(each))) for each in requests),
        spec(mounts=[{"object": stored, "target": "/opt/x"}]),
        spec(workspace="none"),
        spec(network={"reach": "gate", "namespace": "none", "port": 8080}, role="candidate"),
    ]


def memory(content: bytes) -> int:
    made = os.memfd_create("hostile")
    os.write(made, content)
    return made


DESCRIPTORS: dict[str, Callable[[], int]] = {
    "null": lambda: os.open("/dev/null", os.O_RDWR),
    "zero": lambda: os.open("/dev/zero", os.O_RDONLY),
    "folder": lambda: os.open("/", os.O_RDONLY),
    "path": lambda: os.open("/etc/passwd", os.O_PATH),
    "file": lambda: os.open("/etc/passwd", os.O_RDONLY),
    "socket": lambda: socket.socket(socket.AF_UNIX).detach(),
    "epoll": lambda: os.eventfd(0),
    "empty": lambda: memory(b""),
    "huge-header": lambda: memory(b"\xff" * 64),
    "no-rows": lambda: memory(b"\0\0\0\0\0\0\0\2{}"),
    "nested": lambda: memory(b"\0\0\0\0\0\1\0\0" + b"[" * 65536),
    "pack": lambda: memory(b"\0\0\0\0\0\0\0\2[]"),
}


@contextmanager
def opened(kinds: list[str]) -> Iterator[tuple[int, ...]]:
    made = tuple(DESCRIPTORS[kind]() for kind in kinds)
    try:
        yield made
    finally:
        for each in made:
            os.close(each)


kinds = st.lists(st.sampled_from(sorted(DESCRIPTORS)), max_size=10)


@MANY
@given(st.data(), kinds)
def test_a_spoilt_request_is_refused_or_done_and_nothing_of_it_stays(
    mad: Mad, data: st.DataObject, kinds: list[str]
) -> None:
    good = data.draw(st.sampled_from(templates(mad.stored)))
    packet = json.dumps(data.draw(hostile_documents(good))).encode()
    with opened(kinds) as descriptors:
        assert mad.ask(packet[: 120 << 10], descriptors)


@MANY
@given(st.data(), kinds)
def test_a_good_request_with_any_descriptors_is_refused_or_done(
    mad: Mad, data: st.DataObject, kinds: list[str]
) -> None:
    good = data.draw(st.sampled_from(templates(mad.stored)))
    with opened(kinds) as descriptors:
        answer = mad.ask(json.dumps(good).encode(), descriptors)
    if len(kinds) > 8:
        assert answer["error"] == "KeeperError"


@MANY
@given(st.data(), kinds)
def test_bytes_are_refused(mad: Mad, data: st.DataObject, kinds: list[str]) -> None:
    good = json.dumps(data.draw(st.sampled_from(templates(mad.stored)))).encode()
    packet = data.draw(hostile_bytes(good) | st.binary(min_size=1, max_size=1000))
    with opened(kinds) as descriptors:
        assert mad.ask(packet or b"\0", descriptors)


@pytest.mark.parametrize("packet", [b"[" * 130_000, b'{"a":' * 26_000, b" " * 150_000, b"1" * 100_000, b"\xff" * 9])
def test_a_packet_of_another_kind_is_refused(mad: Mad, packet: bytes) -> None:
    assert mad.ask(packet)["error"] == "KeeperError"


def test_a_refusal_does_not_quote_more_than_a_packet_holds(mad: Mad) -> None:
    for text in ("x" * 100_000, "\U0001f600" * 8000):
        for request in ({"do": text}, {"do": "has", "digest": text}, {"do": "close-gate", text: 1}):
            answer = mad.ask(json.dumps(request, ensure_ascii=False).encode())
            assert len(json.dumps(answer)) < 40_000
            assert "error" in answer


@FEWER
@given(st.data())
def test_any_unit_that_can_be_asked_for_is_started_or_refused(mad: Mad, data: st.DataObject) -> None:
    request = WorkspaceRequest(layers=(mad.stored,), limits=LIMITS)
    with mad.sandbox.workspace(request) as workspace, mad.sandbox.gate() as gate:
        through = Network(reach=Reach.GATE, namespace=gate.namespace, port=gate.port)
        shown = tuple(Mount(object=mad.stored, target=f"/opt/{name}") for name in "ab")
        for _ in range(8):
            asked = data.draw(specs)
            changed = replace(
                asked,
                workspace=data.draw(st.sampled_from([None, workspace, WorkspaceId("none")])),
                network=data.draw(st.sampled_from([Network(), through, asked.network])),
                mounts=data.draw(st.sampled_from([(), shown, shown * 2, asked.mounts])),
            )
            answer = mad.ask(json.dumps(request_message(Start(spec=changed))).encode())
            assert answer.keys() in ({"place", "view"}, {"error", "says"})


ELSEWHERE = ("/opt/../../var", "/../../../var/lib/cleanroom", "../x", "/opt/a/../../etc/x", "/etc/x", "/opt/a\0b")


@pytest.mark.parametrize("target", ELSEWHERE)
def test_no_mount_point_is_made_elsewhere(mad: Mad, target: str) -> None:
    fields = spec(mounts=[{"object": mad.stored, "target": target}])
    assert "nothing can be mounted" in mad.ask(json.dumps(fields).encode())["says"]
    climbing = spec(mounts=[{"object": mad.stored, "target": f"/../../..{mad.state}/made/by/a/target"}])
    assert "nothing can be mounted" in mad.ask(json.dumps(climbing).encode())["says"]
    assert not (mad.state / "made").exists()


@pytest.mark.parametrize(
    "named",
    ["..", "../../etc", "/etc", "", ".", "a" * 63, "A" * 64, "../" + "a" * 61, "building-x", "a" * 64 + "/..", "\0"],
)
def test_no_tree_is_found_elsewhere(mad: Mad, named: str) -> None:
    requests: list[Fields] = [
        {"do": "has", "digest": named},
        spec(mounts=[{"object": named, "target": "/opt/x"}]),
        spec(mounts=[{"object": mad.stored, "target": "/opt/x", "subpath": "../.."}]),
        spec(mounts=[{"object": mad.stored, "target": "/opt/x", "subpath": "etc"}]),
        {**templates(mad.stored)[2], "layers": [named]},
    ]
    for request in requests:
        assert "error" in mad.ask(json.dumps(request).encode())


@pytest.mark.parametrize("named", ["..", "../rooms", "", "/", "x/../..", "none", "a" * 200, "\0", "empty"])
def test_no_workspace_or_namespace_is_found_elsewhere(mad: Mad, named: str) -> None:
    requests: list[Fields] = [
        {"do": "close-workspace", "workspace": named},
        {"do": "open-inspection", "workspace": named},
        {"do": "close-gate", "namespace": named},
        spec(workspace=named),
        spec(network={"reach": "gate", "namespace": named, "port": 8080}, role="candidate"),
    ]
    for request in requests:
        assert "error" in mad.ask(json.dumps(request).encode())


@pytest.mark.parametrize("value", [0, -1, 1 << 49, 1 << 63, 1 << 64, 10**30])
def test_limits_that_no_machine_has_are_refused(mad: Mad, value: int) -> None:
    names = [name for name in spec()["spec"]["limits"] if name != "wall"]
    for name in names:
        limits = spec()["spec"]["limits"] | {name: value}
        for request in (spec(limits=limits), {**templates(mad.stored)[2], "limits": limits}):
            assert mad.ask(json.dumps(request).encode())["error"] == "KeeperError"


@pytest.mark.parametrize("name", ["disk_bytes", "disk_inodes"])
@pytest.mark.parametrize("value", [1, 1 << 40, 1 << 48])
def test_a_disk_that_cannot_be_is_refused_in_no_time(mad: Mad, name: str, value: int) -> None:
    limits = spec()["spec"]["limits"] | {name: value}
    began = time.monotonic()
    answer = mad.ask(json.dumps({**templates(mad.stored)[2], "limits": limits}).encode())
    assert value == 1 or answer["error"] == "WorkspaceError"
    assert time.monotonic() - began < 10


def test_a_link_in_a_stored_tree_leads_nowhere_but_into_the_units_own(mad: Mad) -> None:
    code = "import os; print(sorted(os.listdir('/opt/x/etc')) == sorted(os.listdir('/etc')), os.listdir('/opt/x/up'))"
    shown = UnitSpec(
        role=Role.TESTS,
        argv=(PYTHON, "-I", "-S", "-c", code),
        limits=LIMITS,
        mounts=(Mount(object=mad.stored, target="/opt/x"),),
    )
    same, names = run(mad.sandbox, shown).stdout.decode().split(" ", 1)
    assert same == "True"
    assert "boot" not in names


SAYINGS = {
    "bytes": b"\xff" * 100,
    "nested": b"[" * 100_000,
    "no-why": b"{}",
    "odd-why": b'{"why":["x"]}',
    "other-why": b'{"do":"stop","why":"because"}',
    "odd-do": b'{"do":{"go":1}}',
    "empty": b"",
}


@contextmanager
def handle_of(mad: Mad, *argv: str) -> Iterator[socket.socket]:
    """Start a unit as far as its go, and give its handle."""
    spec = UnitSpec(role=Role.TESTS, argv=(PYTHON, *argv), limits=LIMITS)
    with mad.sandbox.start(spec) as unit, socket.socket(fileno=os.dup(unit.handle)) as handle:
        yield handle


@pytest.mark.parametrize("saying", SAYINGS)
def test_nonsense_on_a_units_handle_ends_the_unit(mad: Mad, saying: str) -> None:
    with handle_of(mad) as handle, opened(["null", "folder"]) as descriptors:
        socket.send_fds(handle, [SAYINGS[saying]], descriptors)
        answer = receive(handle)
    assert answer is not None
    assert answer[0]["facts"]["stop"] == "killed"


def test_a_go_keeps_no_descriptor_and_a_second_one_gives_no_time(mad: Mad) -> None:
    began = time.monotonic()
    answers: list[Fields] = []
    with handle_of(mad, "-c", "import time; time.sleep(30)") as handle, opened(["null"] * 8) as descriptors:
        while time.monotonic() - began < 10 and not any("facts" in each for each in answers):
            with suppress(BrokenPipeError):
                socket.send_fds(handle, [b'{"do":"go"}'], descriptors)
            received = receive(handle)
            assert received is not None
            answers.append(received[0])
            time.sleep(0.2)
    assert answers[0] == {"broken": []}
    assert answers[-1]["facts"]["stop"] == "timeout"


def test_a_runner_that_says_go_and_is_gone_ends_its_unit_alone(mad: Mad) -> None:
    for _ in range(5):
        socket.send_fds(mad.channel, [json.dumps(spec()).encode()], [])
        received = receive(mad.channel)
        assert received is not None
        *streams, handle = received[1]
        with socket.socket(fileno=handle) as mine:
            mine.send(b'{"do":"go"}')
        for each in streams:
            os.close(each)


def test_more_namespaces_than_select_can_watch_are_no_trouble(mad: Mad) -> None:
    names = []
    for _ in range(1100):
        socket.send_fds(mad.channel, [json.dumps(request_message(OpenGate(port=8080))).encode()], [])
        received = receive(mad.channel)
        assert received is not None
        os.close(received[1][0])
        names.append(received[0]["namespace"])
    served(mad)
    for name in names:
        assert mad.told(CloseGate(namespace=NamespaceId(str(name)))) == {}


FIRST = {
    "nothing-in-it": b"{}",
    "bytes": b"\xff\0",
    "nested": b"[" * 100_000,
    "another": b'{"do":"open-gate","port":8080}',
    "relative": b'{"do":"open","state":"x","accounts":{"first":1900000000,"last":1900000999},"quick":true}',
    "nul": b'{"do":"open","state":"/\\u0000","accounts":{"first":1900000000,"last":1900000999},"quick":true}',
    "root": b'{"do":"open","state":"/x","accounts":{"first":0,"last":1900000999},"quick":true}',
    "no-folder": b'{"do":"open","state":"/dev/null/x","accounts":{"first":1900000000,"last":1900000999},"quick":true}',
}


@pytest.mark.parametrize("first", FIRST)
def test_a_keeper_that_cannot_be_opened_ends_in_good_order(first: str) -> None:
    mine, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with mine:
        argv = [sys.executable, "-I", "-m", "sandbox.keeper"]
        with theirs, subprocess.Popen(argv, stdin=theirs, stderr=subprocess.PIPE, cwd="/") as keeper:
            theirs.close()
            mine.settimeout(60)
            mine.send(FIRST[first])
            answer = receive(mine)
            said = keeper.communicate(timeout=60)[1]
    assert answer is not None
    assert answer[0]["says"]
    assert keeper.returncode == 1
    assert b"Traceback" not in said
