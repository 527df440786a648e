"""What of a release's nominations tells how submissions are judged: lines, names, values, solutions.

Only what stands in a private file and in no public one counts, and only what is distinctive: an import, a bracket or a
short assertion stands in anybody's tests.
"""

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from evaluators.literals import variants
from evaluators.sites import is_test, sites_of
from runner.documents.nomination import SeededFixture
from runner.folder import StoredFile
from runner.leaks import private_names
from runner.nomination import FIXTURE, PRIVATE, PROBES, PUBLIC, SOLUTION, Nomination
from runner.publishing.model import EvaluatorContent
from runner.publishing.needles import SHORTEST
from sandbox.spec import MIB

LEAST_LINE = 20
"""Letters of a hidden line, without the blanks at its ends."""

LEAST_VALUE = 12
"""Letters of a hidden text."""

_LEAST_DIGITS = 7
"""Of a hidden whole number, without the zeros at its end."""

_MOST_LINE = 2000
_FEWEST_WORDS = 3
_ORDINARY = re.compile(
    r"(?:from \S+ )?import |@|def (?:setUp|tearDown|test_?\w{0,12}\()|class \w+[:(]|if __name__"
    r"|return (?:self|None|True|False)$|(?:#|//|/\*|\*|-{3,}|={3,})"
)
"""How lines begin that stand in anybody's files."""

_GENERIC = frozenset({"conftest.py", "conftest", "__init__.py", "__init__", "expected.json", "cases.json", "README.md"})
_LEAST_KINDS = 2


def evaluator_content(nominations: Iterable[Nomination], known: Iterable[str] = ()) -> EvaluatorContent:
    """Gather what is private about some nominations; `known` are texts that are public beside their own files."""
    nominations = tuple(nominations)
    public = "\n".join((*known, *(text for each in nominations for text in _public_texts(each))))
    lines = frozenset(line.strip() for line in public.splitlines())
    content = EvaluatorContent()
    for nomination in nominations:
        content = _together(content, _of_nomination(nomination, lines, public))
    return content


def _together(one: EvaluatorContent, other: EvaluatorContent) -> EvaluatorContent:
    return replace(
        one,
        lines={**other.lines, **one.lines},
        names={**other.names, **one.names},
        values={**other.values, **one.values},
        solutions={**other.solutions, **one.solutions},
    )


def _of_nomination(nomination: Nomination, lines: frozenset[str], public: str) -> EvaluatorContent:
    private = [(file, text) for file in nomination.below(PRIVATE) if (text := _text(file)) is not None]
    where = f"a private file of {nomination.id}"
    patches = [text for name in (SOLUTION, *PROBES) for file in nomination.below(name) if (text := _text(file))]
    names = private_names(nomination) - _GENERIC
    return EvaluatorContent(
        lines={line: f"a line of {where}" for _, text in private for line in _distinctive(text, lines)},
        names={name: f"a name in {where}" for name in names if len(name) >= SHORTEST and name not in public},
        values={
            value: f"a value in {where}"
            for file, text in private
            for value in _values(file.path, text)
            if value not in public
        },
        solutions={
            line: f"a solution of {nomination.id}" for text in patches for line in _distinctive(_added(text), lines)
        },
    )


def _public_texts(nomination: Nomination) -> Iterator[str]:
    yield nomination.prompt
    if isinstance(nomination.spec.fixture, SeededFixture):
        yield from nomination.spec.fixture.files.values()
    for file in (*nomination.below(PUBLIC), *nomination.below(FIXTURE)):
        if (text := _text(file)) is not None:
            yield text


def _text(file: StoredFile) -> str | None:
    """Give a file's text; None where it is none, or too large to be a test."""
    try:
        return file.read().decode() if file.size <= MIB else None
    except UnicodeDecodeError:
        return None


def _added(patch: str) -> str:
    return "\n".join(line[1:] for line in patch.splitlines() if line.startswith("+") and not line.startswith("+++"))


def _distinctive(text: str, public: frozenset[str]) -> Iterator[str]:
    """Yield the lines of a text that are long enough, say something, and stand in no public text."""
    for line in map(str.strip, text.splitlines()):
        said = LEAST_LINE <= len(line) <= _MOST_LINE and len(re.findall(r"\w+", line)) >= _FEWEST_WORDS
        if said and line not in public and not _ORDINARY.match(line):
            yield line


def _values(path: str, text: str) -> Iterator[str]:
    """Yield what hidden tests compare with, what their twins compare with, and the texts in data beside them."""
    if path.endswith(".py"):
        yield from (value for each in _compared(text) for value in _told(each))
    elif path.endswith((".json", ".toml", ".csv", ".txt")):
        yield from (value for each in re.findall(r'"((?:[^"\\\n]|\\.)*)"', text) for value in _told(each))


def _compared(source: str) -> Iterator[object]:
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return
    tests = (node for node in ast.walk(tree) if isinstance(node, ast.stmt) and is_test(node))
    for test in tests:
        if isinstance(test, ast.FunctionDef | ast.AsyncFunctionDef):
            for slot in (slot for site in sites_of(test) for slot in site):
                for form in (slot.get(), *variants(slot.get())):
                    yield from (each.value for each in ast.walk(form) if isinstance(each, ast.Constant))


def _told(value: object) -> Iterator[str]:
    """Yield a value as a text, if nobody would write it by chance."""
    match value:
        case bool():
            return
        case int() if len(str(abs(value)).rstrip("0")) >= _LEAST_DIGITS and not _is_round(value):
            yield str(value)
        case bytes():
            yield from _told(value.decode("latin-1"))
        case str() if len(value) >= LEAST_VALUE and _kinds(value) >= _LEAST_KINDS:
            yield from (
                line for line in value.splitlines() if len(line) >= LEAST_VALUE and _kinds(line) >= _LEAST_KINDS
            )
        case _:
            return


def _is_round(value: int) -> bool:
    """Whether it is next to a power of two, as sizes and limits are."""
    return any((abs(value) + by).bit_count() == 1 for by in (-1, 0, 1))


def _kinds(text: str) -> int:
    """Count kinds of letters: small, capital, digits, signs. Words in a row have two at most, and count for one."""
    classes = (r"[a-z]", r"[A-Z]", r"[0-9]", r"[^A-Za-z0-9\s]", r"\s")
    return sum(re.search(each, text) is not None for each in classes)
