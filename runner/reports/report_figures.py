"""The two figures of a report as SVG: solve rates with their intervals, and cost against solve rate. Pure.

Colours are classes, which the page's style gives for light and for dark. Each is drawn for a width of its own, so that
letters keep their size on a phone.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape

from runner.reports import report_words as words
from runner.reports.marks import UNKNOWN
from runner.reports.report import Place, Ranked
from runner.reports.report_axes import Axis, axis, ticks
from runner.reports.report_placing import HEIGHT, Box, Spot, place, width

WIDE, NARROW = 900, 358
"""Widths that figures are drawn for."""
MOST = 40
"""Rows that a figure shows."""

_LONGEST = 30
_QUARTERS = (0.0, 0.25, 0.5, 0.75, 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A drawing, and what it shows in words."""

    id: str
    says: str
    width: int
    height: int
    parts: tuple[str, ...]

    def svg(self) -> str:
        """Write it down."""
        name = f"{self.id}-{self.width}"
        return (
            f'<svg viewBox="0 0 {self.width} {self.height}" width="{self.width}" height="{self.height}" role="img" '
            f'aria-labelledby="{name}"><title id="{name}">{escape(self.says)}</title>{"".join(self.parts)}</svg>'
        )


def drawn(rows: Iterable[Ranked]) -> tuple[Ranked, ...]:
    """Give the rows that have a rate and are not superseded, as many as a figure holds."""
    places = (Place.RANKED, Place.CONTROL)
    return tuple(each for each in rows if each.contender.place in places)[:MOST]


def forest(rows: Sequence[Ranked], wide: int) -> Figure:
    """Draw each row's rate with its interval, one below the other."""
    narrow = wide == NARROW
    line, left, right = (46, 8, wide - 8) if narrow else (28, 250, wide - 190)
    across = Axis(low=0, high=1, start=left, end=right)
    bottom = 12 + line * len(rows)
    parts = [
        *_grid(across, 6, bottom),
        *(part for at, row in enumerate(rows) for part in _bar(row, across, 12 + line * at, narrow=narrow)),
    ]
    said = "; ".join(f"{each.contender.name}: {_rate(each)}" for each in rows)
    return Figure(id="forest", says=f"Solve rates. {said}.", width=wide, height=bottom + 26, parts=tuple(parts))


def _grid(across: Axis, top: float, bottom: float) -> Iterator[str]:
    for value in _QUARTERS:
        x, anchor = across.at(value), {0.0: "start", 1.0: "end"}.get(value, "middle")
        yield f'<line class="grid" x1="{x:.1f}" y1="{top}" x2="{x:.1f}" y2="{bottom}"/>'
        yield f'<text class="tick" x="{x:.1f}" y="{bottom + 18}" text-anchor="{anchor}">{words.percent(value)}</text>'


def _bar(row: Ranked, across: Axis, top: float, *, narrow: bool) -> Iterator[str]:
    rate = row.contender.solving.rate
    if rate is None:
        return
    middle, text = (top + 30, top + 14) if narrow else (top + 12, top + 16)
    end = f'x="{across.end}" text-anchor="end"' if narrow else f'x="{across.end + 16}"'
    start = across.start if narrow else 4
    yield f'<text class="name" x="{start}" y="{text}">{escape(_short(row.contender.name))}</text>'
    yield f'<text class="tick" {end} y="{text}">{escape(_rate(row))}</text>'
    if rate.interval is not None:
        low, high = across.at(rate.interval.low), across.at(rate.interval.high)
        yield f'<line class="reach {_kind(row)}" x1="{low:.1f}" y1="{middle}" x2="{high:.1f}" y2="{middle}"/>'
    yield f'<circle class="dot {_kind(row)}" cx="{across.at(float(rate.value)):.1f}" cy="{middle}" r="5"/>'


def _rate(row: Ranked) -> str:
    rate = row.contender.solving.rate
    if rate is None:
        return UNKNOWN
    sure = "" if rate.interval is None else f" ({words.interval(rate.interval)})"
    return f"{words.percent(rate.value)}{sure}"


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1].rstrip()}\u2026"


def _kind(row: Ranked) -> str:
    """Say how a row's marks look."""
    if row.contender.place is Place.CONTROL:
        return "control"
    if row.is_leader:
        return "leader"
    return "apart" if row.beside_leader is not None and row.beside_leader.is_separated else "near"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Point:
    row: Ranked
    cost: float
    rate: float


def priced(rows: Iterable[Ranked]) -> tuple[Ranked, ...]:
    """Give the rows that can stand in the scatter: their cost is known."""
    return tuple(each for each in rows if each.contender.money.cost_each is not None)


def scatter(rows: Sequence[Ranked], wide: int) -> Figure:
    """Draw what an attempt costs against the solve rate."""
    height = 340 if wide == NARROW else 420
    points = [
        _Point(row=row, cost=float(cost), rate=float(rate.value))
        for row in rows
        if (cost := row.contender.money.cost_each) is not None and (rate := row.contender.solving.rate) is not None
    ]
    across = axis([each.cost for each in points], 52, wide - 16)
    up = Axis(low=0, high=1, start=height - 58, end=20)
    parts = [
        *_frame(across, up, wide, height),
        *(part for each in points for part in _whisker(each, across, up)),
        *_named(points, across, up),
    ]
    said = "; ".join(f"{each.row.contender.name}: {words.about(each.cost)}, {_rate(each.row)}" for each in points)
    says = f"Cost an attempt against solve rate. {said}."
    return Figure(id="scatter", says=says, width=wide, height=height, parts=tuple(parts))


def _frame(across: Axis, up: Axis, wide: int, height: int) -> Iterator[str]:
    for value in _QUARTERS:
        y = up.at(value)
        yield f'<line class="grid" x1="{across.start}" y1="{y:.1f}" x2="{across.end}" y2="{y:.1f}"/>'
        yield f'<text class="tick" x="44" y="{y + 4:.1f}" text-anchor="end">{words.percent(value)}</text>'
    shown = ticks(across)
    for value in shown[:: 2 if wide == NARROW and len(shown) > 4 else 1]:  # noqa: PLR2004 - as many as a phone holds
        x = across.at(value)
        anchor = "end" if x > wide - 40 else "middle"
        yield f'<line class="grid" x1="{x:.1f}" y1="{up.end}" x2="{x:.1f}" y2="{up.start}"/>'
        yield f'<text class="tick" x="{x:.1f}" y="{up.start + 20}" text-anchor="{anchor}">{words.about(value)}</text>'
    yield f'<text class="tick" x="{across.start}" y="12">Solve rate</text>'
    said = "Cost an attempt (USD, each step ten times as much)" if across.powers else "Cost an attempt (USD)"
    yield f'<text class="tick" x="{across.end}" y="{height - 14}" text-anchor="end">{said}</text>'


def _whisker(each: _Point, across: Axis, up: Axis) -> Iterator[str]:
    rate, x = each.row.contender.solving.rate, across.at(each.cost)
    if rate is not None and rate.interval is not None:
        low, high = up.at(rate.interval.low), up.at(rate.interval.high)
        yield f'<line class="whisker" x1="{x:.1f}" y1="{low:.1f}" x2="{x:.1f}" y2="{high:.1f}"/>'


def _named(points: Sequence[_Point], across: Axis, up: Axis) -> Iterator[str]:
    spots = [Spot(x=across.at(each.cost), y=up.at(each.rate), name=_short(each.row.contender.name)) for each in points]
    room = Box(left=across.start + 2, top=2, right=across.end + 14, bottom=up.start + 8)
    for each, spot, box in zip(points, spots, place(spots, room), strict=True):
        yield f'<circle class="dot {_kind(each.row)}" cx="{spot.x:.1f}" cy="{spot.y:.1f}" r="5"/>'
        if box is not None:
            yield from _label(spot, box)


def _label(spot: Spot, box: Box) -> Iterator[str]:
    """Write a point's name, and join the two where they are apart."""
    middle = (box.top + box.bottom) / 2
    near = min(max(spot.x, box.left), box.left + width(spot.name))
    far = ((near - spot.x) ** 2 + (middle - spot.y) ** 2) ** 0.5
    if far > HEIGHT + 6:
        yield f'<line class="join" x1="{spot.x:.1f}" y1="{spot.y:.1f}" x2="{near:.1f}" y2="{middle:.1f}"/>'
    start, anchor = (box.right, "end") if box.right <= spot.x else (box.left, "start")
    yield f'<text class="name" x="{start:.1f}" y="{middle + 4:.1f}" text-anchor="{anchor}">{escape(spot.name)}</text>'
