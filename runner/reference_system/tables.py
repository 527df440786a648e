"""aggregate.json of the reference system: every row and every figure derived again from the attempts."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeGuard

from runner.reference_system.attempts import Attempt
from runner.reference_system.documents import Aggregate, Entry, Manifest, Number
from runner.reference_system.files import AGGREGATE, Files
from runner.reference_system.rules import combined, is_number, known_total, mean, total, valid_scores

Row = dict[str, Any]
Attempts = Mapping[tuple[str, str], Attempt]
"""The attempts that count, by candidate and nomination."""

_NEAR = 1e-9
"""Sums of money depend on their order in the last digits."""


def check_aggregate(files: Files, aggregate: Aggregate, manifest: Manifest, attempts: Attempts) -> None:
    """Find every figure that does not follow from the attempts."""
    files.differ(AGGREGATE, "release", aggregate.release, manifest.release)
    files.differ(AGGREGATE, "criteria", aggregate.criteria, manifest.criteria)
    told = {str(each.get("candidate", {}).get("id")): each for each in aggregate.candidates}
    wanted = [str(each["id"]) for each in manifest.candidates]
    files.differ(AGGREGATE, "candidates", sorted(told), sorted(wanted))
    derived = {}
    for entry in manifest.candidates:
        name = str(entry["id"])
        rows = [_row(attempts.get((name, each.id)), each.id, manifest) for each in manifest.nominations]
        derived[name] = _standing(entry, rows, manifest)
        if name in told:
            _compare(files, f"candidates[{name}]", told[name], derived[name])
    order = sorted((derived[name] for name in wanted), key=_rank)
    ranked = [str(each["candidate"]["id"]) for each in order]
    files.differ(AGGREGATE, "order of candidates", [name for name in told if name in derived], ranked)
    _outcomes(files, aggregate, derived)


def _row(attempt: Attempt | None, nomination: str, manifest: Manifest) -> Row:
    """Give what a table says of one nomination."""
    row: Row = {"nomination": nomination, "task": nomination, "attempt": manifest.retry_policy.canonical_attempt}
    if attempt is None:
        nothing = dict.fromkeys(("agent_duration_ms", "test_duration_ms", "duration_ms", "judge_duration_ms"))
        counts = {"judge_count": 0, "judge_invocation_count": 0, "judge_durations": []}
        return {**row, "outcome": "missing_artifacts", **nothing, **counts}
    run = attempt.run
    told = run.benchmark_metrics
    executed = {name: each.execution for name, each in attempt.judges.items() if each.status != "skipped"}
    spent = {name: None if each is None else each.duration_ms for name, each in executed.items()}
    return {
        **row,
        "outcome": attempt.outcome,
        "agent_duration_ms": None if run.agent is None else run.agent.duration_ms,
        "test_duration_ms": None if run.tests is None else run.tests.duration_ms,
        "duration_ms": run.duration_ms,
        "cost_usd": None if told is None else told.cost_usd,
        "judge_count": len(_payloads(attempt, manifest.criteria)),
        "judge_invocation_count": len(executed),
        "judge_durations": [{"id": name, "duration_ms": each} for name, each in spent.items()],
        "judge_duration_ms": total(spent.values()),
        "objective_evaluator": _verdict(attempt),
        "payloads": _payloads(attempt, manifest.criteria),
    }


def _payloads(attempt: Attempt, criteria: Sequence[str]) -> list[Row]:
    """Give the scores that count."""
    return [dict(each.scores or {}) for each in attempt.judges.values() if valid_scores(each.scores, criteria)]


def _verdict(attempt: Attempt) -> Row | None:
    found = attempt.objective
    return None if found is None else {"id": found.evaluator.id, "status": found.status, "passed": found.passed}


def _standing(entry: Entry, rows: list[Row], manifest: Manifest) -> Row:
    """Give what a table says of one candidate."""
    payloads = [each for row in rows for each in row.get("payloads", ())]
    averages = _averages(payloads, manifest.criteria)
    verdicts = [row["objective_evaluator"] for row in rows if row.get("objective_evaluator") is not None]
    passed = sum(each["passed"] for each in verdicts) if verdicts else None
    durations = {str(each["id"]): _by_judge(rows, str(each["id"])) for each in manifest.judges}
    return {
        "candidate": entry,
        "task_count": len(rows),
        "nominations": rows,
        "tasks": rows,
        "outcome": combined(row["outcome"] for row in rows),
        **{
            name: total(row.get(name) for row in rows)
            for name in ("agent_duration_ms", "test_duration_ms", "duration_ms", "cost_usd", "judge_duration_ms")
        },
        "judge_count": sum(row["judge_count"] for row in rows),
        "judge_duration_by_id": durations,
        "judge_average": averages,
        "objective_pass_count": passed,
        "objective_total": len(verdicts) or None,
        "objective_pass_rate": None if passed is None else passed / len(verdicts),
        "overall_average": mean(list(averages.values())),
    }


def _averages(payloads: Sequence[Row], criteria: Sequence[str]) -> dict[str, Number]:
    found = {each: mean([payload[each] for payload in payloads]) for each in criteria}
    return {name: each for name, each in found.items() if each is not None}


def _by_judge(rows: list[Row], judge: str) -> Number | None:
    return known_total(each["duration_ms"] for row in rows for each in row["judge_durations"] if each["id"] == judge)


def _rank(standing: Row) -> tuple[bool, float, bool, float]:
    """Order candidates by their mean, then by what the evaluators passed; what is unknown comes last."""
    overall, rate = standing["overall_average"], standing["objective_pass_rate"]
    return overall is None, -(overall or 0), rate is None, -(rate or 0)


def _compare(files: Files, place: str, told: Mapping[str, Any], derived: Row) -> None:
    """Hold what a table says against what was derived, as far as both speak of it."""
    for name, expected in derived.items():
        if name not in told:
            continue
        found = told[name]
        if name in {"nominations", "tasks"}:
            _compare_rows(files, f"{place}.{name}", found, expected)
        elif name == "judge_durations":
            files.differ(AGGREGATE, f"{place}.{name}", _times(found), expected)
        elif not _same(found, expected):
            files.differ(AGGREGATE, f"{place}.{name}", found, expected)


def _compare_rows(files: Files, place: str, told: object, derived: list[Row]) -> None:
    if not _tables(told) or len(told) != len(derived):
        files.find(AGGREGATE, f"{place}: other rows", f"one for each of {len(derived)} nominations")
        return
    for found, expected in zip(told, derived, strict=True):
        _compare(files, f"{place}[{expected['nomination']}]", found, expected)


def _times(told: object) -> object:
    """Leave the statuses out of a list of durations."""
    return [{key: each.get(key) for key in ("id", "duration_ms")} for each in told] if _tables(told) else told


def _tables(values: object) -> TypeGuard[list[Row]]:
    return isinstance(values, list) and all(isinstance(each, dict) for each in values)


def _same(found: object, expected: object) -> bool:
    if isinstance(found, dict) and isinstance(expected, dict):
        return found.keys() == expected.keys() and all(_same(found[key], expected[key]) for key in found)
    if is_number(found) and is_number(expected):
        return abs(found - expected) <= _NEAR
    return bool(found == expected)


def _outcomes(files: Files, aggregate: Aggregate, derived: Mapping[str, Row]) -> None:
    """Hold the outcomes that stand beside the table as well against the same."""
    told = (aggregate.reproducibility or {}).get("outcomes")
    for name, each in told.items() if isinstance(told, dict) else ():
        if name in derived and isinstance(each, dict):
            found, expected = each.get("overall"), derived[name]["outcome"]
            files.differ(AGGREGATE, f"reproducibility.outcomes[{name}].overall", found, expected)


def notes_of(aggregate: Aggregate, manifest: Manifest, attempts: Attempts) -> Iterator[str]:
    """Say what explains figures that are not those of the attempts, and what is not derived again."""
    made = aggregate.generated_at
    later = sum(1 for each in attempts.values() if made is not None and (each.run.completed_at or "") > made)
    if later:
        yield f"{AGGREGATE} was made at {made}, before {later} of the attempts ended"
    config = (aggregate.reproducibility or {}).get("config_hash")
    if config is not None and config != manifest.config_sha256:
        yield f"{AGGREGATE} was made under a configuration other than the frozen one ({config})"
    yield f"{AGGREGATE}: judge_average_by_id, judge_scores and the rest of reproducibility were not derived again"
