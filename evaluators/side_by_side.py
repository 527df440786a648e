"""Work that is done by several units at a time."""

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from typing import TypeVar

Result = TypeVar("Result")


def side_by_side(work: Sequence[Callable[[], Result]], at_once: int) -> list[Result]:
    """Do all of it, at most so much at once, begun in order; give what came of each. After a fault nothing is begun."""
    with ThreadPoolExecutor(at_once) as pool:
        begun = [pool.submit(each) for each in work]
        try:
            done, _ = wait(begun, return_when=FIRST_EXCEPTION)
            for each in done:
                each.result()
        finally:
            for each in begun:
                each.cancel()
    return [each.result() for each in begun]
