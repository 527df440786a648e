"""Laws of a program on its own: it outlives who started it, and its environment is nobody else's to read."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

from sandbox.bus import encode
from sandbox.detached import detach, detached_properties

ROOT = Path(__file__).parents[3]
SHOW = "import json, os, sys; print(json.dumps([dict(os.environ), sys.stdin.read(), os.getsid(0) == os.getpid()]))"
START = """
import os, signal, sys
from sandbox.detached import detach
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # tests may be started by nohup, which ignores it
log = os.open(sys.argv[1], os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
wait = "import time; print('begun', flush=True); time.sleep(0.5); print('ended', flush=True)"
print(detach([sys.executable, "-c", wait], {}, log=log, name="test").name, flush=True)
os.kill(0, 1)
"""


def words(log: Path, end: str) -> str:
    deadline = time.monotonic() + 20
    while not log.read_text().endswith(end):
        assert time.monotonic() < deadline, log.read_text()
        time.sleep(0.05)
    return log.read_text()


def test_it_has_the_environment_that_it_was_given_an_empty_input_and_a_session_of_its_own(tmp_path: Path) -> None:
    log = tmp_path / "log"
    descriptor = os.open(log, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
    environment = {"KEY": "secret", "LANG": "C.UTF-8"}
    started = detach([sys.executable, "-I", "-c", SHOW], environment, log=descriptor, name="test")
    os.close(descriptor)
    said, given, is_leader = json.loads(words(log, "\n"))
    assert (said.items() >= environment.items(), given, is_leader) == (True, "", True)
    assert "PYTEST_CURRENT_TEST" not in said
    deadline = time.monotonic() + 20
    while not started.ended():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_it_goes_on_when_the_terminals_processes_are_hung_up(tmp_path: Path) -> None:
    """The starter hangs up its whole process group, itself first, as a terminal that goes away does."""
    log = tmp_path / "log"
    command = [sys.executable, "-c", START, str(log)]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        start_new_session=True,
        env={"PYTHONPATH": str(ROOT)},
        timeout=20,
    )
    assert done.returncode == -1
    assert done.stdout.startswith(("process ", "test"))
    assert words(log, "ended\n") == "begun\nended\n"


def test_a_unit_gets_no_environment_and_no_property_of_another_type() -> None:
    properties = {each.name: each for each in detached_properties(("/usr/bin/python3", "-I", "-m", "x"), 7, 8)}
    assert all(encode(each.signature, each.value) for each in properties.values())
    assert "Environment" not in properties
    assert properties["StandardInputFileDescriptor"].value == 7
    assert properties["KillSignal"].value == 2
