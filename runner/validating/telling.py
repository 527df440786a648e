"""What a prompt gives away: hidden names, what the fix brings into the code, and commits. Pure."""

import builtins
import re
from collections.abc import Iterator

from runner.fixture import Fixture
from runner.leaks import leaks
from runner.nomination import Nomination
from runner.solution import Solution
from sandbox.tree import Kind

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]{5,}")
_COMMIT = re.compile(r"\b(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{7,40}\b")
_MOST = 4 << 20


def told_away(nomination: Nomination, fixture: Fixture, solution: Solution) -> Iterator[str]:
    """Say in a sentence each what the prompt tells and a candidate should find by itself.

    Names of the fix that are part of what is asked for stand in the nomination's `tells`.
    """
    yield from (str(found.message) for found in leaks(nomination))
    prompt = nomination.prompt
    before = (fixture.contents.get(entry.sha256) for entry in fixture.entries if entry.sha256)
    after = (
        solution.change.blobs(entry.sha256)
        for entry in solution.change.entries
        if entry.kind is Kind.FILE and entry.sha256 is not None
    )
    for word in sorted((brought(before, after) - {*nomination.spec.tells}) & set(_WORD.findall(prompt))):
        yield f"the prompt names {word}, which the fix brings into the code"
    yield from (f"the prompt names {commit}, which looks like a commit" for commit in _COMMIT.findall(prompt))


def brought(before: Iterator[bytes], after: Iterator[bytes]) -> set[str]:
    """Give the names that a fix brings into the code; words of the language, and plain ones, are none."""
    new = _words(after) - _words(before) - {*dir(builtins)}
    return {word for word in new if "_" in word or not word.islower()}


def _words(files: Iterator[bytes]) -> set[str]:
    return {word for data in files if len(data) <= _MOST for word in _WORD.findall(data.decode("utf-8", "replace"))}
