"""The keeper's loop: requests answered one at a time, running units watched in between."""

import os
import select
import socket
import time
from contextlib import ExitStack
from pathlib import Path

from sandbox.bus import Bus, open_bus
from sandbox.errors import BusError, KeeperError, SandboxError
from sandbox.keeping import Keeping, keeping
from sandbox.mounts import refusals_told
from sandbox.needs import need_systemd
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
    parse_request,
)
from sandbox.wire import receive, refusal, send

_READY_SECONDS = 20.0
_TICK_SECONDS = 0.1
_QUIET_SECONDS = 0.004
"""How long nobody asks before ended units are tidied up: a runner that starts the next one comes first."""

Answer = tuple[dict[str, object], tuple[int, ...]]


def serve(channel: socket.socket, opening: Open, host_folder: Path, manager: str, outside: int) -> int:
    """Answer until the runner goes away; whatever is left then is ended and taken down."""
    with ExitStack() as stack:
        try:
            await_manager()
            bus = stack.enter_context(open_bus())
            with refusals_told(f"the state below {opening.state} cannot be used"):
                held = stack.enter_context(keeping(bus, opening, host_folder, manager, outside))
        except SandboxError as error:
            send(channel, refusal(error))
            return 1
        send(channel, {"facts": held.facts()})
        units = held.units
        while True:
            units.attend()
            ready = _ready((channel, bus, *units.handles()), _QUIET_SECONDS if units.is_untidy() else _TICK_SECONDS)
            if not ready:
                units.tidy()
            for handle in ready:
                if handle is channel and not _answer(channel, held):
                    return 0
                if isinstance(handle, socket.socket) and handle is not channel:
                    units.heed(handle)


def await_manager() -> None:
    """Wait until the manager answers; its socket is there before it has finished booting.

    Raises:
        BusError: it does not within 20 s.
        HostUnfitError: it is too old.
    """
    deadline = time.monotonic() + _READY_SECONDS
    while True:
        try:
            with open_bus() as bus:
                need_systemd(bus.version())
        except BusError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            return


def _ready(watched: tuple[socket.socket | Bus, ...], seconds: float) -> list[socket.socket | Bus]:
    """Wait until something came in; poll has no upper bound on descriptors, as select has."""
    poll = select.poll()
    for each in watched:
        poll.register(each, select.POLLIN)
    found = {number for number, _ in poll.poll(seconds * 1000)}
    return [each for each in watched if each.fileno() in found]


def _answer(channel: socket.socket, held: Keeping) -> bool:
    """Answer one request; tell whether the runner is still there."""
    try:
        received = receive(channel)
    except KeeperError as error:
        send(channel, refusal(error))
        return True
    if received is None:
        return False
    message, descriptors = received
    try:
        with refusals_told("the host refused"):
            answer, passed = _do(held, parse_request(message), descriptors)
    except SandboxError as error:
        send(channel, refusal(error))
        return True
    finally:
        for descriptor in descriptors:
            os.close(descriptor)
    try:
        send(channel, answer, passed)
    finally:
        for descriptor in passed:
            os.close(descriptor)
    return True


def _do(held: Keeping, request: Request, descriptors: list[int]) -> Answer:
    """Find who answers; every request has one."""
    match request:
        case OpenInspection():
            return held.open_inspection(request.workspace)
        case OpenGate():
            return held.open_gate(request.port)
        case Start():
            return held.start(request.spec)
        case _:
            return _do_alone(held, request, descriptors), ()


def _do_alone(
    held: Keeping, request: Has | Store | OpenWorkspace | CloseWorkspace | CloseGate | Open, descriptors: list[int]
) -> dict[str, object]:
    """Do what gives no descriptor back."""
    match request:
        case Has():
            return {"has": held.has(request.digest)}
        case Store():
            if len(descriptors) != 1:
                raise KeeperError(f"a tree to store comes as one pack, not {len(descriptors)}")
            return held.store(request.digest, descriptors[0])
        case OpenWorkspace():
            return held.open_workspace(request, descriptors)
        case CloseWorkspace():
            return held.close_workspace(request.workspace)
        case CloseGate():
            return held.close_gate(request.namespace)
        case Open():
            raise KeeperError("this keeper is open already")
