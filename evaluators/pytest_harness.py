"""Runs a hidden pytest suite inside a unit and tells the driver what happened. Loaded by path.

Standard input brings one JSON object: every path, the suite's files, the key of the result channel.
Standard output becomes the result channel before any submitted code is imported; what is printed goes to
standard error. A record is a 4-byte big-endian length, then an HMAC-SHA256 over an 8-byte sequence number
and the payload, then the payload: one JSON object. Submitted code shares this process: what it can forge
here, the twins are there to catch.
"""

import base64
import hashlib
import hmac
import importlib
import json
import os
import sys
import tempfile
from collections.abc import Callable, Generator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

_DETAIL_CHARACTERS = 1500
_DETAILS_BUDGET = 256 * 1024
_ID_CHARACTERS = 2000
_SEAL_BYTES = 32
_RETURNED_CHILD = 70

Send = Callable[[dict[str, object]], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What the driver wants run."""

    files: dict[str, str]
    """Path in the suite -> base64."""
    modules: list[str]
    plugins: list[str]
    toolchain: list[str]
    imports: list[str]
    directory: str


def read_task() -> tuple[Send, Task]:
    """Read the task and open the channel with its key; nothing returned holds the key itself."""
    fields = json.loads(sys.stdin.buffer.read())
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    key = bytes.fromhex(fields.pop("key"))
    return open_channel(key), Task(**fields)


def open_channel(key: bytes) -> Send:
    """Take standard output for records; from now on descriptor 1 is descriptor 2."""
    channel = os.dup(1)
    os.dup2(2, 1)
    fresh = hmac.new(key, digestmod=hashlib.sha256).copy
    owner, sequence = os.getpid(), 0

    def send(record: dict[str, object]) -> None:
        nonlocal sequence
        if os.getpid() != owner:
            # A forked child that came back into the suite has nothing to tell.
            os._exit(_RETURNED_CHILD)
        payload = json.dumps(record).encode()
        seal = fresh()
        seal.update(sequence.to_bytes(8, "big") + payload)
        frame = (len(payload) + _SEAL_BYTES).to_bytes(4, "big") + seal.digest() + payload
        sequence += 1
        while frame:
            frame = frame[os.write(channel, frame) :]

    return send


def lay_suite(files: dict[str, str]) -> Path:
    """Write the suite's files into a fresh folder and give its path."""
    folder = Path(tempfile.mkdtemp()).resolve()
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(base64.b64decode(content))
    return folder


def import_pytest(toolchain: list[str]) -> ModuleType:
    """Import pytest and the plugins it always loads, while bytecode may still be taken from where it lies."""
    sys.path += toolchain
    for name in getattr(importlib.import_module("_pytest.config"), "default_plugins", ()):
        importlib.import_module(f"_pytest.{name}")
    return importlib.import_module("pytest")


class Reporter:
    """A pytest plugin that sends every phase of every test the moment it ends."""

    def __init__(self, send: Send, hidden: Path) -> None:
        self._send = send
        self._left = _DETAILS_BUDGET
        self._calling = False
        self._places = (f"{os.path.relpath(hidden)}/", f"{hidden}/")

    def pytest_collectreport(self, report: "pytest.CollectReport") -> None:
        """Send why a module could not be collected."""
        if report.failed:
            self._send({"kind": "trouble", "detail": self._clip(report.longreprtext)})

    def pytest_collection_finish(self, session: "pytest.Session") -> None:
        """Send what will run, in order."""
        self._send({"kind": "collecting", "count": len(session.items)})
        for item in session.items:
            self._send({"kind": "collected", "id": item.nodeid[:_ID_CHARACTERS]})

    def pytest_runtest_call(self) -> Generator[None]:
        """Remember that a test is at work: reports made meanwhile are of its subtests."""
        self._calling = True
        try:
            return (yield)
        finally:
            self._calling = False

    def pytest_runtest_makereport(
        self, item: "pytest.Item", call: "pytest.CallInfo[None]"
    ) -> Generator[None, "pytest.TestReport", "pytest.TestReport"]:
        """Send the outcome of one phase."""
        report = yield
        self._send(
            {
                "kind": "phase",
                "id": item.nodeid[:_ID_CHARACTERS],
                "when": call.when,
                "part": self._calling,
                "outcome": report.outcome,
                "expected_failure": hasattr(report, "wasxfail"),
                "raised": call.excinfo is not None,
                "ms": int(call.duration * 1000),
                "detail": "" if report.outcome == "passed" else self._clip(report.longreprtext),
            }
        )
        return report

    def _clip(self, text: str) -> str:
        for place in self._places:
            text = text.replace(place, "")
        clipped = text[-_DETAIL_CHARACTERS:][: self._left]
        self._left -= len(clipped)
        return clipped


def arguments(hidden: Path, task: Task) -> list[str]:
    """Give pytest's arguments: no configuration, plugin or conftest but the suite's own."""
    return [
        *("-c", os.devnull, "--rootdir", str(hidden), "--confcutdir", str(hidden)),
        *("--import-mode=importlib", "-p", "no:cacheprovider", "-q", "--tb=short", "--color=no"),
        *(argument for plugin in task.plugins for argument in ("-p", plugin)),
        *(str(hidden / module) for module in task.modules),
    ]


def main() -> None:
    """Run the suite; never return into anything that submitted code could have left for the end."""
    send, task = read_task()
    for name in [name for name in os.environ if name.startswith(("PYTEST_", "PYTHON"))]:
        del os.environ[name]
    # This interpreter ignores them (-I); programs that tests start need them.
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    os.environ["PYTHONPATH"] = os.pathsep.join([*task.imports, *task.toolchain])
    runner = import_pytest(task.toolchain)
    for hook in (Reporter.pytest_runtest_call, Reporter.pytest_runtest_makereport):
        runner.hookimpl(wrapper=True, tryfirst=True)(hook)
    hidden = lay_suite(task.files)
    os.chdir(task.directory)
    reporter = Reporter(send, hidden)
    send({"kind": "started"})
    # From here on no bytecode is read but what the interpreter has: a submitted .pyc need not be its source.
    sys.pycache_prefix = os.environ["PYTHONPYCACHEPREFIX"] = str(hidden / "bytecode")
    # Submitted folders come last, so that nothing in them stands before pytest or the standard library.
    sys.path += [str(hidden), *task.imports]
    status = runner.main(arguments(hidden, task), plugins=[reporter])
    send({"kind": "finished", "status": int(status)})
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
