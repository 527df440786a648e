"""The side that is timed: the submitted side of a conversation, with the same start for the baseline and a candidate.

No clock is read here. Collections of garbage are off for both sides, so that neither gains by turning them off, and
what honest modules import from the standard library is there already, for an import is part of a candidate's time.
"""

import gc
import importlib

from ..split_side import serving  # noqa: TID252 - it stands beside it in a unit too

COMMON = (
    *(
        "array",
        "bisect",
        "collections",
        "dataclasses",
        "datetime",
        "decimal",
        "enum",
        "functools",
        "heapq",
        "itertools",
    ),
    *("json", "math", "operator", "random", "re", "string", "typing"),
)


def main() -> int:
    """Serve one call after another until the other side closes."""
    for name in COMMON:
        importlib.import_module(name)
    gc.collect()
    gc.disable()
    return serving.main()
