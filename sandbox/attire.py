"""A program gets its environment, as the first thing in a detached process: `python -I -m sandbox.attire`.

Standard input holds `{"argv": [...], "environment": {...}}`. A unit's own environment can be read by every account of
the machine (`systemctl show`); keys of providers are in it.
"""

import json
import os
import sys


def main() -> None:
    """Become the program that standard input names."""
    wanted = json.load(sys.stdin)
    nothing = os.open("/dev/null", os.O_RDONLY)
    os.dup2(nothing, 0)
    os.execve(wanted["argv"][0], wanted["argv"], wanted["environment"])  # noqa: S606 - argv lists start programs here


if __name__ == "__main__":
    main()
