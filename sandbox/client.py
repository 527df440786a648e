"""The sandbox as the rest of the house sees it: a keeper of our own, asked over its socket."""

import json
import os
import select
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import TypeAdapter

from sandbox.api import Changes, Gate, HostFacts, LauncherReport, Pack, Running, WorkspaceRequest
from sandbox.errors import KeeperError, SandboxError, UnitStartError, WallsError
from sandbox.installed import keeper_command
from sandbox.mounts import refusals_told
from sandbox.pack import write_pack
from sandbox.properties import UnitPlace
from sandbox.requests import (
    CloseGate,
    CloseWorkspace,
    Has,
    Open,
    OpenGate,
    OpenInspection,
    OpenWorkspace,
    Request,
    Start,
    Store,
    request_message,
)
from sandbox.room import AccountRange
from sandbox.spec import GATE_PORT, NamespaceId, ObjectId, Role, UnitSpec, WorkspaceId
from sandbox.termination import Stop, Termination, UnitFacts, termination
from sandbox.tree import tree_digest
from sandbox.units import REPORT_SECONDS
from sandbox.walls import HostView, broken_walls
from sandbox.wire import receive, send, told

_REPORT_BYTES = 64 * 1024
_LENGTH = 4
_FACTS = TypeAdapter(UnitFacts)
_PLACE = TypeAdapter(UnitPlace)
_VIEW = TypeAdapter(HostView)
_HOST = TypeAdapter(HostFacts)
_CHANGES = TypeAdapter(tuple[tuple[str, ...], tuple[str, ...], bool])


@contextmanager
def open_sandbox(state: Path, accounts: AccountRange | None = None, *, quick: bool = True) -> Iterator["KeeperSandbox"]:
    """Start a keeper and speak to it until the block is left; then it and all it made is gone.

    `quick` lets units start some 10 ms sooner, at a small cost to every fork on the machine (sandbox/groups.py).

    Raises:
        BusyError: another run holds this host's clean room.
        HostUnfitError: the host cannot hold one; the sentence says why and what mends it.
    """
    command = keeper_command()
    with refusals_told(f"the state below {state} cannot be used"):
        state.mkdir(parents=True, exist_ok=True)  # Here, and not by the keeper, which would make it root's.
    mine, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with mine:
        with theirs:
            process = subprocess.Popen(command, stdin=theirs.fileno(), env={"LANG": "C.UTF-8"}, cwd="/")
        try:
            channel = _Channel(mine)
            opening = Open(state=str(state), accounts=accounts or AccountRange(), quick=quick)
            answer, _ = channel.ask(opening)
            yield KeeperSandbox(channel, _HOST.validate_python(answer["facts"]))
        finally:
            mine.close()
            _await_end(process)


def _await_end(process: "subprocess.Popen[bytes]") -> None:
    try:
        process.wait(timeout=30)
    except subprocess.TimeoutExpired:
        with suppress(PermissionError):  # One that sudo started is root's to kill.
            process.kill()
            process.wait()


@dataclass(slots=True)
class _Channel:
    """One question, one answer, whichever thread asks."""

    socket: socket.socket
    _turn: threading.Lock = field(default_factory=threading.Lock)

    def ask(self, request: Request, descriptors: tuple[int, ...] = ()) -> tuple[dict[str, object], list[int]]:
        with self._turn:
            send(self.socket, request_message(request), descriptors)
            received = receive(self.socket)
        if received is None:
            raise KeeperError("the keeper is gone, and with it every unit of this run")
        answer, passed = received
        if "error" in answer:
            raise told(answer)
        return answer, passed


class KeeperSandbox:
    """`sandbox.api.Sandbox` through a keeper."""

    def __init__(self, channel: _Channel, facts: HostFacts) -> None:
        self._channel = channel
        self._facts = facts

    def facts(self) -> HostFacts:
        """Tell what the machine is and which mechanisms were chosen."""
        return self._facts

    def store(self, pack: Pack) -> ObjectId:
        """Keep a tree, content-addressed, root-owned, read-only."""
        digest = ObjectId(tree_digest(pack.entries))
        answer, _ = self._channel.ask(Has(digest=digest))
        if not answer["has"]:
            with _packed(pack) as descriptor:
                self._channel.ask(Store(digest=digest), (descriptor,))
        return digest

    @contextmanager
    def workspace(self, request: WorkspaceRequest) -> Iterator[WorkspaceId]:
        """Mount a workspace for one account."""
        lay, home = request.lay, request.home
        with _packed(lay) as laid, _packed(home) as homed:
            descriptors = tuple(each for each in (laid, homed) if each >= 0)
            asked = OpenWorkspace(
                layers=request.layers, limits=request.limits, lay=lay is not None, home=home is not None
            )
            answer, _ = self._channel.ask(asked, descriptors)
        workspace = WorkspaceId(str(answer["workspace"]))
        try:
            yield workspace
        finally:
            self._close_workspace(workspace)

    @contextmanager
    def changes(self, workspace: WorkspaceId) -> Iterator[tuple[WorkspaceId, Changes]]:
        """Show a workspace read-only to an inspection account."""
        answer, (listing,) = self._channel.ask(OpenInspection(workspace=workspace))
        view = WorkspaceId(str(answer["workspace"]))
        try:
            with os.fdopen(listing, "rb") as stream:
                stream.seek(0)
                yield view, _parse_changes(stream.read())
        finally:
            self._close_workspace(view)

    def _close_workspace(self, workspace: WorkspaceId) -> None:
        """Take a workspace down; if the keeper is gone, so is the workspace."""
        with suppress(KeeperError):
            self._channel.ask(CloseWorkspace(workspace=workspace))

    @contextmanager
    def gate(self) -> Iterator[Gate]:
        """Make an empty network namespace with a listening socket in it."""
        answer, (listener,) = self._channel.ask(OpenGate(port=GATE_PORT))
        namespace = NamespaceId(str(answer["namespace"]))
        try:
            yield Gate(namespace=namespace, listener=listener, port=GATE_PORT)
        finally:
            with suppress(OSError):
                os.close(listener)
            with suppress(KeeperError):
                self._channel.ask(CloseGate(namespace=namespace))

    @contextmanager
    def start(self, spec: UnitSpec) -> Iterator[Running]:
        """Start a unit as far as its launcher's report, and check that against the spec."""
        answer, (stdin, stdout, stderr, handle) = self._channel.ask(Start(spec=spec))
        place = _PLACE.validate_python(answer["place"])
        view = _VIEW.validate_python(answer["view"])
        with socket.socket(fileno=handle) as channel:
            unit = _Unit(
                name=place.unit,
                channel=channel,
                takes_packets=spec.role is Role.GATEWAY,
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                handle=handle,
            )
            try:
                try:
                    unit.report = read_report(stdout, stderr)
                except UnitStartError as error:
                    raise UnitStartError(f"unit {place.unit} ({spec.role}): {error}{unit.last_words()}") from error
                broken = broken_walls(unit.report, spec, place, view)
                if broken:
                    raise WallsError(f"unit {place.unit} ({spec.role}): " + "; ".join(broken))
                yield unit
            finally:
                unit.close()


def read_report(stdout: int, stderr: int) -> LauncherReport:
    """Read a launcher's report from a unit's standard output, and not one byte more.

    Raises:
        UnitStartError: the launcher never spoke.
        WallsError: what it said is no report.
    """
    deadline = time.monotonic() + REPORT_SECONDS
    head = _exactly(stdout, _LENGTH, deadline)
    size = int.from_bytes(head, "big")
    if len(head) < _LENGTH or not 0 < size <= _REPORT_BYTES:
        raise UnitStartError(f"no launcher's report came{_said(stderr)}")
    body = _exactly(stdout, size, deadline)
    try:
        seen = json.loads(body)
    except (ValueError, RecursionError):
        seen = None
    if len(body) < size or not isinstance(seen, dict):
        raise WallsError("a launcher's report is garbled, or did not come whole in time")
    return LauncherReport(seen=seen)


def _exactly(descriptor: int, count: int, deadline: float) -> bytes:
    data = b""
    while len(data) < count:
        ready, _, _ = select.select([descriptor], [], [], max(0.0, deadline - time.monotonic()))
        more = os.read(descriptor, count - len(data)) if ready else b""
        if not more:
            break
        data += more
    return data


def _said(stderr: int) -> str:
    ready, _, _ = select.select([stderr], [], [], 0)
    text = os.read(stderr, 500).decode(errors="replace").strip() if ready else ""
    return f": {text}" if text else ""


@dataclass(slots=True, kw_only=True)
class _Unit:
    """`sandbox.api.Running` of a keeper's unit."""

    name: str
    channel: socket.socket
    takes_packets: bool
    stdin: int
    stdout: int
    stderr: int
    handle: int
    report: LauncherReport = field(default_factory=lambda: LauncherReport(seen={}))
    _ended: Termination | None = None
    _closed: set[int] = field(default_factory=set)

    def go(self) -> None:
        """Let the program start; wall time counts from here."""
        send(self.channel, {"do": "go"})
        answer = receive(self.channel)
        if answer is None:
            raise KeeperError("the keeper went away before the go")
        broken = answer[0].get("broken")
        if "facts" in answer[0]:
            raise UnitStartError(f"unit {self.name} ended before its go: {answer[0]['facts']}")
        if broken:
            said = "; ".join(map(str, broken)) if isinstance(broken, list) else str(broken)
            raise WallsError(f"unit {self.name}: {said}")
        try:
            os.write(self.stdin, b"G")
        except BrokenPipeError as error:
            raise UnitStartError(f"unit {self.name}: its launcher ended before the go") from error

    def stop(self, why: Stop) -> None:
        """End the whole unit at once."""
        if self._ended is None:
            with suppress(KeeperError):
                send(self.channel, {"do": "stop", "why": why.value})

    def used_us(self) -> int | None:
        """Tell the processor time that all of the unit has used so far; None where it has ended, or nobody knows."""
        if self._ended is not None:
            return None
        try:
            send(self.channel, {"do": "used"})
        except KeeperError:  # It has just ended: the keeper has closed its end, after the last word on it.
            return None
        answer = receive(self.channel)
        if answer is None:
            raise KeeperError(f"the keeper is gone, and unit {self.name} with it")
        if "facts" in answer[0]:
            self._ended = self._last_word(answer[0])
            return None
        used = answer[0].get("used_us")
        return used if isinstance(used, int) else None

    def close_stdin(self) -> None:
        """Let the program read the end of its input."""
        self._close(self.stdin)

    def termination(self) -> Termination:
        """Wait for the end and say how it came."""
        if self._ended is None:
            answer = receive(self.channel)
            if answer is None:
                raise KeeperError(f"the keeper is gone, and unit {self.name} with it")
            self._ended = self._last_word(answer[0])
        return self._ended

    def _last_word(self, told: dict[str, object]) -> Termination:
        if told.get("left"):
            raise SandboxError(f"unit {self.name} left something behind: {told['left']}")
        return termination(_FACTS.validate_python(told["facts"]))

    def close(self) -> None:
        """End the unit if it is alive, wait until it is gone, and let go of its streams."""
        self.stop(Stop.KILLED)
        for descriptor in (self.stdin, self.stdout, self.stderr):
            self._close(descriptor)
        if self._ended is None:
            with suppress(KeeperError):
                while (answer := receive(self.channel)) is not None and "facts" not in answer[0]:
                    pass

    def last_words(self) -> str:
        """Stop a unit that never spoke, and tell what the manager says of it."""
        self.stop(Stop.KILLED)
        answer = receive(self.channel)
        facts = _FACTS.validate_python(answer[0]["facts"]) if answer is not None else None
        if facts is None:
            return ""
        return f" (systemd says: {facts.result}, {facts.active_state}/{facts.sub_state}, status {facts.main_status})"

    def _close(self, descriptor: int) -> None:
        if descriptor not in self._closed:
            self._closed.add(descriptor)
            os.close(descriptor)


@contextmanager
def _packed(pack: Pack | None) -> Iterator[int]:
    """Write a pack into a file without a name, and give its descriptor; -1 where there is none."""
    if pack is None:
        yield -1
        return
    with tempfile.TemporaryFile() as stream:
        write_pack(pack, stream.fileno())
        yield stream.fileno()


def _parse_changes(text: bytes) -> Changes:
    touched, whole, git_touched = _CHANGES.validate_json(text)
    return Changes(
        touched=tuple(bytes.fromhex(path) for path in touched),
        whole=tuple(bytes.fromhex(path) for path in whole),
        git_touched=git_touched,
    )
