"""Counting what norms are about, from the two trees alone. Pure; `runner verify` counts again."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from evaluators.norm_scale import Norm, NormId
from evaluators.python_text import looks_left, prints, read_python
from evaluators.text import clean
from evaluators.two_trees import FileChange, Lines, changed_lines, lines_of, size_of

MOST_TOLD = 20
_WIDEST = 160


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a nomination says that norms depend on."""

    target_files: tuple[str, ...]
    tests_allowed: bool
    """Whether a submission may add a test at all."""
    solution_lines: int | None
    """Lines that the solution adds and removes; None where it has none."""


def counted(changes: Sequence[FileChange], asked: Asked) -> tuple[Norm, ...]:
    """Count everything that the trees alone tell: all but lint."""
    lines = {each.path: changed_lines(each) for each in changes if each.is_text}
    return (
        _scope(changes, asked),
        _debug(changes, lines),
        _size(changes, asked),
        _tests(changes, asked),
        _comments(changes, lines),
    )


def place(path: bytes, number: int, said: str) -> str:
    """Name a place for people."""
    return clean(f"{path.decode('utf-8', 'replace')}:{number}: {said.strip()}")[:_WIDEST]


def _scope(changes: Sequence[FileChange], asked: Asked) -> Norm:
    if not asked.target_files:
        return Norm(id=NormId.SCOPE, reason="the nomination names no target files")
    wanted = {path.encode() for path in asked.target_files}
    outside = [each.path for each in changes if each.path not in wanted]
    return Norm(
        id=NormId.SCOPE,
        counts={"changed": len(changes), "outside": len(outside)},
        found=tuple(clean(path.decode("utf-8", "replace"))[:_WIDEST] for path in outside[:MOST_TOLD]),
    )


def _debug(changes: Iterable[FileChange], lines: dict[bytes, Lines]) -> Norm:
    left: list[str] = []
    added = 0
    for each in changes:
        if each.is_code:
            added += len(lines[each.path].added)
            left += (place(each.path, number, line) for number, line in _left(each, lines[each.path]))
    return Norm(id=NormId.DEBUG, counts={"added": added, "left": len(left)}, found=tuple(left[:MOST_TOLD]))


def _left(change: FileChange, lines: Lines) -> Iterator[tuple[int, str]]:
    """Yield added lines that were left from looking for a bug; what prints already may go on printing."""
    text = read_python(_text(change.after)) if change.is_python else None
    was = read_python(_text(change.before)) if change.is_python else None
    may_print = change.is_test or (was is not None and bool(was.prints))
    for number, line in lines.added:
        if text is None:
            is_left = looks_left(line) and not (may_print and prints(line))
        else:
            is_left = number in text.leftovers or (number in text.prints and not may_print)
        if is_left:
            yield number, line


def _size(changes: Sequence[FileChange], asked: Asked) -> Norm:
    if not asked.solution_lines:
        why = "no solution" if asked.solution_lines is None else "a solution that changes no text"
        return Norm(id=NormId.SIZE, reason=f"the nomination has {why} to compare with")
    added, removed = size_of(changes)
    return Norm(id=NormId.SIZE, counts={"added": added, "removed": removed, "solution": asked.solution_lines})


def _tests(changes: Sequence[FileChange], asked: Asked) -> Norm:
    code = sum(each.is_code and not each.is_test and each.before != each.after for each in changes)
    if not code:
        return Norm(id=NormId.TESTS, reason="no code besides tests is changed")
    if not asked.tests_allowed:
        return Norm(id=NormId.TESTS, reason="the nomination lets nobody add a test")
    return Norm(id=NormId.TESTS, counts={"code": code, "tests": new_test_lines(changes)})


def new_test_lines(changes: Iterable[FileChange]) -> int:
    """Count the lines that tests have gained over all their files: moving or deleting one gains nothing."""
    before: Counter[str] = Counter()
    after: Counter[str] = Counter()
    for each in changes:
        if each.is_test and each.is_text:
            before.update(_telling(each.before))
            after.update(_telling(each.after))
    return (after - before).total()


def _telling(content: bytes | None) -> Iterator[str]:
    stripped = (line.strip() for line in lines_of(content))
    return (line for line in stripped if line and not line.startswith(("#", "//", "/*", "*")))


def _comments(changes: Iterable[FileChange], lines: dict[bytes, Lines]) -> Norm:
    """Compare the share of comments among added lines with the share that the same files had."""
    python = [each for each in changes if each.is_python and lines[each.path].added]
    if not python:
        return Norm(id=NormId.COMMENTS, reason="no Python is added, and comments of nothing else are known")
    own: Counter[str] = Counter()
    for each in python:
        after, before = read_python(_text(each.after)), read_python(_text(each.before))
        if after is None or before is None:
            return Norm(id=NormId.COMMENTS, reason="a changed file cannot be parted into tokens")
        added = [number for number, line in lines[each.path].added if line.strip()]
        own["added"] += len(added)
        own["comments"] += len(after.comments.intersection(added))
        own["base"] += sum(bool(line.strip()) for line in lines_of(each.before))
        own["base_comments"] += len(before.comments)
    if not own["added"] or not own["base"]:
        which = "added" if own["base"] else "base's"
        return Norm(id=NormId.COMMENTS, reason=f"there are no {which} lines to compare with")
    return Norm(id=NormId.COMMENTS, counts={name: own[name] for name in ("comments", "added", "base_comments", "base")})


def _text(content: bytes | None) -> str:
    return (content or b"").decode("utf-8", "surrogateescape")
