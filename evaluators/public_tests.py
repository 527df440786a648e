"""The public test command over base + change, with the nomination's own public files laid on top.

It runs what the candidate could run too, and believes an exit status; submitted code can make it 0. What a
submission is worth is for hidden evaluators to say.
"""

from dataclasses import dataclass
from pathlib import PurePosixPath

from evaluators.errors import EvaluatorError
from evaluators.model import Bench, Submission
from evaluators.packing import laid_over
from evaluators.pytest_unit import import_folders
from sandbox import unit
from sandbox.api import LauncherReport, Pack, WorkspaceRequest
from sandbox.spec import PYTHON, WORKSPACE_ROOT, Role, UnitSpec
from sandbox.termination import Cause, Termination

PYTHON_PLACEHOLDER, NODE_PLACEHOLDER = "{python}", "{node}"


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicTests:
    """A nomination's public tests."""

    command: tuple[str, ...]
    """Run from the workspace root; `{python}` and `{node}` stand for the toolchain's program."""
    files: Pack
    """The nomination's public files, paths relative to the workspace root."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TestsResult:
    """How the command ended, and what it printed: kept privately, never read."""

    __test__ = False
    """It is no test class, whatever pytest makes of its name."""

    termination: Termination
    stdout: bytes
    stderr: bytes
    report: LauncherReport | None = None
    """What the unit's launcher saw."""

    @property
    def passed(self) -> bool:
        """Whether the command ended by itself with status 0."""
        return self.termination.succeeded


def run_public_tests(tests: PublicTests, submission: Submission, bench: Bench) -> TestsResult:
    """Run the public tests of a submission in a new workspace, without network and agent home.

    Raises:
        EvaluatorError, SandboxError: a fault.
    """
    change = laid_over(submission.change, tests.files)
    request = WorkspaceRequest(layers=submission.base, limits=bench.limits, lay=change)
    with bench.sandbox.workspace(request) as workspace:
        spec = UnitSpec(
            role=Role.TESTS,
            argv=filled(tests.command, bench),
            limits=bench.limits,
            environment=environment(bench),
            working_directory=WORKSPACE_ROOT,
            workspace=workspace,
            mounts=bench.toolchain,
        )
        result = unit.run(bench.sandbox, spec)
    end = result.termination
    if end.is_fault or end.cause is Cause.KILLED:
        raise EvaluatorError(f"the public tests' unit ended by {end.cause}: {end.detail}")
    return TestsResult(termination=end, stdout=result.stdout, stderr=result.stderr, report=result.report)


def filled(command: tuple[str, ...], bench: Bench) -> tuple[str, ...]:
    """Put programs in the place of what stands for them."""
    known = {PYTHON_PLACEHOLDER: PYTHON} | ({} if bench.node is None else {NODE_PLACEHOLDER: bench.node.program})
    for placeholder, program in known.items():
        command = tuple(part.replace(placeholder, program) for part in command)
    return command


def environment(bench: Bench) -> tuple[tuple[str, str], ...]:
    """Give what programs need to find the toolchain, and Python programs the submission."""
    if bench.node is not None:
        options = (("NODE_OPTIONS", " ".join(bench.node.options)),) if bench.node.options else ()
        return (("PATH", f"{PurePosixPath(bench.node.program).parent}:/usr/bin:/bin"), *options)
    folders = [*import_folders(bench), *bench.python_path]
    return (
        ("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1"),
        ("PYTHONDONTWRITEBYTECODE", "1"),
        ("PYTHONPATH", ":".join(folders)),
    )
