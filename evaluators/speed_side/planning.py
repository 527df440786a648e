"""The trusted side of a measurement: tells an author's oracle cases and the inputs of every call, as plain data.

The author's plan has `oracle()`, which gives pairs of arguments and the right answer, and `make_input(seed)`, which
gives arguments and gives them again for the same seed.
"""

import os
import runpy
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..split_side.plain import NotPlainError, encode  # noqa: TID252 - it stands beside it in a unit too
from ..split_side.wire import Wire  # noqa: TID252 - it stands beside it in a unit too

_DETAIL = 1500


def main() -> int:
    """Tell what the task's plan has."""
    wire = Wire(os.dup(0), os.dup(1))
    os.dup2(2, 1)
    task = wire.receive()
    sys.path += [str(Path(task["plan"]).parent), *task["toolchain"]]
    try:
        for frame in told(runpy.run_path(task["plan"]), task["seeds"]):
            wire.send(frame)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever ends it early is told, and is the plan's fault
        wire.send(
            {"tell": "trouble", "detail": traceback.format_exc(limit=-3)[-_DETAIL:], "kind": str(error)[:_DETAIL]}
        )
        return 0
    wire.send({"tell": "done"})
    return 0


def told(plan: dict[str, Any], seeds: list[int]) -> Iterator[dict[str, Any]]:
    """Give the frames of a plan."""
    for args, expected in plan["oracle"]():
        yield {"tell": "oracle", "args": _written(args), "expected": encode(expected)}
    for seed in seeds:
        args, again = _written(plan["make_input"](seed)), _written(plan["make_input"](seed))
        if args != again:
            raise ValueError(f"make_input({seed}) gives other arguments the second time")
        yield {"tell": "input", "args": args}


def _written(args: Any) -> Any:  # noqa: ANN401 - an author's value
    if type(args) is not tuple:
        raise NotPlainError(f"arguments as a {type(args).__name__} instead of a tuple")
    return encode(list(args))
