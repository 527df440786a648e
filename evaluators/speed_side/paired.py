"""Protocol `paired-v1`: the baseline and a candidate in this one process, whose clock times both.

Everything that is needed later is taken before any submitted code is read, and what is told carries a nonce that came
with the task. The process ends itself: no finalizer runs after the result.
"""

import copy
import gc
import os
import sys
import time
import types
from collections.abc import Callable
from typing import Any, NoReturn

from ..split_side.cleanroom_driver import same  # noqa: TID252 - it stands beside it in a unit too
from ..split_side.plain import NotPlainError, decode, encode  # noqa: TID252 - it stands beside it in a unit too
from ..split_side.wire import Wire  # noqa: TID252 - it stands beside it in a unit too
from . import policy

Function = Callable[..., Any]
_DETAIL = 1000


class FoundError(Exception):
    """What is wrong with one side; the text says it."""


def main() -> NoReturn:
    """Time what the task holds, and tell it."""
    wire, leave, nonce = Wire(os.dup(0), os.dup(1)), os._exit, ""
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    task = wire.receive()
    nonce = task.pop("nonce")
    clock = time.perf_counter_ns
    gc.disable()
    try:
        baseline = _loaded(task["baseline"], task)
        _check(baseline, task)
    except (FoundError, NotPlainError) as error:
        wire.send({"nonce": nonce, "tell": "baseline", "detail": str(error)[:_DETAIL]})
        leave(0)
    wire.send({"nonce": nonce, "tell": "began"})
    wire.send({"nonce": nonce, **_candidate(baseline, task, clock)})
    leave(0)


def _candidate(baseline: Function, task: dict[str, Any], clock: Callable[[], int]) -> dict[str, Any]:
    for path, source in task["candidate"].items():
        found = policy.violation(source, policy.DEFAULT | {*task["allowed"]})
        if found is not None:
            return {"tell": "refused", "detail": f"{path}: {found}"}
    try:
        function = _loaded(task["candidate"], task)
        _check(function, task)
        pairs = _pairs(baseline, function, task, clock)
    except (FoundError, NotPlainError) as error:
        return {"tell": "failed", "detail": str(error)[:_DETAIL]}
    return {"tell": "timed", "pairs": pairs}


def _loaded(files: dict[str, str], task: dict[str, Any]) -> Function:
    """Give the function of one side, from its source."""
    module = types.ModuleType(task["module"])
    sys.modules[task["module"]] = module
    try:
        exec(compile(files[task["file"]], task["file"], "exec"), module.__dict__)  # noqa: S102 - what this unit is for
        found: Any = module
        for part in task["path"]:
            found = getattr(found, part)
    except BaseException as error:  # noqa: BLE001 - whatever submitted code does while it is imported is an answer
        raise FoundError(f"its import raised {_said(error)}") from None
    return found  # type: ignore[no-any-return]


def _check(function: Function, task: dict[str, Any]) -> None:
    wrong = 0
    for args, expected in task["oracle"]:
        given = decode(args)
        wrong += not same(_called(function, given), decode(expected))
        _check_purity(given, args, task)
    if wrong:
        raise FoundError(f"{len(task['oracle']) - wrong} of {len(task['oracle'])} answers are right")


def _check_purity(given: Any, args: Any, task: dict[str, Any]) -> None:  # noqa: ANN401 - plain data of any type
    if task["pure"] and not same(decode(encode(given)), decode(args)):
        raise FoundError("a call changes its arguments")


def _called(function: Function, given: Any) -> object:  # noqa: ANN401 - as above
    try:
        value = function(*given)
    except BaseException as error:  # noqa: BLE001 - as above
        raise FoundError(f"it raised {_said(error)}") from None
    return decode(encode(value))


def _said(error: BaseException) -> str:
    try:
        return f"{type(error).__name__}: {error}"
    except BaseException:  # noqa: BLE001 - the text of an exception is submitted code too
        return type(error).__name__


def _pairs(
    baseline: Function, candidate: Function, task: dict[str, Any], clock: Callable[[], int]
) -> list[list[int | bool]]:
    found: list[list[int | bool]] = []
    alive = []  # What lives on cannot lend its address to a later input.
    for index, args in enumerate(task["inputs"], start=-1):
        is_first = index < 0 or index % 2 == 0
        sides = (baseline, candidate) if is_first else (candidate, baseline)
        inputs = [decode(args), decode(args)]
        times, values = [], []
        for function, given in zip(sides, inputs, strict=True):
            ns, value = _timed(function, given, clock)
            times.append(ns)
            values.append(decode(encode(copy.deepcopy(value))))
            _check_purity(given, args, task)
            alive.append((given, value))
        if not same(*values):
            raise FoundError("an answer to a fresh input is not the baseline's")
        base, mine = times if is_first else reversed(times)
        found.append([base, mine, is_first])
    return found


def _timed(function: Function, given: Any, clock: Callable[[], int]) -> tuple[int, object]:  # noqa: ANN401 - as above
    gc.collect()
    try:
        began = clock()
        value = function(*given)
        ended = clock()
    except BaseException as error:  # noqa: BLE001 - as above
        raise FoundError(f"it raised {_said(error)}") from None
    return ended - began, value
