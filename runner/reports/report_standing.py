"""One candidate's row of a report, from the rows of the aggregate. Pure."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_HALF_EVEN, Decimal
from fractions import Fraction

from runner.documents.aggregate import Row, Standing
from runner.documents.facts import Spent
from runner.documents.judging_summary import JudgingSummary
from runner.documents.manifest import Manifest
from runner.outcome import COUNTED, Outcome
from runner.reports.report import (
    CRITERIA,
    AttemptLine,
    Contender,
    Happening,
    Money,
    Part,
    Passed,
    Points,
    Solving,
    Status,
)
from runner.roster import Candidate, NetworkMode
from runner.statistics.rates import Tried, solve_rate
from runner.statistics.repeats import mean_pass, shown
from runner.statistics.spending import Paid, cost_per_solve

_NAMED = 3
"""Attempts that a happening names."""

_STATUSES = {
    Outcome.MISSING_ARTIFACTS: Status.MISSING_ARTIFACTS,
    Outcome.UNAVAILABLE: Status.UNAVAILABLE,
    Outcome.FORBIDDEN_CHANGES: Status.FORBIDDEN_CHANGES,
    Outcome.VOID: Status.VOID,
    Outcome.AGENT_FAILURE: Status.AGENT_FAILURE,
    Outcome.TESTS_FAILED: Status.TESTS_FAILED,
    Outcome.COMPLETED: Status.COMPLETED,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Frozen:
    """What a release froze, as far as its rows are read by it."""

    manifest: Manifest
    superseded_by: str | None
    objective: Mapping[str, str] = field(default_factory=dict)
    """Nominations with an objective result, each with its name and digest."""


def frozen(manifest: Manifest, superseded_by: str | None) -> Frozen:
    """Give what the rows of a release are read by."""
    named = {
        each.id: f"{each.id} {each.nomination_sha256}" for each in manifest.nominations if not each.spec.is_free_text
    }
    return Frozen(manifest=manifest, superseded_by=superseded_by, objective=named)


def contender(release: Frozen, standing: Standing, rows: Sequence[Row], judging: JudgingSummary | None) -> Contender:
    """Give a candidate's row."""
    who = release.manifest.candidate(standing.candidate)
    lines = tuple(_line(row) for row in rows)
    counts = Counter(line.status for line in lines)
    solving = _solving(rows, release.objective)
    return Contender(
        release=release.manifest.release,
        candidate=who.id,
        name=who.label or who.id,
        model=who.model,
        channel=_channel(who),
        is_control=who.is_control or who.role == "anchor",
        superseded_by=release.superseded_by,
        retired=None if who.retired is None else f"since {who.retired.date}: {who.retired.reason}",
        status=next(iter(counts)) if len(counts) == 1 else Status.MIXED,
        counts={each: counts[each] for each in Status if counts[each]},
        public=_part(row.public_tests for row in rows),
        objective=_part(row.verdict for row in rows),
        points=_points(who.id, judging),
        money=_money(rows, release.objective, standing),
        solving=solving,
        assurance=Counter(row.assurance for row in rows if row.assurance is not None),
        norms=standing.norms,
        happenings=tuple(_happenings(rows, lines)),
        attempts=lines,
        evidence_sha256=_evidence(rows, lines),
    )


def _channel(who: Candidate) -> str:
    """Say by which agent, and over which way, a model was reached."""
    if who.is_control:
        return f"{who.agent}, no model"
    way = "own login" if who.network is NetworkMode.DIRECT else who.provider or who.route
    return f"{who.runtime or who.agent}, {way}"


def _line(row: Row) -> AttemptLine:
    status = _STATUSES[row.outcome]
    if status is Status.COMPLETED and row.verdict == "failed":
        status = Status.OBJECTIVE_FAILED
    solution = row.phases.solution
    evidence = row.evidence
    return AttemptLine(
        nomination=row.nomination,
        attempt=row.attempt,
        status=status,
        says=row.reason,
        score=row.score,
        assurance=row.assurance,
        time_ms=None if solution is None else solution.wall_ms,
        cost=None if solution is None else solution.cost_usd,
        digest=evidence.grading_sha256 or evidence.void_sha256 or evidence.submission_sha256,
    )


def _part(words: Iterable[str | None]) -> Part:
    found = Counter(words)
    return Part(hits=found["passed"], of=found["passed"] + found["failed"])


def _points(candidate: str, judging: JudgingSummary | None) -> Points:
    """Give the judges' means as whole points."""
    if judging is None:
        return Points()
    means = {
        each.criterion: each.mean for who in judging.candidates if who.candidate == candidate for each in who.criteria
    }
    return Points(given=tuple(_whole(means.get(criterion)) for _, criterion in CRITERIA))


def _whole(mean: str | None) -> int | None:
    return None if mean is None else int(Decimal(mean).to_integral_value(ROUND_HALF_EVEN))


def _solving(rows: Sequence[Row], objective: Mapping[str, str]) -> Solving:
    counted: Counter[str] = Counter()
    solved: Counter[str] = Counter()
    voids: Counter[str] = Counter()
    for row in rows:
        if (name := objective.get(row.nomination)) is None:
            continue
        if row.outcome in COUNTED:
            counted[name] += 1
            solved[name] += row.solved
        elif row.outcome is Outcome.VOID:
            voids[name] += 1
    tries = {name: Tried(solved=solved[name], of=of) for name, of in counted.items()}
    bare = tuple(tries.values())
    ks = shown(bare)
    found = [(k, mean_pass(bare, k)) for k in ks] if len(ks) > 1 else []
    either = [(solved[name], counted[name], voids[name]) for name in {**counted, **voids}]
    return Solving(
        tries=tries,
        rate=solve_rate(bare),
        worst=_mean([Fraction(won, of + lost) for won, of, lost in either]),
        best=_mean([Fraction(won + lost, of + lost) for won, of, lost in either]),
        passes=tuple(Passed(k=k, once=each[0], always=each[1]) for k, each in found if each is not None),
    )


def _mean(values: Sequence[Fraction]) -> Fraction | None:
    return sum(values, Fraction(0)) / len(values) if values else None


def _money(rows: Sequence[Row], objective: Mapping[str, str], standing: Standing) -> Money:
    counted = [row for row in rows if row.outcome in COUNTED]
    solutions = [row.phases.solution or _NOTHING for row in counted]
    times = [each.wall_ms for each in solutions]
    costs = [None if each.cost_usd is None else Decimal(each.cost_usd) for each in solutions]
    time = None if None in times or not times else sum(each or 0 for each in times)
    whole = _whole_cost(costs)
    wasted = None if standing.voids is None else standing.voids.cost_usd
    return Money(
        time_ms=time,
        cost=whole,
        time_each=None if time is None else Fraction(time, len(times)),
        cost_each=None if whole is None else whole / len(costs),
        per_solve=None if whole is None else cost_per_solve(_paid(counted, costs, objective)),
        wasted=None if wasted is None else Fraction(wasted),
    )


_NOTHING = Spent()


def _whole_cost(costs: Sequence[Decimal | None]) -> Fraction | None:
    """Add up what is known exactly; Decimals hold 28 digits, and add up far quicker than fractions."""
    return None if None in costs or not costs else Fraction(sum((each or _ZERO for each in costs), _ZERO))


_ZERO = Decimal(0)


def _paid(counted: Sequence[Row], costs: Sequence[Decimal | None], objective: Mapping[str, str]) -> list[Paid]:
    """Give what each nomination cost; all costs are known."""
    paid: dict[str, list[Decimal | None]] = {}
    solved: Counter[str] = Counter()
    for row, cost in zip(counted, costs, strict=True):
        if row.nomination in objective:
            paid.setdefault(row.nomination, []).append(cost)
            solved[row.nomination] += row.solved
    return [
        Paid(cost=_whole_cost(each) or Fraction(0), solved=solved[name], of=len(each)) for name, each in paid.items()
    ]


def _happenings(rows: Sequence[Row], lines: Sequence[AttemptLine]) -> Iterable[Happening]:
    """Tell each way in which attempts were not solved once, with the attempts that ended so."""
    told: dict[tuple[Status, str], list[str]] = {}
    for row, line in zip(rows, lines, strict=True):
        if line.status is not Status.COMPLETED:
            told.setdefault((line.status, _told(row)), []).append(attempt_name(line))
    for (status, says), names in told.items():
        yield Happening(status=status, says=says, attempts=tuple(names[:_NAMED]), count=len(names))


def _told(row: Row) -> str:
    """Say how far an attempt came, and what was observed there."""
    if row.outcome is Outcome.VOID:
        return f"{row.reason}; this says nothing about the model, and counts neither for nor against it"
    if row.outcome not in COUNTED:
        return row.reason
    left = {True: "left a change", False: "left everything as it was", None: "nothing of it could be captured"}
    return f"the model was shown the task and {left[row.changed]}; {row.reason}"


def attempt_name(line: AttemptLine) -> str:
    """Name an attempt within its row; the first needs no number."""
    return line.nomination if line.attempt == 1 else f"{line.nomination} #{line.attempt}"


def _evidence(rows: Iterable[Row], lines: Iterable[AttemptLine]) -> str:
    whole = hashlib.sha256()
    for row, line in zip(rows, lines, strict=True):
        whole.update(f"{row.candidate}/{row.nomination}/attempt-{row.attempt} {line.digest or 'none'}\n".encode())
    return whole.hexdigest()
