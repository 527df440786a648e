"""Numbers of a report in words, and the sentences that it begins with. Pure."""

from collections.abc import Iterable, Iterator, Mapping
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction

from evaluators.model import Assurance
from runner.documents.writing import decimal_text
from runner.reports.marks import UNKNOWN
from runner.reports.report import Part, Place, Ranked, Report, Status
from runner.statistics.rates import Interval, Rate
from runner.statistics.separation import Comparison
from runner.statistics.spending import CostPerSolve

_TENTH = Decimal("0.1")
_FIGURES = Context(prec=4, rounding=ROUND_HALF_EVEN)
_EXACT = Context(prec=40)
LEAST = Fraction(1, 10_000)
"""The least chance that is written out."""


def decimal(value: Fraction | float) -> Decimal:
    """Give a number as a decimal, with more digits than are shown."""
    exact = Fraction(value)
    return _EXACT.divide(Decimal(exact.numerator), Decimal(exact.denominator))


def percent(value: Fraction | float | None) -> str:
    """Give a rate to a tenth of a percent."""
    return UNKNOWN if value is None else f"{decimal_text((decimal(value) * 100).quantize(_TENTH, ROUND_HALF_EVEN))}%"


def either(worst: Fraction | None, best: Fraction | None) -> str:
    """Give a rate's worst and best case; once where they are the same."""
    return percent(worst) if worst == best else f"{percent(worst).removesuffix('%')} to {percent(best)}"


def interval(found: Interval | None) -> str:
    """Give an interval of rates; its ends are rounded outwards."""
    if found is None:
        return UNKNOWN
    low = (decimal(found.low) * 100).quantize(_TENTH, ROUND_FLOOR)
    high = (decimal(found.high) * 100).quantize(_TENTH, ROUND_CEILING)
    return f"{decimal_text(low)} to {decimal_text(high)}%"


def money(value: Fraction | None) -> str:
    """Give an exact sum in US dollars."""
    return UNKNOWN if value is None else f"${decimal_text(decimal(value).quantize(Decimal('1e-12')))}"


def about(value: Fraction | float | None) -> str:
    """Give a derived sum in US dollars, to four figures."""
    return UNKNOWN if value is None else f"${decimal_text(_FIGURES.plus(decimal(value)))}"


def per_solve(found: CostPerSolve | None) -> str:
    """Give what a solve costs."""
    if found is None:
        return UNKNOWN
    if found.value is None:
        return f">= {about(found.low)}" if found.low is not None else UNKNOWN
    return about(found.value)


def per_solve_interval(found: CostPerSolve | None) -> str:
    """Give how sure that is; without an upper end where there is none."""
    if found is None or found.low is None:
        return UNKNOWN
    return f">= {about(found.low)}" if found.high is None else f"{about(found.low)} to {about(found.high)}"


def seconds(milliseconds: Fraction | int | None) -> str:
    """Give milliseconds as seconds with three decimals."""
    return UNKNOWN if milliseconds is None else f"{decimal(Fraction(milliseconds) / 1000):.3f}"


def part(found: Part) -> str:
    """Say in words how many passed."""
    if found.of == 0:
        return UNKNOWN
    if found.of == 1:
        return "passed" if found.hits else "failed"
    return f"{found.hits} of {found.of} passed"


def chance(value: Fraction | None) -> str:
    """Give a chance to two figures; what is below 0.0001 only as that."""
    if value is None:
        return UNKNOWN
    return f"< {decimal_text(decimal(LEAST))}" if value < LEAST else f"{float(value):.2g}"


def counted(number: int, noun: str) -> str:
    """Give a number and what it is of."""
    return f"{number} {noun if number == 1 else noun + 's'}"


def listed(names: Iterable[str]) -> str:
    """Join names as a sentence does."""
    *most, last = tuple(names) or ("nobody",)
    return f"{', '.join(most)} and {last}" if most else last


def some(names: Iterable[str], count: int) -> str:
    """Name the first few of so many."""
    shown = tuple(names)
    more = count - len(shown)
    return listed((*shown, f"{more} more") if more else shown)


def endings(counts: Mapping[Status, int]) -> str:
    """Say how many attempts ended in each way."""
    return ", ".join(f"{number} {status.value}" for status, number in counts.items())


def assurances(found: Mapping[Assurance, int]) -> str:
    """Say what verdicts are worth; how many of each where they differ."""
    if len(found) == 1:
        return next(iter(found)).value
    return ", ".join(f"{number} {each.value}" for each, number in sorted(found.items())) or UNKNOWN


def beside(row: Ranked) -> str:
    """Say whether a row can be told from the leader."""
    if row.is_leader:
        return "leader"
    if row.beside_leader is None:
        return UNKNOWN
    return "separated" if row.beside_leader.is_separated else "not separable"


def why_beside(row: Ranked) -> Iterator[str]:
    """Say by what it is told."""
    found = row.beside_leader
    if found is None:
        return
    if found.gap is None or found.test is None:
        yield "no nomination in common"
        return
    yield f"{_gap(found)}, p {'' if found.corrected and found.corrected < LEAST else '= '}{chance(found.corrected)}"
    yield f"{found.test.value}, {counted(found.shared, 'nomination')}"


def _gap(found: Comparison) -> str:
    gap = found.gap or Fraction(0)
    if gap == 0:
        return "no difference"
    return f"{decimal_text((decimal(abs(gap)) * 100).quantize(_TENTH))} points {'below' if gap > 0 else 'above'}"


def title(report: Report) -> str:
    """Name a report."""
    names = [each.release for each in report.sources]
    return f"Release {names[0]}" if len(names) == 1 else f"Releases {listed(names)}"


def lede(report: Report) -> Iterator[str]:
    """Give what a reader came for, in a few sentences."""
    leader = report.leader
    if leader is None or leader.contender.solving.rate is None:
        yield "No candidate of this report has a solve rate."
        return
    who = leader.contender
    yield f"{who.name} leads: it solved {who.solving.solved} of {who.solving.counted} attempts ({_sure(leader)})."
    others = [each for each in report.rows if each.beside_leader is not None]
    near = [each.contender.name for each in others if each.beside_leader and not each.beside_leader.is_separated]
    if others and not near:
        yield "Every other candidate is told from it by the paired test."
    elif near:
        yield f"Not separable from it: {listed(near)}."
    unscored = [each.contender.name for each in report.rows if each.contender.place is Place.UNSCORED]
    if unscored:
        yield f"Nothing can be said about {listed(unscored)}."


def _sure(row: Ranked) -> str:
    rate: Rate | None = row.contender.solving.rate
    if rate is None:
        return UNKNOWN
    if rate.interval is None:
        return f"{percent(rate.value)}; one nomination has no interval"
    return f"{percent(rate.value)}, 95% interval {interval(rate.interval)}"
