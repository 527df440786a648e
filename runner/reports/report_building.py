"""From the aggregates of releases to one report: rows in order, ranked, beside the leader. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from runner.documents.aggregate import Aggregate, Row
from runner.documents.judging_summary import JudgingSummary
from runner.documents.manifest import Manifest
from runner.reports.markdown import notes
from runner.reports.report import Contender, Place, Ranked, Report, Source
from runner.reports.report_standing import contender, frozen
from runner.statistics.separation import beside_leader


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """All that there is of one release."""

    manifest: Manifest
    aggregate: Aggregate
    aggregate_sha256: str
    judging: JudgingSummary | None = None
    judging_sha256: str | None = None


def build(releases: Sequence[Release], superseded: Mapping[str, str]) -> Report:
    """Make the report of releases; `superseded` says by which other one each release was replaced."""
    contenders = [each for release in releases for each in _contenders(release, superseded)]
    rows = sorted(contenders, key=_order)
    ranked = [each for each in rows if each.place is Place.RANKED]
    compared = beside_leader(ranked[0].solving.tries, [each.solving.tries for each in ranked[1:]]) if ranked else ()
    beside = {each.key: found for each, found in zip(ranked[1:], compared, strict=True)}
    return Report(
        sources=tuple(_source(release, superseded) for release in releases),
        rows=tuple(
            Ranked(
                contender=each,
                rank=_rank(each, ranked),
                beside_leader=beside.get(each.key),
                is_leader=bool(ranked) and each is ranked[0],
            )
            for each in rows
        ),
        differs=len({frozenset(each.solving.tries) for each in ranked}) > 1,
    )


def _contenders(release: Release, superseded: Mapping[str, str]) -> list[Contender]:
    by_candidate: dict[str, list[Row]] = {}
    for row in release.aggregate.attempts:
        by_candidate.setdefault(row.candidate, []).append(row)
    plan = frozen(release.manifest, superseded.get(release.manifest.release))
    return [
        contender(plan, standing, by_candidate[standing.candidate], release.judging)
        for standing in release.aggregate.candidates
    ]


def _order(each: Contender) -> tuple[object, ...]:
    """Order rows: by place; the higher rate first, then the better review, then the cheaper solve, then the name."""
    rate, overall, per_solve = each.solving.rate, each.points.overall, each.money.per_solve
    cost = None if per_solve is None else per_solve.value
    return (
        list(Place).index(each.place),
        0 if rate is None else -rate.value,
        (overall is None, -(overall or 0)),
        (cost is None, cost or 0),
        each.candidate,
        each.release,
    )


def _rank(each: Contender, ranked: Sequence[Contender]) -> int | None:
    """Count those with a higher rate, and one."""
    if each.place is not Place.RANKED or each.solving.rate is None:
        return None
    own = each.solving.rate.value
    return 1 + sum(other.solving.rate is not None and other.solving.rate.value > own for other in ranked)


def _source(release: Release, superseded: Mapping[str, str]) -> Source:
    manifest = release.manifest
    return Source(
        release=manifest.release,
        manifest_sha256=release.aggregate.manifest_sha256,
        aggregate_sha256=release.aggregate_sha256,
        judging_sha256=release.judging_sha256,
        supersedes=manifest.supersedes,
        superseded_by=superseded.get(manifest.release),
        attempts=len(release.aggregate.attempts),
        notes=notes(release.aggregate),
    )
