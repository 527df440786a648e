"""A program that outlives whoever starts it: a unit of the machine's own manager, or a session of its own."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from tempfile import TemporaryFile

from sandbox.bus import open_bus
from sandbox.host import machine_runs_systemd
from sandbox.properties import Property

_INTERRUPT = 2
_STOP_USEC = 120_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Detached:
    """A program on its own."""

    name: str
    """What it is called where it can be looked after: a unit, or a process."""
    ended: Callable[[], bool]
    """Says whether it has ended already."""


def detach(argv: Sequence[str], environment: Mapping[str, str], *, log: int, name: str) -> Detached:
    """Start a program whose words go to a log; root's is a unit where PID 1 is systemd.

    The environment goes through standard input, for everybody may read that of a unit (`sandbox/attire.py`).

    Raises:
        BusError: the manager does not start it.
    """
    dressed = (sys.executable, "-I", "-m", "sandbox.attire")
    with TemporaryFile() as given:
        given.write(json.dumps({"argv": list(argv), "environment": dict(environment)}).encode())
        given.seek(0)
        if os.geteuid() == 0 and machine_runs_systemd():
            return _unit(dressed, name, given.fileno(), log)
        process = subprocess.Popen(
            dressed, stdin=given, stdout=log, stderr=log, cwd="/", env={"LANG": "C.UTF-8"}, start_new_session=True
        )
    return Detached(name=f"process {process.pid}", ended=lambda: process.poll() is not None)


def _unit(argv: Sequence[str], name: str, given: int, log: int) -> Detached:
    unit = f"{name}.service"
    with open_bus() as bus:
        bus.start(unit, detached_properties(argv, given, log))
    return Detached(name=unit, ended=lambda: _is_gone(unit))


def _is_gone(unit: str) -> bool:
    """Whether the manager has forgotten a unit, as it does once that ended; one that is not begun yet is known."""
    with open_bus() as bus:
        return not bus.is_loaded(unit)


def detached_properties(argv: Sequence[str], given: int, log: int) -> tuple[Property, ...]:
    """List what a detached program's unit is started with. It is no room: what runs there is our own program."""
    rows = (
        ("Description", "s", "cleanroom: a pilot", "what `systemctl status` says"),
        ("Type", "s", "exec", "a start that fails is told"),
        ("ExecStart", "a(sasb)", ((argv[0], tuple(argv), False),), "the program"),
        ("WorkingDirectory", "s", "/", "no folder is held"),
        ("StandardInputFileDescriptor", "h", given, "its command and environment, which nobody else can read"),
        ("StandardOutputFileDescriptor", "h", log, "a file of the state's"),
        ("StandardErrorFileDescriptor", "h", log, "likewise"),
        ("KillSignal", "i", _INTERRUPT, "`systemctl stop` is a Ctrl-C: what there is is sealed"),
        ("KillMode", "s", "mixed", "the pilot alone is told; what is left after it goes too"),
        ("TimeoutStopUSec", "t", _STOP_USEC, "time to end units and to seal"),
        ("OOMPolicy", "s", "continue", "units have limits of their own; one that dies of them does not end the pilot"),
        ("TasksMax", "t", (1 << 64) - 1, "the machine's ceiling is enough"),
        ("CollectMode", "s", "inactive-or-failed", "nothing of it stays in the manager's memory"),
        ("Restart", "s", "no", "a pilot goes on when somebody says --resume"),
    )
    return tuple(Property(name=name, signature=kind, value=value, why=why) for name, kind, value, why in rows)
