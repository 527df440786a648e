"""Who is compared with whom, and in which order it is shown: fixed by the manifest before anybody is asked. Pure.

The circle is closed over the submissions of a nomination that passed the bar, in the roster's order: each is compared
with the next `degree` ones, so that all have the same number of partners (a circulant design). Both orders are asked.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

from runner.documents.facts import Facts
from runner.documents.judging import Cell, ControlItem, PairItem, RubricItem, Side
from runner.judges import Bar
from runner.judging.lots import coin, shuffled

Pair = tuple[Cell, Cell]
Item = RubricItem | PairItem | ControlItem

SIDES: tuple[Side, Side] = ("first", "second")


def passes(bar: Bar, facts: Facts, *, solved: bool) -> bool:
    """Whether a graded submission came as far as a bar says."""
    if not facts.captured or facts.violations or facts.void is not None or facts.failure is not None:
        return False
    reached = {"submitted": True, "tests_passed": facts.tests_passed is True, "solved": solved}
    return reached[bar]


def circulant(cells: Sequence[Cell], degree: int) -> tuple[Pair, ...]:
    """Pair each submission with the next `degree` ones, round; each pair once."""
    count = len(cells)
    pairs = {
        (min(at, to), max(at, to))
        for at in range(count)
        for to in ((at + step) % count for step in range(1, degree + 1))
        if at != to
    }
    return tuple((cells[at], cells[to]) for at, to in sorted(pairs))


def drawn(cells: Sequence[Cell], pairs: int, key: bytes) -> tuple[Pair, ...]:
    """Draw so many pairs of all there are; where there are fewer, all."""
    everyone = shuffled(key, "pairs", combinations(cells, 2), _pair_name)
    return tuple(sorted(everyone[:pairs], key=lambda pair: (cells.index(pair[0]), cells.index(pair[1]))))


def pair_items(
    nomination: str, pairs: Iterable[Pair], judge: str, key: bytes, repeat_percent: int
) -> tuple[PairItem, ...]:
    """List a judge's askings about pairs: both orders, and once more the same order for so many percent of them."""
    items = [
        PairItem(nomination=nomination, first=first, second=second, shown_a=side)
        for first, second in pairs
        for side in SIDES
    ]
    lots = shuffled(key, "repeat", items, lambda item: f"{judge}/{item_name(item)}")
    again = {item_name(item) for item in lots[: share(len(items), repeat_percent)]}
    return (*items, *(item.model_copy(update={"repeat": 1}) for item in items if item_name(item) in again))


def rubric_items(cells: Iterable[Cell], criteria: Sequence[str], at_once: str, repeats: int) -> Iterator[RubricItem]:
    """List a judge's askings for points; criteria asked for together take turns in being the first."""
    for number, cell in enumerate(cells):
        for repeat in range(repeats):
            if at_once == "one":
                for criterion in criteria:
                    yield RubricItem(cell=cell, criteria=(criterion,), repeat=repeat)
            else:
                turn = (number + repeat) % len(criteria)
                yield RubricItem(cell=cell, criteria=(*criteria[turn:], *criteria[:turn]), repeat=repeat)


def in_stream(items: Iterable[Item], judge: str, key: bytes) -> tuple[Item, ...]:
    """Give the order in which a judge is asked: by lot, so that controls stand anywhere among the rest."""
    return shuffled(key, "stream", items, lambda item: f"{judge}/{item_name(item)}")


def a_side(judge: str, key: bytes, *names: str) -> Side:
    """Draw which side is shown first."""
    return SIDES[coin(key, "side", judge, *names)]


def share(count: int, percent: int) -> int:
    """Give so many percent of a count, rounded up; of something, at least one."""
    return -(-count * percent // 100)


def item_name(item: Item) -> str:
    """Give what tells an asking from all others of its judge."""
    if isinstance(item, RubricItem):
        return f"rubric/{_cell_name(item.cell)}/{','.join(item.criteria)}/{item.repeat}"
    if isinstance(item, PairItem):
        return f"pair/{_pair_name((item.first, item.second))}/{item.shown_a}/{item.repeat}"
    cell = "" if item.cell is None else _cell_name(item.cell)
    return f"control/{item.control}/{item.nomination}/{cell}/{item.shown_a}/{item.number}"


def _pair_name(pair: Pair) -> str:
    return "/".join(_cell_name(cell) for cell in pair)


def _cell_name(cell: Cell) -> str:
    return f"{cell.nomination}/{cell.candidate}/{cell.attempt}/{cell.try_}/{cell.submission_sha256}"
