"""What ratings are made of and what they are: comparisons, the method, scales. Pure values."""

import math
from dataclasses import dataclass

ELO = 400 / math.log(10)
"""Points of the scale in one logit: 400 points are odds of ten to one."""

LEVEL = 0.90
"""Of every interval."""

WEAKER, STRONGER = 0.1, 10.0
"""Times the ridge: ratings are given with these ridges too, so that it shows how much of them is the ridge's."""

MOST_LOST = 0.1
"""The part of the bootstrap's samples that may fall apart before an interval is given no more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What all judges together say of two in one task: one unit of weight."""

    task: str
    first: str
    second: str
    share: float
    """The first one's part of the win: 1 won, 0.5 tie, 0 lost, and what is between."""

    def __post_init__(self) -> None:
        if not 0 <= self.share <= 1 or self.first == self.second:
            raise ValueError(f"found {self}; expected two different sides and a share from 0 to 1")


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """How ratings are made; fixed before the first verdict."""

    seed: bytes
    """32 bytes, for the bootstrap's draws."""
    ridge: float = 0.1
    """λ of the penalty (λ/2) Σ θ²: as if each rating came from a normal distribution of variance 1/λ, in logits."""
    draws: int = 1000

    def __post_init__(self) -> None:
        if self.ridge <= 0 or self.draws < 1:
            raise ValueError(f"found a ridge of {self.ridge} and {self.draws} draws; expected more than 0 of both")


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """Points of the scale between which 90% of the bootstrap's samples lie."""

    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Rating:
    """One participant on its scale, in points; 0 is the scale's middle."""

    name: str
    points: float
    interval: Interval | None
    """None: `Scale.no_interval` says why."""
    weaker: float
    """The rating with a tenth of the ridge."""
    stronger: float
    """The rating with ten times the ridge."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """The distance between two neighbours of a scale, in points."""

    above: str
    below: str
    points: float
    error: float | None
    """Its standard error with tasks as clusters; None where the data cannot tell it."""
    interval: Interval | None
    """None where the data cannot tell it. One that holds 0 does not tell the two apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """Participants that comparisons join. Ratings of different scales cannot be compared."""

    ratings: tuple[Rating, ...]
    """The highest first."""
    gaps: tuple[Gap, ...]
    """Of neighbours."""
    groups: tuple[tuple[str, ...], ...]
    """More than one: wins between these groups go one way only. Then their order is known where they met, and no
    distance is: what the ratings tell of it is the ridge's doing."""
    comparisons: int
    tasks: int
    draws: int
    """Samples of the bootstrap that hold together."""
    no_interval: str | None
    """Why ratings have no intervals."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """What a fit says of participants that are called by numbers; all in points."""

    points: tuple[float, ...]
    weaker: tuple[float, ...]
    stronger: tuple[float, ...]
    order: tuple[int, ...]
    """Who stands where: the highest first."""
    intervals: tuple[Interval, ...] | None
    """By number; None where there is one task alone, or too few samples hold together."""
    gaps: tuple[float, ...]
    """Between neighbours in `order`, as are the next two."""
    gap_errors: tuple[float, ...] | None
    gap_intervals: tuple[Interval, ...] | None
    draws: int
    """Samples of the bootstrap that hold together."""
