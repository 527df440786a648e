"""What lines of Python hold besides code: comments, and what was left from looking for a bug. By tokens. Pure.

Words inside strings are neither. What cannot be parted into tokens is read by its letters, and has no known comments.
"""

import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass

MOST = 1 << 20
"""Letters of a file that is parted into tokens."""

_MARK = re.compile(r"\b(?:TODO|FIXME|XXX)\b")
_STOPS = frozenset({"breakpoint", "set_trace"})
_LETTERS = re.compile(r"\bprint\(|\bbreakpoint\(|\bset_trace\(|\b(?:TODO|FIXME|XXX)\b|\bconsole\.log\(|\bdebugger\b")
"""In any other language, and in Python without tokens."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonText:
    """Numbers of the lines of a file that hold each."""

    comments: frozenset[int]
    prints: frozenset[int]
    leftovers: frozenset[int]
    """Stops of a debugger, and marks of unfinished work in comments."""


def read_python(text: str) -> PythonText | None:
    """Read a file by its tokens; None where it has no such."""
    if len(text) > MOST:
        return None
    try:
        tokens = tuple(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, SyntaxError, ValueError):
        return None
    comments = {token.start[0]: token.string for token in tokens if token.type == tokenize.COMMENT}
    calls = tuple(_calls(tokens))
    marked = {number for number, said in comments.items() if _MARK.search(said)}
    return PythonText(
        comments=frozenset(comments),
        prints=frozenset(number for number, name in calls if name == "print"),
        leftovers=frozenset(marked | {number for number, name in calls if name in _STOPS}),
    )


def _calls(tokens: tuple[tokenize.TokenInfo, ...]) -> Iterator[tuple[int, str]]:
    """Yield the names that are called; those of methods, `set_trace` apart, are somebody else's."""
    for at in range(len(tokens) - 1):
        name = tokens[at].string
        before = tokens[at - 1].string if at else ""
        is_call = tokens[at].type == tokenize.NAME and tokens[at + 1].string == "("
        if is_call and before != "def" and (before != "." or name == "set_trace"):
            yield tokens[at].start[0], name


def looks_left(line: str) -> bool:
    """Whether a line reads as if it was left from looking for a bug, by its letters alone."""
    return _LETTERS.search(line) is not None


def prints(line: str) -> bool:
    """Whether a line prints, by its letters alone."""
    return "print(" in line
