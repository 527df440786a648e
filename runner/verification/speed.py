"""Whether a verdict about speed follows from the times it holds. Pure."""

from collections.abc import Generator, Iterator
from decimal import Decimal
from pathlib import Path

from evaluators.errors import EvaluatorError
from evaluators.model import EvaluatorSpec
from evaluators.speed_options import read_scale
from evaluators.speed_ruling import bucket_of, credit, floor_of, interval, median, score_of
from evaluators.speed_values import Pair, Scale
from runner.documents.evidence import Ruling
from runner.documents.measurement import SpeedMeasurement, TimedPair
from runner.documents.nomination import EvaluatorTable
from runner.documents.writing import decimal_text, ratio_text
from runner.verification.model import Finding, differ


def check_speed(file: Path | str, found: Ruling, table: EvaluatorTable) -> Iterator[Finding]:
    """Find that a median, a floor, a bucket or a score is not what the times make it."""
    measured = found.measurement
    if measured is None or not measured.pairs:
        return
    try:
        scale = read_scale(EvaluatorSpec(id=table.id, kind=table.kind, options=table.options, folder=Path()))
    except EvaluatorError as error:
        yield Finding(file=str(file), found=f"times, and {error}", expected="buckets")
        return
    pairs = tuple(map(_pair, measured.pairs))
    yield from differ(file, "measurement.median", measured.median, ratio_text(median(each.ratio for each in pairs)))
    bucket = yield from _bucket(file, measured, pairs, scale)
    yield from differ(file, "measurement.bucket", measured.bucket, None if bucket is None else decimal_text(bucket))
    yield from differ(file, "score", found.score, decimal_text(score_of(scale, bucket)))


def _bucket(
    file: Path | str, measured: SpeedMeasurement, pairs: tuple[Pair, ...], scale: Scale
) -> Generator[Finding, None, Decimal | None]:
    """Give the bucket that the times reach, after what is found about interval and floor."""
    if measured.protocol != "paired-v2":
        return bucket_of(scale, median(each.ratio for each in pairs))
    if measured.floor is None:
        return None
    ends = interval(each.ratio for each in pairs)
    yield from differ(file, "measurement.low", measured.low, ratio_text(ends.low, up=False))
    yield from differ(file, "measurement.high", measured.high, ratio_text(ends.high, up=True))
    earned = credit(scale, pairs, floor_of([_pair(each).ratio for each in measured.noise]))
    yield from differ(file, "measurement.floor", measured.floor, decimal_text(earned.floor))
    return earned.bucket


def _pair(found: TimedPair) -> Pair:
    return Pair(baseline_ns=found.baseline_ns, candidate_ns=found.candidate_ns, baseline_first=found.baseline_first)
