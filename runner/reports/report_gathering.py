"""Everything that a report is made of, read from this host: manifests, sealed evidence, what judges said."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from runner.canonical import canonical, parse, sha256
from runner.documents.judging_summary import JudgingSummary
from runner.documents.manifest import Manifest
from runner.durable import replace_file
from runner.errors import DocumentError
from runner.inputs import Places
from runner.manifests import RELEASES, NotFrozenError, load_manifest, load_with_digest, manifest_path
from runner.parsing import read_file
from runner.reports.remembering import Clock, Gathered, gather_table
from runner.reports.report import Report
from runner.reports.report_building import Release, build
from runner.reports.report_html import report_page
from runner.reports.report_markdown import report_markdown
from runner.store import store_for
from runner.working import uncollected

PAGE, TEXT = "report.html", "report.md"
_SUMMARY = "judging.json"
_LONGEST = 64 << 20


def gather(
    checkout: Path, places: Places, names: Sequence[str], *, clock: Clock, fresh: bool = False
) -> tuple[Report, tuple[Gathered, ...]]:
    """Make the report of some releases from their sealed evidence, and write their aggregates on the way.

    Gives the aggregates too; `clock` and `fresh` are as for `gather_table`.

    Raises:
        NotFrozenError: there is no manifest of such a name.
        DocumentError, DocumentErrors: something cannot be read.
        VerificationError: evidence is not what was sealed.
    """
    folder = checkout / RELEASES
    for name in names:
        if not manifest_path(folder, name).exists():
            raise NotFrozenError(release=name)
    with uncollected():
        return _gather(folder, places, names, clock, fresh=fresh)


def _gather(
    folder: Path, places: Places, names: Sequence[str], clock: Clock, *, fresh: bool
) -> tuple[Report, tuple[Gathered, ...]]:
    manifests = {name: load_with_digest(manifest_path(folder, name)) for name in names}
    found = [_release(manifest, digest, places, clock=clock, fresh=fresh) for manifest, digest in manifests.values()]
    superseded = dict(_superseded(folder, {name: manifest for name, (manifest, _) in manifests.items()}))
    return build([release for _, release in found], superseded), tuple(gathered for gathered, _ in found)


def _release(manifest: Manifest, digest: str, places: Places, *, clock: Clock, fresh: bool) -> tuple[Gathered, Release]:
    folder = places.tables / manifest.release
    store = store_for(places.store, manifest, manifest_sha256=digest)
    gathered = gather_table(store, manifest, folder, clock=clock, fresh=fresh)
    judging = _judging(folder / _SUMMARY, gathered.aggregate.manifest_sha256)
    return gathered, Release(
        manifest=manifest,
        aggregate=gathered.aggregate,
        aggregate_sha256=gathered.sha256,
        judging=judging,
        judging_sha256=None if judging is None else sha256(canonical(judging)),
    )


def _judging(file: Path, manifest_sha256: str) -> JudgingSummary | None:
    """Give what judges said of a release, where they were asked."""
    if not file.exists():
        return None
    found = parse(JudgingSummary, read_file(file, _LONGEST), str(file))
    if found.manifest_sha256 != manifest_sha256:
        raise DocumentError(
            file=str(file),
            field="manifest_sha256",
            found=found.manifest_sha256,
            expected=f"that of the release, {manifest_sha256}",
            mend="run 'runner judge' again, or remove the file",
        )
    return found


def _superseded(releases: Path, known: Mapping[str, Manifest]) -> Iterator[tuple[str, str]]:
    """Give by which other release each was replaced, as all manifests say; some are loaded already."""
    for place in sorted(releases.glob("*/manifest.json")):
        manifest = known.get(place.parent.name) or load_manifest(place)
        if manifest.supersedes is not None:
            yield manifest.supersedes, manifest.release


def write_report(folder: Path, report: Report) -> tuple[Path, Path]:
    """Write a report as a page and as Markdown."""
    page, text = folder / PAGE, folder / TEXT
    replace_file(page, report_page(report).encode())
    replace_file(text, report_markdown(report).encode())
    return page, text
