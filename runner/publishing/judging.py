"""What of a release's judging is published: every answer's document, the plans, and the summary made of them."""

import re
from collections.abc import Iterable, Iterator

from runner.canonical import canonical, sha256
from runner.documents.judging import RubricItem
from runner.documents.manifest import Manifest
from runner.documents.published import ChangeLength, JudgedLengths
from runner.judging.archive import JUDGES, JUDGING, UNASKED, Archive, all_tries
from runner.judging.ruling import Said
from runner.judging.summary import summarise
from runner.judging.tables import judged
from runner.judging.terms import terms_of
from runner.publishing.attempt import attempt_folder
from runner.reports.judging import judging_markdown
from runner.schedule import Cell
from runner.store import Store

SUMMARY = f"{JUDGING}.json"
SUMMARY_TABLE = f"{JUDGING}.md"
LENGTHS = f"{JUDGING}/lengths.json"

_PLACES = rf"[^/]+/[^/]+/attempts/attempt-[0-9]+/{JUDGES}|{JUDGING}/answers"

ANSWER_PATH = re.compile(rf"(?:{_PLACES})/[^/]+/[0-9a-f]{{64}}\.json")
"""Where an answer's document lies."""

PLAN_PATH = re.compile(rf"{JUDGING}/plans/([1-9][0-9]*)\.json")
"""Where a plan lies; the one with the highest number counts."""


def judging_files(store: Store, manifest: Manifest) -> dict[str, bytes]:
    """Give the public files of a release's judging; none where nobody judged or reviewed anything.

    Raises:
        VerificationError: something is not what was kept.
        StatsMissingError: there is something to rate, and numpy is not there.
    """
    archive, found = Archive(store=store), judged(store, manifest)
    plans = archive.plans()
    documents = tuple(archive.answers(all_tries(store, manifest)))
    if not (plans or documents or found.reviews):
        return {}
    summary = summarise(found, terms_of(manifest))
    lengths = tuple(ChangeLength(submission_sha256=each, lines=found.lengths[each]) for each in sorted(found.lengths))
    return {
        **{answer_path(each): canonical(each) for each in documents},
        **{f"{JUDGING}/plans/{number}.json": canonical(plan) for number, plan in enumerate(plans, 1)},
        LENGTHS: canonical(JudgedLengths(release=manifest.release, lengths=lengths)),
        SUMMARY: canonical(summary),
        SUMMARY_TABLE: judging_markdown(summary).encode(),
    }


def answer_path(said: Said) -> str:
    """Give the place of an answer: beside the attempt that it is about, else among those about pairs and controls."""
    judge = UNASKED if said.asked is None else said.asked.judge
    name = f"{judge}/{sha256(canonical(said))}.json"
    if isinstance(said.item, RubricItem):
        of = said.item.cell
        cell = Cell(candidate=of.candidate, nomination=of.nomination, attempt=of.attempt)
        return f"{attempt_folder(cell)}/{JUDGES}/{name}"
    return f"{JUDGING}/answers/{name}"


def plan_numbers(paths: Iterable[str]) -> Iterator[int]:
    """List the numbers of published plans."""
    return (int(found[1]) for path in paths if (found := PLAN_PATH.fullmatch(path)))
