"""Stands in a line in its own process, until it is interrupted."""

import signal
import sys
from pathlib import Path

from runner.documents.ticket import Selection
from runner.running.line import Draft, Line

# A shell that starts a test run in the background has it ignore interrupts, and children inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
folder, token = sys.argv[1:]
selection = Selection(candidates=(), nominations=(), attempt=None)
draft = Draft(
    token=f"{int(token):016x}", release="bench-1", store=Path("/store"), selection=selection, asked_ms=int(token)
)
try:
    with Line(folder=Path(folder)).place(draft):
        print("standing", flush=True)  # noqa: T201 - to be read
        signal.pause()
except KeyboardInterrupt:
    print("interrupted", flush=True)  # noqa: T201 - to be read
