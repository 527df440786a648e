"""Laws of the figures: labels hide nothing, axes hold every value."""

import random
import re

import pytest

from runner.reports.report_axes import axis, ticks
from runner.reports.report_building import build
from runner.reports.report_figures import NARROW, WIDE, drawn, forest, priced, scatter
from runner.reports.report_placing import Box, Spot, place
from tests.unit.reports.releases import Entry, a_release

ROOM = Box(left=50, top=0, right=880, bottom=400)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("spread", [1.0, 0.1, 0.0])
def test_no_label_hides_a_point_or_another_label(seed: int, spread: float) -> None:
    draw = random.Random(seed)  # noqa: S311 - points, no secrets
    spots = [
        Spot(x=200 + 500 * spread * draw.random(), y=100 + 250 * spread * draw.random(), name="n" * draw.randint(3, 30))
        for _ in range(16)
    ]
    boxes = [each for each in place(spots, ROOM) if each is not None]
    assert len(boxes) >= 12
    for at, box in enumerate(boxes):
        assert ROOM.holds(box)
        assert not any(box.meets(other) for other in boxes[:at])
        assert not any(box.meets(spot.box) for spot in spots)


def test_labels_come_in_the_order_of_their_points() -> None:
    first, second = place([Spot(x=300, y=300, name="low"), Spot(x=300, y=50, name="high")], ROOM)
    assert first is not None
    assert second is not None
    assert first.top > second.top


@pytest.mark.parametrize("values", [[0.0], [0.3], [0.002, 0.9, 1.2], [5.0, 7.0], [1e-5, 40.0], [99.0, 100.0], []])
def test_an_axis_holds_its_values_between_its_ticks(values: list[float]) -> None:
    found = axis(values, 10, 110)
    shown = ticks(found)
    assert 2 <= len(shown) <= 9
    assert shown[-1] == pytest.approx(found.high)
    for value in values:
        assert 10 <= found.at(value) <= 110.000001


def test_amounts_that_are_far_apart_are_drawn_by_their_powers() -> None:
    assert axis([0.002, 0.9], 0, 1).powers
    assert not axis([0.1, 0.9], 0, 1).powers
    assert not axis([0.0, 0.9], 0, 1).powers


@pytest.mark.parametrize("wide", [WIDE, NARROW])
def test_figures_stay_within_their_width(wide: int) -> None:
    entries = {f"c{at}": Entry(ends="s t s " + "st"[at % 2], cost=f"{at + 1}.5") for at in range(9)}
    rows = drawn(build([a_release(entries)], {}).rows)
    for figure in (forest(rows, wide), scatter(priced(rows), wide)):
        drawing = figure.svg()
        for x in re.findall(r'\b(?:x|x1|x2|cx)="([-0-9.]+)"', drawing):
            assert 0 <= float(x) <= wide
        assert drawing.count("<circle") == len(rows)


def test_rows_without_a_known_cost_are_in_no_scatter() -> None:
    rows = drawn(build([a_release({"a": Entry(ends="s"), "b": Entry(ends="s", cost=None)})], {}).rows)
    assert [each.contender.candidate for each in priced(rows)] == ["a"]
