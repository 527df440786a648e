"""Labels of points in a plot, so that none hides another or a point. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

HEIGHT = 15.0
"""Of a label."""
_LETTER = 7.4
"""Width of a letter, generously."""
_DOT = 5.0
"""Half of a point's room."""
_STEPS = (9.0, 22.0, 36.0, 52.0, 70.0, 90.0, 115.0, 145.0, 180.0, 220.0)
"""How far from its point a label is tried, one after another."""
_AROUND = ((1, 0), (-1, 0), (1, -1), (-1, -1), (1, 1), (-1, 1), (0, -1), (0, 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """A rectangle, from its upper left corner."""

    left: float
    top: float
    right: float
    bottom: float

    def holds(self, other: "Box") -> bool:
        """Whether the other lies within."""
        return (
            self.left <= other.left
            and other.right <= self.right
            and self.top <= other.top
            and other.bottom <= self.bottom
        )

    def meets(self, other: "Box") -> bool:
        """Whether the two overlap."""
        return (
            self.left < other.right and other.left < self.right and self.top < other.bottom and other.top < self.bottom
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """A point and what it is called."""

    x: float
    y: float
    name: str

    @property
    def box(self) -> Box:
        """Give the room that the point takes."""
        return Box(left=self.x - _DOT, top=self.y - _DOT, right=self.x + _DOT, bottom=self.y + _DOT)


def width(text: str) -> float:
    """Give the room that a text needs."""
    return len(text) * _LETTER


def place(spots: Sequence[Spot], room: Box) -> tuple[Box | None, ...]:
    """Give each label's box, in the order of the points; None where no place is left for one."""
    points = [each.box for each in spots]
    taken: list[Box] = []
    found: dict[int, Box | None] = {}
    for at in sorted(range(len(spots)), key=lambda each: (spots[each].y, spots[each].x, each)):
        free = (
            box
            for box in _tries(spots[at])
            if room.holds(box) and not any(box.meets(other) for other in (*points, *taken))
        )
        found[at] = next(free, None)
        if (box := found[at]) is not None:
            taken.append(box)
    return tuple(found[at] for at in range(len(spots)))


def _tries(spot: Spot) -> Iterator[Box]:
    wide = width(spot.name)
    for step in _STEPS:
        for across, down in _AROUND:
            reach = step if across and not down else step * 0.8
            middle = spot.y + down * step
            left = spot.x + reach if across > 0 else spot.x - reach - wide if across < 0 else spot.x - wide / 2
            yield Box(left=left, top=middle - HEIGHT / 2, right=left + wide, bottom=middle + HEIGHT / 2)
