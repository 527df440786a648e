"""Evaluators `checks` and `command`: an author's driver on the trusted side, submitted code in another unit.

`checks` weighs named checks; `command` wants all of its cases. Both reach the submission through `cleanroom_driver`
alone (evaluators/split_side), so that expected values never stand where submitted code runs.
"""

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

from evaluators.digests import digest_of, file_digests
from evaluators.driven_ruling import Scale, refuse, rule
from evaluators.errors import EvaluatorError, OptionError
from evaluators.exit_status import ExitStatus, build_exit_status
from evaluators.model import Bench, EvaluatorSpec, Submission, Verdict
from evaluators.options import as_values, read_fraction, read_path, read_texts, read_wall, read_weights, refuse_unknown
from evaluators.packing import pack_files
from evaluators.private_files import read_folder_files
from evaluators.public_tests import environment
from evaluators.pytest_unit import import_folders
from evaluators.split import Conversation, Side, converse
from evaluators.split_frames import LONGEST, Frame
from evaluators.submitted_files import Absent, read_submitted
from sandbox.api import Pack, WorkspaceRequest
from sandbox.spec import AGENT_HOME, KIB, MIB, PYTHON, WORKSPACE_ROOT, Limits, Mount, Role, UnitSpec

SIDE = Path(__file__).with_name("split_side")
SIDE_TARGET = "/opt/side"
DRIVER_TARGET = "/opt/driver"

VERSION = 2
"""Raised when the same conversation may be judged otherwise."""

_PROGRAMS = (("PATH", "/usr/bin:/bin"), ("HOME", AGENT_HOME), ("LANG", "C.UTF-8"))
"""What programs of a submission start with."""

_MOST_READ = 8 * MIB
_LONGEST_TASK = LONGEST - 1024
_LONGEST_ARGUMENT = 128 * KIB - 1024
"""Of a task that Node's driver is given as an argument; Linux takes 128 KiB (MAX_ARG_STRLEN)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Driven:
    """A driver, its private files, and what its cases are worth."""

    spec: EvaluatorSpec
    program: str
    scale: Scale
    files: Mapping[str, bytes]
    side: Mapping[str, bytes]
    wall: timedelta | None = None
    tests: tuple[str, ...] = ()
    """Modules of hidden tests that Node runs on the trusted side; none: `program` is the driver."""
    tools: bool = False
    """Whether the driver works with our own pinned programs."""
    helm: bool = False
    """Whether the host's Helm is beside the submission."""

    @property
    def id(self) -> str:
        """Name in the nomination."""
        return self.spec.id

    def digest(self) -> str:
        """SHA-256 over both sides' programs, private files and options."""
        whole = {
            "kind": self.spec.kind,
            "version": VERSION,
            "side": file_digests(self.side),
            "files": file_digests(self.files),
            "options": as_values(self.spec.options),
        }
        return digest_of(whole)

    def expected_cases(self) -> tuple[str, ...]:
        """Ids of the declared cases, in order."""
        return tuple(self.scale.weights)

    def judge(self, submission: Submission, bench: Bench) -> Verdict:
        """Judge one submission.

        Raises:
            EvaluatorError, SandboxError: a fault, before submitted code started.
        """
        if len(json.dumps(self._driver_task(submission, bench))) > (_LONGEST_ARGUMENT if self.tests else _LONGEST_TASK):
            return refuse(self.scale, "its changed paths and final message are more than a driver can be told of")
        if (self.tools and not bench.tools) or (self.helm and not bench.helm):
            missing = "the pinned tools are" if self.tools and not bench.tools else "Helm is"
            raise EvaluatorError(f"evaluator {self.id}: {missing} not at hand; kind helm runs the program of $HELM")
        talk = self.converse(submission, bench)
        return replace(
            rule(self.scale, talk),
            duration_ms=talk.driver.usage.wall_ms,
            report=talk.submitted_report,
            driver_report=talk.driver_report,
            private_log=talk.driver_log + talk.submitted_log,
        )

    def converse(self, submission: Submission, bench: Bench) -> Conversation:
        """Let the driver have its conversation with a submission.

        Raises:
            EvaluatorError, SandboxError: a fault, before submitted code started.
        """
        sandbox, limits = bench.sandbox, self._limits(bench.limits)
        request = WorkspaceRequest(layers=submission.base, limits=limits, lay=submission.change)
        with sandbox.workspace(request) as workspace:
            below = UnitSpec(
                role=Role.SUBMITTED,
                argv=side_argv(),
                limits=limits,
                environment=bench.surroundings,
                workspace=workspace,
                mounts=(
                    Mount(object=sandbox.store(self._pack("serving")), target=SIDE_TARGET),
                    *bench.toolchain,
                    *(bench.helm if self.helm else ()),
                ),
            )
            above = UnitSpec(
                role=Role.DRIVER,
                argv=side_argv(),
                limits=limits,
                environment=bench.surroundings,
                working_directory="/tmp",  # noqa: S108 - the unit's own
                mounts=(
                    Mount(object=sandbox.store(self._pack("driving")), target=SIDE_TARGET),
                    Mount(object=sandbox.store(pack_files(self.files)), target=DRIVER_TARGET),
                    *bench.toolchain,
                    *(bench.tools if self.tools else ()),
                ),
            )
            return converse(
                sandbox,
                Side(spec=above, task=self._driver_task(submission, bench)),
                Side(spec=below, task=submitted_task(bench)),
                lambda question: _content(submission, question),
            )

    def _pack(self, program: str) -> Pack:
        start = f"from split_side.{program} import main\n\nraise SystemExit(main())\n".encode()
        return pack_files({"__main__.py": start} | {f"split_side/{name}": data for name, data in self.side.items()})

    def _limits(self, limits: Limits) -> Limits:
        return replace(limits, wall=self.wall or limits.wall)

    def _driver_task(self, submission: Submission, bench: Bench) -> Frame:
        return {
            "driver": f"{DRIVER_TARGET}/{self.program}",
            "toolchain": [*(each.target for each in bench.tools if self.tools), *bench.python_path],
            "node": _node(bench) if self.tests else [],
            "tests": [f"{DRIVER_TARGET}/{name}" for name in self.tests],
            "environment": dict((*_PROGRAMS, ("HOME", "/tmp"), *bench.surroundings)),  # noqa: S108 - the unit's own
            "message": submission.final_message,
            "changed": sorted(entry.path.decode("utf-8", "replace") for entry in submission.change.entries),
        }


def side_argv() -> tuple[str, ...]:
    """Give the program of either side."""
    # -I and -S: no environment, no site folders, no working directory on the path; -B: no bytecode written.
    return (PYTHON, "-I", "-S", "-B", SIDE_TARGET)


def submitted_task(bench: Bench) -> Frame:
    """Give what the program of a submitted side is told first."""
    return {
        "harness": SIDE_TARGET,
        "toolchain": list(bench.python_path),
        "imports": list(import_folders(bench)),
        "node": _node(bench),
        "directory": WORKSPACE_ROOT,
        "environment": dict((*_PROGRAMS, *environment(bench), *bench.surroundings)),
    }


def _node(bench: Bench) -> list[str]:
    return [] if bench.node is None else [bench.node.program]


def _content(submission: Submission, question: Frame) -> Frame:
    """Answer a driver that wants to read a file, from what was captured."""
    path = question.get("path")
    found = read_submitted(submission, path, _MOST_READ) if isinstance(path, str) else Absent.MISSING
    return {"content": None if isinstance(found, Absent) else base64.b64encode(found).decode("ascii")}


def read_side() -> dict[str, bytes]:
    """Read the programs of both sides."""
    return {path.name: path.read_bytes() for path in sorted(SIDE.iterdir()) if path.suffix in {".py", ".mjs"}}


def build_checks(spec: EvaluatorSpec, frozen: object = None) -> Driven:
    """Read the options of kind `checks`.

    Raises:
        EvaluatorError: options or files are not what they must be.
    """
    refuse_unknown(spec, {"script", "weights", "pass_threshold", "wall_s"})
    scale = Scale(weights=read_weights(spec, "weights"), threshold=read_fraction(spec, "pass_threshold", "1"))
    return _built(spec, frozen, "script", scale)


def build_command(spec: EvaluatorSpec, frozen: object = None) -> Driven | ExitStatus:
    """Read the options of kind `command`: a program of the trusted side, or `argv`, believed by its exit status.

    Raises:
        EvaluatorError: options or files are not what they must be.
    """
    if "argv" in spec.options:
        return build_exit_status(spec, frozen)
    refuse_unknown(spec, {"program", "cases", "wall_s"})
    cases = read_texts(spec, "cases")
    if not cases:
        raise OptionError(evaluator=spec.id, field="cases", found="none", expected="the names of its cases")
    return _built(spec, frozen, "program", Scale(weights=dict.fromkeys(cases, 1)))


def _built(spec: EvaluatorSpec, frozen: object, field: str, scale: Scale) -> Driven:
    if frozen is not None:
        raise EvaluatorError(f"evaluator {spec.id}: a calibration, which {spec.kind} has none of")
    program, files = read_path(spec, field), read_folder_files(spec.folder)
    if program not in files:
        raise OptionError(evaluator=spec.id, field=field, found=program, expected="a file of private/")
    return Driven(
        spec=spec,
        program=program,
        scale=scale,
        files=files,
        side=read_side(),
        wall=read_wall(spec),
    )
