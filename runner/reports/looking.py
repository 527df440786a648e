"""Says of attempts whether they are as they were: run by path, with the standard library alone, as it starts quickly.

On standard input a JSON object: `since_ns`; `shapes`, each with the paths whose time of change must not be later (an
empty one is the attempt's folder) and the folders with the names that they must hold; `attempts`, each a folder by its
whole path and the number of its shape. On standard output a byte an attempt, `1` where it is as it was. It decides
nothing else.
"""

import json
import os
import sys

ADDED = frozenset({"judges", "manual-reviews"})
"""Folders beside a submission that are in no row."""


def names_in(folder: str) -> list[str]:
    """List what a try's folder holds, but for what judges and people add."""
    return sorted(name for name in os.listdir(folder) if name not in ADDED)  # noqa: PTH208 - as quick as can be


def is_as_it_was(folder: str, still: list[str], holding: list[tuple[str, list[str]]], since_ns: int) -> bool:
    """Look at one attempt. One that has no path to look at must not be there."""
    if not still:
        return not os.path.lexists(folder)
    try:
        os.chdir(folder)  # a short path is found sooner than a long one
        for path in still:
            if os.lstat(path or folder).st_ctime_ns > since_ns:
                return False
        for path, names in holding:
            if os.lstat(path).st_ctime_ns > since_ns and names_in(path) != names:
                return False
    except OSError:
        return False
    return True


def main() -> None:
    """Look at all that is asked about."""
    asked = json.load(sys.stdin.buffer)
    shapes, since_ns = asked["shapes"], asked["since_ns"]
    for folder, shape in asked["attempts"]:
        still, holding = shapes[shape]
        sys.stdout.buffer.write(b"1" if is_as_it_was(folder, still, holding, since_ns) else b"0")


if __name__ == "__main__":
    main()
