"""The tables of a published release, made again from its run.json documents: every cell must be the same."""

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from runner.documents.aggregate import Aggregate
from runner.documents.manifest import Manifest
from runner.documents.model import Document
from runner.documents.published import PublishedPreflight, Run
from runner.drift import compare
from runner.publishing.layout import AGGREGATE, PREFLIGHT, TABLE, attempt_name, probe_status
from runner.publishing.run import observed_of
from runner.reports.aggregate import planned, tabulate
from runner.reports.markdown import markdown
from runner.schedule import Cell
from runner.verification.model import Finding, differ
from runner.verification.published_tree import PublishedTree

_MOST = 20
"""Differences of one table that are told."""


def check_tables(tree: PublishedTree, manifest: Manifest, digest: str, runs: Sequence[Run]) -> Iterator[Finding]:
    """Find every cell of both tables that does not follow; `runs` are all planned ones, in order."""
    wanted = tabulate(manifest, digest, (observed_of(run) for run in runs))
    found, findings = tree.read(Aggregate, AGGREGATE)
    yield from findings
    if isinstance(found, Aggregate):
        yield from _check_aggregate(tree, found, wanted)
    yield from check_text(tree, TABLE, markdown(wanted).encode())


def _check_aggregate(tree: PublishedTree, found: Aggregate, wanted: Aggregate) -> Iterator[Finding]:
    rows = [(row.candidate, row.nomination, row.attempt) for row in found.attempts]
    order = [(row.candidate, row.nomination, row.attempt) for row in wanted.attempts]
    if rows != order and sorted(rows) == sorted(order):
        yield tree.finding(AGGREGATE, "its rows in another order", "the planned order")
        return
    yield from check_cells(tree, AGGREGATE, found, wanted)


def check_cells(tree: PublishedTree, path: str, found: Document, wanted: Document) -> Iterator[Finding]:
    """Find each field of a table that is not what was made again."""
    drifts = compare(wanted.model_dump(mode="json", by_alias=True), found.model_dump(mode="json", by_alias=True))
    for at, drift in enumerate(drifts):
        if at == _MOST:
            yield tree.finding(path, "further cells that differ", "the table that follows from the rest")
            return
        yield tree.finding(f"{path}: {drift.field}", drift.found, f"{drift.frozen}, as follows from the rest")


def check_text(tree: PublishedTree, path: str, wanted: bytes) -> Iterator[Finding]:
    """Find each line of a table that is not what was made again."""
    if path not in tree.files:
        yield tree.finding(path, "nothing", "the table for people")
        return
    pairs = zip_longest(tree.files[path].split(b"\n"), wanted.split(b"\n"))
    odd = [(at, one, other) for at, (one, other) in enumerate(pairs, 1) if one != other]
    for at, one, other in odd[:_MOST]:
        yield tree.finding(f"{path}:{at}", _shown(one), f"{_shown(other)}, as follows from the rest")


def _shown(line: bytes | None) -> str:
    return "no such line" if line is None else repr(line.decode("utf-8", "replace"))[:200]


def check_preflights(tree: PublishedTree, manifest: Manifest, digest: str, runs: Sequence[Run]) -> Iterator[Finding]:
    """Find what does not follow about the probes of each candidate that has planned attempts."""
    by_candidate: dict[str, dict[str, Cell]] = {}
    for cell in planned(manifest):
        by_candidate.setdefault(cell.candidate, {})[attempt_name(cell)] = cell
    for candidate in manifest.candidates:
        cells = by_candidate.get(candidate.id, {})
        path = f"{candidate.id}/{PREFLIGHT}"
        if not cells:
            continue
        found, findings = tree.read(PublishedPreflight, path)
        yield from findings
        if not isinstance(found, PublishedPreflight):
            continue
        file = tree.folder / path
        yield from differ(file, "release", found.release, manifest.release)
        yield from differ(file, "manifest_sha256", found.manifest_sha256, digest)
        yield from differ(file, "candidate", found.candidate, candidate)
        yield from differ(file, "status", found.status, probe_status(found.probes))
        own = [run for run in runs if run.candidate.id == candidate.id]
        yield from _check_probes(tree, path, found, cells, own)


def _check_probes(
    tree: PublishedTree, path: str, found: PublishedPreflight, cells: dict[str, Cell], runs: Sequence[Run]
) -> Iterator[Finding]:
    """Hold each probe's answer against the runs that stand on it."""
    file = tree.folder / path
    by_name = {f"{run.nomination}/attempt-{run.attempt}": run for run in runs}
    named = [name for probe in found.probes for name in probe.attempts]
    if len(set(named)) != len(named) or not set(named) <= cells.keys():
        yield tree.finding(path, "probes of other attempts, or two of one", "each planned attempt once, at most")
    for probe in found.probes:
        yield from differ(file, "available", probe.available, probe.reason is None)
        if probe.tries:
            yield from differ(file, "reason", probe.reason, probe.tries[-1].reason)
        for name in probe.attempts:
            run = by_name.get(name)
            if run is not None and run.facts.void is None:
                told = None if run.facts.unavailable is None else run.facts.unavailable.reason
                yield from differ(file, f"reason of {name}", probe.reason, told)
