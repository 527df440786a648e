"""Entry of what runs inside a unit: `look [NAME...] [-- ARGUMENT]`, or one of the programs that do more than look.

Most units run a small program: each module is imported where it is wanted.
"""

import importlib
from collections.abc import Callable
from types import ModuleType

PROGRAMS = {
    "look": "looking",
    "hold": "holding",
    "plant": "planting",
    "eat": "eating",
    "remember": "ending",
    "pour": "ending",
    "give-up": "ending",
    "resist": "lasting",
    "leave": "lasting",
}


def main(argv: list[str]) -> int:
    """Run the program that the first argument names."""
    module: ModuleType = importlib.import_module(f".{PROGRAMS[argv[0]]}", __package__)
    program: Callable[[list[str]], int] = module.PROGRAMS[argv[0]]
    return program(argv[1:])
