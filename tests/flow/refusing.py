"""Runs one unit in a clean room and tells how that went, for tests alone: `python refusing.py STATE`.

Its program makes a file in the state folder, which stands open to everybody: only in a unit without walls could it.
"""

import json
import sys
from datetime import timedelta
from pathlib import Path

from sandbox.errors import SandboxError
from sandbox.spec import MIB, Limits, Role, UnitSpec
from sandbox.unit import run
from tests.systemd.conftest import patiently

LIMITS = Limits(wall=timedelta(seconds=20), memory_bytes=64 * MIB, disk_bytes=16 * MIB, disk_inodes=2000)


def main(state: Path) -> dict[str, object]:
    """Run it."""
    argv = ("/usr/bin/touch", str(state / "ran"))
    try:
        with patiently(state) as sandbox:
            ended = run(sandbox, UnitSpec(role=Role.TESTS, argv=argv, limits=LIMITS))
    except SandboxError as error:
        return {"refused": type(error).__name__, "said": str(error)}
    return {"refused": None, "said": ended.stderr.decode(errors="replace")}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(Path(sys.argv[1]))))
