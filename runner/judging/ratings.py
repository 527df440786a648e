"""Ratings from comparisons: Bradley-Terry on a scale like Elo's, centred on 0. Needs the extra `stats`."""

from collections.abc import Sequence
from itertools import pairwise

from runner.errors import HostError
from runner.judging.graph import circles, islands
from runner.judging.scales import Comparison, Estimate, Gap, Method, Rating, Scale

ONE_TASK = "all comparisons are of one task, so that nothing tells how much tasks differ"
ONE_WAY = "wins go one way only between groups, so that no distance between them is known"
FALLS_APART = "too many samples of tasks leave somebody without a comparison"


class StatsMissingError(HostError):
    """The extra `stats` is not installed."""

    def __str__(self) -> str:
        return (
            "numpy: found no such package; expected the extra 'stats', which ratings are made with; "
            "run scripts/setup in a checkout, or pip install 'cleanroom-runner[stats]'"
        )


def rate(comparisons: Sequence[Comparison], method: Method) -> tuple[Scale, ...]:
    """Rate everybody who was compared; the largest scale first. The same comparisons and seed give the same ratings.

    The order of comparisons, and which side is called first, make no difference.

    Raises:
        StatsMissingError: numpy is not there.
    """
    beaten: dict[str, list[str]] = {}
    for each in comparisons:
        beaten.setdefault(each.first, [])
        beaten.setdefault(each.second, [])
        if each.share > 0:
            beaten[each.first].append(each.second)
        if each.share < 1:
            beaten[each.second].append(each.first)
    scales = []
    for names in islands(beaten):
        inside = [each for each in comparisons if each.first in names]
        scales.append(_scale(inside, circles({name: beaten[name] for name in names}), method))
    return tuple(scales)


def _scale(comparisons: Sequence[Comparison], groups: tuple[tuple[str, ...], ...], method: Method) -> Scale:
    names = sorted(name for group in groups for name in group)
    tasks = sorted({each.task for each in comparisons})
    place = {name: at for at, name in enumerate(names)}
    number = {task: at for at, task in enumerate(tasks)}
    rows = sorted(
        (place[each.first], place[each.second], each.share, number[each.task]) for each in map(_turned, comparisons)
    )
    found = _estimate(rows, (len(names), len(tasks)), method)
    intervals = found.intervals if len(groups) == 1 else None
    return Scale(
        ratings=tuple(
            Rating(
                name=names[at],
                points=found.points[at],
                interval=None if intervals is None else intervals[at],
                weaker=found.weaker[at],
                stronger=found.stronger[at],
            )
            for at in found.order
        ),
        gaps=_gaps([names[at] for at in found.order], found, groups),
        groups=groups,
        comparisons=len(rows),
        tasks=len(tasks),
        draws=found.draws,
        no_interval=_why(found, len(groups), len(tasks)),
    )


def _turned(given: Comparison) -> Comparison:
    """Call the sides by their names' order, so that who was called first changes not even the last bit."""
    if given.first < given.second:
        return given
    return Comparison(task=given.task, first=given.second, second=given.first, share=1 - given.share)


def _gaps(names: Sequence[str], found: Estimate, groups: tuple[tuple[str, ...], ...]) -> tuple[Gap, ...]:
    group = {name: at for at, members in enumerate(groups) for name in members}
    gaps = []
    for at, (above, below) in enumerate(pairwise(names)):
        known = group[above] == group[below]
        errors, intervals = (found.gap_errors, found.gap_intervals) if known else (None, None)
        gaps.append(
            Gap(
                above=above,
                below=below,
                points=found.gaps[at],
                error=None if errors is None else errors[at],
                interval=None if intervals is None else intervals[at],
            )
        )
    return tuple(gaps)


def _why(found: Estimate, groups: int, tasks: int) -> str | None:
    if tasks == 1:
        return ONE_TASK
    if groups > 1:
        return ONE_WAY
    return FALLS_APART if found.intervals is None else None


def _estimate(rows: Sequence[tuple[int, int, float, int]], sizes: tuple[int, int], method: Method) -> Estimate:
    try:
        from runner.judging.newton import estimate  # noqa: PLC0415 - numpy is an extra, and slow to load
    except ImportError as error:
        raise StatsMissingError from error
    return estimate(rows, sizes, method)
