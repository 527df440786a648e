"""Change rules: which workspace paths an exact path, a folder or a glob means. Pure."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from fnmatch import fnmatchcase

from runner.fields import is_glob

Matcher = Callable[[bytes], bool]

_DEEP = b"**"


def matcher(rules: Sequence[str]) -> Matcher:
    """Give a function that says whether any of the rules means a path; without rules, none does.

    `*`, `?` and `[...]` stay within one part of a path; `**` stands for any number of parts, at a rule's end
    for at least one. The time it takes is linear in the path's length, whatever a candidate calls its files.
    """
    exact = {rule.encode() for rule in rules if not rule.endswith("/")}
    folders = tuple(rule.encode() for rule in rules if rule.endswith("/"))
    globs = tuple(tuple(rule.encode().split(b"/")) for rule in rules if is_glob(rule))
    return lambda path: (
        path in exact or path.startswith(folders) or any(_means(glob, path.split(b"/")) for glob in globs)
    )


def _means(glob: Sequence[bytes], parts: Sequence[bytes]) -> bool:
    states = {0}
    for part in parts:
        states = {after for state in _skipping(glob, states) for after in _after(glob, state, part)}
        if not states:
            return False
    return len(glob) in states


def _skipping(glob: Sequence[bytes], states: Iterable[int]) -> Iterator[int]:
    """Add where one comes by taking `**` for no part at all."""
    for state in states:
        yield state
        further = state
        while further < len(glob) - 1 and glob[further] == _DEEP:
            further += 1
            yield further


def _after(glob: Sequence[bytes], state: int, part: bytes) -> tuple[int, ...]:
    if state == len(glob):
        return ()
    if glob[state] == _DEEP:
        return (state, state + 1) if state == len(glob) - 1 else (state,)
    return (state + 1,) if fnmatchcase(part, glob[state]) else ()
