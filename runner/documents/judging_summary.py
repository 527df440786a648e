"""What came of judging a release: points, duels, ratings, and how far each judge can be believed. Derived."""

from enum import StrEnum
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from runner.documents.judging import ControlKind, SkippedWhy, UnscoredWhy
from runner.documents.model import DecimalText, Document, Identifier, Sha256, Shape
from runner.documents.reviews import PointScale
from runner.fields import Criterion, Line

Count = Annotated[int, Field(ge=0)]


class Part(Shape):
    """So many of so many."""

    hits: Count
    of: Count
    share: DecimalText | None
    """hits / of; null of nothing."""


class Coefficient(Shape):
    """A measure of agreement beyond chance: 1 complete, 0 what chance gives."""

    value: DecimalText | None
    """Null: it does not exist, and `why` says why. It is then neither 0 nor 1."""
    why: Line | None
    items: Count
    """How many things were rated by two or more."""


class Lean(Shape):
    """How often something moved a judge one way and the other, and how likely that is by chance."""

    towards: Count
    away: Count
    chance: DecimalText | None
    """Exact two-sided binomial probability against one half, at least 0.0001; null where nothing moved."""


class ControlResult(Shape):
    """What a judge said of the hidden controls of one kind."""

    control: ControlKind
    held: Count
    """The right verdict came."""
    answered: Count
    unscored: Count
    """No verdict came; these are not among the answered."""
    bound_percent: Annotated[int, Field(ge=0, le=100)]
    """The most that may be missed, of the answered."""
    crossed: bool
    """More was missed: the judge's batch is lost."""


class UnscoredCount(Shape):
    """Askings without a verdict, by cause."""

    why: UnscoredWhy
    count: Count
    share: DecimalText | None
    """Of all askings."""


class SkippedCount(Shape):
    """Planned askings that the judge was not given, by cause."""

    why: SkippedWhy
    count: Count


class FaultKind(StrEnum):
    """What is wrong with a judge."""

    SILENT = "silent"
    """It says nothing."""
    BROKEN = "broken"
    """Too many of its answers are no verdicts."""
    POSITION = "position"
    """It prefers a place."""
    LENGTH = "length"
    """It prefers what is longer."""
    INJECTION = "injection"
    """It does what a text in the packet tells it."""
    FAMILY = "family"
    """It prefers its own family."""
    DISCERNMENT = "discernment"
    """It does not tell a known better change from a worse one, or finds a difference where there is none."""
    NOISE = "noise"
    """It does not say the same again."""
    FLAT = "flat"
    """It gives everything the same points."""


class Fault(Shape):
    """One thing that is wrong with a judge, in words."""

    kind: FaultKind
    says: Line


class JudgeStanding(Shape):
    """One judge: what it was asked, and how far it can be believed."""

    judge: Identifier
    family: Line | None
    askings: Count
    """Hidden controls and second views included; skipped ones not."""
    scored: Count
    """Askings with a verdict."""
    unscored: tuple[UnscoredCount, ...]
    """The others, by cause. None of them is a loss or a zero."""
    asked_again: Count
    """Answers that were no verdict and were followed by another."""
    skipped: tuple[SkippedCount, ...]
    """Planned askings that it was not given, by cause."""
    stood_in: Count
    """Askings that it took in another judge's place."""
    not_blind: Count
    """Verdicts about changes in which a name was left; they are in no mean and no rating."""
    orders: Part
    """Of pairs with a verdict in both orders: the same one in both."""
    repeats: Part
    """Of verdicts that were asked for once more in the same order: the same one again."""
    first_slot: Part
    """Of decided verdicts of pairs with both orders: those for what was shown first."""
    slot_lean: Lean
    """Pairs whose two orders together favour the first place, and those that favour the second."""
    views: Part
    """Of pairs that were shown with and without comments: the same verdict of both."""
    text_lean: Lean
    """Changes with a text that speaks to judges: how often they did better with it than without, and worse."""
    length: Part
    """Of decided pairs with a longer and a shorter change: those that the longer one won. Longer may be better: this
    is told, and no fault."""
    family_lean: Lean
    """Work of its own family: how often it did better with this judge than with the others, and worse."""
    controls: tuple[ControlResult, ...]
    """The hidden controls by kind."""
    batch: Literal["kept", "lost"]
    """`lost`: nothing that it said counts in means over judges, ratings and agreement."""
    crossed: tuple[Line, ...]
    """The bounds that were crossed: kinds of controls, and `unscored`."""
    lost_for: tuple[Line, ...]
    """The same in sentences."""
    faults: tuple[Fault, ...]


class CriterionPoints(Shape):
    """What a judge or a reviewer gave to a candidate for one criterion."""

    criterion: Criterion
    mean: DecimalText | None
    """Over nominations, within each over its attempts, within each over repeats; null where nothing is known."""
    scored: Count
    """Askings (or reviews) that it is made of."""
    unscored: Count
    skipped: Count
    not_blind: Count
    """Left out, since a name stood in the change."""


class JudgePoints(Shape):
    """What one judge gave to a candidate. A lost judge's points are shown, and count nowhere."""

    judge: Identifier
    criteria: tuple[CriterionPoints, ...]


class ReviewPoints(Shape):
    """What one reviewer gave to a candidate, on the scale of the review."""

    reviewer: Identifier
    scale: PointScale
    blind: bool
    results_known: bool
    criteria: tuple[CriterionPoints, ...]


class MeanPoints(Shape):
    """What all judges together gave for one criterion."""

    criterion: Criterion
    mean: DecimalText | None
    """Of the kept judges' means."""
    judges: Count


class Duels(Shape):
    """How a candidate's pairs ended. Both orders of a pair make one."""

    judge: Identifier | None
    """Null: all kept judges together."""
    won: Count
    lost: Count
    tied: Count
    """Also where the orders contradict each other."""
    incomplete: Count
    """Pairs that lack a verdict in one order: unscored, abstained or not blind. They are no ties and no losses."""


class CandidateStanding(Shape):
    """One candidate."""

    candidate: Identifier
    family: Line | None
    judges: tuple[JudgePoints, ...]
    criteria: tuple[MeanPoints, ...]
    mean: DecimalText | None
    """Of the criteria's means; null where one is unknown."""
    reviews: tuple[ReviewPoints, ...]
    duels: tuple[Duels, ...]
    """All kept judges together first, then each judge."""


class RatingInterval(Shape):
    """Points between which 90% of the samples of tasks lie."""

    low: DecimalText
    high: DecimalText


class RatingPoints(Shape):
    """One candidate on its scale; 0 is the scale's middle, and 400 points are odds of ten to one."""

    candidate: Identifier
    rating: DecimalText
    interval: RatingInterval | None
    weaker: DecimalText
    """With a tenth of the ridge. Where this differs much, the rating is the ridge's doing."""
    stronger: DecimalText
    """With ten times the ridge."""


class RatingGap(Shape):
    """The distance of two neighbours."""

    above: Identifier
    below: Identifier
    gap: DecimalText
    error: DecimalText | None
    """Its standard error with tasks as clusters."""
    interval: RatingInterval | None
    apart: bool | None
    """Whether the interval tells the two apart; null where there is none."""


class RatingScale(Shape):
    """Candidates that comparisons join. Ratings of different scales cannot be compared."""

    ratings: tuple[RatingPoints, ...]
    """The highest first."""
    gaps: tuple[RatingGap, ...]
    groups: tuple[tuple[Identifier, ...], ...]
    """More than one: wins between these groups go one way only, and no distance between them is known."""
    comparisons: Count
    """Pairs of candidates within a nomination; each weighs the same, however many judges and attempts it has."""
    nominations: Count
    draws: Count
    """Samples of nominations that hold together."""
    no_interval: Line | None
    """Why there are no intervals."""


class AgreementRow(Shape):
    """How far several raters agree on one thing."""

    what: Criterion | Literal["pairs"]
    """A criterion's points (ordinal), or the winners of pairs (nominal)."""
    among: Literal["judges", "judges and reviewers"]
    raters: tuple[Line, ...]
    """Judges by their ids; of reviewers, `reviewer` and theirs."""
    alpha: Coefficient
    """Krippendorff's."""


class KappaRow(Shape):
    """How far two raters agree on one thing."""

    what: Criterion | Literal["pairs"]
    one: Line
    other: Line
    same: Part
    """Equal ratings."""
    kappa: Coefficient
    """Cohen's: with quadratic weights for points, plain for pairs."""


class RatingMethod(Shape):
    """How ratings were made."""

    ridge: DecimalText
    draws: Count
    seed_sha256: Sha256
    """What the samples were drawn from."""


class JudgingSummary(Document):
    """The summary of a release's judging, from its judge documents and reviews alone. It has no clock."""

    SCHEMA_NAME: ClassVar[str] = "judging-summary"

    schema_: Literal["cleanroom/judging-summary/1"] = Field(default="cleanroom/judging-summary/1", alias="schema")
    release: Identifier
    manifest_sha256: Sha256
    scripted: bool
    """At least one judge was played from a scenario."""
    own_family: bool
    """The release lets judges see work of their own family."""
    notes: tuple[Line, ...]
    """What has to be said beside every table."""
    judges: tuple[JudgeStanding, ...]
    """In the manifest's order."""
    unasked: tuple[UnscoredCount, ...]
    """Askings that no judge was given, by cause."""
    candidates: tuple[CandidateStanding, ...]
    """In the manifest's order; this is no ranking."""
    agreement: tuple[AgreementRow, ...]
    kappas: tuple[KappaRow, ...]
    method: RatingMethod
    scales: tuple[RatingScale, ...]
    """The largest first; none where nothing was compared."""
