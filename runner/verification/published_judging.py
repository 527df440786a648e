"""The judging of a published release: each document where it belongs, and the summary made of them again."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from runner.canonical import sha256
from runner.documents.judging import Cell as Judged_
from runner.documents.judging import Unscored
from runner.documents.judging_plan import JudgingPlan
from runner.documents.judging_summary import JudgingSummary
from runner.documents.manifest import Manifest
from runner.documents.published import JudgedLengths, Run
from runner.documents.reviews import ManualReview
from runner.errors import VerificationError
from runner.judging.archive import JUDGING, model_of
from runner.judging.askings import Judged, cells
from runner.judging.ratings import StatsMissingError
from runner.judging.ruling import Said
from runner.judging.summary import summarise
from runner.judging.tables import counted
from runner.judging.terms import terms_of
from runner.publishing.judging import (
    ANSWER_PATH,
    LENGTHS,
    SUMMARY,
    SUMMARY_TABLE,
    answer_path,
    plan_numbers,
)
from runner.reports.judging import judging_markdown
from runner.schedule import Cell
from runner.verification.model import Finding, differ
from runner.verification.published_tables import check_cells, check_text
from runner.verification.published_tree import PublishedTree

UNSCORED_MARK = b'"schema":"cleanroom/unscored/1"'


@dataclass(slots=True, kw_only=True)
class JudgingCheck:
    """One look at what judges said."""

    tree: PublishedTree
    manifest: Manifest
    runs: Mapping[Cell, Run]
    reviews: Sequence[ManualReview]
    findings: list[Finding] = field(default_factory=list)
    known: set[str] = field(default_factory=set)
    unchecked: list[str] = field(default_factory=list)

    def everything(self) -> None:
        """Look at answers, plans and the summary."""
        answers = tuple(self._answers())
        plans = tuple(self._plans())
        if not (answers or plans or self.reviews):
            return
        self.known |= {LENGTHS, SUMMARY, SUMMARY_TABLE}
        found, findings = self.tree.read(JudgedLengths, LENGTHS)
        self.findings += findings
        if isinstance(found, JudgedLengths):
            self.findings += differ(self.tree.folder / LENGTHS, "release", found.release, self.manifest.release)
            self._summary(answers, plans[-1] if plans else None, found)

    def _answers(self) -> Iterator[Said]:
        for path, data in self.tree.files.items():
            if ANSWER_PATH.fullmatch(path):
                self.known.add(path)
                model = Unscored if UNSCORED_MARK in data else model_of(data)
                said, findings = self.tree.read(model, path)
                self.findings += findings
                if isinstance(said, Said):
                    self.findings += self._bound(path, said)
                    yield said

    def _bound(self, path: str, said: Said) -> Iterator[Finding]:
        """Find that an answer lies where it does not belong, or is about no submission of this release."""
        if answer_path(said) != path:
            yield self.tree.finding(path, "another place or name", f"{answer_path(said)}, as follows from its bytes")
        for cell in cells(said.item):
            yield from self._submission(path, cell)

    def _submission(self, path: str, of: Judged_) -> Iterator[Finding]:
        run = self.runs.get(Cell(candidate=of.candidate, nomination=of.nomination, attempt=of.attempt))
        if run is None:
            yield self.tree.finding(path, f"an answer about {of.candidate}/{of.nomination}", "a planned attempt")
        elif run.try_ == of.try_:
            digest = run.evidence.submission_sha256
            yield from differ(self.tree.folder / path, "submission_sha256", of.submission_sha256, digest)

    def _plans(self) -> Iterator[JudgingPlan]:
        numbers = sorted(plan_numbers(self.tree.files))
        place = self.tree.folder / JUDGING / "plans"
        self.findings += differ(place, "plans", numbers, list(range(1, len(numbers) + 1)))
        for number in numbers:
            path = f"{JUDGING}/plans/{number}.json"
            self.known.add(path)
            plan, findings = self.tree.read(JudgingPlan, path)
            self.findings += findings
            if isinstance(plan, JudgingPlan):
                self.findings += differ(self.tree.folder / path, "release", plan.release, self.manifest.release)
                digest = sha256(self.tree.files["manifest.json"])
                self.findings += differ(self.tree.folder / path, "manifest_sha256", plan.manifest_sha256, digest)
                yield plan

    def _summary(self, answers: Sequence[Said], plan: JudgingPlan | None, lengths: JudgedLengths) -> None:
        """Make the summary again."""
        judged = Judged(
            documents=counted(plan, answers),
            skipped=() if plan is None else plan.skipped,
            reviews=tuple(self.reviews),
            lengths={each.submission_sha256: each.lines for each in lengths.lengths},
        )
        found, findings = self.tree.read(JudgingSummary, SUMMARY)
        self.findings += findings
        try:
            wanted = summarise(judged, terms_of(self.manifest))
        except StatsMissingError as error:
            self.unchecked.append(f"{SUMMARY} was not made again: {error}")
            return
        except VerificationError as error:
            self.findings.append(self.tree.finding(SUMMARY, str(error), "documents of this release alone"))
            return
        if isinstance(found, JudgingSummary):
            self.findings += check_cells(self.tree, SUMMARY, found, wanted)
        self.findings += check_text(self.tree, SUMMARY_TABLE, judging_markdown(wanted).encode())
