"""Verifying a published release from its folder alone: nothing of the host that made it is needed, or believed."""

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from runner.canonical import sha256
from runner.documents.manifest import Manifest
from runner.documents.published import Allowed, Run
from runner.documents.reviews import ManualReview
from runner.documents.seal import Trial
from runner.judging.reviews import Subject, review_criteria
from runner.publishing.attempt import FIRST_SHOT, RUN, attempt_folder
from runner.publishing.layout import AGGREGATE, ALLOWED, MANIFEST, PREFLIGHT, TABLE, leaf_of
from runner.reports.aggregate import planned
from runner.schedule import Cell
from runner.signing.bundle import LEAVES, NAMES, BundleFiles, check_bundle, not_checked
from runner.signing.errors import SignatureError
from runner.signing.leaves import parse_leaves
from runner.signing.trust import Trust
from runner.verification.model import Finding, Rebuild, differ
from runner.verification.published_files import check_side, named_files, sides
from runner.verification.published_judging import JudgingCheck
from runner.verification.published_run import check_run
from runner.verification.published_tables import check_preflights, check_tables
from runner.verification.published_tree import PublishedTree, read_tree
from runner.verification.reviews import check_review
from runner.verification.validating import Schemas
from runner.verification.verdicts import follows_from_cases

NOT_APPLIED = "patches were read and not applied: the frozen bases were not at hand (see --config)"
PRIVATE = (
    "what stays private: that the facts of each run.json follow from ledgers, streams, launchers' reports and the "
    "names of hidden cases (runner verify on the store does that)"
)

_ATTEMPT = re.compile(r"([^/]+)/([^/]+)/attempts/attempt-([0-9]+)/.+")


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedReport:
    """What was found in a published release, and what was not looked at."""

    release: str | None
    """None where there is no manifest that says it."""
    findings: tuple[Finding, ...]
    """Empty: the release is what it says it is, as far as it was looked at."""
    files: int
    attempts: int
    unchecked: tuple[str, ...]
    """What was not looked at, in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What a verifier knows of a release before it looks."""

    trust: Trust
    """Keys that came from elsewhere."""
    frozen: Manifest | None = None
    """The manifest that was frozen here, if it was."""
    rebuild: Rebuild | None = None
    """Applies patches to frozen bases, if they are at hand."""


@dataclass(slots=True, kw_only=True)
class _Verification:
    """One verification on its way."""

    tree: PublishedTree
    known_before: Known
    unchecked: list[str] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    known: set[str] = field(default_factory=lambda: {MANIFEST, AGGREGATE, TABLE, ALLOWED} | NAMES)
    runs: dict[Cell, Run] = field(default_factory=dict)
    read_reviews: list[ManualReview] = field(default_factory=list)

    def release(self, manifest: Manifest, digest: str) -> None:
        """Verify everything against the plan."""
        for cell in planned(manifest):
            self.attempt(cell, manifest, digest)
        self.known |= {f"{candidate.id}/{PREFLIGHT}" for candidate in manifest.candidates}
        runs = [self.runs[cell] for cell in planned(manifest) if cell in self.runs]
        self.findings += check_preflights(self.tree, manifest, digest, runs)
        if len(runs) == len(manifest.planned):
            self.findings += check_tables(self.tree, manifest, digest, runs)
            self.judging(manifest)
        self.allowed(manifest)
        self.strangers(set(planned(manifest)))

    def attempt(self, cell: Cell, manifest: Manifest, digest: str) -> None:
        """Verify one planned attempt."""
        folder = attempt_folder(cell)
        path = f"{folder}/{RUN}"
        self.known.add(path)
        if path not in self.tree.files:
            expected = f"the planned attempt {cell}, or why it is void"
            self.findings.append(self.tree.finding(path, "nothing", expected))
            return
        run, findings = self.tree.read(Run, path)
        self.findings += findings
        if not isinstance(run, Run):
            return
        self.runs[cell] = run
        self.findings += check_run(self.tree.folder / path, run, cell, manifest, digest)
        for side, below in zip(sides(path, run, manifest.nomination(cell.nomination)), ("", FIRST_SHOT), strict=False):
            self.findings += check_side(self.tree, side, f"{folder}{below}", self.known_before.rebuild)
            self.known |= named_files(side)
        self.reviews(run, manifest)

    def judging(self, manifest: Manifest) -> None:
        """Verify what judges said."""
        check = JudgingCheck(tree=self.tree, manifest=manifest, runs=self.runs, reviews=self.read_reviews)
        check.everything()
        self.findings += check.findings
        self.known |= check.known
        self.unchecked += check.unchecked

    def reviews(self, run: Run, manifest: Manifest) -> None:
        """Verify what people said of a submission."""
        for each in run.artifacts.manual_reviews:
            if each.path not in self.tree.files:
                continue  # found already
            review, findings = self.tree.read(ManualReview, each.path)
            self.findings += findings
            if isinstance(review, ManualReview):
                self.read_reviews.append(review)
                self.findings += check_review(review, _subject(run, review, manifest), self.tree.folder / each.path)

    def allowed(self, manifest: Manifest) -> None:
        """Verify the list of what a scan found and somebody let pass."""
        found, findings = self.tree.read(Allowed, ALLOWED)
        self.findings += findings
        if not isinstance(found, Allowed):
            return
        self.findings += differ(self.tree.folder / ALLOWED, "release", found.release, manifest.release)
        for each in found.entries:
            if each.file not in self.tree.files:
                expected = "a file of this release"
                self.findings.append(self.tree.finding(ALLOWED, f"an entry for {each.file}", expected))

    def strangers(self, cells: set[Cell]) -> None:
        """Find files that neither the plan nor a run.json names."""
        for path in self.tree.files:
            if path not in self.known:
                self.findings.append(self.tree.finding(path, *_stranger(path, self.tree.files[path], cells)))

    def signatures(self, manifest: Manifest | None) -> tuple[Finding, ...]:
        """Hold all files against the signed ones, and these against the keys that are known."""
        files = BundleFiles(
            release=self.tree.folder.name if manifest is None else manifest.release,
            digests={path: sha256(data) for path, data in self.tree.files.items()},
            signed={name: self.tree.files[name] for name in NAMES if name in self.tree.files},
            leaves=self.leaves(manifest),
        )
        found = check_bundle(files, self.known_before.trust)
        with suppress(SignatureError):  # found already, as a checkpoint that is none
            self.unchecked += not_checked(files, self.known_before.trust)
        return tuple(replace(each, file=str(self.tree.folder / each.file)) for each in found)

    def leaves(self, manifest: Manifest | None) -> tuple[bytes, ...]:
        """Make the leaves of the signed tree again; where a run.json cannot be read, take them as they are told."""
        cells = () if manifest is None else planned(manifest)
        if cells and all(cell in self.runs for cell in cells):
            return tuple(
                leaf_of(cell, self.tree.files[f"{attempt_folder(cell)}/{RUN}"], self.runs[cell].void) for cell in cells
            )
        self.unchecked.append(f"{LEAVES} against the attempts: not all of them can be read")
        try:
            return parse_leaves(self.tree.files.get(LEAVES, b""), LEAVES)
        except SignatureError:
            return ()


def _subject(run: Run, review: ManualReview, manifest: Manifest) -> Subject:
    """Give what a review of this run must be of; of a try that does not count, it is taken at its word."""
    trial = Trial(
        release=run.release,
        manifest_sha256=run.manifest_sha256,
        candidate=run.candidate.id,
        nomination=run.nomination,
        attempt=run.attempt,
        try_=review.trial.try_,
    )
    counts = review.trial.try_ == run.try_
    digest = run.evidence.submission_sha256 or "" if counts else review.submission_sha256
    return Subject(trial=trial, submission_sha256=digest, criteria=review_criteria(manifest))


def _stranger(path: str, data: bytes, cells: set[Cell]) -> tuple[str, str]:
    """Say what a file is that nothing names, and what should be there."""
    found = _ATTEMPT.fullmatch(path)
    cell = None if found is None else Cell(candidate=found[1], nomination=found[2], attempt=int(found[3]))
    if cell is not None and cell not in cells:
        return "an attempt that nobody planned", "attempts of the plan alone"
    if b"PUBLIC KEY" in data or path.endswith((".pem", ".pub")):
        return "a key among what it signs", "no key: one is trusted that came from elsewhere (--key FILE)"
    return "a file that nothing names", "files of the plan, and those that a run.json names"


def verify_published(folder: Path, schemas: Schemas, known: Known) -> PublishedReport:
    """Verify a published release: signatures and digests, then everything that must follow from its files."""
    tree, findings = read_tree(folder, schemas)
    verification = _Verification(tree=tree, known_before=known, findings=list(findings))
    manifest, found = tree.read(Manifest, MANIFEST)
    verification.findings += found
    if isinstance(manifest, Manifest):
        verification.findings += differ(folder / MANIFEST, "release", manifest.release, folder.name)
        if known.frozen is not None and known.frozen != manifest:
            expected = f"that of the release {known.frozen.release} as it was frozen here"
            verification.findings.append(tree.finding(MANIFEST, "another plan", expected))
        verification.release(manifest, sha256(tree.files[MANIFEST]))
    whole = manifest if isinstance(manifest, Manifest) else None
    signed = verification.signatures(whole)
    return PublishedReport(
        release=None if whole is None else whole.release,
        findings=(*signed, *verification.findings),
        files=len(tree.files),
        attempts=len(verification.runs),
        unchecked=(*verification.unchecked, *_unchecked(verification, whole)),
    )


def _unchecked(verification: _Verification, manifest: Manifest | None) -> Iterator[str]:
    if verification.known_before.rebuild is None:
        yield NOT_APPLIED
    for nomination in () if manifest is None else manifest.nominations:
        for table in nomination.spec.evaluators:
            if not follows_from_cases(table):
                yield f"scores of evaluator {table.id} of {nomination.id} were not computed again from its cases"
    yield PRIVATE
