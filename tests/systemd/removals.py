"""Units that lack what a test names, and what is seen of each: by the launcher, by the keeper, by a program inside."""

import hashlib
import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from sandbox import client, profiles
from sandbox.api import LauncherReport, Pack, WorkspaceRequest
from sandbox.client import KeeperSandbox, open_sandbox
from sandbox.errors import UnitStartError, WallsError
from sandbox.properties import UnitPlace
from sandbox.spec import MIB, PYTHON, Limits, Mount, Role, UnitSpec
from sandbox.termination import Termination
from sandbox.tree import Entry, Kind
from sandbox.walls import HostView, broken_walls

HERE = Path(__file__).parent
PROBES = HERE.parents[1] / "sandbox" / "probes" / "directives.py"
LIMITS = Limits(
    wall=timedelta(seconds=5),
    memory_bytes=128 * MIB,
    disk_bytes=16 * MIB,
    disk_inodes=2000,
    tmp_bytes=8 * MIB,
)
Edits = Sequence[Sequence[object]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """All that was seen of one unit."""

    error: str = ""
    """Why it never came to its program; broken walls alone do not keep it from there."""
    broken: tuple[str, ...] = ()
    report: dict[str, Any] = field(default_factory=dict)
    host: HostView = field(default_factory=HostView)
    termination: Termination | None = None
    output: bytes = b""

    @property
    def cause(self) -> str:
        """How it ended."""
        return "" if self.termination is None else self.termination.cause.value

    @property
    def said(self) -> dict[str, Any]:
        """What a probe inside it printed."""
        found: dict[str, Any] = json.loads(self.output)
        return found


@dataclass(slots=True, kw_only=True)
class Rooms:
    """A keeper that leaves out what it is told to, and specs to start with it."""

    sandbox: KeeperSandbox
    file: Path
    specs: dict[str, UnitSpec]
    probes: Mount
    walls: list[tuple[LauncherReport, tuple[str, ...], HostView]]
    whole: dict[str, Seen] = field(default_factory=dict)
    """What was seen of units that lack nothing, by their spec."""

    def tell(self, edits: Edits = (), guards: Sequence[str] = ()) -> None:
        """Say what units lack from now on."""
        self.file.write_text(json.dumps({"edits": list(edits), "guards": list(guards)}), encoding="ascii")

    def probing(self, role: str, *words: str) -> UnitSpec:
        """Give a spec whose program is the probes."""
        spec = self.specs[role]
        argv = (PYTHON, "-I", "-S", "-B", "/opt/probes/directives.py", *words)
        return replace(spec, argv=argv, mounts=(*spec.mounts, self.probes))

    def running(self, role: str, code: str, wall: float) -> UnitSpec:
        """Give a spec whose program is some Python."""
        spec = self.specs[role]
        limits = replace(spec.limits, wall=timedelta(seconds=wall))
        return replace(spec, argv=(PYTHON, "-I", "-S", "-c", code), limits=limits)

    def see_whole(self, spec: UnitSpec, edits: Edits, guards: Sequence[str]) -> Seen:
        """Run a unit that lacks nothing but what all units of a removal lack, once for each kind of it."""
        key = repr((spec, edits, guards))
        if key not in self.whole:
            self.whole[key] = self.see(spec, edits, guards)
        return self.whole[key]

    def see(self, spec: UnitSpec, edits: Edits = (), guards: Sequence[str] = ()) -> Seen:
        """Run a unit without what is named, whatever its launcher says of that."""
        self.tell(edits, guards)
        self.walls.clear()
        found: dict[str, Any] = {}
        try:
            with self.sandbox.start(spec) as unit:
                unit.go()
                unit.close_stdin()
                found["termination"] = unit.termination()
                found["output"] = read_all(unit.stdout)
        except (UnitStartError, WallsError) as error:
            found["error"] = f"{type(error).__name__}: {error}"
        finally:
            self.tell()
        for report, broken, host in self.walls:
            found |= {"report": report.seen, "broken": broken, "host": host}
        return Seen(**found)


def read_all(descriptor: int) -> bytes:
    """Read until nobody can write any more."""
    data = b""
    while more := os.read(descriptor, 1 << 16):
        data += more
    return data


def packed(**contents: bytes) -> Pack:
    """Give a pack of a few files."""
    blobs = {hashlib.sha256(content).hexdigest(): content for content in contents.values()}
    entries = tuple(
        Entry(path=f"{name}.py".encode(), kind=Kind.FILE, sha256=hashlib.sha256(content).hexdigest(), size=len(content))
        for name, content in sorted(contents.items())
    )
    return Pack(entries=entries, blobs=blobs.__getitem__)


@contextmanager
def unwalled(state: Path) -> Iterator[Rooms]:
    """Open a sandbox with the keeper of unwalled.py; broken walls are noted, and keep nothing from its go."""
    file = state / "removals.json"
    walls: list[tuple[LauncherReport, tuple[str, ...], HostView]] = []

    def noted(report: LauncherReport, spec: UnitSpec, place: UnitPlace, host: HostView) -> tuple[str, ...]:
        walls.append((report, broken_walls(report, spec, place, host), host))
        return ()

    with pytest.MonkeyPatch.context() as patch, ExitStack() as stack:
        patch.setattr(client, "keeper_command", lambda: (sys.executable, "-I", str(HERE / "unwalled.py"), str(file)))
        patch.setattr(client, "broken_walls", noted)
        file.write_text('{"edits": [], "guards": []}', encoding="ascii")
        sandbox = stack.enter_context(open_sandbox(state))
        layer = sandbox.store(packed(a=b"1"))
        probes = Mount(object=sandbox.store(packed(directives=PROBES.read_bytes())), target="/opt/probes")
        yield Rooms(
            sandbox=sandbox,
            file=file,
            probes=probes,
            walls=walls,
            specs=_specs(sandbox, stack, Mount(object=layer, target="/opt/extra")),
        )


def _specs(sandbox: KeeperSandbox, stack: ExitStack, extra: Mount) -> dict[str, UnitSpec]:
    program = profiles.Program(argv=("/usr/bin/true",))
    request = WorkspaceRequest(layers=(extra.object,), limits=LIMITS)
    work, left = (stack.enter_context(sandbox.workspace(request)) for _ in range(2))
    seen, _ = stack.enter_context(sandbox.changes(left))
    judged = stack.enter_context(sandbox.workspace(request))
    gate = stack.enter_context(sandbox.gate())
    return {
        Role.DRIVER: profiles.driver(program, LIMITS),
        Role.CANDIDATE: profiles.candidate(replace(program, mounts=(extra,)), LIMITS, work, gate),
        Role.INSPECTION: profiles.inspection(program, seen),
        Role.JUDGE: profiles.judge(program, LIMITS, judged, gate),
        Role.GATEWAY: profiles.gateway(program),
    }
