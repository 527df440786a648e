"""A release's evidence laid out for everybody: from store and manifest to paths and bytes. Writes nothing."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from runner.canonical import canonical, sha256
from runner.documents.manifest import Manifest
from runner.documents.published import (
    PublishedAsking,
    PublishedPreflight,
    PublishedProbe,
)
from runner.documents.telemetry import Preflight
from runner.publishing.attempt import Published, publish_attempt
from runner.publishing.judging import judging_files
from runner.publishing.names import check_names
from runner.reports.aggregate import planned, tabulate
from runner.reports.markdown import markdown
from runner.schedule import Cell
from runner.signing.leaves import leaf
from runner.store import Store

MANIFEST = "manifest.json"
AGGREGATE = "aggregate.json"
TABLE = "aggregate.md"
ALLOWED = "allowed.json"
PREFLIGHT = "preflight.json"

Status = Literal["available", "unavailable", "not_needed", "not_asked"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """A release as it is published, before it is signed."""

    files: Mapping[str, bytes]
    """By their paths below the release's folder; allowed.json is not among them yet."""
    leaves: tuple[bytes, ...]
    """Of the signed tree: one a planned attempt, in planned order."""


def lay_out(store: Store, manifest: Manifest, incomplete: Mapping[Cell, str]) -> Layout:
    """Lay a release out; `incomplete` says of attempts without an end why they are published so.

    Raises:
        NamesError: names of the release cannot stand beside each other in one folder.
        SealBrokenError: evidence is not what was sealed.
    """
    attempts = tuple(publish_attempt(store, manifest, cell, incomplete.get(cell)) for cell in planned(manifest))
    table = tabulate(manifest, store.manifest_sha256, (each.observed for each in attempts))
    files = {
        MANIFEST: canonical(manifest),
        AGGREGATE: canonical(table),
        TABLE: markdown(table).encode(),
        **dict(_preflights(store, manifest, attempts)),
        **judging_files(store, manifest),
    }
    for each in attempts:
        files |= each.files
    check_names(files)
    return Layout(
        files=files, leaves=tuple(leaf_of(each.observed.cell, canonical(each.run), each.run.void) for each in attempts)
    )


def leaf_of(cell: Cell, run: bytes, void: str | None) -> bytes:
    """Give an attempt's leaf in the signed tree, for the bytes of its run.json."""
    return leaf(str(cell), sha256(run), void)


def _preflights(store: Store, manifest: Manifest, attempts: tuple[Published, ...]) -> Iterator[tuple[str, bytes]]:
    """Give a preflight.json for each candidate with a planned attempt."""
    for candidate in manifest.candidates:
        own = tuple(each for each in attempts if each.observed.cell.candidate == candidate.id)
        if own:
            probes = tuple(_probes(own))
            document = PublishedPreflight(
                release=manifest.release,
                manifest_sha256=store.manifest_sha256,
                candidate=candidate,
                status=probe_status(probes),
                probes=probes,
            )
            yield f"{candidate.id}/{PREFLIGHT}", canonical(document)


def _probes(attempts: tuple[Published, ...]) -> Iterator[PublishedProbe]:
    """Give each probe once, with the attempts that stand on it."""
    asked: dict[bytes, tuple[Preflight, list[str]]] = {}
    for each in attempts:
        if each.preflight is not None:
            cell = each.observed.cell
            _, cells = asked.setdefault(canonical(each.preflight), (each.preflight, []))
            cells.append(attempt_name(cell))
    for data, (found, cells) in asked.items():
        tries = tuple(
            PublishedAsking(reason=each.reason, duration_ms=each.wall_ms, usage=each.traffic) for each in found.tries
        )
        yield PublishedProbe(
            sha256=sha256(data),
            needed=found.needed,
            available=found.available,
            reason=found.reason,
            tries=tries,
            attempts=tuple(cells),
        )


def attempt_name(cell: Cell) -> str:
    """Name an attempt among those of its candidate."""
    return f"{cell.nomination}/attempt-{cell.attempt}"


def probe_status(probes: Iterable[PublishedProbe]) -> Status:
    """Say in a word what came of a candidate's probes."""
    every = tuple(probes)
    if not every:
        return "not_asked"
    if not any(each.needed for each in every):
        return "not_needed"
    return "available" if any(each.available for each in every) else "unavailable"
