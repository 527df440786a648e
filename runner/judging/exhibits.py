"""What judges can be shown of a release: its tasks, and the sealed submissions that came far enough; only read."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import get_args

from runner.artifacts import read_sealed
from runner.documents.controls import ControlsRecord
from runner.documents.judging import Cell
from runner.documents.manifest import FrozenNomination
from runner.fixture import Fixture
from runner.freezer import Frozen
from runner.judges import Bar, CriterionEntry, criteria_of
from runner.judging.changes import FileChange
from runner.judging.packet import IsTest, PublicTests, matches_tests, only_allowed
from runner.judging.pairing import passes
from runner.judging.trees import Base, file_changes
from runner.nomination import PUBLIC, Nomination
from runner.observed import Observed, observe
from runner.outcome import solved
from runner.release import PreparedNomination
from runner.reports.aggregate import planned
from runner.rules import matcher
from runner.solution import patched
from runner.store import SUBMISSION, Store
from sandbox.api import Pack
from sandbox.patch import Repository

Changes = tuple[FileChange, ...]

WRONG = "wrong"
"""Folder of a nomination's changes that are known to be wrong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entrant:
    """One sealed submission."""

    cell: Cell
    changes: Changes
    tests: PublicTests
    reached: frozenset[Bar]
    """The bars that it passed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One nomination, as judges are told of it, with everything that was submitted to it."""

    nomination: str
    free_text: bool
    """Whether judges alone grade it."""
    prompt: str
    criteria: tuple[CriterionEntry, ...]
    is_test: IsTest
    """Whether a path is a test."""
    solution: Changes
    """Projected to the allowed paths."""
    loser: Changes
    """A change that is known to be wrong; nothing where the nomination has none."""
    tests: Mapping[str, PublicTests]
    """How the public tests ended on `base`, `solution` and `loser`."""
    entrants: tuple[Entrant, ...]
    fixture: Fixture
    """The frozen base."""


def read_tasks(frozen: Frozen, store: Store) -> tuple[Task, ...]:
    """Read every nomination, and the submission that counts of each of its attempts; every sealed byte is hashed.

    Raises:
        VerificationError: the evidence is not what was sealed.
        PatchError: a patch does not apply to its frozen base.
    """
    rule = frozen.manifest.retry_policy.canonical_grading
    seen: dict[str, list[Observed]] = {}
    for cell in planned(frozen.manifest):
        seen.setdefault(cell.nomination, []).append(observe(store, cell, rule))
    return tuple(
        _Reader(prepared=each, repository=frozen.workbench.repository, store=store).task(
            frozen.manifest.nomination(each.nomination.id),
            frozen.manifest.criteria,
            seen.get(each.nomination.id, []),
        )
        for each in frozen.prepared.nominations
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reader:
    prepared: PreparedNomination
    repository: Repository
    store: Store

    def task(self, frozen: FrozenNomination, criteria: tuple[CriterionEntry, ...], seen: list[Observed]) -> Task:
        fixture, nomination = self.prepared.fixture, self.prepared.nomination
        base = Base(fixture.entries, fixture.contents)
        wrong = next(iter(nomination.below(WRONG)), None)
        loser = () if wrong is None else file_changes(base, patched(fixture, wrong, self.repository).change)
        solution = file_changes(base, self.prepared.solution.change)
        return Task(
            nomination=nomination.id,
            free_text=nomination.spec.is_free_text,
            prompt=nomination.prompt,
            criteria=criteria_of(frozen.spec.criteria, criteria),
            is_test=matches_tests(_public(nomination)),
            solution=only_allowed(solution, matcher(nomination.spec.allowed_changes)),
            loser=loser,
            tests=_tests(self.prepared.controls, None if wrong is None else wrong.path),
            entrants=tuple(self._entrants(base, seen)),
            fixture=fixture,
        )

    def _entrants(self, base: Base, seen: list[Observed]) -> Iterator[Entrant]:
        fixture = self.prepared.fixture
        commit = self.repository.ingest(fixture.entries, fixture.contents.get)
        for each in seen:
            facts, digest = each.counted.facts, each.counted.submission_sha256
            # Of what judges alone grade, an answer that its public tests take has come as far as it can.
            best = facts.tests_passed is True if self.prepared.nomination.spec.is_free_text else solved(facts)
            reached = frozenset(bar for bar in get_args(Bar) if passes(bar, facts, solved=best))
            if each.number is None or digest is None or facts.missing or not reached:
                continue
            sealed = read_sealed(self.store.folder(self.store.trial(each.cell, each.number)) / SUBMISSION)
            applied = self.repository.apply(commit, sealed.bytes("candidate.diff"))
            yield Entrant(
                cell=Cell(
                    candidate=each.cell.candidate,
                    nomination=each.cell.nomination,
                    attempt=each.cell.attempt,
                    try_=each.number,
                    submission_sha256=sealed.digest,
                ),
                changes=file_changes(base, Pack(entries=applied.changes, blobs=applied.contents.get)),
                tests=_told(facts.tests_passed),
                reached=reached,
            )


def _public(nomination: Nomination) -> Iterator[str]:
    return (file.path.removeprefix(f"{PUBLIC}/") for file in nomination.below(PUBLIC))


def _tests(record: ControlsRecord | None, wrong: str | None) -> Mapping[str, PublicTests]:
    ended = {} if record is None else {each.name: each.public_tests for each in record.controls}
    names = {"base": "base", "solution": "solution", "loser": wrong or ""}
    return {use: _told(ended.get(name)) for use, name in names.items()}


def _told(passed: bool | None) -> PublicTests:  # noqa: FBT001 - a fact of three values
    if passed is None:
        return PublicTests.NOT_RUN
    return PublicTests.PASSED if passed else PublicTests.FAILED
