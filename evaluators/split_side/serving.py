"""The submitted side: answers one request after another, in the unit where submitted code runs.

The first process never runs submitted code. A worker, forked from it, does; `restart` ends that worker and all it
started, and the next request meets a fresh one. What a worker tells is only ever what submitted code could have told.
"""

import contextlib
import ctypes
import os
import signal
import sys
from pathlib import Path
from typing import Any

from .calls import Calls
from .node import become
from .programs import run_program
from .wire import Wire, WireError

_RESTARTED = 99
_PR_SET_CHILD_SUBREAPER = 36


def main() -> int:
    """Serve until the other side closes."""
    requests, answers = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    wire = Wire(requests, answers)
    task = wire.receive()
    while (status := _worker(wire, task)) == _RESTARTED:
        pass
    return status


def _worker(wire: Wire, task: dict[str, Any]) -> int:
    """Serve in a process of its own, and give how it ended."""
    pid = os.fork()
    if pid == 0:
        if task["node"]:
            become("node_side.mjs", wire, task)
        os._exit(_serve(wire, task))
    _, status = os.waitpid(pid, 0)
    while children := _children():
        for child in children:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def _children() -> list[int]:
    """List what a worker left: whatever lost its parent is a child of this process (`PR_SET_CHILD_SUBREAPER`)."""
    return [int(pid) for pid in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()]


def _serve(wire: Wire, task: dict[str, Any]) -> int:
    sys.path[:] = [path for path in sys.path if path != task["harness"]]
    sys.path += [*task["toolchain"], *task["imports"]]
    os.chdir(task["directory"])
    calls = Calls()
    with contextlib.suppress(WireError):
        while True:
            request = wire.receive()
            if request["ask"] == "restart":
                wire.send({"restarted": True})
                return _RESTARTED
            wire.send(_answer(calls, request, task))
    return 0


def _answer(calls: Calls, request: dict[str, Any], task: dict[str, Any]) -> dict[str, Any]:
    if request["ask"] == "run":
        return run_program(request, task["directory"], task["environment"])
    return calls.answer(request)
