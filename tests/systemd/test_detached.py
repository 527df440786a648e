"""A detached program is a unit of a real manager: it gets its environment, and nobody reads that off the unit."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from sandbox.client import KeeperSandbox
from sandbox.host import machine_runs_systemd
from tests.flow.bench import await_
from tests.flow.traces import traces

pytestmark = pytest.mark.systemd

SHOW = (
    "import json, os, signal, sys; print(json.dumps([os.environ['KEY'], sys.stdin.read()]), flush=True); signal.pause()"
)
START = f"""
import os, sys
from sandbox.bus import open_bus
from sandbox.detached import detach
log = os.open(sys.argv[1], os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
started = detach([sys.executable, "-I", "-c", {SHOW!r}], {{"KEY": "secret"}}, log=log, name="cleanroom-pilot-test")
with open_bus() as bus:
    print(started.name, started.ended(), bus.property(started.name, "Environment", "as"))
"""
STOP = """
import time
from sandbox.bus import open_bus
with open_bus() as bus:
    bus.stop("cleanroom-pilot-test.service")
    while not bus.state("cleanroom-pilot-test.service").is_over:
        time.sleep(0.05)
"""


def beside_systemd(code: str, *words: str) -> str:
    """Run Python where PID 1 is systemd: here, or in the namespaces of the keeper's private one."""
    within: tuple[str, ...] = ()
    if not machine_runs_systemd():
        init = traces(os.getpid()).init.pid
        within = ("/usr/bin/nsenter", f"--target={init}", "--mount", "--pid", "--cgroup", "--")
    command = [*within, sys.executable, "-I", "-c", code, *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_root_gets_a_unit_whose_environment_nobody_reads_and_which_is_interrupted_by_its_stop(
    sandbox: KeeperSandbox, state: Path
) -> None:
    del sandbox
    log = state / "pilot.log"
    assert beside_systemd(START, str(log)) == "cleanroom-pilot-test.service False []\n"
    assert json.loads(await_(log.read_text, "its words")) == ["secret", ""]
    beside_systemd(STOP)
    assert "KeyboardInterrupt" in log.read_text()
