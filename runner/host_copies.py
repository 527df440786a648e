"""Copies of a Python distribution on this host, where a unit could import or find them."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from runner.sdist import normal_name

USR = Path("/usr")
MASKED = (Path("/usr/local"), Path("/usr/lib/python3/dist-packages"))
"""An empty folder stands in their place in every unit."""

_IMPORT_ROOT = re.compile(r"python3(\.\d+)?|site-packages|dist-packages|_?vendor(ed)?")
_PACKAGED = re.compile(r"(?P<name>.+?)(-[0-9][^/]*)?\.(dist-info|egg-info|egg|whl|tar\.gz|zip)")


def host_copies(
    names: Iterable[str], usr: Path = USR, masked: Iterable[Path] = MASKED
) -> Mapping[str, tuple[Path, ...]]:
    """Give, for each distribution's name, the paths that look like it."""
    wanted = {normal_name(name): name for name in names}
    found: dict[str, list[Path]] = {name: [] for name in wanted.values()}
    if wanted:
        for name, path in _suspects(usr, frozenset(masked)):
            if name in wanted:
                found[wanted[name]].append(path)
    return {name: tuple(sorted(paths)) for name, paths in found.items()}


def _suspects(usr: Path, masked: frozenset[Path]) -> Iterator[tuple[str, Path]]:
    for folder, folders, files in os.walk(usr):
        here = Path(folder)
        folders[:] = [name for name in folders if here / name not in masked]
        importable = _IMPORT_ROOT.fullmatch(here.name) is not None
        for name in (*folders, *files):
            if packaged := _PACKAGED.fullmatch(name):
                yield normal_name(packaged["name"]), here / name
            elif importable:
                yield normal_name(name.partition(".")[0]), here / name
