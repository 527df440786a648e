"""The one small root process: all that needs privilege, asked for over a socket by typed requests.

Started as `python -I -m sandbox.keeper` with a SOCK_SEQPACKET socket as standard input. The outer half holds the
host's lock and, where PID 1 is not systemd, boots a private one; the inner half is a grandchild that has joined
that one's namespaces and serves. End of file on the socket, or the death of any of them, ends all.
"""

import ctypes
import os
import signal
import socket
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

from sandbox.errors import KeeperError, SandboxError
from sandbox.host import Manager, join, service_manager
from sandbox.mounts import refusals_told
from sandbox.needs import need_host
from sandbox.requests import Open, parse_request
from sandbox.room import locked
from sandbox.scratch import sweep_scratch
from sandbox.service import serve
from sandbox.sweep import sweep_host
from sandbox.telling import tell
from sandbox.tools import need_tools
from sandbox.wire import receive, refusal, send

_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None, use_errno=True)


def main() -> int:
    """Serve one runner; the exit status is 0 if it went away in good order."""
    channel = socket.socket(fileno=os.dup(0))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # The runner decides; a terminal's Ctrl-C reaches both.
    try:
        opening = _opening(channel)
        if opening is None:
            return 0
        need_host()
        need_tools()
        with refusals_told("the host's room cannot be opened"), locked() as host_folder:
            tell((*sweep_host(host_folder), *sweep_scratch()))
            with service_manager() as manager:
                return _in_child(lambda: _inside(channel, opening, host_folder, manager))
    except SandboxError as error:
        return _refuse(channel, error)


def _opening(channel: socket.socket) -> Open | None:
    received = receive(channel)
    if received is None:
        return None
    request = parse_request(received[0])
    if not isinstance(request, Open):
        raise KeeperError("the first request must be to open")
    return request


def _refuse(channel: socket.socket, error: SandboxError) -> int:
    try:
        send(channel, refusal(error))
    except KeeperError:
        return 1
    return 1


def _inside(channel: socket.socket, opening: Open, host_folder: Path, manager: Manager) -> int:
    """Join the manager's namespaces, and serve in a child that its pid namespace holds too."""
    outside = os.open("/proc/self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    join(manager)
    return _in_child(lambda: serve(channel, opening, host_folder, manager.kind, outside))


def _in_child(work: Callable[[], int]) -> int:
    """Do work in a forked child that dies with this process, and give its exit status."""
    parent = os.getpid()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() in {parent, 0}:
                status = work()
        except SandboxError as error:
            sys.stderr.write(f"keeper: {error}\n")
        finally:
            # Never unwind into the parent's half: its clean-up is the parent's alone.
            if sys.exc_info()[0] is not None:
                traceback.print_exc()
            os._exit(status)
    _, ended = os.waitpid(child, 0)
    status = os.waitstatus_to_exitcode(ended)
    if status < 0:
        sys.stderr.write(f"keeper: its inner half was ended by signal {-status}\n")
    return abs(status)


if __name__ == "__main__":
    sys.exit(main())
