"""What a measurement of speed is made of: whole nanoseconds, exact fractions, never a float."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """One call of the baseline and one of the candidate on the same input, one after the other."""

    baseline_ns: int
    candidate_ns: int
    baseline_first: bool

    def __post_init__(self) -> None:
        if self.baseline_ns <= 0 or self.candidate_ns <= 0:
            raise ValueError(f"a call of {min(self.baseline_ns, self.candidate_ns)} ns; a time is above zero")

    @property
    def ratio(self) -> Fraction:
        """How many times the candidate is as fast."""
        return Fraction(self.baseline_ns, self.candidate_ns)


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """Two of the ordered values, and how surely the true median lies between them."""

    low: Fraction
    high: Fraction
    coverage: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """What a speed-up is worth: boundaries, each of them inclusive, and the score that passes."""

    buckets: Mapping[Decimal, Decimal]
    """From a boundary to its score; both rise."""
    threshold: Decimal = Decimal(1)

    @property
    def lowest(self) -> Decimal:
        """The boundary that has to be reached to be worth anything."""
        return min(self.buckets)


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """Where times were taken."""

    processor: str
    cores: int
    kernel: str
    load: tuple[str, str]
    """Of the last minute, before and after; decimal texts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """All that a verdict about speed rests on."""

    protocol: str
    clock: str
    """`processor` or `wall`."""
    pairs: tuple[Pair, ...]
    """Without the warm-up."""
    warm_up: Pair
    median: Fraction
    interval: Interval | None = None
    """None where the protocol has none."""
    floor: Decimal | None = None
    """What identical code can look like on this machine at this time; None where the protocol measures none."""
    import_excess_ns: int = 0
    """What the candidate's import takes beyond the baseline's; it is part of each of its times."""
    noise: tuple[Pair, ...] = field(default=())
    """The baseline against itself, measured before."""
    bucket: Decimal | None = None
    """The highest boundary that was credited."""
    machine: Machine
