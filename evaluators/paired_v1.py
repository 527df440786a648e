"""Evaluator `speedup`, protocol `paired-v1`: baseline and candidate in one process, behind a rule over their syntax.

It is what other benchmarks use, and its assurance is `in_process`. The rule about outcomes is ours: once the baseline
has passed its oracle, no result is the candidate's failure.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from secrets import token_hex

from evaluators.driven import SIDE_TARGET, side_argv
from evaluators.errors import BaselineError, EvaluatorError, OptionError
from evaluators.machine import load_now, machine
from evaluators.model import Assurance, Bench, Case, EvaluatorSpec, Submission, Verdict, VerdictCause
from evaluators.packing import NOTHING
from evaluators.paired_v2 import speed_digest
from evaluators.speed_calls import Failure, Plan
from evaluators.speed_options import Protocol, SpeedOptions
from evaluators.speed_ruling import bucket_of, check_pairs, median
from evaluators.speed_side import policy
from evaluators.speed_stand import program, read_plan
from evaluators.speed_values import Machine, Measurement, Pair
from evaluators.speed_verdict import Judged, speed_verdict
from evaluators.split_frames import Frame, FrameError, Frames, write_frame
from evaluators.submitted_files import Absent, read_submitted
from evaluators.text import clean
from sandbox import unit
from sandbox.spec import MIB, Mount, Role, UnitSpec
from sandbox.termination import Cause, Termination

VERSION = 1
"""Raised when the same times may be judged otherwise."""

_MOST_SOURCE = MIB


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedV1:
    """What is timed, its plan, and what a speed-up is worth."""

    spec: EvaluatorSpec
    options: SpeedOptions
    files: Mapping[str, bytes]
    programs: Mapping[str, bytes]

    @property
    def id(self) -> str:
        """Name in the nomination."""
        return self.spec.id

    def digest(self) -> str:
        """SHA-256 over the programs inside the unit, private files and options."""
        return speed_digest(self.spec, VERSION, self.files, self.programs)

    def expected_cases(self) -> tuple[str, ...]:
        """The oracle, purity, and one case a bucket."""
        return Judged(options=self.options).expected()

    def judge(self, submission: Submission, bench: Bench) -> Verdict:
        """Judge one submission.

        Raises:
            BaselineError: the base has no such file, or is wrong.
            EvaluatorError, SandboxError: another fault, before submitted code started.
        """
        if bench.node is not None:
            raise EvaluatorError(f"evaluator {self.id}: only Python can be timed")
        judged, load = Judged(options=self.options), load_now()
        baseline = self._sources(replace(submission, change=NOTHING))
        candidate = self._sources(submission)
        if isinstance(baseline, Failure):
            raise BaselineError(f"the baseline: {baseline.detail}")
        if isinstance(candidate, Failure):
            return replace(speed_verdict(judged, cases=(), failure=candidate), assurance=Assurance.IN_PROCESS)
        plan, driver = read_plan(bench, self.options, dict(self.programs), dict(self.files))
        nonce = token_hex(32)
        task = {**self._task(plan, bench), "nonce": nonce, "baseline": baseline, "candidate": candidate}
        limits = replace(bench.limits, wall=self.options.wall or bench.limits.wall)
        side = bench.sandbox.store(program(dict(self.programs), "paired"))
        spec = UnitSpec(
            role=Role.SUBMITTED,
            argv=side_argv(),
            limits=limits,
            environment=bench.surroundings,
            working_directory="/tmp",  # noqa: S108 - the unit's own
            mounts=(Mount(object=side, target=SIDE_TARGET),),
        )
        result = unit.run(bench.sandbox, spec, stdin=write_frame(task))
        log = result.stderr
        found = outcome(result.stdout, result.termination, nonce, self.options, log)
        measured = (
            found
            if isinstance(found, Failure)
            else _measured(found, self.options, machine(bench.sandbox.facts(), load))
        )
        return replace(
            verdict(judged, measured),
            duration_ms=result.termination.usage.wall_ms,
            report=result.report,
            driver_report=driver,
            private_log=log,
        )

    def _sources(self, tree: Submission) -> dict[str, str] | Failure:
        found = {}
        for path in self.options.editable:
            data = read_submitted(tree, path, _MOST_SOURCE)
            if isinstance(data, Absent):
                return Failure(cause=VerdictCause.REJECTED, detail=f"{path}: {data}")
            try:
                found[path] = data.decode()
            except UnicodeDecodeError:
                return Failure(cause=VerdictCause.REJECTED, detail=f"{path}: it is no UTF-8")
        return found

    def _task(self, plan: Plan, bench: Bench) -> Frame:
        module, _, path = self.options.function.partition(":")
        root = "" if bench.root == "." else f"{bench.root}/"
        return {
            "module": module,
            "file": f"{root}{module.replace('.', '/')}.py",
            "path": path.split("."),
            "oracle": [[each.args, each.expected] for each in plan.oracle],
            "inputs": list(plan.inputs),
            "pure": self.options.pure,
            "allowed": list(self.options.allowed_imports),
        }


def check_v1(spec: EvaluatorSpec, options: SpeedOptions) -> None:
    """Refuse options that only this protocol has wrong.

    Raises:
        OptionError: a module that may not be allowed, or a function of no editable file.
    """
    strange = sorted(set(options.allowed_imports) - policy.EXTRA)
    if strange:
        expected = ", ".join(sorted(policy.EXTRA))
        raise OptionError(evaluator=spec.id, field="allowed_imports", found=strange[0], expected=expected)
    name = options.function.partition(":")[0].replace(".", "/") + ".py"
    if not any(path == name or path.endswith(f"/{name}") for path in options.editable):
        raise OptionError(
            evaluator=spec.id, field="function", found=options.function, expected="one of an editable file"
        )


def outcome(told: bytes, end: Termination, nonce: str, options: SpeedOptions, log: bytes) -> tuple[Pair, ...] | Failure:
    """Read what the process told: the warm-up and the pairs, or why there are none. Pure.

    Raises:
        BaselineError: the baseline failed, or nothing tells that it passed.
        EvaluatorError: the unit failed by itself.
    """
    if end.is_fault or end.cause is Cause.KILLED:
        raise EvaluatorError(f"the unit of both sides ended by {end.cause}: {end.detail}")
    frames, strange = _read(told, nonce)
    if not frames or frames[0].get("tell") != "began":
        why = frames[0].get("detail") if frames else log[-1000:].decode(errors="replace")
        raise BaselineError(f"the baseline: {clean(str(why))}")
    if strange or len(frames) > 2:  # noqa: PLR2004 - what began, and how it ended
        return Failure(cause=VerdictCause.TAMPERED, detail="it told something else beside its result")
    if len(frames) == 1 or not end.succeeded:
        how = end.cause.value if end.status is None else f"{end.cause.value} {end.status}"
        cause = VerdictCause.TIMEOUT if end.cause is Cause.TIMEOUT else VerdictCause.CRASHED
        return Failure(cause=cause, detail=f"no result came of it; the process ended by {how}")
    return _result(frames[1], options)


def _read(told: bytes, nonce: str) -> tuple[list[Frame], bool]:
    frames: list[Frame] = []
    reader = Frames()
    try:
        frames.extend(reader.take(told))
    except FrameError:
        return [each for each in frames if each.get("nonce") == nonce], True
    own = [each for each in frames if each.get("nonce") == nonce]
    return own, len(own) < len(frames) or not reader.is_empty


def _result(frame: Frame, options: SpeedOptions) -> tuple[Pair, ...] | Failure:
    detail = str(frame.get("detail"))
    match frame:
        case {"tell": "refused"}:
            return Failure(cause=VerdictCause.REJECTED, detail=detail)
        case {"tell": "failed"}:
            return Failure(cause=VerdictCause.FAILED, detail=detail)
        case {"tell": "timed", "pairs": [*rows]}:
            pairs = _pairs(rows)
            strange = "no times" if not pairs else check_pairs(pairs[1:], options.pairs)
            if strange is None and pairs[0].baseline_first:
                return pairs
            return Failure(cause=VerdictCause.TAMPERED, detail=f"it told {strange or 'a warm-up of its own'}")
    return Failure(cause=VerdictCause.TAMPERED, detail="it told what is no result")


def _pairs(rows: list[object]) -> tuple[Pair, ...]:
    found = []
    for row in rows:
        match row:
            case [int(base), int(mine), bool(first)] if base > 0 and mine > 0 and not isinstance(base, bool):
                found.append(Pair(baseline_ns=base, candidate_ns=int(mine), baseline_first=first))
            case _:
                return ()
    return tuple(found)


def _measured(pairs: tuple[Pair, ...], options: SpeedOptions, where: Machine) -> Measurement:
    ratio = median(each.ratio for each in pairs[1:])
    return Measurement(
        protocol=Protocol.PAIRED_V1.value,
        clock=options.clock.value,
        pairs=pairs[1:],
        warm_up=pairs[0],
        median=ratio,
        bucket=bucket_of(options.scale, ratio),
        machine=where,
    )


def verdict(judged: Judged, found: Measurement | Failure) -> Verdict:
    """Give the verdict of what was read. Pure."""
    if isinstance(found, Failure):
        given = speed_verdict(judged, cases=(), failure=found)
    else:
        right = tuple(Case(id=name, passed=True) for name in judged.correctness())
        given = speed_verdict(judged, cases=right, measured=found)
    return replace(given, assurance=Assurance.IN_PROCESS)
