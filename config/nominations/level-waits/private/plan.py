"""Right answers by the definition, and summers that nobody has seen."""

import random

READINGS = 4000


def by_definition(levels):
    """Look by the words of the task."""
    return [
        next((later - place for later in range(place + 1, len(levels)) if levels[later] > level), 0)
        for place, level in enumerate(levels)
    ]


def oracle():
    """Give small and odd cases: nothing, one, ties, plateaus, rising, sinking, a peak at either end."""
    cases = [[], [7], [1, 1], [1, 2], [2, 1], [5, 5, 5, 6], [6, 5, 5, 5], [0, -1, 0, 1], [3, 1, 2, 2, 3, 4, 1]]
    cases += [list(range(20)), list(range(20, 0, -1)), [9, *range(9)], [*range(9, 0, -1), 10]]
    dice = random.Random(20261130)
    for size in (4, 8, 9, 16, 17, 33, 64, 65):
        for span in (2, 5, 1000):
            cases.append([dice.randrange(span) for _ in range(size)])
        cases.append([size * 3 - place * 3 + dice.randrange(4) for place in range(size)])
    for levels in cases:
        yield (levels,), by_definition(levels)


def make_input(seed):
    """Give a summer: levels sink with some noise, and rain comes at the end."""
    dice = random.Random(seed)
    sinking = [40_000 - 9 * place + dice.randrange(60) for place in range(READINGS)]
    return ([*sinking, 50_000 + dice.randrange(1000)],)
