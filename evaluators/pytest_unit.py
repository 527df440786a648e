"""One run of pytest in a unit with submitted code: the harness is sent in, and its channel is read back."""

import base64
import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from evaluators.channel import Transcript, read_channel
from evaluators.errors import EvaluatorError
from evaluators.model import Bench
from evaluators.packing import pack_files
from evaluators.text import clean
from sandbox import unit
from sandbox.api import LauncherReport, WorkspaceRequest
from sandbox.spec import PYTHON, WORKSPACE_ROOT, Mount, Role, UnitSpec
from sandbox.termination import Cause, Termination

HARNESS = Path(__file__).with_name("pytest_harness.py")
HARNESS_IN_PLACE = Path(__file__).with_name("mutation_harness.py")
"""Needs the other one beside it."""
HARNESS_TARGET = "/opt/harness"

_KEY_BYTES = 32
_ENVIRONMENT = (("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1"),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """What pytest is to run."""

    harness: Mapping[str, bytes]
    """Its files by name; the first is started."""
    modules: tuple[str, ...]
    """Paths of `files`; of the workspace where there are none."""
    files: Mapping[str, bytes] = field(default_factory=dict)
    """Laid into a folder of their own."""
    plugins: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteRun:
    """What came of one run."""

    transcript: Transcript
    termination: Termination
    report: LauncherReport | None = None
    """What the unit's launcher saw."""
    printed: bytes = b""


def run_suite(suite: Suite, request: WorkspaceRequest, bench: Bench) -> SuiteRun:
    """Run a suite over a new workspace, within that workspace's limits.

    Raises:
        EvaluatorError, SandboxError: a fault, before submitted code started.
    """
    key = secrets.token_bytes(_KEY_BYTES)
    harness = bench.sandbox.store(pack_files(suite.harness))
    with bench.sandbox.workspace(request) as workspace:
        spec = UnitSpec(
            role=Role.SUBMITTED,
            argv=_argv(next(iter(suite.harness))),
            limits=request.limits,
            environment=(*_ENVIRONMENT, *bench.surroundings),
            workspace=workspace,
            mounts=(Mount(object=harness, target=HARNESS_TARGET), *bench.toolchain),
        )
        result = unit.run(bench.sandbox, spec, stdin=_task(suite, key, bench))
    run = SuiteRun(
        transcript=read_channel(result.stdout, key),
        termination=result.termination,
        report=result.report,
        printed=result.stderr,
    )
    check_it_started(run)
    return run


def import_folders(bench: Bench) -> tuple[str, ...]:
    """Give the folders that submitted code is imported from, as the unit sees them."""
    paths = bench.import_paths or (bench.root,)
    return tuple(WORKSPACE_ROOT if path == "." else f"{WORKSPACE_ROOT}/{path}" for path in paths)


def _task(suite: Suite, key: bytes, bench: Bench) -> bytes:
    task = {
        "key": key.hex(),
        "files": {path: base64.b64encode(content).decode() for path, content in suite.files.items()},
        "modules": list(suite.modules),
        "plugins": list(suite.plugins),
        "toolchain": list(bench.python_path),
        "imports": list(import_folders(bench)),
        "directory": WORKSPACE_ROOT,
    }
    return json.dumps(task).encode()


def _argv(harness: str) -> tuple[str, ...]:
    # -I and -S: no environment, no site folders, no working directory on the path; -B: no bytecode written.
    return (PYTHON, "-I", "-S", "-B", f"{HARNESS_TARGET}/{harness}")


def check_it_started(run: SuiteRun) -> None:
    """Refuse a run in which submitted code never had its turn.

    Raises:
        EvaluatorError: the manager failed, we ended the unit, or the harness did not reach the tests.
    """
    end = run.termination
    if end.is_fault or end.cause is Cause.KILLED:
        raise EvaluatorError(f"the suite's unit ended by {end.cause}: {end.detail}")
    if not run.transcript.started:
        said = clean(run.printed[-1000:].decode(errors="replace"))
        raise EvaluatorError(f"the harness did not start its suite: {said}")
