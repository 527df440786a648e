"""The summary of a release's judging, made from what was kept, and written beside its tables."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from runner.canonical import canonical, parse
from runner.documents.judging import PairItem, PairVerdict, RubricItem, RubricVerdict
from runner.documents.judging_plan import JudgingPlan
from runner.documents.judging_summary import JudgingSummary
from runner.documents.manifest import Manifest
from runner.documents.reviews import ManualReview
from runner.durable import TEMPORARY, replace_file
from runner.judging.archive import JUDGING, LONGEST, Archive, all_tries, packet_file
from runner.judging.askings import Judged
from runner.judging.reopened import reopened
from runner.judging.reviews import REVIEWS
from runner.judging.ruling import Said
from runner.judging.summary import summarise
from runner.judging.terms import terms_of
from runner.parsing import read_file
from runner.reports.judging import judging_markdown
from runner.store import Store


def write_summary(store: Store, manifest: Manifest, tables: Path) -> tuple[JudgingSummary, Path]:
    """Sum up what judges and reviewers said, and write it as JSON and Markdown; gives the folder as well.

    Raises:
        VerificationError: something is not what was kept.
        StatsMissingError: there is something to rate, and numpy is not there.
    """
    summary = summarise(judged(store, manifest), terms_of(manifest))
    folder = tables / manifest.release
    replace_file(folder / f"{JUDGING}.json", canonical(summary))
    replace_file(folder / f"{JUDGING}.md", judging_markdown(summary).encode())
    return summary, folder


def judged(store: Store, manifest: Manifest) -> Judged:
    """Read everything that was said about a release; what no plan asks for any more counts no more."""
    archive, tries = Archive(store=store), all_tries(store, manifest)
    plans = archive.plans()
    documents = counted(plans[-1] if plans else None, archive.answers(tries))
    folders = (store.folder(trial) / REVIEWS for trial in tries)
    files = (file for folder in folders if folder.is_dir() for file in sorted(folder.iterdir()))
    return Judged(
        documents=documents,
        skipped=plans[-1].skipped if plans else (),
        reviews=tuple(
            parse(ManualReview, read_file(file, LONGEST), str(file))
            for file in files
            if not file.name.startswith(TEMPORARY)
        ),
        lengths=dict(_lengths(archive, documents)),
    )


def counted(plan: JudgingPlan | None, documents: Iterable[Said]) -> tuple[Said, ...]:
    """Give the answers that the last plan asks for. Pure."""
    asked = set() if plan is None else {(each.judge, each.item, each.view) for each in plan.askings}
    items = {item for _, item, _ in asked}
    return tuple(
        said
        for said in documents
        if (said.asked is None and said.item in items)
        or (said.asked is not None and (said.asked.judge, said.item, said.asked.view) in asked)
    )


def _lengths(archive: Archive, documents: tuple[Said, ...]) -> Iterator[tuple[str, int]]:
    """Count the changed lines of submissions, as pairs showed them."""
    for said in documents:
        if not isinstance(said, RubricVerdict | PairVerdict) or not isinstance(said.item, RubricItem | PairItem):
            continue
        packet = reopened(read_file(packet_file(archive, said.asked.packet_sha256), LONGEST), said.item)
        cells = [said.item.cell] if isinstance(said.item, RubricItem) else [said.item.first, said.item.second]
        if isinstance(said.item, PairItem) and said.item.shown_a == "second":
            cells.reverse()
        for cell, change in zip(cells, packet.changes, strict=True):
            yield cell.submission_sha256, sum(line[:1] in {"+", "-"} for line in change.shown.lines)
