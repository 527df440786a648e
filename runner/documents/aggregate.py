"""aggregate.json: what the sealed evidence of a release says, in one table. Derived; it has no clock."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from evaluators.model import Assurance
from runner.documents.facts import Controls, FailureCause, Phases, Spent
from runner.documents.model import DecimalText, Document, Identifier, Sha256, Shape
from runner.documents.norms import NormsMean, NormsShort
from runner.documents.seal import Ordinal
from runner.documents.telemetry import Traffic
from runner.outcome import Outcome
from runner.roster import NetworkMode

Count = Annotated[int, Field(ge=0)]


class Evidence(Shape):
    """Digests of the sealed folders that a row was read from."""

    submission_sha256: Sha256 | None
    """Null where there is none."""
    grading_sha256: Sha256 | None
    """Null where there is none."""
    void_sha256: Sha256 | None
    """Null where there is none."""


class Row(Shape):
    """One planned attempt."""

    candidate: Identifier
    nomination: Identifier
    attempt: Ordinal
    tries: Count
    """How many were begun; 0 where the attempt was never run."""
    outcome: Outcome
    verdict: Literal["passed", "failed"] | None
    """Null: nothing may be said about it."""
    public_tests: Literal["passed", "failed"] | None = None
    """Null: they did not run."""
    changed: bool | None = None
    """Whether it left any change; null where nothing was captured."""
    solved: bool
    score: DecimalText | None
    pass_at_1: bool | None = None
    """Of single-shot attempts that count: whether the first shot solved it."""
    pass_at_2: bool | None = None
    """Whether the first or the second did."""
    reason: str
    failure: FailureCause | None
    """How the agent failed by itself; null where it did not."""
    assurance: Assurance | None
    """The weakest of the evaluators'."""
    scripted: bool | None
    """Null where no evidence says."""
    network: NetworkMode | None = None
    """`direct`: the agent reached hosts by itself, unmetered. Null where no evidence says."""
    phases: Phases
    """Of the try that counts."""
    traffic: Traffic | None = None
    """What the gateway counted of its solution; null without a model, and where nobody could count."""
    norms: NormsShort | None = None
    """How the change is made; null where the release does not ask, or there is no change. In no outcome, rate or
    score."""
    voids: Spent | None
    """What the tries before it took together; null where there were none."""
    evidence: Evidence
    """What it was read from."""


class Standing(Shape):
    """A candidate over all its planned attempts."""

    candidate: Identifier
    label: str | None
    agent: str
    model: str | None
    outcome: Outcome
    """The first of the outcomes' order that any of its attempts has."""
    outcomes: Mapping[Outcome, Count]
    """How many attempts had each."""
    solved: Count
    counted: Count
    """The denominator: attempts that say something about the candidate."""
    solved_rate: DecimalText | None
    """solved / counted; null where nothing counted."""
    rate_if_voids_failed: DecimalText | None
    """The rate in the worst case."""
    rate_if_voids_solved: DecimalText | None
    """The rate in the best case."""
    mean_score: DecimalText | None
    """Over the counted attempts; null where one has no score."""
    pass_at_1: DecimalText | None = None
    """Of single-shot candidates: the part of its counted attempts that the first shot solved."""
    pass_at_2: DecimalText | None = None
    """The part that the first or the second solved."""
    norms: NormsMean | None = None
    """Of its attempts that count; null where none was measured."""
    solution: Spent
    """Time and money of all its solutions; null where one is unknown."""
    voids: Spent | None
    """What tries without a result took."""


class Aggregate(Document):
    """aggregate.json: the whole release, from sealed evidence alone."""

    SCHEMA_NAME: ClassVar[str] = "aggregate"

    schema_: Literal["cleanroom/aggregate/1"] = Field(default="cleanroom/aggregate/1", alias="schema")
    release: Identifier
    manifest_sha256: Sha256
    controls: Controls
    unproven: tuple[Identifier, ...] = ()
    """Nominations that were frozen without a certificate."""
    scripted: bool
    """At least one attempt's model was played from a scenario."""
    direct: bool = False
    """At least one attempt's agent reached hosts by itself, with a login: unmetered."""
    candidates: tuple[Standing, ...]
    """In the manifest's order; this is no ranking."""
    attempts: tuple[Row, ...]
    """Every planned attempt, in the manifest's order."""
