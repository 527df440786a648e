"""A fully hardened unit: through the keeper, against `systemd-run` with the same properties and launcher."""

import json
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path

from assignments import options
from figures import Figure, Measured
from rooms import manager_pid, patient_sandbox, state_folder

from sandbox.api import Gate, Pack, WorkspaceRequest
from sandbox.client import KeeperSandbox
from sandbox.contents import digest_of
from sandbox.properties import UnitPlace, unit_properties
from sandbox.room import AccountRecords, account_name
from sandbox.roots import build_root, generated_accounts
from sandbox.spec import Limits, Network, Reach, Role, UnitSpec, WorkspaceId
from sandbox.tree import Entry, Kind
from sandbox.unit import run

_BOUND = 0.8
_BLOCKS, _ROUNDS, _WARM = 3, 10, 2
_LIMITS = Limits(wall=timedelta(seconds=30))
_TRUE = ("/usr/bin/true",)
_ACCOUNT = 1_900_999_990
_SYSTEMD_RUN = ("/usr/bin/systemd-run", "--quiet", "--wait", "--pipe")
_ROOT = Path("/run/rival/1")
_NAMESPACES = ("-m", "-u", "-i", "-n", "-p", "-C")


def figures() -> list[Figure]:
    """Measure each profile: ours, theirs on a machine as it is, and theirs while our keeper makes moves quick."""
    ours, theirs, quick = (_Times() for _ in range(3))
    for _ in range(_BLOCKS):
        with _bench_room(quick=False) as room:  # First: since Linux 6.18 quick moves stay until the next boot.
            for what, spec in room.specs().items():
                for _ in range(_WARM + _ROUNDS):
                    theirs.add(what, room.rival.run(spec))
    for _ in range(_BLOCKS):
        with _bench_room(quick=True) as room:
            for what, spec in room.specs().items():
                for _ in range(_WARM + _ROUNDS):
                    ours.add(what, room.run(spec))
                    quick.add(what, room.rival.run(spec))
    return [
        *(_figure(what, ours, theirs, "systemd-run", _BOUND) for what in ours.seconds),
        *(_figure(what, ours, quick, "systemd-run beside our keeper", None) for what in ours.seconds),
    ]


@dataclass(frozen=True, slots=True)
class _Times:
    """Seconds of each profile, block by block."""

    seconds: dict[str, list[float]] = field(default_factory=dict)

    def add(self, what: str, seconds: float) -> None:
        """Take one in."""
        self.seconds.setdefault(what, []).append(seconds)

    def measured(self, what: str, name: str) -> Measured:
        """Give what counts: the first rounds of each block warm up."""
        counted = [each for place, each in enumerate(self.seconds[what]) if place % (_WARM + _ROUNDS) >= _WARM]
        return Measured(name=name, seconds=tuple(counted))


def _figure(what: str, ours: _Times, theirs: _Times, name: str, most: float | None) -> Figure:
    return Figure(
        what=f"unit: {what}", ours=ours.measured(what, "keeper"), theirs=theirs.measured(what, name), most=most
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Room:
    """A keeper with a workspace and a gate, and its rival."""

    sandbox: KeeperSandbox
    rival: "_Rival"
    workspace: WorkspaceId
    gate: Gate

    def specs(self) -> dict[str, UnitSpec]:
        """Give the profiles that are measured."""
        plain = UnitSpec(role=Role.TESTS, argv=_TRUE, limits=_LIMITS)
        worked = replace(plain, workspace=self.workspace)
        reach = Network(reach=Reach.GATE, namespace=self.gate.namespace, port=self.gate.port)
        return {
            "tests, no workspace": plain,
            "tests, workspace": worked,
            "candidate, workspace": replace(worked, role=Role.CANDIDATE, network=reach),
        }

    def run(self, spec: UnitSpec) -> float:
        """Run a unit and give the seconds it took."""
        began = time.perf_counter()
        result = run(self.sandbox, spec)
        took = time.perf_counter() - began
        if not result.termination.succeeded:
            raise RuntimeError(f"{spec.role}: {result.termination}")
        return took


@contextmanager
def _bench_room(*, quick: bool) -> Iterator[_Room]:
    with state_folder() as state, patient_sandbox(state, quick=quick) as sandbox, ExitStack() as stack:
        rival = stack.enter_context(_rival(state))
        request = WorkspaceRequest(layers=(sandbox.store(_one_file()),), limits=_LIMITS)
        workspace = stack.enter_context(sandbox.workspace(request))
        yield _Room(sandbox=sandbox, rival=rival, workspace=workspace, gate=stack.enter_context(sandbox.gate()))


@dataclass(slots=True, kw_only=True)
class _Rival:
    """`systemd-run`, beside the units."""

    process: "subprocess.Popen[str]"
    manager: Path
    """The root folder that the service manager sees."""
    state: Path
    namespace: str
    count: int = 0

    def run(self, spec: UnitSpec) -> float:
        """Run a unit of the same spec and give the seconds it took."""
        self.count += 1
        place = self._place(spec)
        given, argv = options(unit_properties(spec, place))
        root = self.manager / place.root.lstrip("/")
        for name, text in generated_accounts(place.account, place.uid).items():
            (root / "etc" / name).write_text(text)
        self._await_tidiness(place.account)
        with AccountRecords(self.manager / "run/userdb").record(place.uid):
            command = [*_SYSTEMD_RUN, f"--unit={place.unit}", *given, "--", *argv]
            seconds, status, report, words = self._ask([command, place.slice])
        if status or not report:
            raise RuntimeError(f"systemd-run ended with {status}: {words}")
        return float(str(seconds))

    def _ask(self, command: list[object]) -> list[object]:
        if self.process.stdin is None or self.process.stdout is None:
            raise RuntimeError("the rival has no pipes")
        self.process.stdin.write(json.dumps(command) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        if not isinstance(answer, list):
            raise TypeError("the rival speaks in tongues")
        return answer

    def _await_tidiness(self, account: str) -> None:
        """Wait until the keeper has let go of its unit, so that nobody pays for the other's clean-up."""
        record = self.manager / "run/userdb" / f"{account}.group"
        deadline = time.monotonic() + 2
        while record.exists() and time.monotonic() < deadline:
            time.sleep(0.002)
        time.sleep(0.02)

    def _place(self, spec: UnitSpec) -> UnitPlace:
        room = self.state / "run/rooms" / str(spec.workspace)
        shared = spec.workspace is not None
        seen = self.manager / str(room / "tree").lstrip("/")
        uid = seen.stat().st_uid if shared else _ACCOUNT
        return UnitPlace(
            unit=f"rival-{self.count}",
            slice=f"rival-{self.count}.slice",
            account=account_name(uid),
            uid=uid,
            root=str(_ROOT),
            empty=str(self.state / "rival/empty"),
            terminals=str(self.state / "run/terminals"),
            workspace=str(room / "tree") if shared else None,
            home=str(room / "image/home") if shared else None,
            tmp=str(room / "image/tmp") if shared else None,
            vartmp=str(room / "image/vartmp") if shared else None,
            namespace_path=self.namespace if spec.network.reach is Reach.GATE else None,
        )


@contextmanager
def _rival(state: Path) -> Iterator[_Rival]:
    folder = state / "rival"
    (folder / "empty").mkdir(parents=True)
    manager = manager_pid()
    build_root(Path(f"/proc/{manager}/root{_ROOT}"), ())
    entering = () if manager == 1 else ("/usr/bin/nsenter", "-t", str(manager), *_NAMESPACES)
    source = Path(__file__).with_name("inside.py").read_text()
    argv = [*entering, "/usr/bin/python3", "-I", "-S", "-c", source]
    pipe = subprocess.PIPE
    with subprocess.Popen(argv, stdin=pipe, stdout=pipe, text=True) as process:
        if process.stdout is None:
            raise RuntimeError("the rival has no pipes")
        namespace = json.loads(process.stdout.readline())
        yield _Rival(process=process, manager=Path(f"/proc/{manager}/root"), state=state, namespace=namespace)
    shutil.rmtree(folder)


def _one_file() -> Pack:
    content = b"1\n"
    entry = Entry(path=b"a", kind=Kind.FILE, sha256=digest_of(content), size=len(content))
    return Pack(entries=(entry,), blobs=lambda _: content)
