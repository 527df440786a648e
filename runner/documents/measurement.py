"""What a verdict about speed rests on: every time that was taken, and where."""

from typing import Annotated

from pydantic import Field

from runner.documents.model import DecimalText, Shape

Nanoseconds = Annotated[int, Field(ge=1)]


class TimedPair(Shape):
    """One call of the baseline and one of the submission on the same input."""

    baseline_ns: Nanoseconds
    candidate_ns: Nanoseconds
    """With what its import takes beyond the baseline's."""
    baseline_first: bool


class Where(Shape):
    """The machine that times were taken on."""

    processor: str
    """As the kernel names it."""
    cores: Annotated[int, Field(ge=1)]
    kernel: str
    load_before: DecimalText
    """Programs that wanted a processor, as a mean of the last minute."""
    load_after: DecimalText
    """As above."""


class SpeedMeasurement(Shape):
    """The measurement of a verdict of kind `speedup`."""

    protocol: str
    """`paired-v2` or `paired-v1`."""
    clock: str
    """`processor`: what the unit used. `wall`: what passed."""
    warm_up: TimedPair
    """It does not count."""
    pairs: tuple[TimedPair, ...]
    """In the order in which they were measured; fewer than asked for where the first ones settled it."""
    median: DecimalText
    """Of the pairs' ratios: how many times the submission is as fast."""
    low: DecimalText | None
    """Lower end of the interval of the median, which is what is credited; null where there is no interval."""
    high: DecimalText | None
    """Upper end."""
    coverage: DecimalText | None
    """How surely the true median lies between the two."""
    floor: DecimalText | None
    """How fast identical code can look on this machine at this time; null where it was not measured."""
    noise: tuple[TimedPair, ...]
    """The baseline against itself."""
    import_excess_ns: Annotated[int, Field(ge=0)]
    """What the submission's import takes beyond the baseline's."""
    bucket: DecimalText | None
    """The highest boundary that was credited."""
    machine: Where
