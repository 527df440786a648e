"""Repairs that should be refused, made of the solution: a part is left out, or something turned round. Pure."""

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from runner.validating.mutants import mutants

_MOST_PARTS, _MOST_MUTANTS = 6, 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Repair:
    """A change to the solution: one file with other bytes."""

    name: str
    path: str
    data: bytes
    what: str
    """In words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sides:
    """One Python file before and after the fix."""

    before: bytes
    after: bytes


def repairs(files: Mapping[str, Sides]) -> Iterator[Repair]:
    """Give repairs that could be wrong; whether they are is for the hidden tests to say."""
    parts = [(path, number) for path in sorted(files) for number in range(len(_changes(files[path])))]
    if len(parts) > 1:
        for count, (path, number) in enumerate(_spread(parts, _MOST_PARTS), start=1):
            data, line = _without(files[path], number)
            if _compiles(data):
                what = f"the solution without its change near line {line} of {path}"
                yield Repair(name=f"without-part-{count}", path=path, data=data, what=what)
    for path in sorted(files):
        lines = {line for *_, start, end in _changes(files[path]) for line in range(start + 1, end + 1)}
        for count, mutant in enumerate(mutants(path, files[path].after, lines, _MOST_MUTANTS), start=1):
            stem = path.rpartition("/")[2].removesuffix(".py").strip("_") or "module"
            what = f"the solution, but in line {mutant.line} of {path}: {mutant.what}"
            yield Repair(name=f"turned-{stem}-{count}", path=path, data=mutant.source, what=what)


Change = tuple[int, int, int, int]
"""Where it begins and ends before, and after."""


def _changes(sides: Sides) -> list[Change]:
    before, after = sides.before.splitlines(), sides.after.splitlines()
    matched = difflib.SequenceMatcher(None, before, after, autojunk=False)
    return [(a, b, c, d) for tag, a, b, c, d in matched.get_opcodes() if tag != "equal"]


def _without(sides: Sides, number: int) -> tuple[bytes, int]:
    """Give the file with one of its changes undone, and where that began."""
    old_from, old_to, new_from, new_to = _changes(sides)[number]
    before, after = sides.before.splitlines(keepends=True), sides.after.splitlines(keepends=True)
    return b"".join((*after[:new_from], *before[old_from:old_to], *after[new_to:])), new_from + 1


def _spread(parts: list[tuple[str, int]], most: int) -> list[tuple[str, int]]:
    return [parts[at * len(parts) // most] for at in range(most)] if len(parts) > most else parts


def _compiles(data: bytes) -> bool:
    try:
        compile(data, "repair", "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    return True
