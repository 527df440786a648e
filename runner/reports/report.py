"""What a report says, before it is written down as Markdown or as a page. Values alone."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import NamedTuple

from evaluators.model import Assurance
from runner.documents.norms import NormsMean
from runner.statistics.rates import Rate, Tried
from runner.statistics.separation import Comparison
from runner.statistics.spending import CostPerSolve

CRITERIA = (
    ("Functional", "functional_correctness"),
    ("Reliability", "reliability_edge_cases"),
    ("Maintainability", "maintainability_clarity"),
    ("Scope", "scope_discipline"),
)
"""Columns of review points, and the criterion of each."""


class Status(StrEnum):
    """How an attempt ended, or all attempts of a row; in the words of tables."""

    COMPLETED = "completed"
    OBJECTIVE_FAILED = "objective failed"
    """Completed, and a hidden check did not pass."""
    TESTS_FAILED = "tests failed"
    FORBIDDEN_CHANGES = "forbidden changes"
    AGENT_FAILURE = "agent failure"
    VOID = "void"
    UNAVAILABLE = "unavailable"
    MISSING_ARTIFACTS = "missing artifacts"
    MIXED = "mixed"
    """Its attempts ended in different ways."""


class Place(StrEnum):
    """Where a row stands in a table; in the order of tables."""

    RANKED = "ranked"
    CONTROL = "control"
    """There for comparison: it competes with nobody."""
    UNSCORED = "unscored"
    """No attempt of it says anything about it."""
    SUPERSEDED = "superseded"
    """Its release was replaced by another one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """So many of so many."""

    hits: int
    of: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Points:
    """What judges gave, in the order of `CRITERIA`: whole points from 0 to 10."""

    given: tuple[int | None, ...] = (None,) * len(CRITERIA)

    @property
    def overall(self) -> Fraction | None:
        """Give their mean; None as soon as one is unknown."""
        known = [each for each in self.given if each is not None]
        return Fraction(sum(known), len(known)) if len(known) == len(self.given) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Passed:
    """What comes of `k` attempts at a nomination, as a mean over nominations."""

    k: int
    once: Fraction
    """Solved at least once (pass@k)."""
    always: Fraction
    """Solved every time (pass^k)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Happening:
    """One way in which attempts of a candidate were not solved."""

    status: Status
    says: str
    """Which stage, and what was observed there."""
    attempts: tuple[str, ...]
    """The first few, by nomination and number."""
    count: int


class AttemptLine(NamedTuple):
    """One planned attempt; of the kind of value that is made soonest, as there may be very many."""

    nomination: str
    attempt: int
    status: Status
    says: str
    score: str | None
    assurance: Assurance | None
    time_ms: int | None
    cost: str | None
    digest: str | None
    """Of the sealed folder that it was read from; None where there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Money:
    """Time and money of the attempts that count; unknown as soon as one of them is."""

    time_ms: int | None
    cost: Fraction | None
    time_each: Fraction | None
    """Milliseconds an attempt."""
    cost_each: Fraction | None
    per_solve: CostPerSolve | None
    wasted: Fraction | None
    """What tries without a result cost; None where there were none, or that is unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Solving:
    """How many attempts were solved, and what follows from that."""

    tries: Mapping[str, Tried]
    """By nomination and its digest: attempts that say something, at nominations with an objective result."""
    rate: Rate | None
    worst: Fraction | None
    """The rate if no void had been solved."""
    best: Fraction | None
    """The rate if all had been."""
    passes: tuple[Passed, ...]
    """Empty without repeats."""

    @property
    def solved(self) -> int:
        """Count the solved attempts."""
        return sum(each.solved for each in self.tries.values())

    @property
    def counted(self) -> int:
        """Count the attempts in the denominator."""
        return sum(each.of for each in self.tries.values())

    @property
    def repeats(self) -> tuple[int, int]:
        """Give the fewest and the most attempts at one nomination."""
        counts = [each.of for each in self.tries.values()]
        return min(counts, default=0), max(counts, default=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Contender:
    """One candidate of one release: a row of the tables."""

    release: str
    candidate: str
    name: str
    """How tables call it."""
    model: str | None
    channel: str
    """The agent, and the way to its model."""
    is_control: bool
    superseded_by: str | None
    retired: str | None
    """Why and since when; None: it is not."""
    status: Status
    counts: Mapping[Status, int]
    """How many attempts ended in each way; those that none did are left out."""
    public: Part
    """Public tests: passed, of those that ran."""
    objective: Part
    """Hidden checks: all passed, of the attempts with a verdict."""
    points: Points
    money: Money
    solving: Solving
    assurance: Mapping[Assurance, int]
    """Of how many verdicts, the weakest of each."""
    norms: NormsMean | None
    """How changes were made, beside what they achieved; None: the release measures that nowhere."""
    happenings: tuple[Happening, ...]
    attempts: tuple[AttemptLine, ...]
    evidence_sha256: str
    """SHA-256 over a line an attempt: its name, and the digest of its evidence."""

    @property
    def key(self) -> str:
        """Name the row."""
        return f"{self.release}-{self.candidate}"

    @property
    def place(self) -> Place:
        """Say where the row stands."""
        if self.superseded_by is not None:
            return Place.SUPERSEDED
        if self.solving.rate is None:
            return Place.UNSCORED
        return Place.CONTROL if self.is_control else Place.RANKED


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """A row in its place."""

    contender: Contender
    rank: int | None
    """Rows with the same rate share one; None: it is not ranked."""
    beside_leader: Comparison | None
    """None: it is the leader, or not ranked."""
    is_leader: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A release that the report is made of."""

    release: str
    manifest_sha256: str
    aggregate_sha256: str
    judging_sha256: str | None
    """Of the summary of judging that its points are from; None: nobody judged."""
    supersedes: str | None
    superseded_by: str | None
    attempts: int
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """All that a report says."""

    sources: tuple[Source, ...]
    rows: tuple[Ranked, ...]
    """In the order of the tables."""
    differs: bool
    """Whether ranked rows tried different nominations, so that their ranks compare different tasks."""

    @property
    def leader(self) -> Ranked | None:
        """Give the first of the ranked; None where nobody is."""
        return next((each for each in self.rows if each.is_leader), None)

    @property
    def attempts(self) -> int:
        """Count the planned attempts of all rows."""
        return sum(len(each.contender.attempts) for each in self.rows)
