"""What a keeper holds for its runner: stored trees, workspaces, network gates, units. Taken down whole at the end."""

import json
import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from secrets import token_hex
from socket import socket

from sandbox.api import HostFacts
from sandbox.bus import Bus
from sandbox.errors import KeeperError
from sandbox.groups import UnitGroup, layout, quick_moves, slice_path
from sandbox.host import cgroup_layout
from sandbox.image import Bounds, Image
from sandbox.layers import Layers, mount_store, probe_image, probe_layers
from sandbox.mounts import Flag, mount, unmount
from sandbox.network import NetworkNamespace, new_namespace
from sandbox.objects import Objects
from sandbox.properties import (
    MOST_TERMINALS,
    Property,
    UnitPlace,
    has_internet_families,
    refuse_targets,
    unit_properties,
)
from sandbox.requests import Open, OpenWorkspace
from sandbox.room import AccountRecords, Accounts, mark_dirty
from sandbox.roots import Roots, standing_roots
from sandbox.spec import NamespaceId, ObjectId, Reach, Role, UnitSpec, WorkspaceId
from sandbox.sweep import (
    passing,
    remove_passing,
    remove_path,
    run_noted,
    sweep_mounts,
    sweep_records,
    sweep_units,
)
from sandbox.telling import tell
from sandbox.units import REPORT_SECONDS, Unit, Units, unit_pipes
from sandbox.walls import OWN_NAMESPACES, HostView
from sandbox.workspace import Paths, Plan, Workspaces

Answer = tuple[dict[str, object], tuple[int, ...]]
_STREAMS = ("StandardInputFileDescriptor", "StandardOutputFileDescriptor", "StandardErrorFileDescriptor")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Room:
    """A workspace, or the read-only view of one, and the account it belongs to."""

    name: str
    account: int
    paths: Paths | None = None
    seen: Path | None = None


@dataclass(slots=True, kw_only=True)
class Keeping:
    """The keeper's whole state."""

    empty: Path
    terminals: Path
    roots: Roots
    accounts: Accounts
    objects: Objects
    workspaces: Workspaces
    units: Units
    outside: int
    known: HostFacts
    records: AccountRecords = field(default_factory=AccountRecords)
    _rooms: dict[str, _Room] = field(default_factory=dict)
    _gates: dict[str, NetworkNamespace] = field(default_factory=dict)

    def facts(self) -> dict[str, object]:
        """Tell what the machine is."""
        return asdict(self.known)

    def has(self, digest: ObjectId) -> bool:
        """Tell whether a tree is stored."""
        return self.objects.has(digest)

    def store(self, digest: ObjectId, pack: int) -> dict[str, object]:
        """Store a tree, which must have the digest it is said to have."""
        stored = self.objects.store(pack)
        if stored != digest:
            raise KeeperError(f"a pack said to be tree {digest} is tree {stored}")
        return {"stored": stored}

    def open_workspace(self, request: OpenWorkspace, packs: list[int]) -> dict[str, object]:
        """Mount a workspace for a fresh account."""
        if len(packs) != request.lay + request.home:
            raise KeeperError(f"{len(packs)} packs came with a workspace that needs {request.lay + request.home}")
        name, account = token_hex(8), self.accounts.take()
        limits = request.limits
        plan = Plan(
            name=name,
            layers=tuple(self.objects.path(layer) for layer in request.layers),
            uid=account,
            bounds=Bounds(disk_bytes=limits.disk_bytes, disk_inodes=limits.disk_inodes),
            lay=packs[0] if request.lay else None,
            home=packs[-1] if request.home else None,
        )
        self._rooms[name] = _Room(name=name, account=account, paths=self.workspaces.open(plan))
        return {"workspace": name}

    def open_inspection(self, workspace: WorkspaceId) -> Answer:
        """Show a workspace read-only to a fresh account, and list where to look."""
        room = self._room(workspace)
        account, view = self.accounts.take(), f"{room.name}-seen"
        seen, changes = self.workspaces.inspect(room.name, account)
        self._rooms[view] = _Room(name=room.name, account=account, seen=seen)
        told = [
            [path.hex() for path in changes.touched],
            [path.hex() for path in changes.whole],
            changes.git_touched,
        ]
        listing = os.memfd_create("changes", os.MFD_CLOEXEC)
        with os.fdopen(os.dup(listing), "wb") as stream:
            stream.write(json.dumps(told).encode())
        return {"workspace": view}, (listing,)

    def close_workspace(self, workspace: WorkspaceId) -> dict[str, object]:
        """Take a workspace or a view down."""
        room = self._room(workspace)
        del self._rooms[workspace]
        if room.seen is not None:
            self.workspaces.end_inspection(room.name)
            return {"left": []}
        left = self.workspaces.close(room.name)
        if left:
            self.units.on_left(left)
        return {"left": list(left)}

    def _room(self, workspace: WorkspaceId) -> _Room:
        room = self._rooms.get(workspace)
        if room is None:
            raise KeeperError(f"there is no workspace {workspace}")
        return room

    def open_gate(self, port: int) -> Answer:
        """Make a network namespace with a listening socket, which is the runner's from now on."""
        gate, name = new_namespace(port), token_hex(8)
        self._gates[name] = gate
        return {"namespace": name}, (gate.listener.detach(),)

    def close_gate(self, namespace: NamespaceId) -> dict[str, object]:
        """Let a namespace go; it lives as long as a unit is in it."""
        gate = self._gates.pop(namespace, None)
        if gate is None:
            raise KeeperError(f"there is no network namespace {namespace}")
        os.close(gate.namespace)
        return {}

    def start(self, spec: UnitSpec) -> Answer:
        """Start a unit as far as its launcher."""
        name = f"job-{token_hex(8)}"
        ends, streams, handle = unit_pipes(socket_input=spec.role is Role.GATEWAY)
        passed = (ends.stdin, ends.stdout, ends.stderr, ends.handle)
        try:
            with ExitStack() as unsent, ExitStack() as owned:
                unsent.callback(handle.close)
                for descriptor in passed:
                    unsent.callback(os.close, descriptor)
                place = self._place(spec, name, owned)
                added = tuple(
                    Property(name=stream, signature="h", value=descriptor, why="a pipe the runner pumps")
                    for stream, descriptor in zip(_STREAMS, streams, strict=True)
                )
                unit = self._unit(spec, place, handle)
                self.units.begin(unit, (*unit_properties(spec, place), *added))
                unit.owned.push(owned.pop_all())
                # Only now, while the manager works:
                answer: dict[str, object] = {"place": asdict(place), "view": asdict(self._view(place))}
                unsent.pop_all()
        finally:
            for descriptor in streams:
                os.close(descriptor)
        return answer, passed

    def _unit(self, spec: UnitSpec, place: UnitPlace, handle: socket) -> Unit:
        group = UnitGroup(self.units.layout, slice_path(place.slice), f"{place.unit}.service")
        return Unit(
            name=f"{place.unit}.service",
            slice=place.slice,
            account=place.uid,
            limits=spec.limits,
            handle=handle,
            group=group,
            owned=ExitStack(),
            deadline=time.monotonic() + REPORT_SECONDS * 2,
            has_sockets=has_internet_families(spec) and spec.network.reach is not Reach.OUTSIDE,
        )

    def _place(self, spec: UnitSpec, name: str, owned: ExitStack) -> UnitPlace:
        """Resolve all that a unit needs, and make its root; `owned` takes it down."""
        targets = tuple(mount.target for mount in spec.mounts)
        refuse_targets(targets)  # before a folder is made for any
        room = self._room(spec.workspace) if spec.workspace is not None else None
        number = room.account if room is not None else self.accounts.take()
        account = owned.enter_context(self.records.record(number))
        root = owned.enter_context(self.roots.root(account, number, targets))
        paths = room.paths if room is not None else None
        shown = paths.workspace if paths is not None else room.seen if room is not None else None
        return UnitPlace(
            unit=name,
            slice=f"{name}.slice",
            account=account,
            uid=number,
            root=str(root),
            empty=str(self.empty),
            terminals=str(self.terminals),
            workspace=None if shown is None else str(shown),
            home=None if paths is None else str(paths.home),
            tmp=None if paths is None else str(paths.tmp),
            vartmp=None if paths is None else str(paths.vartmp),
            mounts=tuple((str(self.objects.path(each.object)), each.target) for each in spec.mounts),
            namespace_path=self._namespace_path(spec),
            report_seconds=int(REPORT_SECONDS),
        )

    def _namespace_path(self, spec: UnitSpec) -> str | None:
        network = spec.network
        if network.reach is Reach.NOTHING:
            return None
        if network.reach is Reach.OUTSIDE:
            return f"/proc/{os.getpid()}/fd/{self.outside}"
        gate = self._gates.get(network.namespace or "")
        if gate is None:
            raise KeeperError(f"there is no network namespace {network.namespace}")
        return f"/proc/{os.getpid()}/fd/{gate.namespace}"

    def _view(self, place: UnitPlace) -> HostView:
        """Tell which namespaces a unit must not be in, and which network it must be in."""
        own = tuple((name, str(Path("/proc/self/ns", name).readlink())) for name in OWN_NAMESPACES)
        joined = place.namespace_path
        return HostView(namespaces=own, network=None if joined is None else str(Path(joined).readlink()))

    def close(self) -> None:
        """End every unit, take every workspace down, let every namespace go."""
        self.units.end_all()
        for name, room in list(self._rooms.items()):
            if room.seen is not None:
                self.workspaces.end_inspection(room.name)
                del self._rooms[name]
        for room in self._rooms.values():
            self.workspaces.close(room.name)
        for gate in self._gates.values():
            os.close(gate.namespace)


@contextmanager
def keeping(bus: Bus, opening: Open, host_folder: Path, manager: str, outside: int) -> Iterator[Keeping]:
    """Set up what a keeper holds, below the state folder; it is all taken down at the end."""
    state = Path(opening.state)
    state.mkdir(parents=True, exist_ok=True, mode=0o755)
    run = state / "run"
    with run_noted(host_folder, run) as earlier, ExitStack() as stack:
        if opening.quick:
            stack.enter_context(quick_moves())
        tell((*sweep_units(bus, opening.accounts, layout()), *sweep_records(opening.accounts)))
        for folder in {state, (earlier or run).parent}:
            tell(_sweep_state(folder, other=folder != state))
        layers, image = probe_layers(state), probe_image(state)
        if layers is Layers.IDMAP_LOOP:
            mount_store(state, state / "objects")
            stack.callback(sweep_mounts, state / "objects")
        objects = Objects(state / "objects")
        tell(objects.sweep())
        stack.callback(_remove_run, run)
        for each in ("rooms", "empty", "terminals"):
            (run / each).mkdir(mode=0o755, parents=True)
        stack.enter_context(_terminals(run / "terminals"))
        held = Keeping(
            empty=run / "empty",
            terminals=run / "terminals",
            roots=stack.enter_context(standing_roots()),
            accounts=Accounts(host_folder, opening.accounts),
            objects=objects,
            workspaces=Workspaces(root=run / "rooms", templates=state / "templates", layers=layers, image=image),
            units=Units(bus, layout(), lambda left: mark_dirty(host_folder, left)),
            outside=outside,
            known=HostFacts(
                kernel=os.uname().release,
                systemd=bus.version(),
                manager=manager,
                cgroups=cgroup_layout(),
                layers=layers.value,
                image=image.value,
            ),
        )
        held.records.prove(held.accounts.take())
        held.units.prepare(outlives_keeper=manager == "system")
        stack.callback(held.close)
        yield held


@contextmanager
def _terminals(target: Path) -> Iterator[None]:
    """Mount pseudo-terminals of our own, with a ceiling: a unit cannot use up those of the machine."""
    options = f"newinstance,ptmxmode=0666,mode=0620,max={MOST_TERMINALS}"
    mount("devpts", target, "devpts", Flag.NOSUID | Flag.NOEXEC, options)
    try:
        yield
    finally:
        unmount(target, detach=True)


def _remove_run(run: Path) -> None:
    with suppress(OSError):  # Something could not be unmounted: the next start sweeps it, and tells it.
        remove_path(run)


def _sweep_state(state: Path, *, other: bool) -> tuple[str, ...]:
    """Remove what a killed keeper left in its state, which may be another one than ours; its trees stay."""
    mounted = [*passing(state), *([state / "objects"] if other else ())]
    found = [told for folder in mounted for told in sweep_mounts(folder)]
    run = state / "run"
    found += Workspaces(root=run / "rooms", templates=run, layers=Layers.COPY, image=Image.TMPFS).sweep()
    return (*found, *remove_passing(state))
