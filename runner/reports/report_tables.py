"""The tables of a report, cell by cell, for whoever writes them down. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from runner.reports import report_words as words
from runner.reports.marks import UNKNOWN
from runner.reports.report import CRITERIA, AttemptLine, Contender, Place, Ranked, Report, Status

FORMAT_A = (
    "Rank / status", "Model", "Public", "Objective", *(name for name, _ in CRITERIA), "Overall", "Time (s)", "Cost",
    "Channel",
)  # fmt: skip
_TEXT = frozenset(
    {"Rank / status", "Model", "Public", "Objective", "Channel", "Candidate", "Nomination", "Outcome", "Assurance",
     "Beside the leader", "Evidence"}
)  # fmt: skip
MOST_ATTEMPTS = 2_000
"""Lines that the table of attempts has at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One cell."""

    text: str
    value: float | None = None
    """What it is sorted by; None: by its text, and unknown ones last."""
    below: tuple[str, ...] = ()
    """Smaller lines below."""
    badge: Status | None = None
    """Below the text, as a badge."""
    link: str | None = None
    """The place in the report that it leads to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """One table."""

    id: str
    title: str
    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def is_text(self, column: int) -> bool:
        """Whether a column holds words."""
        return self.head[column] in _TEXT


def evidence_of(contender: Contender) -> str:
    """Name the place in a report where a row's evidence stands."""
    return f"evidence-{contender.key}"


def reasons_of(contender: Contender) -> str:
    """Name the place where it is told why a row's attempts were not solved."""
    return f"why-{contender.key}"


def results(report: Report) -> Table:
    """Give the table in format A."""
    several = len(report.sources) > 1
    return Table(
        id="results",
        title="Results",
        caption=(
            "One candidate a row. Public and Objective are checks; review points are judges' means, whole numbers from "
            "0 to 10. Time is the agent's wall clock and Cost what providers reported, over all attempts that count."
        ),
        head=FORMAT_A,
        rows=tuple(tuple(_result(row, several=several)) for row in report.rows),
    )


def _result(row: Ranked, *, several: bool) -> Iterator[Cell]:
    each = row.contender
    link = evidence_of(each)
    rank = "unranked" if row.rank is None else str(row.rank)
    why = reasons_of(each) if each.happenings else link
    yield Cell(text=rank, value=row.rank, badge=each.status, link=why)
    yield Cell(text=each.name, below=tuple(_marks(each, several=several)))
    yield Cell(text=words.part(each.public), link=link)
    yield Cell(text=words.part(each.objective), link=link)
    for given in each.points.given:
        yield Cell(text=UNKNOWN if given is None else str(given), value=given, link=link)
    overall = each.points.overall
    text = UNKNOWN if overall is None else f"{words.decimal(overall):.2f}"
    yield Cell(text=text, value=_number(overall), link=link)
    yield Cell(text=words.seconds(each.money.time_ms), value=each.money.time_ms, link=link)
    yield Cell(text=words.money(each.money.cost), value=_number(each.money.cost), link=link)
    yield Cell(text=each.channel)


def _marks(each: Contender, *, several: bool) -> Iterator[str]:
    if several:
        yield f"release {each.release}"
    if each.superseded_by is not None:
        yield f"superseded by {each.superseded_by}"
    if each.place is Place.CONTROL or each.is_control:
        yield "for comparison"
    if each.retired is not None:
        yield f"retired {each.retired}"


def _number(value: Fraction | None) -> float | None:
    return None if value is None else float(value)


def solving(report: Report) -> Table:
    """Give the table of solve rates."""
    return Table(
        id="solving",
        title="Solve rates",
        caption=(
            "Each nomination weighs the same. Voids are in no rate; 'With voids' says what it would be if none of them "
            "had been solved, and if all had. 'Attempts each' are those that count, at one nomination."
        ),
        head=(
            "Candidate", "Solved", "Rate", "95% interval", "Voids", "With voids", "Unavailable", "Attempts each",
            "Beside the leader", "Assurance",
        ),
        rows=tuple(tuple(_solving(row)) for row in report.rows),
    )  # fmt: skip


def _solving(row: Ranked) -> Iterator[Cell]:
    each = row.contender
    found, link = each.solving, evidence_of(each)
    rate = found.rate
    yield _named(each)
    yield Cell(text=f"{found.solved} of {found.counted}" if found.counted else UNKNOWN,
               value=found.solved if found.counted else None, link=link)  # fmt: skip
    yield _percent(None if rate is None else rate.value, link)
    sure = None if rate is None else rate.interval
    yield Cell(text=words.interval(sure), value=None if sure is None else sure.low, link=link)
    yield _count(each, Status.VOID)
    yield Cell(text=words.either(found.worst, found.best), value=_number(found.worst), link=link)
    yield _count(each, Status.UNAVAILABLE)
    fewest, most = found.repeats
    yield Cell(text=str(most) if fewest == most else f"{fewest} to {most}", value=most, link=link)
    yield Cell(text=words.beside(row), below=tuple(words.why_beside(row)), link=link)
    yield Cell(text=words.assurances(each.assurance), link=link)


def _count(each: Contender, status: Status) -> Cell:
    number = each.counts.get(status, 0)
    return Cell(text=str(number), value=number, link=evidence_of(each))


def _named(each: Contender) -> Cell:
    below = () if each.superseded_by is None else (f"superseded by {each.superseded_by}",)
    return Cell(text=each.name, below=(each.candidate, *below) if each.name != each.candidate else below)


def _percent(value: Fraction | None, link: str) -> Cell:
    return Cell(text=words.percent(value), value=_number(value), link=link)


def spending(report: Report) -> Table:
    """Give the table of costs."""
    return Table(
        id="spending",
        title="Cost of a solve",
        caption=(
            "All costs of attempts that count, those that failed too, over the solves among them. '>=' stands where it "
            "is not clear that anything is solved, so that no upper end is known."
        ),
        head=(
            "Candidate", "Cost per solve", "95% interval", "Cost an attempt", "Time an attempt (s)", "Cost of voids",
        ),
        rows=tuple(tuple(_spending(row.contender)) for row in report.rows),
    )  # fmt: skip


def _spending(each: Contender) -> Iterator[Cell]:
    found, link = each.money, evidence_of(each)
    per_solve = found.per_solve
    yield _named(each)
    least = None if per_solve is None else per_solve.low if per_solve.value is None else float(per_solve.value)
    yield Cell(text=words.per_solve(per_solve), value=least, link=link)
    low = None if per_solve is None else per_solve.low
    yield Cell(text=words.per_solve_interval(per_solve), value=low, link=link)
    yield Cell(text=words.about(found.cost_each), value=_number(found.cost_each), link=link)
    yield Cell(text=words.seconds(found.time_each), value=_number(found.time_each), link=link)
    yield Cell(text=words.money(found.wasted), value=_number(found.wasted), link=link)


def repeats(report: Report) -> Table | None:
    """Give the table of pass@k and pass^k; None without repeats."""
    numbers = sorted({each.k for row in report.rows for each in row.contender.solving.passes})
    if not numbers:
        return None
    head = [f"{name}{k}" for k in numbers for name in (("pass@", "pass^") if k > 1 else ("pass@",))]
    return Table(
        id="repeats",
        title="Repeats",
        caption="pass@k: solved at least once in k attempts at a nomination. pass^k: solved every time. Without bias.",
        head=("Candidate", *head),
        rows=tuple(tuple(_repeats(row.contender, numbers)) for row in report.rows),
    )


def _repeats(each: Contender, numbers: list[int]) -> Iterator[Cell]:
    found, link = {one.k: one for one in each.solving.passes}, evidence_of(each)
    yield _named(each)
    for k in numbers:
        passed = found.get(k)
        yield _percent(None if passed is None else passed.once, link)
        if k > 1:
            yield _percent(None if passed is None else passed.always, link)


def norms(report: Report) -> Table | None:
    """Give the table of norms; None where no release measures them."""
    if all(row.contender.norms is None for row in report.rows):
        return None
    return Table(
        id="norms",
        title="Norms",
        caption="How changes were made, beside what they achieved: 1 is best. They change no outcome and no order.",
        head=("Candidate", "Norms, solved", "Solved attempts", "Norms, all", "Attempts"),
        rows=tuple(tuple(_norms(row.contender)) for row in report.rows),
    )


def _norms(each: Contender) -> Iterator[Cell]:
    found, link = each.norms, evidence_of(each)
    yield _named(each)
    for score, of in (
        () if found is None else ((found.solved, found.solved_count), (found.counted, found.counted_count))
    ):
        yield Cell(text=score or UNKNOWN, value=None if score is None else float(score), link=link)
        yield Cell(text=str(of), value=of, link=link)
    if found is None:
        yield from [Cell(text=UNKNOWN)] * 4


def summaries(report: Report) -> Iterator[Table]:
    """Give every table that has a row a candidate, in the order of the report."""
    yield results(report)
    yield solving(report)
    yield spending(report)
    yield from (found for found in (repeats(report), norms(report)) if found is not None)


def attempts(report: Report) -> Table | None:
    """Give the table of attempts; None where there are more than a page should hold."""
    if report.attempts > MOST_ATTEMPTS:
        return None
    return Table(
        id="attempts",
        title="Attempts",
        caption="Every planned attempt, and the SHA-256 of the sealed folder that its row was read from.",
        head=("Candidate", "Nomination", "Attempt", "Outcome", "Score", "Assurance", "Time (s)", "Cost", "Evidence"),
        rows=tuple(
            tuple(_attempt(row.contender, line, several=len(report.sources) > 1))
            for row in report.rows
            for line in row.contender.attempts
        ),
    )


def _attempt(each: Contender, line: AttemptLine, *, several: bool) -> Iterator[Cell]:
    yield Cell(text=each.candidate, below=(f"release {each.release}",) if several else ())
    yield Cell(text=line.nomination)
    yield Cell(text=str(line.attempt), value=line.attempt)
    yield Cell(text=line.status.value)
    yield Cell(text=line.score or UNKNOWN, value=None if line.score is None else float(line.score))
    yield Cell(text=UNKNOWN if line.assurance is None else line.assurance.value)
    yield Cell(text=words.seconds(line.time_ms), value=line.time_ms)
    yield Cell(text=words.money(None if line.cost is None else Fraction(line.cost)),
               value=None if line.cost is None else float(line.cost))  # fmt: skip
    yield Cell(text=line.digest or UNKNOWN)
