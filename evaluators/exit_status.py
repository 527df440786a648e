"""Evaluator `command` with `argv`: a program over the submission, believed by its exit status alone.

Submitted code that is run by it can end with status 0 whenever it likes. Verdicts say so (`exit_code`), and lint warns.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal

from evaluators.digests import digest_of, file_digests
from evaluators.errors import EvaluatorError, OptionError
from evaluators.model import Assurance, Bench, Case, EvaluatorSpec, Submission, Verdict, VerdictCause
from evaluators.options import as_values, is_relative, read_wall, refuse_unknown
from evaluators.packing import laid_over, pack_files
from evaluators.private_files import read_folder_files
from evaluators.public_tests import NODE_PLACEHOLDER, PYTHON_PLACEHOLDER, environment, filled
from evaluators.text import clean
from sandbox import unit
from sandbox.api import WorkspaceRequest
from sandbox.spec import Role, UnitSpec
from sandbox.termination import Cause, Termination
from sandbox.unit import UnitResult

CASE = "exit status"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExitStatus:
    """A command, and the private files that are laid over the submission for it."""

    spec: EvaluatorSpec
    argv: tuple[str, ...]
    files: Mapping[str, bytes]
    """By their place in the workspace."""
    wall: timedelta | None = None

    @property
    def id(self) -> str:
        """Name in the nomination."""
        return self.spec.id

    def digest(self) -> str:
        """SHA-256 over options and private files."""
        whole = {
            "kind": self.spec.kind,
            "options": as_values(self.spec.options),
            "files": file_digests(self.files),
        }
        return digest_of(whole)

    def expected_cases(self) -> tuple[str, ...]:
        """One case: how the command ends."""
        return (CASE,)

    def judge(self, submission: Submission, bench: Bench) -> Verdict:
        """Judge one submission.

        Raises:
            EvaluatorError, SandboxError: a fault, before submitted code started.
        """
        result = run_command(self, submission, bench)
        verdict = rule(result.termination)
        return replace(verdict, report=result.report, private_log=result.stdout + result.stderr)


def run_command(command: ExitStatus, submission: Submission, bench: Bench) -> UnitResult:
    """Run a command over one submission.

    Raises:
        EvaluatorError, SandboxError: a fault, before submitted code started.
    """
    limits = bench.limits if command.wall is None else replace(bench.limits, wall=command.wall)
    change = laid_over(submission.change, pack_files(command.files))
    request = WorkspaceRequest(layers=submission.base, limits=limits, lay=change)
    with bench.sandbox.workspace(request) as workspace:
        spec = UnitSpec(
            role=Role.SUBMITTED,
            argv=filled(command.argv, bench),
            limits=limits,
            environment=(*environment(bench), *bench.surroundings),
            workspace=workspace,
            mounts=bench.toolchain,
        )
        result = unit.run(bench.sandbox, spec)
    if result.termination.is_fault or result.termination.cause is Cause.KILLED:
        raise EvaluatorError(f"the command's unit ended by {result.termination.cause}: {result.termination.detail}")
    return result


def rule(end: Termination) -> Verdict:
    """Judge how the command ended. Pure."""
    passed = end.succeeded
    how = end.cause.value if end.status is None else f"{end.cause.value} {end.status}"
    cause = {Cause.EXIT: VerdictCause.FAILED, Cause.TIMEOUT: VerdictCause.TIMEOUT}.get(end.cause, VerdictCause.CRASHED)
    return Verdict(
        cause=VerdictCause.PASSED if passed else cause,
        assurance=Assurance.EXIT_CODE,
        cases=(Case(id=CASE, passed=passed, detail="" if passed else how, ms=end.usage.wall_ms),),
        score=Decimal(passed),
        detail=clean(f"the command ended by {how}"),
        duration_ms=end.usage.wall_ms,
    )


def build_exit_status(spec: EvaluatorSpec, frozen: object = None) -> ExitStatus:
    """Read the options of kind `command` with `argv`.

    Raises:
        EvaluatorError: options or files are not what they must be.
    """
    if frozen is not None:
        raise EvaluatorError(f"evaluator {spec.id}: a calibration, which {spec.kind} has none of")
    refuse_unknown(spec, {"argv", "files", "wall_s"})
    argv = read_argv(spec)
    return ExitStatus(
        spec=spec,
        argv=argv,
        files=dict(_laid(spec)),
        wall=read_wall(spec),
    )


def read_argv(spec: EvaluatorSpec) -> tuple[str, ...]:
    """Read a command, which begins with an absolute path, `{python}` or `{node}`."""
    value = spec.options.get("argv")
    argv = tuple(each for each in value if isinstance(each, str)) if isinstance(value, list | tuple) else ()
    if not argv or not isinstance(value, list | tuple) or len(argv) != len(value):
        raise OptionError(evaluator=spec.id, field="argv", found=repr(value), expected="a list of texts")
    if argv[0] not in {PYTHON_PLACEHOLDER, NODE_PLACEHOLDER} and not argv[0].startswith("/"):
        expected = f"{PYTHON_PLACEHOLDER}, {NODE_PLACEHOLDER} or an absolute path first"
        raise OptionError(evaluator=spec.id, field="argv", found=argv[0], expected=expected)
    return argv


def _laid(spec: EvaluatorSpec) -> dict[str, bytes]:
    table = spec.options.get("files", {})
    known = read_folder_files(spec.folder) if table else {}
    if not isinstance(table, Mapping):
        raise OptionError(evaluator=spec.id, field="files", found=repr(table), expected="a table of paths")
    for place, path in table.items():
        if not isinstance(path, str) or path not in known or not is_relative(str(place)):
            expected = "a place in the workspace -> a file of private/"
            raise OptionError(evaluator=spec.id, field=f"files.{place}", found=repr(path), expected=expected)
    return {str(place): known[path] for place, path in table.items()}
