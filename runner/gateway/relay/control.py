"""The one line to the runner: JSON packets, descriptors with them, and acknowledgements back."""

import array
import json
import os
import socket
import sys
import threading
from dataclasses import dataclass, field
from typing import NoReturn

from .terms import Json

PACKET_LIMIT = 128 << 10
FAULT_STATUS = 70


@dataclass(slots=True)
class Control:
    """Sends packets whole and in order; waits for the runner to have taken a ledger line."""

    line: socket.socket
    patience_s: float = 30.0
    _send: threading.Lock = field(default_factory=threading.Lock)
    _waiting: dict[tuple[str, int], threading.Event] = field(default_factory=dict)

    def send(self, packet: Json) -> None:
        """Send one packet; a runner that is gone ends this program."""
        try:
            with self._send:
                self.line.sendall(json.dumps(packet).encode())
        except OSError as error:
            die(f"the runner is gone: {error}")

    def settle(self, attempt: str, line: Json) -> None:
        """Send a ledger line and return once the runner has it."""
        key = (attempt, int(str(line["sequence"])))
        taken = self._waiting[key] = threading.Event()
        self.send({"say": "line", "attempt": attempt, "line": line})
        if not taken.wait(self.patience_s):
            die(f"the runner did not take ledger line {key[1]} of {attempt}")
        del self._waiting[key]

    def acknowledged(self, attempt: str, sequence: int) -> None:
        """Note that the runner has a line."""
        taken = self._waiting.get((attempt, sequence))
        if taken is not None:
            taken.set()

    def receive(self) -> tuple[Json, list[int]] | None:
        """Wait for a packet and the descriptors that came with it; None when the runner has hung up."""
        room = socket.CMSG_SPACE(4 * 4)
        data, ancillary, flags, _ = self.line.recvmsg(PACKET_LIMIT, room, socket.MSG_CMSG_CLOEXEC)
        passed = _descriptors(ancillary)
        if not data:
            return None
        if flags & (socket.MSG_TRUNC | socket.MSG_CTRUNC):
            die("a packet of the runner was too long")
        return json.loads(data), passed


def _descriptors(ancillary: list[tuple[int, int, bytes]]) -> list[int]:
    passed = array.array("i")
    for level, kind, data in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            passed.frombytes(data[: len(data) - len(data) % passed.itemsize])
    return list(passed)


def die(why: str) -> NoReturn:
    """End this program at once: a fault, which the runner sees as the unit's end."""
    sys.stderr.write(f"gateway: {why}\n")
    sys.stderr.flush()
    os._exit(FAULT_STATUS)
