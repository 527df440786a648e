"""The units of a proving, and the observations they give: what each was to meet, and how it ended."""

import json
import os
import select
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import timedelta

from sandbox.api import Running
from sandbox.attacks import ARGUMENT, FILLED
from sandbox.canaries import Canaries
from sandbox.capture import HARNESS
from sandbox.contents import MemoryContents
from sandbox.errors import CaptureError, KeeperError, SandboxError
from sandbox.inspected import CaptureLimits, InspectionReader, outermost, request
from sandbox.probe_bundle import probe_command
from sandbox.proving_room import Room, Taking, room
from sandbox.shares import MOST_SIGNALS
from sandbox.spec import KIB, MIB, PYTHON, Limits, Mount, Role, UnitSpec
from sandbox.termination import Stop
from sandbox.unit import UnitResult, conduct

Observations = dict[str, object]
"""By `<unit>/<name>`; a unit that said nothing has a sentence by its own name."""

LOOKING = Limits(
    wall=timedelta(seconds=20),
    memory_bytes=256 * MIB,
    tasks=64,
    file_bytes=32 * MIB,
    descriptors=1024,
    output_bytes=1 * MIB,
    tmp_bytes=8 * MIB,
    disk_bytes=16 * MIB,
    disk_inodes=1000,
)
"""Of every unit; the ones below differ from it only in what they are to meet."""
HOLDING = replace(LOOKING, wall=timedelta(seconds=120))
EATING = replace(LOOKING, memory_bytes=64 * MIB, tasks=24, descriptors=64, file_bytes=2 * MIB)
REMEMBERING = replace(LOOKING, memory_bytes=32 * MIB)
POURING = replace(LOOKING, output_bytes=64 * KIB)
RESISTING = replace(LOOKING, wall=timedelta(seconds=2), cpu_percent=15)
LEAVING = replace(LOOKING, wall=timedelta(seconds=5))
_REMEMBERED = 256 * MIB
_PATIENCE_S = 10.0
_SAID = 200
_ENDS: tuple[tuple[Limits, dict[str, tuple[str, ...]]], ...] = (
    (
        REMEMBERING,
        {
            "heap": ("remember", "heap", str(_REMEMBERED)),
            "memory-file": ("remember", "file", str(_REMEMBERED)),
        },
    ),
    (POURING, {"output": ("pour", "1"), "errors": ("pour", "2")}),
    (LEAVING, {"leaver": ("leave", str(FILLED)), "terminated": ("give-up", "15")}),
)
"""Programs that end in some way, by name, with the limits they are to meet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """All that is there while units look around."""

    sandbox: Taking
    mount: Mount
    """Where the probes are."""
    harness: Mount
    """Where the inspection's harness is."""
    planted: Canaries
    others: dict[Role, object] = field(default_factory=dict)
    """What units that are there all the time told of themselves; a sentence in place of one that could not be had."""

    def observe(self, role: Role) -> Observations:
        """Make every observation that a role's units can give."""
        found = self.look(role)
        for units, act in ((("eat",), self._eat), (("end",), self._ends), (("end",), self._resist)):
            found |= _unless_broken(units, act, role)
        return found

    def look(self, role: Role, widen: Callable[[UnitSpec], UnitSpec] = lambda spec: spec) -> Observations:
        """Look around from inside a unit; `widen` changes its spec."""
        return _unless_broken(("look", "hold", "capture"), lambda role: self._look(role, widen), role)

    @contextmanager
    def neighbour(self, role: Role) -> Iterator[object]:
        """Have a unit hold canaries while the block lasts, and give what it told of itself."""
        network = "shared" if role is Role.GATEWAY else "own"
        held = f"{self.planted.name}-held", str(self.planted.key + 1), self.planted.secret, network
        with room(self.sandbox, role, HOLDING, self.mount) as place:
            spec = place.spec(probe_command("hold", *held), (("CANARY_KEY", self.planted.secret),))
            with self.sandbox.start(spec) as running:
                running.go()
                yield _first_line(running)

    def _look(self, role: Role, widen: Callable[[UnitSpec], UnitSpec]) -> Observations:
        """Look around with a unit of another role, and one of the same, beside it."""
        other = self.others[Role.SUBMITTED if role is Role.CANDIDATE else Role.CANDIDATE]
        if isinstance(other, str):
            raise SandboxError(f"no unit of another role is beside it: {other}")
        with self.neighbour(role) as same, room(self.sandbox, role, LOOKING, self.mount, self._leave) as place:
            spec = widen(place.spec(probe_command("look", "--", ARGUMENT)))
            found = _lines("look", self._run(spec, self._told(place, other, same))[0])
            found["hold/host"], found["hold/neighbour"] = dict(self.planted.made), _made(same)
            return found | _unless_broken(("capture",), lambda _: self._capture(place), role)

    def _told(self, place: Room, *neighbours: object) -> bytes:
        planted = self.planted
        return json.dumps(
            {**asdict(planted), "namespaces": dict(planted.namespaces), "gate": place.port, "neighbours": neighbours}
        ).encode()

    def _leave(self, place: Room) -> None:
        """Have a candidate leave in its workspace what a reader should not believe."""
        result, _ = self._run(place.spec(probe_command("plant", *self.planted.files)))
        if not result.termination.succeeded:
            raise CaptureError(f"nothing was planted: {result.stderr[-_SAID:]!r}")

    def _capture(self, place: Room) -> Observations:
        """Read what was left, as every capture does, and tell what came of it."""
        if place.changes is None:  # Nobody left anything here.
            return {}
        changes, limits, contents = outermost(place.changes), CaptureLimits(file_bytes=1 * MIB), MemoryContents()
        reader = InspectionReader(changes, limits, contents)
        shown = replace(place, mount=self.harness)
        spec = shown.spec((PYTHON, "-I", "-S", "-B", f"{self.harness.target}/{HARNESS}"))
        self._run(spec, request(changes, limits), reader.feed)
        seen = reader.finish().seen
        secret = self.planted.secret.encode()
        texts = [(each.path, _text(each.content, contents)) for each in seen]
        return {
            "capture/kinds": {each.path.decode(errors="backslashreplace"): each.kind for each in seen},
            "capture/secrets": {"looked": len(texts), "found": [repr(path) for path, text in texts if secret in text]},
        }

    def _eat(self, role: Role) -> Observations:
        """Let a unit take all it can get, and say beside each sum how much that might be."""
        with room(self.sandbox, role, EATING, self.mount) as place:
            result, _ = self._run(place.spec(probe_command("eat", place.writable, str(EATING.file_bytes))))
        disk = EATING.disk_bytes if place.workspace and role is not Role.INSPECTION else EATING.tmp_bytes
        most = {
            "forks": EATING.tasks,
            "threads": EATING.tasks,
            "descriptors": EATING.descriptors,
            "timers": MOST_SIGNALS,
            "file-bytes": EATING.file_bytes,
            "sparse-file": EATING.file_bytes,
            "disk-bytes": disk,
            "shared-memory-bytes": EATING.tmp_bytes,
            "disk-files": EATING.disk_inodes,
            "shared-memory-files": EATING.disk_inodes,
        }
        found = _lines("eat", result)
        for name, limit in most.items():
            if isinstance(eaten := found.get(f"eat/{name}"), dict):
                eaten["limit"] = limit
        return found

    def _ends(self, role: Role) -> Observations:
        """Let units end in every way, one after another."""
        found: Observations = {}
        for limits, programs in _ENDS:
            with room(self.sandbox, role, limits, self.mount) as place:
                for name, arguments in programs.items():
                    found |= self._end(name, place, arguments)
                if limits is LEAVING:
                    found["end/never-begun"] = self._never_begun(place)
        return found

    def _resist(self, role: Role) -> Observations:
        with room(self.sandbox, role, RESISTING, self.mount) as place:
            return self._end("resist", place, ("resist",))

    def _end(self, name: str, place: Room, arguments: tuple[str, ...]) -> Observations:
        """Run a unit, and tell all that there is of its end."""
        result, was = self._run(place.spec(probe_command(*arguments)))
        ended = result.termination
        told = {
            "cause": ended.cause.value,
            "status": ended.status,
            "succeeded": ended.succeeded,
            "cpu_ms": ended.usage.cpu_ms,
            "limit_ms": int(place.limits.wall.total_seconds() * 1000),
            "said": result.stdout[:_SAID].decode(errors="replace"),
            "least": min(len(result.stdout), len(result.stderr)),
            "told": max(len(result.stdout), len(result.stderr)),
        }
        return {f"end/{name}": told | was}

    def _never_begun(self, place: Room) -> object:
        """End a unit before its go, and give how that reads."""
        with self.sandbox.start(place.spec(probe_command("give-up", "15"))) as running:
            running.stop(Stop.KILLED)
            ended = running.termination()
        return {"cause": ended.cause.value, "status": ended.status, "succeeded": ended.succeeded}

    def _run(
        self, spec: UnitSpec, stdin: bytes = b"", on_stdout: Callable[[bytes], None] | None = None
    ) -> tuple[UnitResult, dict[str, object]]:
        """Run a unit; tell also how long its end took from its go, and whether its streams are shut then."""
        with self.sandbox.start(spec) as running:
            began = time.monotonic()
            result = conduct(running, spec, stdin=stdin, on_stdout=on_stdout)
            elapsed = int((time.monotonic() - began) * 1000)
            return result, {"elapsed_ms": elapsed, "shut": _is_shut(running.stdout) and _is_shut(running.stderr)}


def _unless_broken(units: tuple[str, ...], act: Callable[[Role], Observations], role: Role) -> Observations:
    """Observe something; units that cannot be had give a sentence in their place."""
    try:
        return act(role)
    except KeeperError:
        raise
    except SandboxError as error:
        return dict.fromkeys(units, f"no observation: {error}")


def _first_line(running: Running) -> object:
    """Read one line of JSON from a unit that goes on."""
    data = b""
    deadline = time.monotonic() + _PATIENCE_S
    while not data.endswith(b"\n"):
        ready, _, _ = select.select([running.stdout], [], [], max(0.0, deadline - time.monotonic()))
        more = os.read(running.stdout, 1 << 16) if ready else b""
        if not more:
            raise SandboxError(f"a neighbour did not tell who it is: {data[:_SAID]!r}")
        data += more
    return json.loads(data)


def _made(told: object) -> object:
    """Give what a neighbour says of its own canaries."""
    return told.get("made") if isinstance(told, dict) else None


def _lines(unit: str, result: UnitResult) -> Observations:
    """Read a unit's observations; why there may be fewer than were to come stands beside them."""
    found: Observations = {}
    for line in result.stdout.splitlines():
        try:
            told = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(told, dict):
            found |= {f"{unit}/{name}": observation for name, observation in told.items()}
    ended = result.termination
    if not ended.succeeded:
        last = result.stderr[-_SAID:].decode(errors="replace").strip()
        found[unit] = f"no observation: its unit ended by {ended.cause} {ended.status} ({last})"
    return found


def _text(content: str | bytes | None, contents: MemoryContents) -> bytes:
    """Give all that was kept of one captured entry."""
    return contents.get(content) if isinstance(content, str) else content or b""


def _is_shut(descriptor: int) -> bool:
    """Tell whether nobody can write to a stream any more; the manager lets go of a unit's a moment after its end."""
    ready, _, _ = select.select([descriptor], [], [], _PATIENCE_S)
    return bool(ready) and os.read(descriptor, 1) == b""
