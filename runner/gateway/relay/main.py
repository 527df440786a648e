"""The gateway's program: standard input is a SOCK_SEQPACKET socket to the runner; its end ends it."""

import socket
import sys
import threading
import traceback
from dataclasses import dataclass, field
from typing import cast

from .attempt import Attempt
from .control import Control, die
from .shelf import Shelf
from .taping import recorder
from .terms import Json, TermsError, parse_terms
from .upstream import open_client


@dataclass(slots=True)
class Gateway:
    """The attempts being served, by name."""

    control: Control
    attempts: dict[str, Attempt] = field(default_factory=dict)

    def take(self, packet: Json, descriptors: list[int]) -> None:
        """Do what one packet of the runner asks."""
        match packet.get("do"), descriptors:
            case "open", [_, *_]:
                self._open(packet, descriptors)
            case "close", []:
                attempt = self.attempts.pop(str(packet["attempt"]))
                threading.Thread(target=attempt.close, daemon=True).start()
            case "taken", []:
                self.control.acknowledged(str(packet["attempt"]), int(str(packet["sequence"])))
            case other, _:
                raise TermsError(f"unknown request {other!r}")

    def _open(self, packet: Json, descriptors: list[int]) -> None:
        """Serve an attempt: `passed` names its descriptors, of which only the listener is always there."""
        passed = dict(zip(cast("list[str]", packet["passed"]), descriptors, strict=True))
        listener = socket.socket(fileno=passed["listener"])
        listener.settimeout(None)
        terms = parse_terms(packet)
        attempt = Attempt(
            terms=terms,
            listener=listener,
            client=open_client(terms),
            control=self.control,
            recorder=recorder(passed.get("recording"), terms.credential),
            shelf=Shelf(passed["replayed"]) if "replayed" in passed else None,
        )
        self.attempts[terms.attempt] = attempt
        self.control.send({"say": "opened", "attempt": terms.attempt})
        threading.Thread(target=attempt.serve, daemon=True).start()


def main() -> int:
    """Serve until the runner hangs up."""
    threading.excepthook = _die_of
    gateway = Gateway(Control(socket.socket(fileno=0)))
    gateway.control.send({"say": "ready"})
    try:
        while (received := gateway.control.receive()) is not None:
            gateway.take(*received)
    except (TermsError, ValueError, KeyError, OSError) as error:
        # Never the packet itself: it may hold a key.
        die(f"{type(error).__name__}: {error}")
    return 0


def _die_of(failed: threading.ExceptHookArgs) -> None:
    # A thread that failed has a fault in it; a gateway that may miss lines must not go on.
    traceback.print_exception(failed.exc_type, failed.exc_value, failed.exc_traceback, file=sys.stderr)
    die("a thread failed")
