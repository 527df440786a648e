"""Entry of what runs inside a unit: `look [NAME...] [-- ARGUMENT]`, or one of the programs that do more than look."""

import importlib
import json
import sys
from collections.abc import Callable
from types import ModuleType

MODULES = ("account", "calls", "sights", "sockets", "neighbours")
PROGRAMS = {
    "hold": "holding",
    "plant": "planting",
    "eat": "eating",
    "remember": "eating",
    "pour": "eating",
    "resist": "lasting",
    "leave": "lasting",
    "fill": "lasting",
    "give-up": "lasting",
}


def main(argv: list[str]) -> int:
    """Run what the first argument names."""
    if argv[0] == "look":
        return look(argv[1:])
    program: Callable[[list[str]], int] = _module(PROGRAMS[argv[0]]).PROGRAMS[argv[0]]
    return program(argv[1:])


def look(argv: list[str]) -> int:
    """Run modules of probes, or single ones as `module.name`; without any, all. One line of JSON an observation."""
    told = _module("told").read_told()
    wanted = set(argv[: argv.index("--")] if "--" in argv else argv)
    for module in MODULES:
        if not wanted or any(name.partition(".")[0] == module for name in wanted):
            for name, probe in _module(module).PROBES.items():
                if not wanted or wanted & {module, f"{module}.{name}"}:
                    tell(name, probe(told))
    return 0


def tell(name: str, observation: object) -> None:
    """Write one observation."""
    sys.stdout.write(json.dumps({name: observation}) + "\n")
    sys.stdout.flush()


def _module(name: str) -> ModuleType:
    return importlib.import_module(f".{name}", __package__)
