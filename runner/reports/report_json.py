"""The rows of a report as plain values, for other programs. Numbers are decimal strings; null is unknown."""

from collections.abc import Iterator, Mapping
from fractions import Fraction

from runner.documents.writing import decimal_text
from runner.reports.report import CRITERIA, Ranked, Report
from runner.reports.report_words import decimal

Value = str | int | bool | None | Mapping[str, "Value"]
_PLACES = 6


def report_rows(report: Report) -> Iterator[dict[str, Value]]:
    """Give each row."""
    for row in report.rows:
        yield {**_who(row), **_solving(row), **_money(row), **_beside(row)}


def _who(row: Ranked) -> dict[str, Value]:
    each = row.contender
    return {
        "release": each.release,
        "candidate": each.candidate,
        "place": each.place.value,
        "rank": row.rank,
        "status": each.status.value,
        "superseded_by": each.superseded_by,
        "attempts": {status.value: number for status, number in each.counts.items()},
        "points": {name: given for (name, _), given in zip(CRITERIA, each.points.given, strict=True)},
        "assurance": {kind.value: number for kind, number in each.assurance.items()},
        "evidence_sha256": each.evidence_sha256,
    }


def _solving(row: Ranked) -> dict[str, Value]:
    found = row.contender.solving
    sure = None if found.rate is None else found.rate.interval
    return {
        "solved": found.solved,
        "counted": found.counted,
        "rate": _number(None if found.rate is None else found.rate.value),
        "rate_low": _number(None if sure is None else sure.low),
        "rate_high": _number(None if sure is None else sure.high),
        "rate_if_voids_failed": _number(found.worst),
        "rate_if_voids_solved": _number(found.best),
        "pass_at": {str(each.k): _number(each.once) for each in found.passes},
        "pass_every": {str(each.k): _number(each.always) for each in found.passes},
    }


def _money(row: Ranked) -> dict[str, Value]:
    found = row.contender.money
    solve = found.per_solve
    return {
        "time_ms": found.time_ms,
        "cost_usd": _number(found.cost),
        "cost_per_solve": _number(None if solve is None else solve.value),
        "cost_per_solve_low": _number(None if solve is None else solve.low),
        "cost_per_solve_high": _number(None if solve is None else solve.high),
    }


def _beside(row: Ranked) -> dict[str, Value]:
    found = row.beside_leader
    return {
        "leader": row.is_leader,
        "separated": None if found is None else found.is_separated,
        "test": None if found is None or found.test is None else found.test.value,
        "p": _number(None if found is None else found.chance),
        "p_corrected": _number(None if found is None else found.corrected),
    }


def _number(value: Fraction | float | None) -> str | None:
    return None if value is None else decimal_text(round(decimal(value), _PLACES))
