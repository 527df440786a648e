"""Evaluator `speedup`, protocol `paired-v2`: the base and a submission in units of their own, timed from outside.

Right answers come first. Then base and submission take turns, each call in a fresh unit with an input nobody has seen.
Before there is any credit the base is timed against itself: what it shows there is what identical code can look like on
this machine now. Where the first pairs settle that nothing can be earned, no more are measured.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace

from evaluators.errors import EvaluatorError, NoisyHostError
from evaluators.interview import clock_ns
from evaluators.machine import machine
from evaluators.model import Assurance, Bench, EvaluatorSpec, Submission, Verdict
from evaluators.options import as_values
from evaluators.speed_calls import Clock, Failure
from evaluators.speed_options import Protocol, SpeedOptions
from evaluators.speed_ruling import (
    PLACES,
    charged,
    credit,
    floor_of,
    import_excess,
    interval,
    is_settled,
    median,
    times_text,
)
from evaluators.speed_session import Session, Timed
from evaluators.speed_stand import Stand, program, read_plan
from evaluators.speed_values import Measurement, Pair
from evaluators.speed_verdict import Judged, speed_verdict
from sandbox.api import Pack
from sandbox.tree import Kind

VERSION = 1
"""Raised when the same times may be judged otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedV2:
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
        """SHA-256 over the programs inside the units, private files and options."""
        return speed_digest(self.spec, VERSION, self.files, self.programs)

    def expected_cases(self) -> tuple[str, ...]:
        """The oracle, purity, and one case a bucket."""
        return Judged(options=self.options).expected()

    def judge(self, submission: Submission, bench: Bench) -> Verdict:
        """Judge one submission.

        Raises:
            BaselineError: the base is wrong, or cannot be timed.
            NoisyHostError: nothing can be told on this machine now.
            EvaluatorError, SandboxError: another fault, before submitted code started.
        """
        if bench.node is not None:
            raise EvaluatorError(f"evaluator {self.id}: only Python can be timed")
        plan, driver = read_plan(bench, self.options, dict(self.programs), dict(self.files))
        side = bench.sandbox.store(program(dict(self.programs), "timing"))
        session = Session(
            stand=Stand(bench=bench, options=self.options, side=side),
            plan=plan,
            control=replace(submission, change=same_places(submission)),
            submission=submission,
        )
        return replace(
            measure(session),
            assurance=Assurance.SPLIT,
            duration_ms=(clock_ns() - session.began_ns) // 1_000_000,
            report=session.report,
            driver_report=driver,
            private_log=bytes(session.log),
        )


def measure(session: Session) -> Verdict:
    """Measure one submission, as far as it comes.

    Raises:
        BaselineError: the base is wrong, or cannot be timed.
        NoisyHostError: nothing can be told on this machine now.
    """
    judged = Judged(options=session.stand.options)
    session.check_control()
    cases, failure = session.check()
    if failure is not None or not all(case.passed for case in cases):
        return speed_verdict(judged, cases=cases, failure=failure)
    first = session.first_pairs()
    if isinstance(first, Failure):
        return speed_verdict(judged, cases=cases, failure=first)
    if _is_settled(session, first):
        return speed_verdict(judged, cases=cases, measured=_worthless(session, first))
    noise = session.floor()
    others = session.other_pairs(len(first))
    if isinstance(others, Failure):
        return speed_verdict(judged, cases=cases, failure=others)
    return speed_verdict(judged, cases=cases, measured=_measured(session, (*first, *others), noise))


def _is_settled(session: Session, first: tuple[Timed, ...]) -> bool:
    """Say whether the first pairs settle it. Passed time is not believed so soon: it may be the machine's."""
    options = session.stand.options
    pairs = [each.pair for each in first[1:]]
    return options.clock is Clock.PROCESSOR and is_settled(options.scale, pairs, options.pairs)


def _worthless(session: Session, timed: tuple[Timed, ...]) -> Measurement:
    warm_up, *pairs = (each.pair for each in timed)
    return Measurement(
        protocol=Protocol.PAIRED_V2.value,
        clock=session.stand.options.clock.value,
        pairs=tuple(pairs),
        warm_up=warm_up,
        median=median(each.ratio for each in pairs),
        machine=machine(session.stand.bench.sandbox.facts(), session.load),
    )


def _measured(session: Session, timed: tuple[Timed, ...], noise: tuple[Pair, ...]) -> Measurement:
    excess = import_excess([each.imports[0] for each in timed], [each.imports[1] for each in timed])
    warm_up, *pairs = charged([each.pair for each in timed], excess)
    found = credit(session.stand.options.scale, pairs, floor_of([each.ratio for each in noise]))
    if found.doubt is not None:
        raise NoisyHostError(
            f"{found.doubt.value}: identical code looks up to {times_text(found.floor)} times as fast, "
            f"and the baseline's own times say so"
        )
    ratios = [each.ratio for each in pairs]
    return Measurement(
        protocol=Protocol.PAIRED_V2.value,
        clock=session.stand.options.clock.value,
        pairs=tuple(pairs),
        warm_up=warm_up,
        median=median(ratios),
        interval=interval(ratios),
        floor=found.floor.quantize(PLACES),
        import_excess_ns=excess,
        noise=noise,
        bucket=found.bucket,
        machine=machine(session.stand.bench.sandbox.facts(), session.load),
    )


def same_places(submission: Submission) -> Pack:
    """Give a change to the base that changes nothing, and lays a file wherever the submission lays one.

    A file that was laid is not read as quickly as one that lay there.
    """
    laid = {entry.path for entry in submission.change.entries if entry.kind is Kind.FILE}
    entries = tuple(each for each in submission.below.entries if each.path in laid and each.kind is Kind.FILE)
    return Pack(entries=entries, blobs=submission.below.blobs)


def speed_digest(spec: EvaluatorSpec, version: int, files: Mapping[str, bytes], programs: Mapping[str, bytes]) -> str:
    """Give the digest of an evaluator of this kind."""
    whole = {
        "kind": spec.kind,
        "version": version,
        "files": {path: hashlib.sha256(data).hexdigest() for path, data in files.items()},
        "programs": {path: hashlib.sha256(data).hexdigest() for path, data in programs.items()},
        "options": as_values(spec.options),
    }
    return hashlib.sha256(json.dumps(whole, sort_keys=True).encode()).hexdigest()
