"""Where calls are timed: a fresh unit for each, in a workspace of its own, and never two of them at once.

Whatever a call left behind, in files, memory or processes, is gone before the next one is made. Nothing of a candidate
lives while the baseline is timed.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

from evaluators.driven import SIDE_TARGET, read_side, side_argv, submitted_task
from evaluators.errors import BaselineError
from evaluators.interview import Interview, interview
from evaluators.model import Bench, Submission
from evaluators.packing import pack_files
from evaluators.speed_calls import Call, Failure, Oracle, Plan, call, opening, timed
from evaluators.speed_options import SpeedOptions
from evaluators.split_frames import Frame, FrameError, Frames, write_frame
from evaluators.text import clean
from sandbox import unit
from sandbox.api import LauncherReport, Pack, WorkspaceRequest
from sandbox.spec import MIB, Limits, Mount, ObjectId, Role, UnitSpec

SPEED_SIDE = Path(__file__).with_name("speed_side")
PLAN_TARGET = "/opt/plan"
_PLAN_BYTES = 256 * MIB


def read_programs() -> dict[str, bytes]:
    """Read the programs of all sides, by their place in the pack."""
    own = {f"sides/speed_side/{path.name}": path.read_bytes() for path in sorted(SPEED_SIDE.glob("*.py"))}
    return (
        {"sides/__init__.py": b""}
        | own
        | {f"sides/split_side/{name}": data for name, data in read_side().items() if name.endswith(".py")}
    )


def program(programs: dict[str, bytes], name: str) -> Pack:
    """Give a pack that runs one of them."""
    start = f"from sides.speed_side.{name} import main\n\nraise SystemExit(main())\n".encode()
    return pack_files({"__main__.py": start} | programs)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stand:
    """A clean room set up for timing one function."""

    bench: Bench
    options: SpeedOptions
    side: ObjectId

    @property
    def limits(self) -> Limits:
        """The ceilings of each unit."""
        return replace(self.bench.limits, wall=self.options.wall or self.bench.limits.wall)

    def ask(self, tree: Submission, calls: Sequence[bytes], within: timedelta | None = None) -> Interview:
        """Ask a tree's function in a fresh unit.

        Raises:
            EvaluatorError, SandboxError: a fault, before submitted code started.
        """
        sandbox, limits, bench = self.bench.sandbox, self.limits, self.bench
        request = WorkspaceRequest(layers=tree.base, limits=limits, lay=tree.change)
        task = write_frame({**submitted_task(bench), "node": []})
        with sandbox.workspace(request) as workspace:
            spec = UnitSpec(
                role=Role.SUBMITTED,
                argv=side_argv(),
                limits=limits,
                environment=bench.surroundings,
                workspace=workspace,
                mounts=(Mount(object=self.side, target=SIDE_TARGET), *bench.toolchain),
            )
            first, *others = opening(self.options.function)
            return interview(sandbox, spec, (task + first, *others, *calls), within=within)

    def time(self, tree: Submission, args: object, within: timedelta | None = None) -> tuple[Call | Failure, Interview]:
        """Time one call.

        Raises:
            EvaluatorError, SandboxError: as `ask`.
        """
        found = self.ask(tree, (call(args),), within)
        return timed(found, self.options.clock), found

    def check(self, tree: Submission, oracle: Sequence[Oracle]) -> Interview:
        """Ask for every oracle case in one process.

        Raises:
            EvaluatorError, SandboxError: as `ask`.
        """
        return self.ask(tree, [call(each.args, after=self.options.pure) for each in oracle])


def read_plan(
    bench: Bench, options: SpeedOptions, programs: dict[str, bytes], files: dict[str, bytes]
) -> tuple[Plan, LauncherReport]:
    """Run an author's plan in a unit of its own, which no submitted code ever reaches.

    Raises:
        BaselineError: it tells no plan.
        SandboxError: a fault.
    """
    sandbox = bench.sandbox
    spec = UnitSpec(
        role=Role.DRIVER,
        argv=side_argv(),
        limits=replace(bench.limits, output_bytes=_PLAN_BYTES),
        environment=bench.surroundings,
        working_directory="/tmp",  # noqa: S108 - the unit's own
        mounts=(
            Mount(object=sandbox.store(program(programs, "planning")), target=SIDE_TARGET),
            Mount(object=sandbox.store(pack_files(files)), target=PLAN_TARGET),
            *bench.toolchain,
        ),
    )
    seeds = [*options.seeds]
    task = {"plan": f"{PLAN_TARGET}/{options.plan}", "toolchain": list(bench.python_path), "seeds": seeds}
    result = unit.run(sandbox, spec, stdin=write_frame(task))
    return plan_of(result.stdout, len(seeds)), result.report


def plan_of(told: bytes, inputs: int) -> Plan:
    """Read what an author's plan told. Pure.

    Raises:
        BaselineError: it is not whole.
    """
    try:
        frames: list[Frame] = list(Frames().take(told))
    except FrameError as error:
        raise BaselineError(f"the plan told {error}") from error
    if not frames or frames[-1].get("tell") != "done":
        why = frames[-1].get("detail", "it ended early") if frames else "it ended early"
        raise BaselineError(f"the plan is not whole: {clean(str(why))}")
    plan = Plan(
        oracle=tuple(
            Oracle(args=each["args"], expected=each["expected"]) for each in frames if each["tell"] == "oracle"
        ),
        inputs=tuple(each["args"] for each in frames if each["tell"] == "input"),
    )
    if not plan.oracle or len(plan.inputs) != inputs:
        raise BaselineError("the plan has no oracle case")
    return plan
