"""`scripts/bench [NAME...] [--json FILE]`: measure, print a table, and say by the exit status whether it holds."""

import argparse
import importlib
import os
import signal
import sys
from contextlib import nullcontext
from pathlib import Path

from figures import Figure, Tally, machine, table, write_json
from quiet import move_ms, precedence

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # the small release of the tests is run too

NAMES = (
    "unit",
    "capture",
    "attempt",
    "gateway",
    "grading",
    "mutation",
    "ratings",
    "judging",
    "scan",
    "verify",
    "crash",
)
CAMPAIGNS = ("kills", "speedup", "report", "init")
"""What takes an hour or so, beside whatever else this machine does; measured only if it is named."""


def _leave(number: int, _frame: object) -> None:
    """End in good order: what was made is taken down on the way out."""
    sys.exit(128 + number)


def main() -> int:
    """Measure what was asked for."""
    parser = argparse.ArgumentParser(prog="scripts/bench", description="Measure what we promise about speed.")
    parser.add_argument(
        "names", nargs="*", choices=[*NAMES, *CAMPAIGNS, []], metavar="NAME", help=", ".join((*NAMES, *CAMPAIGNS))
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    given = parser.parse_args()
    if os.geteuid() != 0:
        sys.stderr.write("bench: units are started by root; run: sudo scripts/bench\n")
        return 4
    signal.signal(signal.SIGTERM, _leave)
    before = machine() | {"move_ms": move_ms()}
    print(f"bench: {before['cores']} cores, load {before['load']}, Linux {before['kernel']}", flush=True)
    moves = before["move_ms"]
    print(f"bench: a move between control groups takes {'?' if moves is None else f'{moves:.1f}'} ms", flush=True)
    figures: list[Figure | Tally] = []
    with nullcontext() if set(given.names) & set(CAMPAIGNS) else precedence():
        for name in given.names or NAMES:
            print(f"bench: measuring {name}", flush=True)
            figures += importlib.import_module(f"{name}_bench").figures()
    print(table(figures))
    print(f"bench: load {before['load']} before, {machine()['load']} after")
    if given.json is not None:
        write_json(given.json, figures, before)
    return 0 if all(each.holds for each in figures) else 1


if __name__ == "__main__":
    sys.exit(main())
