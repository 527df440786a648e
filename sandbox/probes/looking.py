"""Looks around: every probe of some modules, with one line of JSON as the answer of each."""

import json
import sys
from collections.abc import Callable

from . import account, calls, neighbours, sights, sockets
from .told import read_told

MODULES = {"account": account, "calls": calls, "sights": sights, "sockets": sockets, "neighbours": neighbours}


def look(argv: list[str]) -> int:
    """Run modules of probes, or single ones as `module.name`; without any, all."""
    told = read_told()
    wanted = set(argv[: argv.index("--")] if "--" in argv else argv)
    for module, found in MODULES.items():
        for name, probe in found.PROBES.items():
            if not wanted or wanted & {module, f"{module}.{name}"}:
                sys.stdout.write(json.dumps({name: probe(told)}) + "\n")
                sys.stdout.flush()
    return 0


PROGRAMS: dict[str, Callable[[list[str]], int]] = {"look": look}
