"""One submission being measured against the base: right answers, then times, pair by pair."""

from dataclasses import dataclass, field
from datetime import timedelta

from evaluators.errors import BaselineError, NoisyHostError
from evaluators.interview import Interview, clock_ns
from evaluators.machine import load_now
from evaluators.model import Case, Submission, VerdictCause
from evaluators.plain_equal import is_same
from evaluators.speed_calls import OPENING, Call, Failure, Plan, broken, imported
from evaluators.speed_ruling import floor_of, is_baseline_first, rank_of, times_text
from evaluators.speed_stand import Stand
from evaluators.speed_values import Pair
from evaluators.speed_verdict import oracle_cases
from sandbox.api import LauncherReport

FLOOR_TRIES = 3
"""How often the base is timed against itself until the machine is quiet enough."""

_PATIENCE = 10
"""How many times as long as the slowest call of the base a timed call of a candidate may take."""
_LEAST_PATIENCE = timedelta(seconds=5)
_RESOLUTION = 10
"""How many times as long as asking by itself a call of the base has to take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timed:
    """A pair, with what belongs to it."""

    pair: Pair
    imports: tuple[int, int]
    transport_ns: int


@dataclass(slots=True, kw_only=True)
class Session:
    """One submission being measured. What it printed is kept, whatever comes of it."""

    stand: Stand
    plan: Plan
    control: Submission
    submission: Submission
    began_ns: int = field(default_factory=clock_ns)
    load: str = field(default_factory=load_now)
    log: bytearray = field(default_factory=bytearray)
    report: LauncherReport | None = None
    slowest_ns: int = 0

    def note(self, found: Interview) -> Interview:
        """Keep what a submission's unit printed and showed."""
        room = self.stand.limits.output_bytes - len(self.log)
        self.log += found.log[: max(0, room)]
        self.report = found.report
        return found

    def check_control(self) -> None:
        """Let the base answer every oracle case.

        Raises:
            BaselineError: an answer is not right.
        """
        found = self.stand.check(self.control, self.plan.oracle)
        failure = imported(found) or (broken(found) if _is_cut(found, self.plan) else None)
        if failure is not None:
            raise BaselineError(f"the baseline: {failure.detail}")
        wrong = [case for case in oracle_cases(found, self.plan, pure=self.stand.options.pure) if not case.passed]
        if wrong:
            raise BaselineError(f"the baseline fails '{wrong[0].id}': {wrong[0].detail}")

    def check(self) -> tuple[tuple[Case, ...], Failure | None]:
        """Let the submission answer every oracle case."""
        found = self.note(self.stand.check(self.submission, self.plan.oracle))
        failure = imported(found) or (broken(found) if _is_cut(found, self.plan) else None)
        return oracle_cases(found, self.plan, pure=self.stand.options.pure), failure

    def floor(self) -> tuple[Pair, ...]:
        """Time the base against itself, until the machine is quiet enough.

        Raises:
            NoisyHostError: it never is.
            BaselineError: the base cannot be timed.
        """
        lowest, seen = self.stand.options.scale.lowest, ""
        for _ in range(FLOOR_TRIES):
            pairs = self._series(self.control, slice(None))
            if isinstance(pairs, Failure):
                raise BaselineError(f"the baseline against itself: {pairs.detail}")
            noise = tuple(each.pair for each in pairs)
            _check_resolution(pairs)
            if (found := floor_of([each.ratio for each in noise[1:]])) < lowest:
                return noise[1:]
            seen = times_text(found)
        raise NoisyHostError(
            f"identical code looks up to {seen} times as fast here, and {lowest} times is worth something"
        )

    def first_pairs(self) -> tuple[Timed, ...] | Failure:
        """Time the base against the submission: the warm-up, and as many pairs as can settle it."""
        return self._series(self.submission, slice(rank_of(self.stand.options.pairs) + 1))

    def other_pairs(self, count: int) -> tuple[Timed, ...] | Failure:
        """Time all pairs after so many, the warm-up among them."""
        return self._series(self.submission, slice(count, None))

    def _series(self, other: Submission, part: slice) -> tuple[Timed, ...] | Failure:
        found: list[Timed] = []
        for index, args in list(enumerate(self.plan.inputs, start=-1))[part]:
            timed = self._pair(index, args, other)
            if isinstance(timed, Failure):
                return timed
            found.append(timed)
        return tuple(found)

    def _pair(self, index: int, args: object, other: Submission) -> Timed | Failure:
        first = is_baseline_first(index)
        base = self._base(args) if first else None
        mine = self._other(args, other)
        base = base or self._base(args)
        if isinstance(mine, Failure):
            return mine
        if not is_same(mine.value, base.value):
            return Failure(cause=VerdictCause.FAILED, detail="an answer to a fresh input is not the baseline's")
        self.slowest_ns = max(self.slowest_ns, base.ns)
        return Timed(
            pair=Pair(baseline_ns=base.ns, candidate_ns=mine.ns, baseline_first=first),
            imports=(base.import_ns, mine.import_ns),
            transport_ns=base.transport_ns,
        )

    def _base(self, args: object) -> Call:
        found, _ = self.stand.time(self.control, args)
        if isinstance(found, Failure):
            raise BaselineError(f"the baseline, timed: {found.detail}")
        return found

    def _other(self, args: object, other: Submission) -> Call | Failure:
        within = max(_LEAST_PATIENCE, _PATIENCE * timedelta(microseconds=self.slowest_ns // 1000))
        found, seen = self.stand.time(other, args, within)
        if other is self.submission:
            self.note(seen)
        return found


def _is_cut(found: Interview, plan: Plan) -> bool:
    return len(found.replies) < len(plan.oracle) + OPENING


def _check_resolution(pairs: tuple[Timed, ...]) -> None:
    # The least of each: whatever disturbs a time adds to it.
    call, asking = min(each.pair.baseline_ns for each in pairs), min(each.transport_ns for each in pairs)
    if call < _RESOLUTION * asking:
        us, least = call // 1000, asking * _RESOLUTION // 1000
        raise BaselineError(f"a call of the baseline takes {us} us; with less than {least} us the asking is measured")
