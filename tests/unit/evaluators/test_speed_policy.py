"""Laws of the rule over syntax before paired-v1: honest algorithms pass, ways into the interpreter do not."""

import pytest

from evaluators.speed_side.policy import DEFAULT, EXTRA, violation

COUNTING = """
from __future__ import annotations
import heapq
from collections import Counter, defaultdict
def f(items: list[int]) -> list[int]:
    seen = defaultdict(list)
    for at, each in enumerate(items):
        seen[each].append(at)
    copied = items.copy()
    heapq.heapify(copied)
    return [heapq.heappop(copied) for _ in items] + list(Counter(items))
"""
HONEST = (
    COUNTING,
    "class Node:\n    __slots__ = ('left',)\n    def walk(self):\n        return [self]\n",
    "import bisect\nclass Edge(ValueError):\n    pass\ndef f(a, b):\n    return f'{bisect.bisect(a, b):>3}'\n",
    "import math, itertools, functools\n@functools.lru_cache\ndef f(n):\n    return math.isqrt(n)\n",
)


@pytest.mark.parametrize("source", HONEST)
def test_honest_algorithms_pass(source: str) -> None:
    assert violation(source) is None


@pytest.mark.parametrize(
    "source",
    [
        "import os",
        "import time",
        "import sys",
        "import gc",
        "import threading",
        "import random",
        "from . import other",
        "from collections import *",
        "from collections import _sys",
        "from statistics import sys",
        "import math as __builtins__",
        "import collections.abc",
        "__import__('os')",
        "eval('1')",
        "exec('1')",
        "compile('1', '', 'eval')",
        "open('x')",
        "getattr(1, 'real')",
        "setattr(f, 'x', 1)",
        "globals()",
        "vars()",
        "type(1)",
        "breakpoint()",
        "x = __builtins__",
        "().__class__.__base__.__subclasses__()",
        "def f():\n    yield\nf().gi_frame",
        "e.tb_frame.f_back",
        "f.func_code.co_code",
        "import re\nre.enum.sys",
        "import heapq\nheapq.heappop = None",
        "del heapq.heappop",
        "class E:\n    def __eq__(self, other):\n        return True",
        "class E:\n    def __del__(self):\n        pass",
        "class E(list):\n    def __iter__(self):\n        return iter(())",
        "match x:\n    case object(__class__=y):\n        pass",
        "'{0.__class__}'.format(x)",
        "'{0.__class__}'.format_map(x)",
        "global __name__",
        "def f(__debug__x__): pass",
        "def f(:",
        "x = '\\0'\n\0",
        "(" * 5000,
    ],
)
def test_ways_into_the_interpreter_do_not(source: str) -> None:
    assert violation(source, DEFAULT | {"re", "statistics"}) is not None


@pytest.mark.parametrize("name", sorted(EXTRA))
def test_a_nomination_may_allow_more_modules(name: str) -> None:
    assert violation(f"import {name}") is not None
    assert violation(f"import {name}", DEFAULT | {name}) is None
