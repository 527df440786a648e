"""Right answers by the definition, and months that nobody has seen."""

import random

SHIFTS, MOMENTS = 2000, 2000


def by_definition(starts, ends, moments):
    """Count by the words of the task."""
    shifts = list(zip(starts, ends, strict=True))
    return [len([1 for start, end in shifts if start <= moment < end]) for moment in moments]


def oracle():
    """Give small and odd cases: nothing, ties, shifts of no length, shifts that end before they start."""
    cases = [
        ([], [], []),
        ([], [], [1]),
        ([5], [5], [4, 5, 6]),
        ([5], [3], [2, 3, 4, 5, 6]),
        ([0, 0, 0], [1, 1, 1], [0, 1, -1]),
        ([9, 1], [10, 3], [2, 2, 9, 10, 1]),
        ([-10], [10], [-11, -10, 0, 9, 10]),
        ([8, 2, 5], [4, 9, 5], [1, 2, 3, 4, 5, 6, 7, 8, 9]),
    ]
    dice = random.Random(20261130)
    for size in (1, 2, 3, 5, 8, 13, 21, 34):
        for _ in range(5):
            starts, ends = ([dice.randrange(size * 2) for _ in range(size)] for _ in range(2))
            cases.append((starts, ends, [dice.randrange(-1, size * 2 + 1) for _ in range(size)]))
    for args in cases:
        yield args, by_definition(*args)


def make_input(seed):
    """Give a month: most shifts end after they start, a few do not."""
    dice = random.Random(seed)
    starts = [dice.randrange(40_000) for _ in range(SHIFTS)]
    ends = [start + dice.randrange(-30, 600) for start in starts]
    return starts, ends, [dice.randrange(41_000) for _ in range(MOMENTS)]
