"""A fully hardened unit: through the keeper, against `systemd-run` with the same properties and launcher."""

import json
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

from assignments import options
from figures import Figure, Measured
from rooms import manager_pid, patient_sandbox, state_folder

from sandbox import launcher
from sandbox.api import Pack, WorkspaceRequest
from sandbox.bytecode import program_bytes
from sandbox.client import KeeperSandbox
from sandbox.contents import digest_of
from sandbox.properties import UnitPlace, unit_properties
from sandbox.room import AccountRecords, account_name
from sandbox.roots import build_root, generated_accounts
from sandbox.spec import Limits, Network, Reach, Role, UnitSpec
from sandbox.tree import Entry, Kind
from sandbox.unit import run

_BOUND = 0.8
_ROUNDS, _WARM = 25, 2
_LIMITS = Limits(wall=timedelta(seconds=30))
_TRUE = ("/usr/bin/true",)
_ACCOUNT = 1_900_999_990
_SYSTEMD_RUN = ("/usr/bin/systemd-run", "--quiet", "--wait", "--pipe")
_NAMESPACES = ("-m", "-u", "-i", "-n", "-p", "-C")


def figures() -> list[Figure]:
    """Measure each profile, ours and theirs in turn."""
    with state_folder() as state, patient_sandbox(state) as sandbox, ExitStack() as stack:
        rival = stack.enter_context(_rival(state))
        workspace = stack.enter_context(
            sandbox.workspace(WorkspaceRequest(layers=(sandbox.store(_one_file()),), limits=_LIMITS))
        )
        gate = stack.enter_context(sandbox.gate())
        plain = UnitSpec(role=Role.TESTS, argv=_TRUE, limits=_LIMITS)
        worked = replace(plain, workspace=workspace)
        reach = Network(reach=Reach.GATE, namespace=gate.namespace, port=gate.port)
        return [
            _measure(sandbox, rival, "unit: tests, no workspace", plain),
            _measure(sandbox, rival, "unit: tests, workspace", worked),
            _measure(sandbox, rival, "unit: candidate, workspace", replace(worked, role=Role.CANDIDATE, network=reach)),
        ]


def _measure(sandbox: KeeperSandbox, rival: "_Rival", what: str, spec: UnitSpec) -> Figure:
    ours: list[float] = []
    theirs: list[float] = []
    for _ in range(_WARM + _ROUNDS):
        began = time.perf_counter()
        result = run(sandbox, spec)
        ours.append(time.perf_counter() - began)
        if not result.termination.succeeded:
            raise RuntimeError(f"{what}: {result.termination}")
        theirs.append(rival.run(spec))
    return Figure(
        what=what,
        ours=Measured(name="keeper", seconds=tuple(ours[_WARM:])),
        theirs=Measured(name="systemd-run", seconds=tuple(theirs[_WARM:])),
        most=_BOUND,
    )


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
        root = Path(place.root)
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
            root=str(self.state / "rival/root"),
            launcher=str(self.state / "rival/launcher"),
            empty=str(self.state / "rival/empty"),
            workspace=str(room / "tree") if shared else None,
            home=str(room / "image/home") if shared else None,
            tmp=str(room / "image/tmp") if shared else None,
            vartmp=str(room / "image/vartmp") if shared else None,
            namespace_path=self.namespace if spec.network.reach is Reach.GATE else None,
        )


@contextmanager
def _rival(state: Path) -> Iterator[_Rival]:
    folder = state / "rival"
    for each in ("launcher", "empty"):
        (folder / each).mkdir(parents=True)
    (folder / "launcher/launcher.py").write_bytes(program_bytes(Path(launcher.__file__)))
    build_root(folder / "root", ())
    manager = manager_pid()
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
