"""Units the keeper has started: begun, let go, watched, ended whole, and looked after for leftovers."""

import os
import select
import socket
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, field
from secrets import token_hex

from sandbox.bus import Bus, UnitState
from sandbox.errors import BusError, KeeperError, SandboxError, UnitStartError
from sandbox.groups import Layout, UnitGroup
from sandbox.properties import Property
from sandbox.room import keys_left, leftovers
from sandbox.shares import bound_shares
from sandbox.spec import MIB, Limits
from sandbox.termination import Stop, UnitFacts
from sandbox.walls import broken_limits
from sandbox.wire import receive, send

SLICE = "job.slice"
REPORT_SECONDS = 5.0
SOCKET_BYTES = 64 * MIB
"""What the buffers of a unit's IP sockets may take where its memory limit leaves them out."""
_END_SECONDS = 60.0
"""How long a killed unit may take to be gone: a process that waits for a slow disk dies late, and is no fault."""
_POLL_SECONDS = 2.0
_KEY_SECONDS = 10.0
"""How long a gone account may still own kernel keys: they are collected late where a machine is busy."""
_STEP_SECONDS, _DEATH_SECONDS = 0.002, 0.0005


@dataclass(slots=True, kw_only=True)
class Unit:
    """One started unit. `owned` holds its account record and folders until it is gone."""

    name: str
    slice: str
    account: int
    limits: Limits
    handle: socket.socket
    group: UnitGroup
    owned: ExitStack
    deadline: float
    has_sockets: bool = False
    """Whether it may open IP sockets, and is not our own gateway."""
    shares_bounded: bool = False
    """Whether it has the ceilings of sandbox/shares.py."""
    went: float | None = None
    stop: Stop | None = None
    oom_kills: int | None = None
    polled: float = field(default_factory=time.monotonic)
    ended: float | None = None
    tidied: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Ends:
    """The runner's ends of a unit's pipes, and of its handle."""

    stdin: int
    stdout: int
    stderr: int
    handle: int


def unit_pipes(*, socket_input: bool) -> tuple[Ends, tuple[int, int, int], socket.socket]:
    """Make a unit's streams: the runner's ends, the unit's three, and the keeper's end of the handle."""
    if socket_input:
        mine, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        stdin, unit_stdin = mine.detach(), theirs.detach()
    else:
        unit_stdin, stdin = os.pipe2(os.O_CLOEXEC)
    stdout, unit_stdout = os.pipe2(os.O_CLOEXEC)
    stderr, unit_stderr = os.pipe2(os.O_CLOEXEC)
    keeper, runner = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    return (
        Ends(stdin=stdin, stdout=stdout, stderr=stderr, handle=runner.detach()),
        (unit_stdin, unit_stdout, unit_stderr),
        keeper,
    )


@dataclass(slots=True)
class Units:
    """All units that are alive, and how each comes to its end.

    A runner is told of an end once no process is left. What systemd and the disk still hold of the unit then goes
    in `tidy`, while nobody waits: best during the next unit's start.
    """

    bus: Bus
    layout: Layout
    on_left: Callable[[tuple[str, ...]], None]
    """Told what a unit left behind; the room is dirty then."""
    _life: tuple[Property, ...] = ()
    """What ties every unit to this process's life."""
    _alive: dict[str, Unit] = field(default_factory=dict)
    _ended: dict[str, Unit] = field(default_factory=dict)
    """Units without processes that have not been tidied up, by name; their deadline is for that."""
    _keyed: dict[int, float] = field(default_factory=dict)
    """Accounts of ended units whose keys the kernel has not freed yet, and until when it may take."""

    def prepare(self, *, outlives_keeper: bool) -> None:
        """Have the slice of all units stay, with its controllers on.

        Else the manager would move itself and its other services from group to group at each unit's start and end,
        and every move waits for all processors.
        """
        accounting = ("CPUAccounting", "MemoryAccounting", "TasksAccounting")
        why = "the controllers every unit needs"
        on = [Property(name=name, signature="b", value=True, why=why) for name in accounting]
        on.append(Property(name="DefaultDependencies", signature="b", value=False, why="as every unit of ours"))
        self.bus.start(SLICE, on)
        if outlives_keeper:
            self._bind()

    def _bind(self) -> None:
        """Have the manager itself end all units when this process dies, however that comes.

        A private manager dies with its keeper; the machine's own must be told.
        """
        scope = f"job-{token_hex(8)}.scope"
        why = "empty, and with it gone, when the keeper is"
        self.bus.start(scope, [Property(name="PIDs", signature="au", value=(os.getpid(),), why=why)])
        self._life = (Property(name="BindsTo", signature="as", value=(scope,), why="ends with its keeper"),)

    def begin(self, unit: Unit, properties: tuple[Property, ...]) -> None:
        """Ask the manager to start a unit; its launcher's report says whether it did."""
        self.bus.watch(unit.name)
        try:
            self.bus.start(unit.name, (*properties, *self._life))
        except BusError as error:
            self.bus.forget(unit.name)
            raise UnitStartError(f"unit {unit.name}: {error}") from error
        self._alive[unit.name] = unit

    def handles(self) -> list[socket.socket]:
        """Give the sockets of the units that are alive."""
        return [unit.handle for unit in self._alive.values()]

    def heed(self, handle: socket.socket) -> None:
        """Do what a runner asks of one unit; a closed handle ends it."""
        unit = next((each for each in self._alive.values() if each.handle is handle), None)
        if unit is None:
            return
        asked = _asked(handle)
        if asked is None:
            unit.stop = unit.stop or Stop.KILLED
            self._finish(unit)
        elif isinstance(asked, Stop):
            self._halt(unit, asked)
        elif asked == "used":
            _tell(unit, {"used_us": unit.group.cpu_us()})
        else:
            self._go(unit)

    def _go(self, unit: Unit) -> None:
        """Start the wall clock, if the limits are really there; a second go does not start it again."""
        unit.group.bound_swap()
        broken = broken_limits(unit.group.held(), unit.limits)
        self._bound_shares(unit)
        if not unit.shares_bounded:
            broken = (*broken, "what it may take of queued signals, message queues and watches is not bounded")
        if unit.has_sockets and not unit.group.bound_sockets(SOCKET_BYTES):
            broken = (*broken, f"the buffers of its sockets are not bounded by {SOCKET_BYTES} bytes")
        if not broken and unit.went is None:
            unit.went = time.monotonic()
            unit.deadline = unit.went + unit.limits.wall.total_seconds()
        _tell(unit, {"broken": list(broken)})

    def _bound_shares(self, unit: Unit) -> None:
        if not unit.shares_bounded:
            found = unit.group.processes()
            unit.shares_bounded = len(found) == 1 and bound_shares(found[0])

    def _halt(self, unit: Unit, why: Stop) -> None:
        """End a unit at once; what ended it first is what counts."""
        unit.stop = unit.stop or why
        unit.ended = unit.ended or time.monotonic()
        if not unit.group.kill():
            self.bus.kill(unit.name)

    def attend(self) -> None:
        """Look at what changed, and at every unit's clock and memory."""
        self.bus.drain()
        now = time.monotonic()
        self._look_for_keys(now)
        for unit in list(self._alive.values()):
            if now >= unit.deadline and unit.stop is None:
                self._halt(unit, Stop.TIMEOUT)
            kills = unit.group.oom_kills()
            unit.oom_kills = kills if kills is not None else unit.oom_kills
            if unit.oom_kills and unit.stop is None:
                self._halt(unit, Stop.OOM)
            self._look_for_end(unit, now)

    def _look_for_end(self, unit: Unit, now: float) -> None:
        """Finish a unit whose main process has ended: signals tell it, and now and then the manager is asked."""
        told = self.bus.told(unit.name)
        if told is not None and told.sub_state == "running" and unit.went is None:
            self._bound_shares(unit)  # While its launcher looks around: nobody waits for it then.
        if told is not None and told.is_final:
            self._finish(unit, told)
        elif now - unit.polled > _POLL_SECONDS or (told is not None and told.active_state == "failed"):
            unit.polled = now
            if _has_ended(unit, self.bus.state(unit.name)):
                self._finish(unit)

    def _look_for_keys(self, now: float) -> None:
        """Tell what keys an account kept. One that works on in another unit has keys by right, until that ends."""
        at_work = {unit.account for unit in self._alive.values()}
        for account, until in list(self._keyed.items()):
            left = () if account in at_work else keys_left(account)
            if not left or now > until:
                del self._keyed[account]
            if left and now > until:
                self.on_left(left)

    def end_all(self) -> None:
        """End whatever is alive, and wait until nothing is held of it; nobody is told."""
        for unit in list(self._alive.values()):
            unit.stop = unit.stop or Stop.KILLED
            self._finish(unit)
        while self.is_untidy():
            self.tidy()
            select.select([self.bus], [], [], _STEP_SECONDS)
            self.bus.drain()
        self.bus.stop(SLICE)

    def _finish(self, unit: Unit, told: UnitState | None = None) -> None:
        """End all processes of a unit, then tell its runner how it ended.

        `told` is how its main process ended, where the manager's signals said so.
        """
        ended = unit.ended or time.monotonic()
        state = told or self.bus.state(unit.name)
        if told is None:
            self._stop(unit)
        self._kill(unit)
        facts = _facts(unit, state, ended)
        self.bus.forget(unit.name)
        del self._alive[unit.name]
        self._ended[unit.name] = unit
        left = _patiently_left(unit.account)
        self._keyed[unit.account] = time.monotonic() + _KEY_SECONDS
        if left:
            self.on_left(left)
        try:
            send(unit.handle, {"facts": asdict(facts), "left": list(left)})
        except SandboxError:
            pass  # Its runner is gone, and with it whoever wanted to know.
        finally:
            unit.handle.close()

    def _stop(self, unit: Unit) -> None:
        """Have the manager stop a unit that it may still be starting, and wait until it has."""
        deadline = time.monotonic() + _END_SECONDS
        asked = False
        while not (state := self.bus.state(unit.name)).is_over:
            if time.monotonic() > deadline:
                raise BusError(f"unit {unit.name} does not end: {state}")
            self.bus.kill(unit.name)
            if not asked:
                self.bus.stop(unit.name)
                asked = True
            select.select([self.bus], [], [], _STEP_SECONDS)
            self.bus.drain()

    def _kill(self, unit: Unit) -> None:
        """Kill what outlived the main process; the manager starts nothing more of this unit."""
        deadline = time.monotonic() + _END_SECONDS
        while not unit.group.is_empty():
            if time.monotonic() > deadline:
                raise BusError(f"unit {unit.name} does not die")
            if not unit.group.kill():
                self.bus.kill(unit.name)
            time.sleep(_DEATH_SECONDS)

    def is_untidy(self) -> bool:
        """Tell whether something is held of a unit that has ended."""
        return bool(self._ended)

    def tidy(self) -> None:
        """Take one step in letting go of what is held of ended units.

        Raises:
            BusError: the manager does not let go of one.
        """
        for unit in list(self._ended.values()):
            if not unit.tidied:
                unit.tidied = True
                unit.deadline = time.monotonic() + _END_SECONDS
                self._let_go(unit)
            elif unit.group.is_gone():
                del self._ended[unit.name]
                unit.owned.close()
            elif time.monotonic() > unit.deadline:
                raise BusError(f"unit {unit.name} has ended, but its control groups stay")

    def _let_go(self, unit: Unit) -> None:
        """Have the manager forget a unit: stopping its slice stops it too."""
        try:
            if self.bus.active(unit.name) == "failed":
                self.bus.reset_failed(unit.name)
            self.bus.stop(unit.slice)
        except BusError:
            if self.bus.is_loaded(unit.slice):
                raise


def _tell(unit: Unit, answer: dict[str, object]) -> None:
    """Answer a unit's runner. Whose handle is closed meanwhile is ended when that is seen."""
    with suppress(KeeperError):
        send(unit.handle, answer)


def _asked(handle: socket.socket) -> Stop | str | None:
    """Read what is asked of a unit: its go, what it has used, or its end.

    None where nobody, or nonsense, asks: it ends too.
    """
    try:
        received = receive(handle)
        if received is None:
            return None
        for descriptor in received[1]:
            os.close(descriptor)
        asked = received[0].get("do")
        return str(asked) if asked in ("go", "used") else Stop(str(received[0].get("why")))
    except (KeeperError, ValueError):
        return None


def _patiently_left(account: int) -> tuple[str, ...]:
    """Look for leftovers; of a killed process something may be seen for a moment."""
    deadline = time.monotonic() + _END_SECONDS
    while (left := leftovers(account)) and time.monotonic() < deadline:
        time.sleep(_DEATH_SECONDS)
    return left


def _has_ended(unit: Unit, state: UnitState) -> bool:
    """Tell whether a unit's main process has ended. One whose start is still queued looks dead, but is not."""
    queued = state.load_state == "loaded" and state.sub_state == "dead" and state.main_code == 0
    return state.main_ended and not (queued and unit.went is None and unit.stop is None)


def _facts(unit: Unit, state: UnitState, ended: float) -> UnitFacts:
    return UnitFacts(
        load_state=state.load_state,
        active_state=state.active_state,
        sub_state=state.sub_state,
        result=state.result,
        main_code=state.main_code,
        main_status=state.main_status,
        stop=unit.stop,
        wall_ms=0 if unit.went is None else max(0, int((ended - unit.went) * 1000)),
        went=unit.went is not None,
        cpu_ms=unit.group.cpu_ms(),
        memory_peak_bytes=unit.group.memory_peak_bytes(),
        memory_limit_bytes=unit.limits.memory_bytes,
        oom_kills=unit.oom_kills,
    )
