"""The pinned ruff over some files, with settings of ours alone: nothing that lies beside them, or in them, counts."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

PROGRAM = "/opt/tools/bin/ruff"
RULES = ("E4", "E7", "E9", "F", "B")
"""Errors of names and syntax, and likely bugs; nothing of taste."""

_SECONDS = 30
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.")


class RuffError(Exception):
    """It came to no answer."""


class Found(NamedTuple):
    """One finding: where, the rule, and what it says. Lines count nothing when two sides are compared."""

    path: str
    rule: str
    message: str
    line: int


def find_program() -> str:
    """Give where ruff lies beside the packages that this unit imports from."""
    places = (Path(folder) / "bin/ruff" for folder in sys.path)
    return str(next((place for place in places if place.is_file()), PROGRAM))


def look(files: Mapping[str, bytes], rules: Iterable[str] = RULES, program: str = PROGRAM) -> list[Found]:
    """Give what ruff finds in Python files, whatever their comments ask for.

    Raises:
        RuffError: it came to no answer.
    """
    if not files:
        return []
    with tempfile.TemporaryDirectory() as folder:
        names = {_laid(Path(folder), number, path, content): path for number, (path, content) in _numbered(files)}
        told = _run(program, folder, ",".join(rules))
    return sorted(Found(names[str(each["filename"])], *_said(each)) for each in told)


def _numbered(files: Mapping[str, bytes]) -> Iterable[tuple[int, tuple[str, bytes]]]:
    return enumerate(sorted(files.items()))


def _laid(folder: Path, number: int, path: str, content: bytes) -> str:
    """Lay a file where no name above it means anything; its own name counts for some rules."""
    name = path.rpartition("/")[2]
    plain = name if set(name) <= _PLAIN and not name.startswith(".") else f"module{Path(name).suffix[:4]}"
    place = folder / str(number) / plain
    place.parent.mkdir()
    place.write_bytes(content)
    return str(place)


def _run(program: str, folder: str, rules: str) -> list[dict[str, object]]:
    argv = (
        *(program, "check", "--isolated", "--no-cache", "--ignore-noqa", "--no-fix", "--quiet", "--exit-zero"),
        *("--no-respect-gitignore", "--no-preview", "--target-version", "py311", "--output-format", "json"),
        *("--select", rules, "--", folder),
    )
    try:
        ended = subprocess.run(argv, env={}, capture_output=True, timeout=_SECONDS, check=False)
        told = json.loads(ended.stdout) if ended.returncode == 0 else None
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        raise RuffError(f"{type(error).__name__}") from error
    if not isinstance(told, list):
        raise RuffError(f"it ended with {ended.returncode}")
    return told


def _said(each: Mapping[str, object]) -> tuple[str, str, int]:
    place = each["location"]
    row = place["row"] if isinstance(place, dict) else 0
    return str(each["code"] or "syntax"), str(each["message"]), row if isinstance(row, int) else 0
