"""Programs that fail while their children refuse to die: the failure is the program's own, never a fault of ours."""

from datetime import timedelta

import pytest

from sandbox.client import KeeperSandbox
from sandbox.spec import MIB, PYTHON, Limits, Role, UnitSpec
from sandbox.termination import Cause
from sandbox.unit import run

pytestmark = pytest.mark.systemd

LIMITS = Limits(wall=timedelta(seconds=10), memory_bytes=256 * MIB, tmp_bytes=8 * MIB)
STUBBORN = (
    "import os, signal, time\n"
    "for _ in range(5):\n"
    "    if os.fork() == 0:\n"
    "        signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
    "        os.setsid()\n"
    "        time.sleep(60)\n"
    "time.sleep(0.2)\n"
)


@pytest.mark.parametrize(
    ("end", "cause", "status"),
    [
        pytest.param("raise SystemExit(3)", Cause.EXIT, 3, id="exit"),
        pytest.param("raise SystemExit(203)", Cause.EXIT, 203, id="a-status-of-systemds"),
        pytest.param("os.kill(os.getpid(), signal.SIGKILL)", Cause.SIGNAL, 9, id="kill"),
        pytest.param("os.abort()", Cause.SIGNAL, 6, id="abort"),
        pytest.param("pass", Cause.EXIT, 0, id="success"),
    ],
)
def test_children_that_ignore_their_end_do_not_hide_how_the_program_ended(
    sandbox: KeeperSandbox, end: str, cause: Cause, status: int
) -> None:
    spec = UnitSpec(role=Role.TESTS, argv=(PYTHON, "-I", "-S", "-c", STUBBORN + end), limits=LIMITS)
    found = run(sandbox, spec).termination
    assert (found.cause, found.status) == (cause, status)
