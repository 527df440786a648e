"""The trusted side: runs an author's driver and tells the runner what it reports."""

import os
import runpy
import sys
import traceback
from pathlib import Path

from . import cleanroom_driver
from .node import become
from .wire import Wire, WireError

_DETAIL = 1500


def main() -> int:
    """Run the driver that the task names."""
    wire = Wire(os.dup(0), os.dup(1))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    task = wire.receive()
    if task["node"]:
        become("node_testing.mjs", wire, task)
    line = cleanroom_driver.LINE
    line.wire, line.message, line.changed = wire, task["message"], tuple(task["changed"])
    sys.modules["cleanroom_driver"] = cleanroom_driver
    sys.path += [str(Path(task["driver"]).parent), *task["toolchain"]]
    wire.send({"tell": "started"})
    try:
        runpy.run_path(task["driver"], run_name="__main__")
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever ends it early is told, and is never a pass
        trouble = traceback.format_exc(limit=-3)
        wire.send(
            {"tell": "trouble", "detail": f"{type(error).__name__}: {error}"[:_DETAIL], "log": trouble[-_DETAIL:]}
        )
        return 0
    try:
        wire.send({"tell": "done"})
    except WireError:
        return 1
    return 0
