"""Aggregating sealed evidence into aggregate.json: a pure reading, the same whenever it is done."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Literal

from evaluators.model import Assurance
from runner.documents.aggregate import Aggregate, Evidence, Row, Standing
from runner.documents.facts import Controls, Facts, Spent
from runner.documents.manifest import Manifest
from runner.documents.writing import decimal_text
from runner.norms import mean
from runner.observed import Look, Observed, Observer
from runner.outcome import COUNTED, Outcome, outcome, score, solved, verdict
from runner.reason import reason
from runner.roster import Candidate, NetworkMode
from runner.schedule import Cell
from runner.spending import add_up
from runner.store import Store
from runner.working import cores, in_order, is_much

_PLACES = Decimal("0.000001")
_WEAKEST_FIRST = (Assurance.EXIT_CODE, Assurance.IN_PROCESS, Assurance.SPLIT)


def aggregate(store: Store, manifest: Manifest, *, workers: int | None = None) -> Aggregate:
    """Read a release's evidence into one table, with a row for every planned attempt.

    `workers` defaults to the cores of this machine where there is much to read; the table is the same with any number.
    """
    return table_of(manifest, store.manifest_sha256, read_rows(store, manifest, planned(manifest), workers=workers))


def read_rows(
    store: Store, manifest: Manifest, cells: Sequence[Cell], *, workers: int | None = None
) -> tuple[Row, ...]:
    """Read some attempts from their evidence, in their order; `workers` as for `aggregate`."""
    if workers is None:
        workers = cores() if is_much(store.attempt_folder(cell) for cell in cells) else 1
    observer = Observer(store=replace(store, scribe=None), rule=manifest.retry_policy.canonical_grading)
    return tuple(_row(each) for each in in_order(observer, cells, workers))


def tabulate(manifest: Manifest, manifest_sha256: str, observed: Iterable[Observed]) -> Aggregate:
    """Make the table of what was observed of each planned attempt, in the manifest's order. Pure."""
    return table_of(manifest, manifest_sha256, tuple(_row(each) for each in observed))


def table_of(manifest: Manifest, manifest_sha256: str, rows: tuple[Row, ...]) -> Aggregate:
    """Make the table of all planned attempts' rows, in the manifest's order. Pure."""
    by_candidate: dict[str, list[Row]] = {}
    for row in rows:
        by_candidate.setdefault(row.candidate, []).append(row)
    objective = frozenset(each.id for each in manifest.nominations if not each.spec.is_free_text)
    return Aggregate(
        release=manifest.release,
        manifest_sha256=manifest_sha256,
        controls=Controls(manifest.controls),
        unproven=unproven_of(manifest),
        scripted=any(row.scripted for row in rows),
        direct=any(row.network is NetworkMode.DIRECT for row in rows),
        candidates=tuple(
            standing(candidate, tuple(by_candidate[candidate.id]), objective)
            for candidate in manifest.candidates
            if candidate.id in by_candidate
        ),
        attempts=rows,
    )


def unproven_of(manifest: Manifest) -> tuple[str, ...]:
    """Name the nominations that were frozen without a certificate, and whose evaluators one would be about."""
    return tuple(each.id for each in manifest.nominations if each.certificate is None and not each.spec.is_free_text)


def planned(manifest: Manifest) -> tuple[Cell, ...]:
    """Give the planned attempts of a release, in order."""
    return tuple(
        Cell(candidate=each.candidate, nomination=each.nomination, attempt=each.attempt) for each in manifest.planned
    )


def _row(observed: Observed) -> Row:
    look = observed.counted
    facts = look.facts
    passed, points = verdict(facts), score(facts)
    return Row(
        candidate=observed.cell.candidate,
        nomination=observed.cell.nomination,
        attempt=observed.cell.attempt,
        tries=observed.tries,
        outcome=outcome(facts),
        verdict=_word(passed),
        public_tests=None if facts.missing else _word(facts.tests_passed),
        changed=look.changed,
        solved=solved(facts),
        score=None if points is None else decimal_text(points),
        pass_at_1=_passed(look, 1),
        pass_at_2=_passed(look, 2),
        reason=reason(facts),
        failure=None if facts.failure is None else facts.failure.cause,
        assurance=_weakest(facts),
        scripted=None if look.origin is None else look.origin.scripted,
        network=None if look.origin is None else look.origin.network,
        phases=look.phases,
        traffic=look.traffic,
        norms=look.norms,
        voids=observed.voids,
        evidence=Evidence(
            submission_sha256=look.submission_sha256,
            grading_sha256=look.grading_sha256,
            void_sha256=look.void_sha256,
        ),
    )


def _word(passed: bool | None) -> Literal["passed", "failed"] | None:  # noqa: FBT001 - it is what is written down
    return None if passed is None else "passed" if passed else "failed"


def _passed(look: Look, shots: int) -> bool | None:
    """Say whether one of the first shots solved it; None where that is not known, or there are no shots."""
    known = look.shots and outcome(look.facts) in COUNTED
    return any(shot.solved for shot in look.shots if shot.number <= shots) if known else None


def _pass_rate(passed: Iterable[bool | None]) -> str | None:
    known = tuple(passed)
    return None if None in known else _ratio(Decimal(sum(each is True for each in known)), len(known))


def _weakest(facts: Facts) -> Assurance | None:
    if verdict(facts) is None:
        return None
    return min((each.assurance for each in facts.evaluators), key=_WEAKEST_FIRST.index, default=None)


def standing(candidate: Candidate, rows: tuple[Row, ...], objective: frozenset[str]) -> Standing:
    """Sum up a candidate; what judges alone can grade is neither solved nor unsolved."""
    counted = [row for row in rows if row.outcome in COUNTED and row.nomination in objective]
    won = sum(row.solved for row in counted)
    voids = sum(row.outcome is Outcome.VOID and row.nomination in objective for row in rows)
    wasted = [row.voids for row in rows if row.voids is not None]
    found = Counter(row.outcome for row in rows)
    return Standing(
        candidate=candidate.id,
        label=candidate.label,
        agent=candidate.agent.value,
        model=candidate.model,
        outcome=next(each for each in Outcome if found[each]),
        outcomes={each: found[each] for each in Outcome},
        solved=won,
        counted=len(counted),
        solved_rate=_ratio(Decimal(won), len(counted)),
        rate_if_voids_failed=_ratio(Decimal(won), len(counted) + voids),
        rate_if_voids_solved=_ratio(Decimal(won + voids), len(counted) + voids),
        mean_score=_mean(row.score for row in counted),
        pass_at_1=_pass_rate(row.pass_at_1 for row in counted),
        pass_at_2=_pass_rate(row.pass_at_2 for row in counted),
        norms=mean((row.solved, row.norms) for row in counted),
        solution=add_up(row.phases.solution or Spent() for row in counted) if counted else Spent(),
        voids=add_up(wasted) if wasted else None,
    )


def _mean(scores: Iterable[str | None]) -> str | None:
    known = tuple(scores)
    if not known or None in known:
        return None
    return _ratio(sum((Decimal(each or 0) for each in known), Decimal(0)), len(known))


def _ratio(part: Decimal, whole: int) -> str | None:
    return decimal_text((part / whole).quantize(_PLACES, ROUND_HALF_EVEN)) if whole else None
